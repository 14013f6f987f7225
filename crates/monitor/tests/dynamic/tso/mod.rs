//! The dynamic monitor for x86 against its definition, at every plain load of random SC traces.
//!
//! ```text
//! TSO allows what SC doesn't  =  witness on the graph  =  thread clocks
//! ```

mod definition;
pub mod monitors;

use crate::draw::Shape;
use crate::monitors::Slots;
use crate::{attempts, compare, found, if_true, ordering};
use definition::{escapes, witnesses};
use monitors::{Limits, accesses_only, finite, last_writes, thread_clocks};
use std::cell::Cell;

// Updates are rare: they leave nothing in a buffer.
const TINY: Shape = Shape { least: 12, most: 30, updates: 6, sc: 12 };
const SHORT: Shape = Shape { updates: 6, ..crate::SHORT };
const LONG: Shape = Shape { updates: 6, ..crate::LONG };

/// They remember all that happens in a trace.
const EXACT: Limits = Limits { history: 1 << 20, slots: Slots::Fresh, blur: usize::MAX, believe: false };

#[test]
fn witnesses_are_what_tso_allows_and_sc_does_not() {
    compare("TSO axioms and witness", (5_000, TINY), attempts, |run| [escapes(run), witnesses(run)]);
}

#[test]
fn thread_clocks_are_what_tso_allows_and_sc_does_not() {
    compare("TSO axioms and thread clocks", (5_000, TINY), attempts, |run| {
        [escapes(run), found(&thread_clocks(run, EXACT))]
    });
}

#[test]
fn thread_clocks_find_the_witnesses() {
    compare("TSO witness and thread clocks", (10_000, SHORT), attempts, |run| {
        [witnesses(run), found(&thread_clocks(run, EXACT))]
    });
}

/// The finite-state monitor looks at the last write alone: every other one is the last in another run that it sees, too.
#[test]
fn thread_clocks_are_the_finite_monitor() {
    compare("finite TSO monitor and thread clocks", (10_000, SHORT), attempts, |run| {
        let run = accesses_only(run);
        let clocks = thread_clocks(&run, EXACT).into_iter().zip(last_writes(&run));
        let last = clocks.map(|(stale, last)| stale.is_some_and(|stale| stale.missed == last));
        [finite(&run), last.collect()]
    });
}

/// All that is reported is true, but not all that is true is reported. Gives how much is missed.
fn misses(what: &str, limits: Limits) -> usize {
    let reports = Cell::new(0);
    let all = compare(&format!("TSO reports with {what}"), (300, LONG), attempts, |run| {
        let truth = thread_clocks(&ordering(run, limits.believe), EXACT);
        let reported = thread_clocks(run, limits);
        reports.set(reports.get() + reported.iter().flatten().count());
        let allowed = if_true(&truth, &reported);
        [truth, allowed]
    });
    println!("TSO with {what}: {} of {all} missed", all - reports.get());
    all - reports.get()
}

#[test]
fn forgetting_misses_but_never_invents() {
    let missed =
        [1, 2, 4, 8, 16].map(|history| misses(&format!("{history} writes"), Limits { history, ..EXACT }));
    assert!(missed.is_sorted_by(|a, b| a >= b), "remembering more finds more: {missed:?}");
    assert_eq!(misses("slots used again", Limits { slots: Slots::Reused, ..EXACT }), 0);
    misses("slots taken from who was never joined", Limits { slots: Slots::Taken, ..EXACT });
    for blur in [0, 3, 20] {
        misses(&format!("a location that is blurred after {blur} accesses"), Limits { blur, ..EXACT });
    }
    misses("an object that is only believed to order", Limits { believe: true, ..EXACT });
}
