//! Every program of the corpus gets the verdicts that its header asks for, under every model that it lists, and a
//! witness behind each violation.

mod common;

use common::engine::{Reductions, USUAL, verdict};
use common::{Verdict, slow_too};
use seqcst_explore::robustness::decide;
use seqcst_explore::witness::witness;
use seqcst_model::Model;
use seqcst_program::semantics::Machine;
use seqcst_program::{Target, lower, parse};
use std::path::{Path, PathBuf};

/// Too many states for a test in the dev profile: run with `SEQCST_SLOW=1` only.
const SLOW: [&str; 3] = ["lamport2-3-ra", "rcu-offline", "rcu"];

/// A file with what its header says.
struct Entry {
    name: String,
    path: PathBuf,
    source: String,
    expected: Vec<(Target, Verdict)>,
    flags: Vec<String>,
}

fn entries() -> Vec<Entry> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut found = Vec::new();
    for part in ["litmus", "algorithms"] {
        let files = std::fs::read_dir(corpus.join(part)).expect("the corpus has this part");
        found.extend(files.map(|file| entry(file.expect("readable").path())));
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn entry(path: PathBuf) -> Entry {
    let source = std::fs::read_to_string(&path).expect("programs are text");
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let (mut expected, mut flags) = (Vec::new(), Vec::new());
    for line in source.lines().filter_map(|line| line.trim().strip_prefix("//@ ")) {
        let (key, value) = line.split_once(':').unwrap_or_else(|| panic!("{name}: `{line}` has no colon"));
        match key {
            "flags" => flags.extend(value.split_whitespace().map(str::to_owned)),
            model => {
                let target = model.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
                expected.push((target, verdict_named(&name, value.trim())));
            }
        }
    }
    assert!(!expected.is_empty(), "{name}: no verdict in the header");
    Entry { name, path, source, expected, flags }
}

fn verdict_named(file: &str, name: &str) -> Verdict {
    match name {
        "robust" => Verdict::Robust,
        "not-robust" => Verdict::NotRobust,
        "race" => Verdict::Race,
        "assertion" => Verdict::Assertion,
        "deadlock" => Verdict::Deadlock,
        other => panic!("{file}: there is no verdict `{other}`"),
    }
}

fn model(target: Target) -> Model {
    match target {
        Target::Sc => Model::Sc,
        Target::Ra => Model::Ra,
        Target::Rc20 => Model::Rc20,
        Target::Tso => Model::Tso,
    }
}

fn check(entry: &Entry, target: Target, reductions: Reductions) -> Verdict {
    let parsed = parse(entry.source.as_bytes(), &entry.path.to_string_lossy()).expect("it parses");
    let machine = Machine::new(lower(&parsed.program, target));
    let deadlock = entry.flags.iter().any(|flag| flag == "--deadlock");
    let answer = decide(&machine, target, &reductions.plan(deadlock), &|_| ());
    let Some(found) = answer.found else {
        return if answer.limit.is_some() { Verdict::GaveUp } else { Verdict::Robust };
    };
    if let Err(unconfirmed) = witness(&machine, &entry.source, model(target), &found) {
        panic!("{} under {target}: {found:?} has no witness: {unconfirmed}", entry.name);
    }
    verdict(found.violation)
}

/// Checks all programs with these reductions and compares.
#[track_caller]
fn compare(reductions: Reductions, leave_out: &[&str]) {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for entry in entries() {
        if leave_out.contains(&entry.name.as_str()) {
            continue;
        }
        for &(target, expected) in &entry.expected {
            let verdict = check(&entry, target, reductions);
            compared += 1;
            if verdict != expected {
                wrong.push(format!("{} under {target}: {verdict:?}, not {expected:?}", entry.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} verdicts are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 300, "only {compared} verdicts");
}

#[test]
fn every_program_has_the_verdicts_of_its_header() {
    let slow: &[&str] = if slow_too() { &[] } else { &SLOW };
    compare(USUAL, slow);
}

#[test]
fn the_lists_of_exceptions_are_exact() {
    let entries = entries();
    for name in SLOW {
        assert!(entries.iter().any(|entry| entry.name == name), "{name} is not in the corpus");
    }
    for entry in entries {
        let wants_more = entry.flags.iter().any(|flag| flag == "--deadlock");
        let expects = entry.expected.iter().any(|(_, verdict)| *verdict == Verdict::Deadlock);
        assert!(wants_more || !expects, "{}: no deadlock without --deadlock", entry.name);
    }
}
