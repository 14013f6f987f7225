//! The monitors for RC11 against the definition and among themselves, at every access of random SC traces with many SC accesses
//! and fences.
//!
//! ```text
//! RC11 allows what SC doesn't  =  location clocks  =  thread clocks  =  finite-state monitor
//! what SC events come after, by the definition  =  the covers of location clocks, with none of their rules left out
//! ```

mod definition;
mod monitors;

use crate::definition::escapes;
use crate::draw::Shape;
use crate::trace::{Happened, Happening, ScAccesses, Trace};
use crate::tso::monitors::{accesses_only, last_writes};
use crate::{accesses, attempts, compare, found, if_true};
use monitors::{Told, covers, finite, location_clocks, thread_clocks};
use seqcst_model::Model;
use seqcst_monitor::clocks::Rule;
use seqcst_testing::drawn;
use std::cell::Cell;

const TINY: Shape = Shape { least: 6, most: 22, updates: 1, sc: 2 };
const SHORT: Shape = Shape { sc: 2, ..crate::SHORT };
const LONG: Shape = Shape { sc: 3, ..crate::LONG };

#[test]
fn location_clocks_are_what_rc11_allows_and_sc_does_not() {
    compare("RC11 axioms and location clocks", (3_000, TINY), attempts, |run| {
        [escapes(run, Model::Rc11), found(&location_clocks(run))]
    });
}

#[test]
fn thread_clocks_are_location_clocks() {
    for (cases, shape) in [(2_000, SHORT), (1_000, LONG)] {
        compare("RC11 location clocks and thread clocks", (cases, shape), attempts, |run| {
            [location_clocks(run), thread_clocks(run, Told::Everything).stale]
        });
    }
}

/// The finite-state monitor looks at the last write alone: every other one is the last in another run that it sees, too.
#[test]
fn the_finite_monitor_is_location_clocks() {
    compare("finite RC11 monitor and location clocks", (5_000, SHORT), attempts, |run| {
        let run = accesses_only(run);
        let clocks = location_clocks(&run).into_iter().zip(last_writes(&run));
        let last = clocks.map(|(stale, last)| stale.is_some_and(|stale| stale.missed == last));
        [finite(&run), last.collect()]
    });
}

#[test]
fn races_are_what_happens_before_leaves_unordered() {
    compare("races under RC11", (2_000, SHORT), accesses, |run| {
        [crate::definition::races(run, Model::Rc11), thread_clocks(run, Told::Everything).races]
    });
}

/// All that is reported is true, but not all that is true is reported. Gives how much is missed.
fn misses(what: &str, told: Told) -> usize {
    let reports = Cell::new(0);
    let all = compare(&format!("RC11 reports with {what}"), (300, LONG), attempts, |run| {
        let truth = location_clocks(run);
        let reported = thread_clocks(run, told).stale;
        reports.set(reports.get() + reported.iter().flatten().count());
        let allowed = if_true(&truth, &reported);
        [truth, allowed]
    });
    println!("RC11 with {what}: {} of {all} missed", all - reports.get());
    all - reports.get()
}

#[test]
fn forgetting_misses_but_never_invents() {
    let missed = [1, 2, 4, 8].map(|history| misses(&format!("{history} moments"), Told::Atomics { history }));
    assert!(missed.is_sorted_by(|a, b| a >= b), "remembering more finds more: {missed:?}");
    misses("plain accesses not seen", Told::Atomics { history: 1 << 20 });
}

fn drawn(seed: u64) -> Vec<Happening> {
    Trace::draw(seed, TINY).run(ScAccesses::AsWritten)
}

#[test]
fn covers_are_what_the_partial_sc_order_says() {
    for seed in drawn::seeds(drawn::cases(3_000)) {
        let run = drawn(seed);
        assert_eq!(definition::covers(&run), covers(&run, None), "SEQCST_SEED={seed}");
    }
}

/// Traces that show that each of the rules is needed. Where others are drawn than today, the first ones can be found anew: some
/// rules take a few thousand traces.
#[test]
fn no_rule_can_be_left_out() {
    let needed = |rule: Rule, seed: u64| {
        let run = drawn(seed);
        covers(&run, None) != covers(&run, Some(rule))
    };
    for (rule, shown_by) in Rule::ALL.into_iter().zip(SHOWN_BY) {
        let first = || (0..100_000).find(|&seed| needed(rule, seed));
        assert!(needed(rule, shown_by), "{rule:?} is needed at {:?} first", first());
    }
}

/// In the order of the rules.
const SHOWN_BY: [u64; 15] = [1, 46, 1199, 366, 267, 107, 873, 0, 10, 3069, 363, 48, 116, 334, 1];

/// The happenings that are SC events.
fn is_sc(happening: &Happening) -> bool {
    use seqcst_model::Mode::SeqCst;
    match &happening.what {
        Happened::Did(action, outcome) => action.mode_of(*outcome) == SeqCst,
        Happened::Fenced(mode) => *mode == SeqCst,
        _ => false,
    }
}
