//! The dynamic monitor against its definition, at every access of random SC traces: threads that come and go, every kind
//! of access, mode and fence, objects to synchronise by, plain accesses. `rc11` does the same for
//! RC11, `tso` for x86.
//!
//! ```text
//! RC20 allows what SC doesn't  =  extended witness on the graph  =  location clocks  =  thread clocks
//! ```
//!
//! A disagreement is a bug in one of the two sides. The message has a trace that shows it, made as small as possible.

mod definition;
mod draw;
mod examples;
mod monitors;
mod rc11;
mod trace;
mod tso;

use draw::Shape;
use monitors::{EXACT, Limits, Slots, location_clocks, thread_clocks};
use seqcst_model::Model;
use seqcst_monitor::clocks::Stale;
use seqcst_testing::drawn;
use std::cell::Cell;
use std::fmt::Debug;
use trace::{Happened, Happening, ScAccesses, Trace};

/// For definitions that add every possible event to a graph and ask the axioms,
const TINY: Shape = Shape { least: 6, most: 20, updates: 1, sc: 12 };
/// for definitions on a graph,
const SHORT: Shape = Shape { least: 8, most: 50, updates: 1, sc: 12 };
/// and for monitors among themselves.
const LONG: Shape = Shape { least: 50, most: 600, updates: 1, sc: 12 };

const REUSED: Limits = Limits { slots: Slots::Reused, ..EXACT };
const TAKEN: Limits = Limits { slots: Slots::Taken, ..EXACT };

/// Draws traces and compares, answer by answer, what both sides say about them. `asked` are the happenings that there is
/// an answer for. Gives how many answers were not "no", which is the default.
#[track_caller]
fn compare<T: PartialEq + Default + Debug>(
    what: &str,
    (cases, shape): (u64, Shape),
    asked: impl Fn(&Happened) -> bool,
    answer: impl Fn(&[Happening]) -> [Vec<T>; 2],
) -> usize {
    // If told how many: so many traces, and a tenth of that where they are long.
    let share = if shape.most > SHORT.most { 10 } else { 1 };
    let cases = drawn::cases(cases * share) / share;
    let sc = if shape.sc < 12 { ScAccesses::AsWritten } else { ScAccesses::AfterFences };
    let (mut questions, mut yes) = (0, 0);
    // What is wrong at the first step about which they don't agree.
    let differ = |run: &[Happening], [left, right]: &[Vec<T>; 2]| {
        let steps: Vec<_> = run.iter().filter(|happening| asked(&happening.what)).map(|h| h.step).collect();
        assert_eq!([left.len(), right.len()], [steps.len(); 2], "{what}: one answer for every question");
        let at = (0..steps.len()).find(|&at| left[at] != right[at])?;
        Some(format!("at step {}: {:?} and {:?}", steps[at], left[at], right[at]))
    };
    for seed in drawn::seeds(cases) {
        let trace = Trace::draw(seed, shape);
        let run = trace.run(sc);
        let answers = answer(&run);
        if differ(&run, &answers).is_some() {
            let (trace, wrong) = shrink(trace, sc, |run| differ(run, &answer(run)));
            panic!("{what}, {wrong}\n{trace}to reproduce: SEQCST_SEED={seed} SEQCST_CASES=1");
        }
        questions += answers[0].len();
        yes += answers[0].iter().filter(|&answer| *answer != T::default()).count();
    }
    println!("{what}: {cases} traces, {questions} accesses, {yes} of them yes");
    // The test is worth something.
    assert!(cases < 200 || yes * 200 > questions && yes * 2 < questions, "{yes} of {questions}");
    yes
}

/// Takes away what is not needed for the disagreement.
fn shrink(
    mut trace: Trace,
    sc: ScAccesses,
    wrong: impl Fn(&[Happening]) -> Option<String>,
) -> (Trace, String) {
    loop {
        let smaller = trace.smaller().find(|smaller| wrong(&smaller.run(sc)).is_some());
        match smaller {
            Some(smaller) => trace = smaller,
            None => {
                let wrong = wrong(&trace.run(sc)).unwrap_or_default();
                return (trace, wrong);
            }
        }
    }
}

fn attempts(what: &Happened) -> bool {
    matches!(what, Happened::Tried(_))
}

fn accesses(what: &Happened) -> bool {
    matches!(what, Happened::Did(..) | Happened::Touched { .. })
}

/// Whether something was found, no matter what.
fn found(answers: &[Option<Stale>]) -> Vec<bool> {
    answers.iter().map(Option::is_some).collect()
}

