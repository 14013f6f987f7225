//! Verdicts of clients against all execution graphs of their programs.

use super::ir::*;
use super::libraries::*;
use seqcst_library::client::{Limits, Plain, check, enumerate};
use seqcst_library::code::Library;
use seqcst_library::code::Mode::{AcqRel, Acquire, Relaxed, Release};
use seqcst_library::code::Operator;
use seqcst_library::rho::apply;
use seqcst_model::{Model, oracle};
use seqcst_program::semantics::Machine;
use seqcst_program::{lower, parse};
use seqcst_report::Verdict;
use std::ops::ControlFlow;

/// Compares all clients of two threads with so many calls in all; gives the numbers of clients that are robust, that are not in
/// an execution that can be completed, and that are not in one that cannot.
fn compare(library: &Library, calls: usize) -> [usize; 3] {
    let library = apply(library).library;
    let mut counts = [0; 3];
    for client in enumerate(&library, 2, 2) {
        if client.threads.iter().map(Vec::len).sum::<usize>() > calls {
            continue;
        }
        let checked = check(&library, &client, Plain::Relaxed, &Limits::default()).unwrap();
        let program = parse(checked.program.as_bytes(), "client.tpl").unwrap().program;
        let machine = Machine::new(lower(&program, Model::Rc20).unwrap());
        let (mut part, mut whole) = (false, false);
        let looked = oracle::consistent(&machine, Model::Rc20, 1_000_000, |candidate| {
            let is_sc = Model::Sc.allows(candidate.graph);
            part |= !is_sc;
            whole |= !is_sc && candidate.complete;
            if whole { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if looked.is_err() {
            continue;
        }
        let expected = match (part, whole) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        let found = match (&checked.answer.verdict, checked.is_complete) {
            (Verdict::Robust, _) => 0,
            (Verdict::NotRobust, Some(true)) => 1,
            (Verdict::NotRobust, Some(false)) => 2,
            other => panic!("{client}: {other:?}"),
        };
        assert_eq!(found, expected, "{client}\n{}", checked.program);
        counts[found] += 1;
    }
    counts
}

#[test]
fn verdicts_are_those_of_the_definitions() {
    let speculative = |order| {
        library(vec![
            method("publish", 1, vec![store(at(Y), v(A), Relaxed)]),
            method(
                "observe",
                0,
                vec![repeat(vec![
                    load(A, at(X), Acquire),
                    load(B, at(Y), Relaxed),
                    cas(C, None, at(X), v(A), op(Operator::Add, v(A), int(1)), order),
                    when(v(C), vec![ret(v(B))]),
                ])],
            ),
        ])
    };
    // An old version is read, but not for good.
    assert_eq!(compare(&speculative(AcqRel), 4), [19, 0, 2]);
    let relaxed = compare(&speculative(Relaxed), 4);
    assert!(relaxed[1] > 0, "{relaxed:?}");
    assert!(compare(&treiber([Relaxed, Release, Acquire, Relaxed]), 3)[0] > 0);
    assert!(compare(&treiber([Relaxed, Relaxed, Acquire, Relaxed]), 2)[1] > 0);
    assert!(compare(&store_buffering(Release, Acquire), 3)[1] > 0);
}
