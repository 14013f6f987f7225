//! Bad input: one message with a place, exit code 2, nothing on standard output.

use super::{clang, port, scratch, text, write};

const WHOLE: &str =
    "define void @f(ptr %p) {\n  store atomic i32 1, ptr %p monotonic, align 4\n  ret void\n}\n";

#[track_caller]
fn refused(name: &str, content: &str, args: &[&str], message: &str) {
    let folder = scratch(&format!("bad-{name}"));
    let path = write(&folder, name, content);
    let out = port(&[args, &[path.as_str()]].concat());
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(out.stdout.is_empty());
    assert!(said.contains(message), "{said}");
}

#[test]
fn files_that_were_cut_off() {
    refused("inside.ll", &WHOLE[..40], &[], "inside.ll:2:");
    refused("function.ll", WHOLE.trim_end().trim_end_matches('}'), &[], "it seems to have been cut off");
    refused(
        "label.ll",
        &WHOLE.replace("ret void", "br label %next"),
        &[],
        "3:6: error: there is no block `%next`",
    );
    refused("value.ll", &WHOLE.replace("%p mono", "%q mono"), &[], "2:27: error: `%q` is not defined");
    refused("debug.ll", &WHOLE.replace("ret void", "ret void, !dbg !7"), &[], "`!7` is not defined");
}

