//! What is said when time is out.

use super::{port, schema, scratch, text, write};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

const WRITER: &str = "@x = global i32 0\n@y = global i32 0\ndefine void @f() {\n  store i32 1, ptr @x\n  \
                      store i32 1, ptr @y\n  %a = load i32, ptr @y\n  %b = load i32, ptr @x\n  ret void\n}\n";

/// So short that it has always passed.
const NO_TIME: &str = "--time-limit=0.000001ms";

#[test]
fn gives_up_at_the_time_limit() {
    let folder = scratch("time-limit");
    let file = write(&folder, "w.ll", WRITER);
    let args = ["--from", "x86", "--to", "armv8", "--threads", "f", &file];
    let found = port(&args);
    assert_eq!(found.status.code(), Some(1), "there is time enough by default: {}", text(&found.stdout));
    let out = port(&[&[NO_TIME], &args[..]].concat());
    let shown = text(&out.stdout);
    assert_eq!(out.status.code(), Some(3), "{shown}");
    assert!(shown.contains("x86 → armv8: gave up at the time limit of "), "{shown}");
    assert!(!shown.contains("robust") && !shown.contains("repair"), "{shown}");
}

#[test]
fn json_says_so_and_nothing_is_written() {
    let folder = scratch("time-limit-json");
    let file = write(&folder, "w.ll", WRITER);
    let into = folder.join("out");
    std::fs::create_dir_all(&into).expect("can be made");
    let into = into.display().to_string();
    let args = ["--from", "x86", "--to", "armv8", "--threads", "f", "--format", "json", "--fix", "-o", &into];
    let out = port(&[&args[..], &[NO_TIME, &file]].concat());
    assert_eq!(out.status.code(), Some(3));
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one object");
    assert_eq!(answer["verdict"], "gave-up");
    assert!(answer["why"].as_str().is_some_and(|why| why.starts_with("at the time limit of ")), "{answer}");
    assert_eq!(answer["repaired"], false);
    assert_eq!(answer["fences"], serde_json::Value::Null);
    assert_eq!(std::fs::read_dir(&into).expect("is there").count(), 0);
}

#[test]
fn only_so_many_pairs_are_listed() {
    let folder = scratch("many-pairs");
    let mut text = String::new();
    (0..30).for_each(|n| text += &format!("@x{n} = global i32 0\n"));
    text += "define void @f() {\n";
    (0..30).for_each(|n| text += &format!("  store i32 1, ptr @x{n}\n"));
    (0..30).rev().for_each(|n| text += &format!("  %v{n} = load i32, ptr @x{n}\n"));
    text += "  ret void\n}\n";
    let file = write(&folder, "many.ll", &text);
    let out = port(&["--from", "x86", "--to", "armv8", "--threads", "f", "--format", "json", &file]);
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one object");
    let pairs = answer["pairs"].as_array().expect("a list");
    assert_eq!(pairs.len(), 200);
    assert!(answer["pairs_total"].as_u64().is_some_and(|total| total > 400), "{}", answer["pairs_total"]);
    assert!(pairs.iter().all(|pair| pair["cycle"].as_array().is_some_and(|cycle| !cycle.is_empty())));
}

/// A compiler that takes for ever, and a child of it that keeps its output open.
#[test]
fn clang_is_stopped_at_the_time_limit() {
    let folder = scratch("slow-clang");
    let clang = write(
        &folder,
        "clang",
        "#!/bin/sh\nsleep 100 &\necho $! > \"$(dirname \"$0\")/child\"\nexec sleep 100\n",
    );
    std::fs::set_permissions(&clang, std::fs::Permissions::from_mode(0o755)).expect("can be set");
    let source = write(&folder, "a.c", "int main(void) { return 0; }\n");
    let started = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
    command.args([
        "port",
        "--from",
        "x86",
        "--to",
        "armv8",
        "--format",
        "json",
        "--time-limit",
        "1",
        &source,
    ]);
    let out = command.env("SEQCST_CC", &clang).output().expect("seqcst runs");
    let took = started.elapsed();
    let child = std::fs::read_to_string(folder.join("child")).expect("it ran");
    let _ = Command::new("kill").arg(child.trim()).status();
    assert_eq!(out.status.code(), Some(3), "{}", text(&out.stderr));
    let answer = schema::answer(&text(&out.stdout));
    assert_eq!(answer["why"], "at the time limit of 1 s, compiling and reading the program");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// Where the solver fails there is the greedy way, and the process goes on.
#[test]
fn a_solver_that_panics_is_replaced() {
    if !cfg!(debug_assertions) {
        eprintln!("skipped: only builds for tests can be told to panic");
        return;
    }
    let folder = scratch("panic");
    let file = write(&folder, "w.ll", WRITER);
    let ask = |panics: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
        command.args(["port", "--from", "x86", "--to", "armv8", "--threads", "f", "--format", "json", &file]);
        if panics {
            command.env("SEQCST_TEST_SOLVER_PANICS", "1");
        }
        let out = command.output().expect("seqcst runs");
        assert_eq!((out.status.code(), text(&out.stderr)), (Some(1), String::new()));
        schema::answer(&text(&out.stdout))
    };
    let (solved, greedy) = (ask(false), ask(true));
    assert_eq!((&solved["exact"], &solved["repaired"]), (&true.into(), &true.into()));
    assert_eq!((&greedy["exact"], &greedy["repaired"]), (&false.into(), &true.into()), "{greedy}");
}
