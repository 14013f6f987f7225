//! Patches for sources: they apply, what comes out compiles, and it is as safe as the answer says.

use super::{clang, port, scratch, text, write};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// All ways from machine to machine.
const WAYS: [(&str, &str); 6] =
    [("sc", "x86"), ("sc", "armv8"), ("x86", "armv8"), ("sc", "armv7"), ("x86", "armv7"), ("armv8", "armv7")];

/// Patches a source in place: what the answer says of the patch, and how many pairs the source has then.
fn patched(folder: &Path, source: &str, (from, to): (&str, &str), more: &[&str]) -> (Value, u64) {
    let path = write(folder, "it.c", source);
    let run = |args: &[&str]| -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
        command.current_dir(folder).args(["port", "--from", from, "--to", to, "--format", "json"]);
        let out = command.args(args).arg("it.c").args(more).output().expect("seqcst runs");
        serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{}", text(&out.stderr)))
    };
    let answer = run(&["--fix"]);
    if answer["verdict"] == "robust" {
        return (Value::Null, 0);
    }
    let said = answer["source_patch"].clone();
    let patch = folder.join(format!("it.{to}.patch"));
    assert_eq!(said["written"] == true, patch.is_file(), "{answer}");
    if said["written"] == true {
        let status = Command::new("patch").arg("-p1").arg("-i").arg(&patch).current_dir(folder).output();
        let status = status.expect("patch runs");
        assert!(status.status.success(), "{}", text(&status.stdout));
    }
    let left = run(&[])["pairs_total"].as_u64().expect("a number");
    write(folder, "it.c", source);
    let _ = std::fs::remove_file(patch);
    assert!(Path::new(&path).is_file());
    (said, left)
}

/// Whether there is what these tests need.
fn tools() -> bool {
    let patch = Command::new("patch").arg("--version").output().is_ok();
    if !patch {
        eprintln!("skipped: patch is not installed");
    }
    patch && clang()
}

const MAIN: &str = "
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, left, 0);
    pthread_create(&b, 0, right, 0);
    return 0;
}
";

#[track_caller]
fn is_repaired(name: &str, source: &str, ways: &[(&str, &str)]) {
    if !tools() {
        return;
    }
    let folder = scratch(&format!("patches-{name}"));
    for &way in ways {
        let (said, left) = patched(&folder, &format!("{source}{MAIN}"), way, &[]);
        assert_eq!(left, 0, "{way:?}: {said}");
        if !said.is_null() {
            assert_eq!(said, serde_json::json!({"written": true, "pairs_left": 0}), "{way:?}");
        }
    }
}

#[test]
fn queues_with_loops_around() {
    let ring = "
#define LOAD(x) __c11_atomic_load(&x, __ATOMIC_RELAXED)
#define STORE(x, v) __c11_atomic_store(&x, v, __ATOMIC_RELAXED)
struct ring {
    _Atomic(unsigned) head, tail;
    int slots[64];
} q;
int got;
int push(struct ring *r, int v)
{
    unsigned h = LOAD(r->head);
    unsigned t = LOAD(r->tail);
    if (h - t == 64)
        return 0;
    r->slots[h % 64] = v;
    STORE(r->head, h + 1);
    return 1;
}
int pop(struct ring *r, int *v)
{
    unsigned t = LOAD(r->tail);
    if (LOAD(r->head) == t)
        return 0;
    *v = r->slots[t % 64];
    STORE(r->tail, t + 1);
    return 1;
}
static void *left(void *arg)
{
    for (int i = 0; i < 1000; i++)
        while (!push(&q, i))
            ;
    return 0;
}
static void *right(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        int v;
        while (!pop(&q, &v))
            ;
        got += v;
    }
    return 0;
}
";
    is_repaired("ring", ring, &WAYS);
}

#[test]
fn several_statements_in_a_line() {
    let line = "
static int d, f, o; static volatile int *pf = &f;
void *left(void *p) { volatile int *x = &d; *x = 1; *pf = 1; return 0; }
void *right(void *p) { volatile int *x = &d; while (!*pf); o = *x; return 0; }
";
    is_repaired("line", line, &WAYS);
}

#[test]
fn sources_without_the_header() {
    let plain = "
static volatile int d, f; int o;
void *left(void *p)
{
    d = 1;
    if (p)
        f = 1;
    else
        f = 2;
    return 0;
}
void *right(void *p)
{
    while (!f)
        ;
    o = d;
    return 0;
}
";
    is_repaired("volatile", plain, &[("x86", "armv8"), ("x86", "armv7")]);
}

/// Between what a macro does there is no place for a fence: the answer says what is left.
#[test]
fn pairs_that_a_patch_leaves_are_counted() {
    if !tools() {
        return;
    }
    let folder = scratch("patches-macro");
    let source = "
static volatile int d, f; int o;
#define PUBLISH(v) do { d = (v); f = 1; } while (0)
void *left(void *p)
{
    PUBLISH(7);
    return 0;
}
void *right(void *p)
{
    while (!f)
        ;
    o = d;
    return 0;
}
";
    let (said, left) = patched(&folder, &format!("{source}{MAIN}"), ("x86", "armv8"), &[]);
    assert_eq!(said, serde_json::json!({"written": true, "pairs_left": 1}));
    assert_eq!(left, 1);
    let path = folder.join("it.c").display().to_string();
    let to = folder.display().to_string();
    let shown = text(&port(&["--from", "x86", "--to", "armv8", "--fix", "-o", &to, &path]).stdout);
    assert!(
        shown.contains("the patch for the source leaves 1 pair; the repaired LLVM IR leaves none"),
        "{shown}"
    );
}

/// What does not compile is no patch.
#[test]
fn patches_compile() {
    if !tools() {
        return;
    }
    let folder = scratch("patches-compile");
    let source = "
#define memory_order_relaxed __ATOMIC_RELAXED
static volatile int d, f; int o;
void *left(void *p) { d = 1; f = 1; return 0; }
void *right(void *p) { while (!f); o = d; return 0; }
";
    let strict = ["--", "-Werror=implicit-function-declaration"];
    let (said, left) = patched(&folder, &format!("{source}{MAIN}"), ("x86", "armv8"), &strict);
    assert_eq!(said["written"], false);
    assert!(said["why"].as_str().is_some_and(|why| why.contains("does not compile")), "{said}");
    assert_eq!(left, 2);
}
