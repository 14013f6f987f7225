//! Every witness is what it claims to be. The graph is rebuilt from nothing but the labels and edges of the report, and
//! the plain definitions are asked about it.

mod rebuild;

use rebuild::confirm;
use seqcst_explore::robustness::{Plan, decide};
use seqcst_explore::states::{Limits, Options};
use seqcst_explore::witness::witness;
use seqcst_model::Model;
use seqcst_model::sample::Random;
use seqcst_program::semantics::Machine;
use seqcst_program::{Target, lower, parse};
use seqcst_report::{Problem, Witness};
use std::path::{Path, PathBuf};

fn model(target: Target) -> Model {
    target.name().parse().expect("every target is a model")
}

fn plan(abstraction: bool) -> Plan {
    let search =
        Options { limits: Limits::default(), workers: 1, symmetry: true, independence: true, clash: false };
    Plan { search, abstraction, deadlock: false }
}

/// The witness that a search for violations of `source` comes back with, confirmed.
fn check(source: &str, name: &str, target: Target, abstraction: bool) -> Option<Witness> {
    let parsed = parse(source.as_bytes(), name).unwrap_or_else(|e| panic!("{name}: {e}\n{source}"));
    let machine = Machine::new(lower(&parsed.program, target));
    let plan = plan(abstraction);
    let found = decide(&machine, target, &plan, &|_| {}).found?;
    let witness = witness(&machine, source, model(target), &found)
        .unwrap_or_else(|e| panic!("{name} under {target}: {e}\n{source}"));
    if let Err(why) = confirm(&witness, source, model(target)) {
        panic!("{name} under {target}: {why}\n{witness:#?}\n{source}");
    }
    Some(witness)
}

fn kind(witness: &Witness) -> &'static str {
    match witness.problem {
        Problem::Stale { .. } => "not-robust",
        Problem::Race { .. } => "race",
        Problem::Assertion { .. } => "assertion",
        Problem::Deadlock { .. } => "deadlock",
        Problem::Unproved { .. } => "unproved",
    }
}

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let files = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        entries.map(|entry| entry.expect("a readable directory").path()).collect()
    };
    let mut all: Vec<PathBuf> =
        files(&root).iter().filter(|folder| folder.is_dir()).flat_map(|folder| files(folder)).collect();
    // The others are for the sanitizer.
    all.retain(|file| file.extension().is_some_and(|kind| kind == "tpl" || kind == "litmus"));
    all.sort();
    all
}

/// All programs of the corpus that are not robust, have a race or a failing assertion.
#[test]
fn corpus_programs() {
    let mut confirmed = 0;
    for file in corpus() {
        let source = std::fs::read_to_string(&file).expect("corpus files are text");
        let name = file.display().to_string();
        if source.contains("//@ flags:") {
            continue;
        }
        for target in Target::ALL {
            let header = format!("//@ {target}: ");
            let verdict = source.lines().find_map(|line| line.strip_prefix(header.as_str()));
            let Some(expected @ ("not-robust" | "race" | "assertion")) = verdict.map(str::trim) else {
                continue;
            };
            for abstraction in [false, true] {
                let Some(witness) = check(&source, &name, target, abstraction) else {
                    // Races are judged by the monitor or the explorer: whether they are looked for at all is theirs.
                    assert_eq!(expected, "race", "{name} under {target}: no violation found");
                    continue;
                };
                assert_eq!(kind(&witness), expected, "{name} under {target}");
                confirmed += 1;
            }
        }
    }
    assert!(confirmed > 100, "only {confirmed} witnesses");
}

fn stale_label(source: &str, target: Target) -> String {
    let witness = check(source, "test.tpl", target, false).expect("a violation");
    assert_eq!(kind(&witness), "not-robust");
    witness.events.last().expect("an access").label.clone()
}

#[test]
fn a_wait_reads_a_value_that_it_waits_for() {
    let source = "global x, y;
        fn a { x.store(1, rlx); x.store(2, rlx); x.store(3, rlx); y.store(1, rlx); }
        fn b { local r; wait(y, 1, rlx); wait(x, 2, rlx); }";
    assert_eq!(stale_label(source, Target::Rc20), "R.rlx x 2");
}

#[test]
fn a_strong_cas_fails_on_an_older_value() {
    let source = "global x, y;
        fn a { x.store(1, rlx); y.store(1, rlx); }
        fn b { local r; wait(y, 1, rlx); r = CAS(x, 1, 2, rlx, rlx); }";
    assert_eq!(stale_label(source, Target::Rc20), "R.rlx x 0");
}

#[test]
fn a_store_lands_too_early() {
    let source = "global x, y;
        fn a { x.store(1); y.store(2); }
        fn b { y.store(1); x.store(2); }";
    assert!(stale_label(source, Target::Ra).starts_with("W.rel"));
    assert!(check(source, "2+2w.tpl", Target::Tso, false).is_none());
}

/// What other threads do that nobody sees is left out.
#[test]
fn runs_are_cut_down_to_what_matters() {
    let source = "global x, y, z;
        fn noise { z.store(1); z.store(2); z.store(3); }
        fn a { local r; x.store(1); r = y.load(); }
        fn b { local r; y.store(1); r = x.load(); }";
    for target in [Target::Ra, Target::Rc20, Target::Tso] {
        let witness = check(source, "sb.tpl", target, false).expect("store buffering");
        assert_eq!(witness.events.len(), 2 + 4);
    }
}

