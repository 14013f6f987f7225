//! The programs that the paper (\[RSAN25]) explains the monitor with, each as one SC run: whether its last access could be
//! stale, by definition and by every monitor.

use crate::definition::{escapes, witnesses};
use crate::found;
use crate::monitors::{EXACT, location_clocks, thread_clocks};
use crate::trace::{MODULUS, Step, Trace, What};
use seqcst_model::Mode::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use seqcst_model::{Action, Loc, Mode, Op, Value};

const X: Loc = Loc(0);
const Y: Loc = Loc(1);

fn act(thread: usize, op: Op, loc: Loc, mode: Mode) -> Step {
    Step { thread, what: What::Do(Action { op, loc, mode, failure: None, site: 0 }) }
}

fn load(thread: usize, loc: Loc, mode: Mode) -> Step {
    act(thread, Op::Load, loc, mode)
}

fn store(thread: usize, loc: Loc, value: Value, mode: Mode) -> Step {
    act(thread, Op::Store(value), loc, mode)
}

fn add(thread: usize, loc: Loc) -> Step {
    act(thread, Op::FetchAdd { operand: 1, modulus: MODULUS }, loc, AcqRel)
}

fn wait(thread: usize, loc: Loc, value: Value) -> Step {
    act(thread, Op::Wait(vec![value]), loc, Acquire)
}

fn fence(thread: usize, mode: Mode) -> Step {
    act(thread, Op::Fence, X, mode)
}

/// Two threads, 1 and 2, take these steps. The last one is stale or not, the others aren't.
#[track_caller]
fn last_is_stale(expected: bool, steps: impl IntoIterator<Item = Step>) {
    let create = |child| Step { thread: 0, what: What::Create(child) };
    let trace = Trace([create(1), create(2)].into_iter().chain(steps).collect());
    let run = trace.run(crate::trace::ScAccesses::AfterFences);
    let answers = [
        ("axioms", escapes(&run, seqcst_model::Model::Rc20)),
        ("definition", witnesses(&run)),
        ("location clocks", found(&location_clocks(&run))),
        ("thread clocks", found(&thread_clocks(&run, EXACT).stale)),
    ];
    for (who, mut answers) in answers {
        assert_eq!(answers.pop(), Some(expected), "{who}\n{trace}");
        assert!(!answers.contains(&true), "{who}: too early\n{trace}");
    }
}

#[test]
fn store_buffering() {
    let run = |mode_store, mode_load| {
        [store(1, X, 1, mode_store), load(1, Y, mode_load), store(2, Y, 1, mode_store), load(2, X, mode_load)]
    };
    last_is_stale(true, run(Release, Acquire));
    last_is_stale(true, run(Relaxed, Relaxed));
    last_is_stale(false, run(SeqCst, SeqCst));
    let [a, b, c, d] = run(Relaxed, Relaxed);
    last_is_stale(false, [a, fence(1, SeqCst), b, c, fence(2, SeqCst), d]);
}

#[test]
fn message_passing() {
    let run = |release, acquire| {
        [store(1, X, 1, Relaxed), store(1, Y, 1, release), load(2, Y, acquire), load(2, X, Relaxed)]
    };
    last_is_stale(false, run(Release, Acquire));
    last_is_stale(true, run(Relaxed, Acquire));
    last_is_stale(true, run(Release, Relaxed));
    let [a, b, c, d] = run(Relaxed, Relaxed);
    last_is_stale(false, [a, fence(1, Release), b, c, fence(2, Acquire), d]);
}

/// Ex. 3.1: what thread 1 does last hides nothing.
#[test]
fn prediction() {
    last_is_stale(
        true,
        [
            store(1, X, 1, Release),
            load(1, Y, Acquire),
            store(1, X, 2, Release),
            store(2, Y, 1, Release),
            load(2, X, Acquire),
        ],
    );
}

/// §4.1: a write can't come between an RMW and what it reads.
#[test]
fn updates() {
    let run = |first, last| [first, load(1, Y, Acquire), store(2, Y, 1, Release), last];
    last_is_stale(true, run(add(1, X), load(2, X, Acquire)));
    last_is_stale(false, run(add(1, X), store(2, X, 2, Release)));
    last_is_stale(false, run(add(1, X), add(2, X)));
    last_is_stale(true, run(store(1, X, 1, Release), add(2, X)));
    last_is_stale(true, run(store(1, X, 1, Release), store(2, X, 2, Release)));
}

/// §4.3: barriers that wait for 1 (robust), for 2 (robust) and for 0 (not robust, though no SC run gets through).
#[test]
fn barriers() {
    let run =
        |value| [store(1, X, 1, Release), load(1, Y, Acquire), store(2, Y, 1, Release), wait(2, X, value)];
    last_is_stale(false, run(1));
    last_is_stale(false, run(2));
    last_is_stale(true, run(0));
}

/// A strong compare-and-swap fails on any other value, and succeeds only where no RMW was before.
#[test]
fn compare_and_swap() {
    let cas = |expected| act(2, Op::Cas { expected, new: 2 }, X, AcqRel);
    let blocking = |expected| act(2, Op::BlockingCas { expected, new: 2 }, X, AcqRel);
    let run = |first, last| [first, load(1, Y, Acquire), store(2, Y, 1, Release), last];
    last_is_stale(false, run(add(1, X), cas(0)));
    last_is_stale(true, run(add(1, X), cas(1)));
    last_is_stale(false, run(add(1, X), blocking(0)));
    last_is_stale(false, run(add(1, X), blocking(1)));
    last_is_stale(true, run(store(1, X, 1, Release), blocking(0)));
    last_is_stale(false, run(store(1, X, 1, Release), blocking(1)));
}

/// A release fence of the parent is none of its children's: what they write relaxed tells nothing.
#[test]
fn children_do_not_inherit_fences() {
    let create = Step { thread: 1, what: What::Create(3) };
    last_is_stale(
        true,
        [
            store(1, X, 1, Relaxed),
            fence(1, Release),
            create,
            store(3, Y, 1, Relaxed),
            load(2, Y, Acquire),
            load(2, X, Relaxed),
        ],
    );
}
