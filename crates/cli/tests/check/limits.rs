//! Giving up: the limit is named, and nothing is claimed.

use crate::{Folder, MANY, MP, Run, SB};

fn gives_up(name: &str, flags: &[&str], limit: &str) {
    let folder = Folder::new(name).with("many.tpl", MANY);
    let with = |more: &[&'static str]| {
        let args: Vec<&str> =
            ["check", "--no-abstraction"].iter().chain(flags).chain(more).copied().collect();
        folder.seqcst(&args)
    };
    let run = with(&["many.tpl"]);
    assert_eq!(run.code(), 3, "{}{}", run.stdout(), run.stderr());
    assert!(run.stdout().starts_with("gave up: many.tpl under rc11 — ") && run.stdout().contains(limit));
    assert_eq!((run.stdout().lines().count(), run.stderr().as_str()), (1, ""));
    let run = with(&["--format", "json", "many.tpl"]);
    let json = &run.json()[0];
    assert_eq!((run.code(), &json["verdict"]), (3, &"gave-up".into()));
    assert!(json["limit"].as_str().is_some_and(|text| text.contains(limit)), "{json}");
    assert!(json["states"].as_u64() > Some(0));
}

#[test]
fn states() {
    gives_up("states", &["--max-states", "1000"], "limit of 1,000 states");
}

#[test]
fn time() {
    gives_up("time", &["--timeout", "50ms"], "limit of 0.05 s");
}

#[test]
fn memory() {
    gives_up("memory", &["--max-memory", "100kB"], "limit of 100.0 kB of memory");
}

/// 2 beats 1 beats 3 beats 0.
#[test]
fn the_worst_counts() {
    let folder = Folder::new("worst")
        .with("many.tpl", MANY)
        .with("mp.tpl", MP)
        .with("sb.tpl", SB)
        .with("bad.tpl", "global");
    let code = |files: &[&str]| {
        let args: Vec<&str> =
            ["check", "--no-abstraction", "--max-states", "500"].iter().chain(files).copied().collect();
        folder.seqcst(&args).code()
    };
    assert_eq!(code(&["mp.tpl", "many.tpl"]), 3);
    assert_eq!(code(&["many.tpl", "sb.tpl", "mp.tpl"]), 1);
    assert_eq!(code(&["sb.tpl", "many.tpl"]), 1);
    assert_eq!(code(&["bad.tpl", "sb.tpl", "many.tpl", "mp.tpl"]), 2);
}

#[test]
fn a_full_disk_is_no_answer() {
    for format in ["text", "json", "sarif"] {
        let folder = Folder::new("full").with("sb.tpl", SB);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has one");
        let mut command = folder.seqcst_command();
        let output = command.args(["check", "sb.tpl", "sb.tpl", "--format", format]).stdout(full).output();
        let run = Run(output.expect("it can be started"));
        assert_eq!(run.code(), 3, "{format}");
        let message = "error: the answer cannot be written to standard output: ";
        assert!(run.stderr().starts_with(message) && run.stderr().lines().count() == 1, "{}", run.stderr());
    }
}

/// A counter beyond what is modelled: 128 numbers are not negative, and 100 and 100 make 200.
const COUNTER: &str = "\
C counter
{ n = 100; }
P0 (atomic_int* n) {
  int r0 = atomic_fetch_add_explicit(n, 100, memory_order_relaxed);
  if (r0 > 90) atomic_store(n, 0);
}
P1 (atomic_int* n) {
  int r0 = atomic_load_explicit(n, memory_order_relaxed);
  int r1 = 0;
  while (r1 < 3) { r1++; }
}
";

#[test]
fn numbers_that_are_not_modelled() {
    let folder = Folder::new("numbers").with("counter.litmus", COUNTER);
    for command in [&["check"][..], &["explore", "--strategy", "dpor"]] {
        let run = folder.seqcst(&[command, &["--format", "json", "counter.litmus"]].concat());
        let answer = &run.json()[0];
        assert_eq!((run.code(), &answer["verdict"]), (3, &"gave-up".into()), "{answer}");
        let limit = answer["limit"].as_str().unwrap_or_default();
        let why = "at counter.litmus:4:3 `r0 = FADD(n, 100, rlx)` has no value between -128 and 127: others are not modelled";
        assert_eq!(limit, why);
    }
    let small = COUNTER.replace("n = 100", "n = 1");
    let run = folder.with("small.litmus", small).seqcst(&["check", "small.litmus"]);
    assert_eq!(run.code(), 0, "{}", run.stdout());
}