/// A run far longer than a graph of one word per row.
#[test]
fn long_runs() {
    let source = "max_value 200; global x, y, c;
        fn a { local i, r; while (i < 150) { i = FADD(c, 1); } x.store(1); r = y.load(); }
        fn b { local i, r; while (i < 150) { i = c.load(); } y.store(1); r = x.load(); }";
    for target in [Target::Ra, Target::Rc20, Target::Tso] {
        let parsed = parse(source.as_bytes(), "long.tpl").expect("a program");
        let machine = Machine::new(lower(&parsed.program, target));
        let answer = decide(&machine, target, &plan(false), &|_| {});
        let found = answer.found.expect("store buffering");
        let witness = witness(&machine, source, model(target), &found).expect("a confirmed witness");
        assert!(witness.events.len() > 150, "{} events", witness.events.len());
    }
}

/// Fences take their places; what belongs to an SC fence is marked.
#[test]
fn fences_are_part_of_the_run() {
    let source = "global x, y;
        fn a { local r; x.store(1, rlx); fence(sc); r = y.load(rlx); }
        fn b { local r; y.store(1, rlx); fence(acq); r = x.load(rlx); }";
    let witness = check(source, "sb+fence.tpl", Target::Rc20, false).expect("store buffering");
    let labels = |hidden: bool| -> Vec<&str> {
        let all = witness.events.iter().filter(|e| e.hidden == hidden && e.label.starts_with('F'));
        all.map(|e| e.label.as_str()).collect()
    };
    assert_eq!(labels(true), ["F.acq", "F.rel"]);
    assert_eq!(labels(false), ["F.acq"]);
}

/// An acquire-release fence is one fence.
#[test]
fn an_acquire_release_fence() {
    let source = "global x, y;
        fn a { local r; x.store(1, rlx); fence(acq_rel); r = y.load(rlx); }
        fn b { local r; y.store(1, rlx); fence(acq_rel); r = x.load(rlx); }";
    let witness = check(source, "sb+acq_rel.tpl", Target::Rc20, false).expect("store buffering");
    let fences: Vec<&str> =
        witness.events.iter().map(|e| e.label.as_str()).filter(|label| label.starts_with('F')).collect();
    assert_eq!(fences, ["F.acq_rel", "F.acq_rel"]);
}

/// Whether SC would let the access pass at all.
#[test]
fn waiting_under_sc() {
    let waits = |last: &str| {
        let source = format!(
            "global x, y; fn a {{ local r; x.store(1); r = y.load(); }} fn b {{ local r; y.store(1); {last} }}"
        );
        let witness = check(&source, "sb.tpl", Target::Rc20, false).expect("store buffering");
        matches!(witness.problem, Problem::Stale { waits: true, .. })
    };
    assert!(waits("wait(x, 0);"));
    assert!(!waits("r = x.load();"));
}

/// A random program of a few statements per thread.
fn random_program(random: &mut Random) -> String {
    let mut source = String::from("max_value 2; global x, y, z;\n");
    let location = |random: &mut Random| ["x", "y", "z"][random.below(3)];
    let mode = |random: &mut Random, modes: &[&'static str]| modes[random.below(modes.len())];
    for thread in 0..2 + random.below(2) {
        source.push_str(&format!("fn t{thread} {{ local r, s;\n"));
        for _ in 0..2 + random.below(3) {
            let x = location(random);
            let (value, other) = (random.below(3), random.below(3));
            let read = mode(random, &["rlx", "acq", "sc"]);
            let write = mode(random, &["rlx", "rel", "sc"]);
            let update = mode(random, &["rlx, rlx", "acq, rlx", "rlx, rel", "acq, rel"]);
            let statement = match random.below(12) {
                0..3 => format!("r = {x}.load({read});"),
                3..6 => format!("{x}.store({value}, {write});"),
                6 => format!("r = FADD({x}, {value}, {update});"),
                7 => format!("s = CAS({x}, {value}, {other}, {update});"),
                8 => format!("BCAS({x}, {value}, {other}, {update});"),
                9 => format!("wait({x}, {value}, {read});"),
                10 => format!("fence({});", mode(random, &["acq", "rel", "acq_rel", "sc"])),
                _ => format!("if (r == {value}) {{ {x}.store({other}, {write}); }}"),
            };
            source.push_str(&format!("    {statement}\n"));
        }
        source.push_str("}\n");
    }
    source
}

/// Whatever a monitor reports on random programs, the definitions confirm.
#[test]
fn random_programs() {
    let mut random = Random::new(20);
    let mut confirmed = [0; 3];
    for _ in 0..1500 {
        let source = random_program(&mut random);
        for (number, target) in [Target::Ra, Target::Rc20, Target::Tso].into_iter().enumerate() {
            confirmed[number] += usize::from(check(&source, "random.tpl", target, number == 1).is_some());
        }
    }
    assert!(confirmed.iter().all(|count| *count > 20), "{confirmed:?}");
}