#[test]
fn witnesses_are_what_rc20_allows_and_sc_does_not() {
    compare("axioms and witness", (1_000, TINY), attempts, |run| {
        [definition::escapes(run, Model::Rc20), definition::witnesses(run)]
    });
}

#[test]
fn location_clocks_find_the_witnesses() {
    compare("witness and location clocks", (3_000, SHORT), attempts, |run| {
        [definition::witnesses(run), found(&location_clocks(run))]
    });
}

#[test]
fn thread_clocks_find_the_witnesses() {
    compare("witness and thread clocks", (3_000, SHORT), attempts, |run| {
        [definition::witnesses(run), found(&thread_clocks(run, EXACT).stale)]
    });
}

#[test]
fn thread_clocks_are_location_clocks() {
    compare("location clocks and thread clocks", (2_000, LONG), attempts, |run| {
        [location_clocks(run), thread_clocks(run, EXACT).stale]
    });
}

#[test]
fn races_are_what_happens_before_leaves_unordered() {
    compare("races", (3_000, SHORT), accesses, |run| {
        [definition::races(run, Model::Rc20), thread_clocks(run, EXACT).races]
    });
}

#[test]
fn slots_can_be_used_again() {
    compare("location clocks and thread clocks in few slots", (1_000, LONG), attempts, |run| {
        [location_clocks(run), thread_clocks(run, REUSED).stale]
    });
    compare("races in few slots", (1_000, LONG), accesses, |run| {
        [EXACT, REUSED].map(|limits| thread_clocks(run, limits).races)
    });
}

/// What is ordered in truth: nothing by object 0 where it is only believed in.
fn ordering(run: &[Happening], believe: bool) -> Vec<Happening> {
    let orders = |happening: &&Happening| !(believe && matches!(happening.what, Happened::Acquired(0)));
    run.iter().filter(orders).cloned().collect()
}

/// The truth where it allows the report, no matter whether there is one, else the report.
fn if_true(truth: &[Option<Stale>], reported: &[Option<Stale>]) -> Vec<Option<Stale>> {
    let fits = |truth: Stale, report: Stale| {
        truth.known <= report.known && report.known < report.missed && report.missed <= truth.missed
    };
    let allowed = |(&truth, &report): (&Option<Stale>, &Option<Stale>)| match (truth, report) {
        (Some(_), None) => truth,
        (Some(stale), Some(report)) if fits(stale, report) => truth,
        _ => report,
    };
    truth.iter().zip(reported).map(allowed).collect()
}

/// All that is reported is true, but not all that is true is reported. Gives how much of what there is is missed.
fn misses(what: &str, limits: Limits) -> usize {
    let reports = Cell::new(0);
    let all = compare(&format!("reports with {what}"), (300, LONG), attempts, |run| {
        let truth = location_clocks(&ordering(run, limits.believe));
        let reported = thread_clocks(run, limits).stale;
        reports.set(reports.get() + reported.iter().flatten().count());
        let allowed = if_true(&truth, &reported);
        [truth, allowed]
    });
    println!("{what}: {} of {all} missed", all - reports.get());
    all - reports.get()
}

#[test]
fn forgetting_misses_but_never_invents() {
    let moments = |history| misses(&format!("{history} moments"), Limits { history, ..REUSED });
    let missed = [1, 2, 4, 8].map(moments);
    assert!(missed.is_sorted_by(|a, b| a >= b), "remembering more finds more: {missed:?}");
    assert_eq!(misses("all moments", REUSED), 0);
    misses("slots taken from who was never joined", TAKEN);
    misses("slots taken from who was never joined and 4 moments", Limits { history: 4, ..TAKEN });
    for blur in [0, 3, 20] {
        misses(&format!("a location that is blurred after {blur} accesses"), Limits { blur, ..REUSED });
    }
    misses("an object that is only believed to order", Limits { believe: true, ..REUSED });
}

#[test]
fn forgetting_invents_no_races() {
    let reports = Cell::new(0);
    let all = compare("races with slots taken from who was never joined", (300, LONG), accesses, |run| {
        let truth = thread_clocks(run, EXACT).races;
        let reported = thread_clocks(run, TAKEN).races;
        reports.set(reports.get() + reported.iter().filter(|&&race| race).count());
        let allowed = truth.iter().zip(reported).map(|(&truth, report)| truth || report).collect();
        [truth, allowed]
    });
    println!("races with slots taken: {} of {all} missed", all - reports.get());
}
