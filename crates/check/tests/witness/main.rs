//! Every witness is what it claims to be. The graph is rebuilt from nothing but the labels and edges of the report, and
//! the plain definitions are asked about it.

mod rebuild;

use rebuild::confirm;
use seqcst_check::answer::Source;
use seqcst_check::robustness::{Plan, decide};
use seqcst_check::states::{Limits, Options};
use seqcst_check::witness::witness;
use seqcst_model::Model;
use seqcst_model::sample::Random;
use seqcst_program::semantics::Machine;
use seqcst_program::{lower, parse};
use seqcst_report::{Problem, Witness};
use seqcst_testing::corpus::{self, Verdict};

fn plan(abstraction: bool, deadlock: bool) -> Plan {
    let search =
        Options { limits: Limits::default(), workers: 1, symmetry: true, independence: true, clash: false };
    Plan { search, abstraction, deadlock }
}

/// The witness that a search for violations of `source` comes back with, confirmed.
fn check(source: &str, name: &str, model: Model, abstraction: bool) -> Option<Witness> {
    check_with(source, name, model, &plan(abstraction, false))
}

fn check_with(source: &str, name: &str, model: Model, plan: &Plan) -> Option<Witness> {
    let parsed = parse(source.as_bytes(), name).unwrap_or_else(|e| panic!("{name}: {e}\n{source}"));
    let machine =
        Machine::new(lower(&parsed.program, model).expect("programs are checked against this model"));
    let found = decide(&machine, plan, &|_| {}).found?;
    let witness = witness(&machine, Source { file: name, text: source }, model, &found)
        .unwrap_or_else(|e| panic!("{name} under {model}: {e}\n{source}"));
    if let Err(why) = confirm(&witness, source, model) {
        panic!("{name} under {model}: {why}\n{witness:#?}\n{source}");
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

/// All programs of the corpus that are not robust, have a race, a failing assertion or a deadlock.
#[test]
fn corpus_programs() {
    let mut confirmed = 0;
    for program in corpus::finite_state().unwrap_or_else(|why| panic!("{why}")) {
        let name = program.path.display().to_string();
        for model in Model::WATCHED {
            let expected = program.header.verdict(model.name()).expect("one for every model");
            if expected == Verdict::Robust {
                continue;
            }
            for abstraction in [false, true] {
                let plan = plan(abstraction, program.header.deadlock);
                let Some(witness) = check_with(&program.text, &name, model, &plan) else {
                    // Races are judged by the monitor or the explorer: whether they are looked for at all is theirs.
                    assert_eq!(expected, Verdict::Race, "{name} under {model}: no violation found");
                    continue;
                };
                assert_eq!(kind(&witness), expected.name(), "{name} under {model}");
                confirmed += 1;
            }
        }
    }
    assert!(confirmed > 100, "only {confirmed} witnesses");
}

fn stale_label(source: &str, model: Model) -> String {
    let witness = check(source, "test.tpl", model, false).expect("a violation");
    assert_eq!(kind(&witness), "not-robust");
    witness.events.last().expect("an access").label()
}

#[test]
fn a_wait_reads_a_value_that_it_waits_for() {
    let source = "global x, y;
        fn a { x.store(1, rlx); x.store(2, rlx); x.store(3, rlx); y.store(1, rlx); }
        fn b { local r; wait(y, 1, rlx); wait(x, 2, rlx); }";
    assert_eq!(stale_label(source, Model::Rc20), "R.rlx x 2");
}

#[test]
fn a_strong_cas_fails_on_an_older_value() {
    let source = "global x, y;
        fn a { x.store(1, rlx); y.store(1, rlx); }
        fn b { local r; wait(y, 1, rlx); r = CAS(x, 1, 2, rlx, rlx); }";
    assert_eq!(stale_label(source, Model::Rc20), "R.rlx x 0");
}

#[test]
fn a_store_lands_too_early() {
    let source = "global x, y;
        fn a { x.store(1); y.store(2); }
        fn b { y.store(1); x.store(2); }";
    assert!(stale_label(source, Model::Ra).starts_with("W.rel"));
    assert!(check(source, "2+2w.tpl", Model::Tso, false).is_none());
}

/// What other threads do that nobody sees is left out.
#[test]
fn runs_are_cut_down_to_what_matters() {
    let source = "global x, y, z;
        fn noise { z.store(1); z.store(2); z.store(3); }
        fn a { local r; x.store(1); r = y.load(); }
        fn b { local r; y.store(1); r = x.load(); }";
    for model in [Model::Ra, Model::Rc20, Model::Tso] {
        let witness = check(source, "sb.tpl", model, false).expect("store buffering");
        assert_eq!(witness.events.len(), 2 + 4);
    }
}

/// A run far longer than a graph of one word per row.
#[test]
fn long_runs() {
    let source = "max_value 200; global x, y, c;
        fn a { local i, r; while (i < 150) { i = FADD(c, 1); } x.store(1); r = y.load(); }
        fn b { local i, r; while (i < 150) { i = c.load(); } y.store(1); r = x.load(); }";
    for model in [Model::Ra, Model::Rc20, Model::Tso] {
        let parsed = parse(source.as_bytes(), "long.tpl").expect("a program");
        let machine =
            Machine::new(lower(&parsed.program, model).expect("programs are checked against this model"));
        let answer = decide(&machine, &plan(false, false), &|_| {});
        let found = answer.found.expect("store buffering");
        let witness = witness(&machine, Source { file: "test.tpl", text: source }, model, &found)
            .expect("a confirmed witness");
        assert!(witness.events.len() > 150, "{} events", witness.events.len());
    }
}

/// Fences take their places; what belongs to an SC fence is marked.
#[test]
fn fences_are_part_of_the_run() {
    let source = "global x, y;
        fn a { local r; x.store(1, rlx); fence(sc); r = y.load(rlx); }
        fn b { local r; y.store(1, rlx); fence(acq); r = x.load(rlx); }";
    let witness = check(source, "sb+fence.tpl", Model::Rc20, false).expect("store buffering");
    let labels = |hidden: bool| -> Vec<String> {
        let all = witness.events.iter().filter(|e| e.hidden == hidden && e.is_fence());
        all.map(|e| e.label()).collect()
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
    let witness = check(source, "sb+acq_rel.tpl", Model::Rc20, false).expect("store buffering");
    let fences: Vec<String> = witness.events.iter().filter(|e| e.is_fence()).map(|e| e.label()).collect();
    assert_eq!(fences, ["F.acq_rel", "F.acq_rel"]);
}

/// Whether SC would let the access pass at all.
#[test]
fn waiting_under_sc() {
    let waits = |last: &str| {
        let source = format!(
            "global x, y; fn a {{ local r; x.store(1); r = y.load(); }} fn b {{ local r; y.store(1); {last} }}"
        );
        let witness = check(&source, "sb.tpl", Model::Rc20, false).expect("store buffering");
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
        for (number, model) in [Model::Ra, Model::Rc20, Model::Tso].into_iter().enumerate() {
            confirmed[number] += usize::from(check(&source, "random.tpl", model, number == 1).is_some());
        }
    }
    assert!(confirmed.iter().all(|count| *count > 20), "{confirmed:?}");
}
