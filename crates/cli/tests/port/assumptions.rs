//! What an answer takes for granted: said in text and in JSON, and only where it is.

use super::{clang, port, scratch, text, write};
use serde_json::Value;

/// Asks about LLVM IR; the names of what was assumed, and the verdict. Text says the same in words.
fn assumed(name: &str, content: &str, args: &[&str]) -> (Vec<String>, String) {
    let folder = scratch(&format!("assumptions-{name}"));
    let path = write(&folder, &format!("{name}.ll"), content);
    let out = port(&[args, &["--format", "json", &path]].concat());
    let answer: Value =
        serde_json::from_str(&text(&out.stdout)).unwrap_or_else(|_| panic!("{}", text(&out.stderr)));
    let shown = text(&port(&[args, &[path.as_str()]].concat()).stdout);
    let list = answer["assumptions"].as_array().expect("a list");
    assert_eq!(shown.matches("  assumed: ").count(), list.len(), "{shown}");
    for assumption in list {
        let words = assumption["words"].as_str().expect("words");
        assert!(shown.contains(&format!("  assumed: {words}\n")), "{shown}");
    }
    let names =
        list.iter().map(|assumption| assumption["name"].as_str().expect("a name").to_owned()).collect();
    (names, answer["verdict"].as_str().expect("a verdict").to_owned())
}

/// Load buffering; what the left thread writes depends on what it has read.
const LB: &str = "@x = global i32 0
@y = global i32 0
define void @left() {
  %v = load atomic i32, ptr @x monotonic, align 4
  store atomic i32 %v, ptr @y monotonic, align 4
  ret void
}
define void @right() {
  %v = load atomic i32, ptr @y acquire, align 4
  store atomic i32 1, ptr @x monotonic, align 4
  ret void
}
";

/// Store buffering with release stores and acquire loads.
const SB: &str = "@x = global i32 0
@y = global i32 0
define void @left() #0 {
  store atomic i32 1, ptr @x release, align 4
  %v = load atomic i32, ptr @y acquire, align 4
  ret void
}
define void @right() #0 {
  store atomic i32 1, ptr @y release, align 4
  %v = load atomic i32, ptr @x acquire, align 4
  ret void
}
";

const THREADS: [&str; 4] = ["--threads", "left,right", "--from", "sc"];

