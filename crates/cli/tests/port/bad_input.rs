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
    refused("mips.ll", &mips, &["--threads", "f"], "mips.ll:1:17: error: `mips64-linux-gnu` is no target");
    refused("to.ll", WHOLE, &["--to", "mips"], "invalid value 'mips'");
    refused("back.ll", WHOLE, &["--from", "armv8", "--to", "x86"], "x86 is no weaker than armv8");
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
fn errors_of_the_compiler() {
    if !clang() {
        return;
    }
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