#[test]
fn what_is_no_ir() {
    refused("empty.ll", "", &[], "empty.ll:1:1: error: there is nothing in this file");
    refused("poem.ll", "roses are red\n", &[], "poem.ll:1:1: error: this is no LLVM IR");
    let folder = scratch("bad-bitcode");
    let path = folder.join("code.bc");
    std::fs::write(&path, b"BC\xC0\xDE\x35\x14").expect("can be written");
    let out = port(&[&path.display().to_string()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("code.bc:1:1: error: this is LLVM bitcode"), "{}", text(&out.stderr));
}

#[test]
fn targets_that_nobody_knows() {
    let mips = format!("target triple = \"mips64-linux-gnu\"\n{WHOLE}");
    refused(
        "mips.ll",
        &mips,
        &["--threads", "f"],
        "mips.ll:1:17: error: `mips64-linux-gnu` is not a supported",
    );
    refused("to.ll", WHOLE, &["--to", "mips"], "invalid value 'mips'");
    // Nobody says that nothing could go wrong there: it can.
    let ways = "unsupported pair armv8 → x86; supported: sc → x86, sc → armv8,";
    refused("back.ll", WHOLE, &["--from", "armv8", "--to", "x86"], ways);
    refused("same.ll", WHOLE, &["--from", "x86", "--to", "x86"], "x86 and x86 are the same machine");
}

#[test]
fn no_threads() {
    refused("none.ll", WHOLE, &[], "none.ll:1:1: error: no thread function was found");
    refused("name.ll", WHOLE, &["--threads", "g"], "there is no function `g`");
    let other = "declare ptr @g(ptr)\ndeclare i32 @pthread_create(ptr, ptr, ptr, ptr)\ndefine i32 @main() {\n\
                 %r = call i32 @pthread_create(ptr null, ptr null, ptr @g, ptr null)\nret i32 0\n}\n";
    let message = "other.ll:1:1: error: a thread is started with a function that is not known here";
    refused("other.ll", &format!("{WHOLE}{other}"), &[], message);
}

#[test]
fn files_that_are_not_there() {
    let out = port(&["nowhere.c"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("nowhere.c: error: no such file"));
    let folder = scratch("bad-folder");
    let out = port(&[&folder.display().to_string()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("there is no C, C++ or LLVM IR in it"));
}

#[test]
fn files_that_are_something_else() {
    refused("queue.h", "int main(void) { return 0; }\n", &[], "queue.h: error: this is a header: name the C");
    refused("queue.s", "ret\n", &[], "queue.s: error: this is assembly");
    refused("queue.rs", "fn main() {}\n", &[], "queue.rs: error: Rust is read as LLVM IR");
    let gone = "[{\"directory\": \"/nowhere/at/all\", \"file\": \"a.c\", \"command\": \"cc -c a.c\"}]";
    refused("gone.json", "[]", &[], "gone.json: error: it names no C or C++");
    if clang() {
        refused("gone.json", gone, &[], "there is no directory /nowhere/at/all, where it is compiled");
    }
}

#[test]
fn errors_of_the_compiler() {
    if !clang() {
        return;
    }
    // Its place is in the IR, and not in the source.
    let mips = "wrong.c: error: in the LLVM IR that clang makes of it: `mips64-unknown-linux-gnu` is not a supported";
    let source = "int x; void f(void) { x = 1; }\n";
    let folder = scratch("bad-mips");
    let path = write(&folder, "wrong.c", source);
    let out = port(&["--to", "armv8", "--client", &path, "--", "--target=mips64-linux-gnu"]);
    assert!(text(&out.stderr).contains(mips), "{}", text(&out.stderr));
    refused("syntax.c", "int main(void) { return 0 }\n", &[], "syntax.c:1:26: error:");
}

#[test]
fn unknown_things_are_listed_and_count() {
    let folder = scratch("unknown");
    let unknown = "@x = global i32 0\n@y = global i32 0\ndeclare void @elsewhere()\ndefine void @f(ptr %g) {\n  \
                   store i32 1, ptr @x\n  call void @elsewhere()\n  call void asm sideeffect \"rep stosb\", \"~{memory}\"()\n  \
                   call void %g()\n  %v = teleport i32 1\n  call void @f(ptr %g)\n  store i32 1, ptr @y\n  ret void\n}\n";
    let path = write(&folder, "unknown.ll", unknown);
    let out = port(&["--from", "x86", "--to", "armv8", "--threads", "f", &path]);
    let shown = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{shown}{}", text(&out.stderr));
    for part in [
        "`elsewhere` is not in",
        "inline assembly",
        "through a pointer",
        "`teleport` is not known",
        "`f` calls itself",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn nothing_is_written_if_one_of_several_is_bad() {
    let folder = scratch("bad-second");
    let mp = "@x = global i32 0\n@y = global i32 0\ndefine void @f() {\n  store i32 1, ptr @x\n  \
              store i32 1, ptr @y\n  %a = load i32, ptr @y\n  %b = load i32, ptr @x\n  ret void\n}\n";
    let good = write(&folder, "good.ll", mp);
    let bad = write(&folder, "bad.ll", &WHOLE[..40]);
    let into = folder.join("out");
    std::fs::create_dir_all(&into).expect("can be made");
    let dot = into.join("good.dot").display().to_string();
    let to = into.display().to_string();
    let ways = ["--from", "x86", "--to", "armv8", "--threads", "f", "--fix", "-o", &to];
    let out = port(&[&ways[..], &[good.as_str(), bad.as_str()]].concat());
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
    assert!(out.stdout.is_empty(), "{}", text(&out.stdout));
    assert_eq!(std::fs::read_dir(&into).expect("is there").count(), 0);
    let out = port(&[&ways[..], &["--dot", &dot, &good]].concat());
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert_eq!(std::fs::read_dir(&into).expect("is there").count(), 2, "without the bad one they are there");
}

#[test]
fn repaired_ir_is_for_the_machine_that_it_goes_to() {
    let folder = scratch("bad-machine");
    let mp = "target triple = \"x86_64-unknown-linux-gnu\"\n@x = global i32 0\n@y = global i32 0\n\
              define void @f() {\n  store i32 1, ptr @x\n  store i32 1, ptr @y\n  %a = load i32, ptr @y\n  \
              %b = load i32, ptr @x\n  ret void\n}\n";
    let path = write(&folder, "mp.ll", mp);
    let to = folder.display().to_string();
    for machine in ["armv8", "armv7"] {
        let ways = ["--from", "x86", "--to", machine, "--threads", "f"];
        let out = port(&[&ways[..], &["--fix", "-o", &to, &path]].concat());
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains("mp.ll:1:17: error: this was compiled for x86"), "{said}");
        assert!(out.stdout.is_empty());
        assert_eq!(std::fs::read_dir(&folder).expect("is there").count(), 1);
        // It may be asked about: that is an assumption.
        let out = port(&[&ways[..], &["--format", "json", &path]].concat());
        assert_eq!(out.status.code(), Some(1));
        let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one object");
        assert_eq!(answer["assumptions"][0]["name"], "compiled-for-another", "{answer}");
    }
    let out = port(&["--from", "sc", "--to", "x86", "--threads", "f", "--fix", "-o", &to, &path]);
    assert!(!text(&out.stdout).contains("assumed"), "{}", text(&out.stdout));
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
}