fn to(machine: &str, more: &[&'static str]) -> Vec<String> {
    let all = THREADS.iter().chain(&["--to"]).copied().chain([machine]).chain(more.iter().copied());
    all.map(str::to_owned).collect()
}

fn ask(name: &str, content: &str, machine: &str, more: &[&'static str]) -> (Vec<String>, String) {
    let args = to(machine, more);
    assumed(name, content, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

fn is(found: (Vec<String>, String), names: &[&str], verdict: &str) {
    assert_eq!(
        (found.0.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), found.1.as_str()),
        (names, verdict)
    );
}

#[test]
fn nothing_is_assumed_unless_asked_for() {
    is(ask("plain", LB, "armv8", &[]), &[], "not-robust");
}

#[test]
fn dependencies() {
    is(ask("trusted", LB, "armv8", &["--trust-dependencies"]), &["dependencies-kept"], "robust");
    // They don't do on ARMv7, so nothing is assumed there.
    is(ask("armv7", LB, "armv7", &["--trust-dependencies"]), &[], "not-robust");
}

#[test]
fn races_and_objects() {
    is(ask("atomics", LB, "armv8", &["--atomics-only"]), &["no-data-race"], "not-robust");
    is(ask("client", LB, "armv8", &["--client"]), &["one-object"], "not-robust");
    is(
        ask("both", LB, "x86", &["--client", "--atomics-only"]),
        &["no-data-race", "one-object"],
        "not-robust",
    );
}

#[test]
fn functions_for_others_to_call() {
    let start = "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\ndefine i32 @start(ptr %t) {\n\
                 %r = call i32 @pthread_create(ptr %t, ptr null, ptr @right, ptr null)\nret i32 %r\n}\n";
    let args = ["--from", "sc", "--to", "armv8"];
    is(assumed("caller", &format!("{LB}{start}"), &args), &["one-caller"], "not-robust");
}

#[test]
fn weaker_acquire_loads() {
    is(ask("ldar", SB, "armv8", &[]), &[], "robust");
    is(ask("ldapr", SB, "armv8", &["--rcpc"]), &["rcpc"], "not-robust");
    is(ask("not-there", SB, "x86", &["--rcpc"]), &[], "not-robust");
}

#[test]
fn weaker_acquire_loads_of_the_processor_that_a_file_is_for() {
    let attributes = [
        ("\"target-cpu\"=\"generic\" \"target-features\"=\"+neon,+v8a\"", false),
        ("\"target-cpu\"=\"generic\" \"target-features\"=\"+neon,+v8.1a,+v8.2a,+v8a\"", false),
        ("\"target-cpu\"=\"generic\" \"target-features\"=\"+rcpc,+v8a\"", true),
        ("\"target-cpu\"=\"generic\" \"target-features\"=\"+v8.3a\"", true),
        ("\"target-cpu\"=\"apple-m1\"", true),
    ];
    for (number, (attributes, rcpc)) in attributes.into_iter().enumerate() {
        let file =
            format!("target triple = \"arm64-apple-macosx\"\n{SB}attributes #0 = {{ {attributes} }}\n");
        let found = ask(&format!("processor-{number}"), &file, "armv8", &[]);
        let expected: (&[&str], &str) = if rcpc { (&["rcpc"], "not-robust") } else { (&[], "robust") };
        is(found, expected.0, expected.1);
    }
}

#[test]
fn recursion() {
    let again = LB.replacen("  ret void", "  call void @left()\n  ret void", 1);
    is(ask("recursion", &again, "armv8", &[]), &["recursion-cut", "calls-ported"], "not-robust");
}

/// A call between the two accesses of the left thread.
fn with_call(declaration: &str, call: &str) -> String {
    format!("{declaration}\n{}", LB.replacen("  ret void", &format!("  {call}\n  ret void"), 1))
}

#[test]
fn what_others_look_after() {
    let unknown = with_call("declare void @ext()", "call void @ext()");
    is(ask("unknown", &unknown, "armv8", &[]), &["calls-ported"], "not-robust");
    let memory = with_call("declare ptr @malloc(i64)", "%p = call ptr @malloc(i64 8)");
    is(ask("memory", &memory, "armv8", &[]), &["allocators"], "not-robust");
    let stream = with_call("declare i32 @fputc(i32, ptr)", "%c = call i32 @fputc(i32 7, ptr null)");
    is(ask("stream", &stream, "armv8", &[]), &["streams"], "not-robust");
    let past = LB.replacen(
        "i32 %v, ptr @y monotonic, align 4",
        "i32 %v, ptr @y monotonic, align 4, !nontemporal !0",
        1,
    );
    let past = format!("{past}!0 = !{{i32 1}}\n");
    is(ask("past", &past, "x86", &[]), &["past-caches"], "robust");
    is(ask("not-past", &past, "armv8", &[]), &[], "not-robust");
}

/// A thread that tries to take a lock by a weak compare-and-swap: what it does when that fails.
fn tries(failed: &str) -> String {
    let thread = |name: &str| {
        format!(
            "define void @{name}() {{\n  br label %again\nagain:\n\
             \x20 %p = cmpxchg weak ptr @x, i32 0, i32 1 acquire monotonic, align 4\n\
             \x20 %c = extractvalue {{ i32, i1 }} %p, 1\n  br i1 %c, label %done, label %{failed}\n\
             done:\n  store atomic i32 0, ptr @x release, align 4\n  br label %end\nend:\n  ret void\n}}\n"
        )
    };
    format!("@x = global i32 0\n{}{}", thread("left"), thread("right"))
}

#[test]
fn compare_and_swaps_that_fail_for_no_reason() {
    is(ask("given-up", &tries("end"), "armv8", &[]), &["weak-failures"], "robust");
    is(ask("given-up-7", &tries("end"), "armv7", &[]), &["weak-failures"], "robust");
    is(ask("never", &tries("end"), "x86", &[]), &[], "robust");
    is(ask("tried-again", &tries("again"), "armv8", &[]), &[], "robust");
    // The first round of the loop stands before it, as clang writes `while (!compare_exchange_weak(…)) ;`.
    let peeled = tries("again").replace(
        "  br label %again\n",
        "  %q = cmpxchg weak ptr @x, i32 0, i32 1 acquire monotonic, align 4\n\
         \x20 %d = extractvalue { i32, i1 } %q, 1\n  br i1 %d, label %done, label %again\n",
    );
    is(ask("peeled", &peeled, "armv8", &[]), &[], "robust");
    let strong = tries("end").replace("cmpxchg weak", "cmpxchg");
    is(ask("strong", &strong, "armv8", &[]), &[], "robust");
}

#[test]
fn other_files_of_a_program() {
    let start = "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\ndeclare void @ext()\ndefine i32 @main() {\n\
                 %t = alloca i64\n%r = call i32 @pthread_create(ptr %t, ptr null, ptr @right, ptr null)\n\
                 call void @ext()\nret i32 %r\n}\n";
    let args = ["--from", "sc", "--to", "armv8"];
    is(assumed("whole", &format!("{LB}{start}"), &args), &["calls-ported", "whole-program"], "robust");
    let alone = start.replace("call void @ext()\n", "");
    assert_eq!(assumed("alone", &format!("{LB}{alone}"), &args).0, [""; 0]);
}

#[test]
fn sources_are_compiled_for_such_a_processor() {
    if !clang() {
        return;
    }
    let folder = scratch("assumptions-source");
    let source = "
_Atomic(int) a, b;
int left(void) {
    __c11_atomic_store(&a, 1, __ATOMIC_RELAXED);
    return __c11_atomic_load(&b, __ATOMIC_RELAXED);
}
int right(void) {
    int seen = __c11_atomic_load(&b, __ATOMIC_RELAXED);
    __c11_atomic_store(&b, 1, __ATOMIC_RELAXED);
    return seen + __c11_atomic_load(&a, __ATOMIC_RELAXED);
}
";
    let path = write(&folder, "sb.c", source);
    let to = folder.display().to_string();
    let args =
        ["--threads", "left,right", "--from", "sc", "--to", "armv8", "--rcpc", "--fix", "-o", &to, &path];
    let out = port(&args);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let repaired = folder.join("sb.armv8.ll").display().to_string();
    // It says itself what it is for.
    let again = port(&[&args[..6], &[repaired.as_str()]].concat());
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stdout));
    assert!(
        text(&again.stdout).contains("assumed: acquire loads on armv8 are ldapr"),
        "{}",
        text(&again.stdout)
    );
}
