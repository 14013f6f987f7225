//! The dynamic monitor against its definition, at every access of random SC traces: threads that come and go, every kind
//! of access, mode and fence, objects to synchronise by, plain accesses.
//!
//! ```text
//! RC20 allows what SC doesn't  =  extended witness on the graph  =  location clocks  =  thread clocks
//! ```
//!
//! `SEQCST_CASES` says how many traces to draw, `SEQCST_SEED` which one is the first. A disagreement is a bug in one of
//! the two sides. The message has a trace that shows it, made as small as possible.

mod definition;
mod draw;
mod examples;
mod monitors;
mod trace;

use draw::Shape;
use monitors::{ALL, Slots, location_clocks, thread_clocks};
use std::cell::Cell;
use trace::{Happened, Happening, Trace};

/// For definitions that add every possible event to a graph and ask the axioms,
const TINY: Shape = Shape { least: 6, most: 20 };
/// for definitions on a graph,
const SHORT: Shape = Shape { least: 8, most: 50 };
/// and for monitors among themselves.
const LONG: Shape = Shape { least: 50, most: 600 };

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")))
}

/// Draws traces and compares, answer by answer, what both sides say about them. `asked` are the happenings that there is
/// an answer for. Gives how many there were, and how many of them were yes.
#[track_caller]
fn compare(
    what: &str,
    (cases, shape): (u64, Shape),
    asked: impl Fn(&Happened) -> bool,
    agree: impl Fn(&[Happening]) -> [Vec<bool>; 2],
) -> (usize, usize) {
    let cases = variable("SEQCST_CASES").unwrap_or(cases);
    let first = variable("SEQCST_SEED").unwrap_or(0);
    let (mut questions, mut yes) = (0, 0);
    // The first step about which they don't agree.
    let differ = |trace: &Trace| {
        let run = trace.run();
        let answers = agree(&run);
        let asked = run.iter().filter(|happening| asked(&happening.what));
        let differ = asked.zip(answers[0].iter().zip(&answers[1])).find(|(_, (a, b))| a != b);
        (differ.map(|(happening, (&a, &b))| (happening.step, a, b)), answers)
    };
    for seed in first..first + cases {
        let mut trace = Trace::draw(seed, shape);
        let (wrong, answers) = differ(&trace);
        questions += answers[0].len();
        yes += answers[0].iter().filter(|&&yes| yes).count();
        if let Some(mut wrong) = wrong {
            loop {
                let smaller = trace.smaller().find_map(|smaller| Some((differ(&smaller).0?, smaller)));
                let Some(smaller) = smaller else { break };
                (wrong, trace) = smaller;
            }
            let (step, a, b) = wrong;
            panic!(
                "{what}, at step {step}: {a} and {b}\n{trace}to reproduce: SEQCST_SEED={seed} SEQCST_CASES=1"
            );
        }
        assert_eq!(answers[0].len(), answers[1].len(), "{what}: one answer for every question, seed {seed}");
    }
    println!("{what}: {cases} traces, {questions} accesses, {yes} of them yes");
    // The test is worth something.
    if cases >= 200 {
        assert!(yes * 200 > questions && yes * 2 < questions, "{yes} of {questions}");
    }
    (questions, yes)
}

fn attempts(what: &Happened) -> bool {
    matches!(what, Happened::Tried(_))
}

fn accesses(what: &Happened) -> bool {
    matches!(what, Happened::Did(..) | Happened::Touched { .. })
}

#[test]
fn witnesses_are_what_rc20_allows_and_sc_does_not() {
    compare("axioms and witness", (300, TINY), attempts, |run| {
        [definition::escapes(run), definition::witnesses(run)]
    });
}

#[test]
fn location_clocks_find_the_witnesses() {
    compare("witness and location clocks", (1_500, SHORT), attempts, |run| {
        [definition::witnesses(run), location_clocks(run)]
    });
}

#[test]
fn thread_clocks_find_the_witnesses() {
    compare("witness and thread clocks", (1_500, SHORT), attempts, |run| {
        [definition::witnesses(run), thread_clocks(run, ALL, Slots::Fresh).stale]
    });
}

#[test]
fn thread_clocks_are_location_clocks() {
    compare("location clocks and thread clocks", (1_000, LONG), attempts, |run| {
        [location_clocks(run), thread_clocks(run, ALL, Slots::Fresh).stale]
    });
}

#[test]
fn slots_can_be_used_again() {
    compare("location clocks and thread clocks in few slots", (1_000, LONG), attempts, |run| {
        [location_clocks(run), thread_clocks(run, ALL, Slots::Reused).stale]
    });
    compare("races in few slots", (1_000, LONG), accesses, |run| {
        [Slots::Fresh, Slots::Reused].map(|slots| thread_clocks(run, ALL, slots).races)
    });
}

#[test]
fn forgetting_misses_but_never_invents() {
    let mut all = Vec::new();
    for history in [1, 2, 4, 8] {
        let missed = Cell::new(0);
        let what = format!("all that {history} moments report is there");
        let (_, yes) = compare(&what, (300, LONG), attempts, |run| {
            let found = location_clocks(run);
            let reported = thread_clocks(run, history, Slots::Reused).stale;
            let misses =
                found.iter().zip(&reported).filter(|(found, reported)| **found && !**reported).count();
            missed.set(missed.get() + misses);
            let allowed = found.iter().zip(reported).map(|(&found, reported)| found || reported).collect();
            [found, allowed]
        });
        println!("history {history}: {} of {yes} missed", missed.get());
        all.push(missed.get());
    }
    assert!(all.is_sorted_by(|a, b| a >= b), "remembering more finds more: {all:?}");
}

#[test]
fn races_are_what_happens_before_leaves_unordered() {
    compare("races", (1_500, SHORT), accesses, |run| {
        [definition::races(run), thread_clocks(run, ALL, Slots::Fresh).races]
    });
}
