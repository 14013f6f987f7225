//! Repaired files: what is written compiles, and is safe.

use super::{MP, clang, port, scratch, text, write};
use std::process::Command;

#[test]
fn a_repaired_file_is_safe() {
    if !clang() {
        return;
    }
    let folder = scratch("fix");
    let path = write(&folder, "mp.c", MP);
    let to = folder.display().to_string();
    let ways = ["--from", "x86", "--to", "armv8"];
    let out = port(&[&ways[..], &["--fix", "-o", &to, &path]].concat());
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let repaired = folder.join("mp.armv8.ll").display().to_string();
    let again = port(&[&ways[..], &[repaired.as_str()]].concat());
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stdout));
}

#[test]
fn a_patch_applies_and_makes_the_source_safe() {
    if !clang() {
        return;
    }
    let folder = scratch("patch");
    let source = "
#define memory_order_relaxed __ATOMIC_RELAXED
#define memory_order_acquire __ATOMIC_ACQUIRE
#define memory_order_release __ATOMIC_RELEASE
#define memory_order_seq_cst __ATOMIC_SEQ_CST
#define atomic_thread_fence __c11_atomic_thread_fence
_Atomic(int) a, b;
int left(void) {
    __c11_atomic_store(&a, 1, memory_order_relaxed);
    return __c11_atomic_load(&b, memory_order_relaxed);
}
int right(void) {
    __c11_atomic_store(&b, 1, memory_order_relaxed);
    return __c11_atomic_load(&a, memory_order_relaxed);
}
";
    write(&folder, "sb.c", source);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
        command.current_dir(&folder).arg("port").args([
            "--from",
            "sc",
            "--to",
            "x86",
            "--threads",
            "left,right",
        ]);
        command.args(args).arg("sb.c").output().expect("seqcst runs")
    };
    let out = run(&["--fix"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let patch = std::fs::read(folder.join("sb.x86.patch")).expect("was written");
    let expected = "+    atomic_thread_fence(memory_order_seq_cst);";
    assert_eq!(text(&patch).matches(expected).count(), 2, "{}", text(&patch));
    if Command::new("patch").arg("--version").output().is_err() {
        eprintln!("skipped: patch is not installed");
        return;
    }
    let status = Command::new("patch").args(["-p1", "-i", "sb.x86.patch"]).current_dir(&folder).output();
    assert!(status.expect("patch runs").status.success());
    assert_eq!(run(&[]).status.code(), Some(0));
}

#[test]
fn a_drawing() {
    if !clang() {
        return;
    }
    let folder = scratch("dot");
    let path = write(&folder, "mp.c", MP);
    let dot = folder.join("mp.dot").display().to_string();
    port(&["--from", "x86", "--to", "armv8", "--dot", &dot, &path]);
    let drawn = std::fs::read_to_string(&dot).expect("was written");
    assert!(drawn.starts_with("digraph") && drawn.matches("color=red").count() == 2, "{drawn}");
}
