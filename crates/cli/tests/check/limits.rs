//! Giving up: the limit is named, and nothing is claimed.

use crate::{Folder, MANY, MP, SB};

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
        let run = crate::Run(output.expect("it can be started"));
        assert_eq!(run.code(), 3, "{format}");
        let message = "error: the answer cannot be written to standard output: ";
        assert!(run.stderr().starts_with(message) && run.stderr().lines().count() == 1, "{}", run.stderr());
    }
}
