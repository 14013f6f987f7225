//! `seqcst port` from the outside: answers, exit codes, repaired files, bad input.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../schema/mod.rs"]
mod schema;

mod assumptions;
mod bad_input;
mod fixes;
mod limits;
mod patches;
mod programs;
mod warnings;

use harness::{scratch, text, write};
use std::process::{Command, Output, Stdio};

/// Calls `seqcst port`.
fn port(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
    command.arg("port").args(args).output().expect("seqcst runs")
}

/// Whether there is a clang that seqcst would find; a message if not.
fn clang() -> bool {
    let runs = |name: &str| {
        let mut command = Command::new(name);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let found = runs("clang") || (14..=30).any(|version| runs(&format!("clang-{version}")));
    if !found {
        eprintln!("skipped: clang is not installed (`cargo xtask setup` brings it)");
    }
    found
}

/// Message passing, in C that needs no headers of any system.
const MP: &str = "
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
static _Atomic(int) data, flag;
static void *writer(void *unused) {
    __c11_atomic_store(&data, 1, __ATOMIC_RELAXED);
    __c11_atomic_store(&flag, 1, __ATOMIC_RELAXED);
    return unused;
}
static void *reader(void *unused) {
    if (__c11_atomic_load(&flag, __ATOMIC_RELAXED))
        return __c11_atomic_load(&data, __ATOMIC_RELAXED) ? unused : 0;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    return 0;
}
";

#[test]
fn all_ways_and_their_verdicts() {
    if !clang() {
        return;
    }
    let folder = scratch("all");
    let out = port(&["--format", "json", &write(&folder, "mp.c", MP)]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let lines: Vec<serde_json::Value> = text(&out.stdout).lines().map(schema::answer).collect();
    let verdicts: Vec<(String, String, String)> = lines
        .iter()
        .map(|line| {
            let field = |name: &str| line[name].as_str().expect("text").to_owned();
            (field("from"), field("to"), field("verdict"))
        })
        .collect();
    let expected = [
        ("sc", "x86", "robust"),
        ("sc", "armv8", "not-robust"),
        ("x86", "armv8", "not-robust"),
        ("sc", "armv7", "not-robust"),
        ("x86", "armv7", "not-robust"),
        // ARMv8 reorders the stores and the loads just as well.
        ("armv8", "armv7", "robust"),
    ];
    assert_eq!(verdicts, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    let x86_to_armv8 = &lines[2];
    assert_eq!(x86_to_armv8["fences"]["inserted"], 2);
    assert_eq!(x86_to_armv8["threads"], 2);
    let pairs = x86_to_armv8["pairs"].as_array().expect("a list");
    let line = |pair: &serde_json::Value, which: &str| pair[which]["place"]["line"].as_u64().expect("a line");
    let places: Vec<(u64, u64)> =
        pairs.iter().map(|pair| (line(pair, "first"), line(pair, "second"))).collect();
    assert_eq!(places, [(6, 7), (11, 12)]);
}

#[test]
fn text_shows_source_lines() {
    if !clang() {
        return;
    }
    let folder = scratch("text");
    let out = port(&["--from", "x86", "--to", "armv8", &write(&folder, "mp.c", MP)]);
    let shown = text(&out.stdout);
    assert!(shown.contains("x86 → armv8: not robust: 2 pairs"), "{shown}");
    assert!(shown.contains("7 | __c11_atomic_store(&flag, 1, __ATOMIC_RELAXED);"), "{shown}");
    assert!(shown.contains("fences: naive 4, existing 0, inserted 2"), "{shown}");
}

#[test]
fn threads_by_name_and_clients() {
    if !clang() {
        return;
    }
    let folder = scratch("client");
    let library = "
struct stack { _Atomic(int) top, size; };
void push(struct stack *s) {
    __c11_atomic_store(&s->top, 1, __ATOMIC_RELAXED);
    __c11_atomic_store(&s->size, 1, __ATOMIC_RELAXED);
}
int pop(struct stack *s) {
    return __c11_atomic_load(&s->size, __ATOMIC_RELAXED) && __c11_atomic_load(&s->top, __ATOMIC_RELAXED);
}
";
    let path = write(&folder, "stack.c", library);
    let ways = ["--from", "x86", "--to", "armv8"];
    assert_eq!(port(&[&ways[..], &["--client", &path]].concat()).status.code(), Some(1));
    assert_eq!(port(&[&ways[..], &["--threads", "push,pop", &path]].concat()).status.code(), Some(1));
    let out = port(&[&ways[..], &["--threads", "pop", &path]].concat());
    assert_eq!(out.status.code(), Some(0), "nobody writes: {}", text(&out.stdout));
}
