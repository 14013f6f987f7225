//! Loops that are replaced.

use super::ir::*;
use seqcst_c11::code::Mode::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use seqcst_c11::code::{Operator, Statement, Update};
use seqcst_proof::rho::apply;

/// The text of a method's body after ρ, all of whose loops are replaced.
fn after(parameters: u32, body: Vec<Statement>) -> String {
    let done = apply(&library(vec![method("m", parameters, body)]));
    assert_eq!(done.kept, vec![]);
    assert!(!done.changes.is_empty());
    text(&done.library, &done.library.methods[0].body)
}

#[test]
fn push_of_a_stack_stores_to_its_own_node() {
    let body = vec![
        alloc(B),
        store(field(VAL, B), v(A), Relaxed),
        repeat(vec![
            load(C, at(X), Relaxed),
            store(field(NEXT, B), v(C), Relaxed),
            cas(D, None, at(X), v(C), v(B), Release),
            when(v(D), vec![leave()]),
        ]),
    ];
    assert_eq!(
        after(1, body),
        "b = new\nb->val := a relaxed\nc = x relaxed\nb->next := c relaxed\nbcas(x, c, b) release\n"
    );
}

#[test]
fn pop_of_a_stack_returns_from_inside() {
    let body = vec![repeat(vec![
        load(A, at(X), Acquire),
        when(eq(v(A), int(0)), vec![ret(int(0))]),
        load(B, field(NEXT, A), Relaxed),
        cas(C, None, at(X), v(A), v(B), Relaxed),
        when(not(v(C)), vec![again()]),
        load(D, field(VAL, A), Relaxed),
        ret(v(D)),
    ])];
    assert_eq!(
        after(0, body),
        "a = x acquire\nif (a Equal 0)\n  return 0\nb = a->next relaxed\nbcas(x, a, b) relaxed\n\
         d = a->val relaxed\nreturn d\n"
    );
}

#[test]
fn a_break_in_a_branch_ends_the_last_iteration() {
    let body = vec![
        repeat(vec![
            load(A, at(X), Acquire),
            when(eq(v(A), int(0)), vec![leave()]),
            load(B, field(NEXT, A), Relaxed),
            cas(C, None, at(X), v(A), v(B), Relaxed),
            when(v(C), vec![leave()]),
        ]),
        ret(v(A)),
    ];
    assert_eq!(
        after(0, body),
        "a = x acquire\nif (a Equal 0)\nelse\n  b = a->next relaxed\n  bcas(x, a, b) relaxed\nreturn a\n"
    );
}

#[test]
fn waiting_for_a_value() {
    let body = vec![
        rmw(A, at(X), Update::Add, int(1), Relaxed),
        repeat(vec![load(B, at(Y), Acquire), when(eq(v(B), v(A)), vec![leave()])]),
    ];
    assert_eq!(after(0, body), "a = Add(x, 1) relaxed\nb = y acquire until (b Equal a)\n");
}

#[test]
fn a_test_through_a_variable() {
    let body = vec![repeat(vec![
        load(B, at(Y), Acquire),
        set(C, ne(v(B), int(0))),
        fence(SeqCst),
        when(v(C), vec![leave()]),
    ])];
    // The fence stands between the load and the test.
    assert_eq!(after(0, body), "b = y acquire\nc = (b NotEqual 0)\nfence seq_cst\nassume c\n");
    let body =
        vec![repeat(vec![load(B, at(Y), Acquire), set(C, ne(v(B), int(0))), when(v(C), vec![leave()])])];
    assert_eq!(after(0, body), "b = y acquire until (b NotEqual 0)\n");
}

#[test]
fn exchange_that_finds_what_it_writes() {
    let lock = method(
        "lock",
        0,
        vec![repeat(vec![rmw(A, at(X), Update::Exchange, int(1), Acquire), when(not(v(A)), vec![leave()])])],
    );
    let unlock = method("unlock", 0, vec![store(at(X), int(0), Release)]);
    let done = apply(&library(vec![lock, unlock]));
    assert_eq!(done.kept, vec![]);
    assert_eq!(text(&done.library, &done.library.methods[0].body), "bcas(x, 0, 1) acquire\n");
}

#[test]
fn test_and_test_and_set() {
    let lock = method(
        "lock",
        0,
        vec![repeat(vec![
            repeat(vec![load(A, at(X), Relaxed), when(not(v(A)), vec![leave()])]),
            rmw(B, at(X), Update::Or, int(1), Acquire),
            when(not(v(B)), vec![leave()]),
        ])],
    );
    let unlock = method("unlock", 0, vec![store(at(X), int(0), Release)]);
    let done = apply(&library(vec![lock, unlock]));
    assert_eq!(done.kept, vec![]);
    assert_eq!(
        text(&done.library, &done.library.methods[0].body),
        "a = x relaxed until !a\nbcas(x, 0, 1) acquire\n"
    );
}

#[test]
fn what_a_failing_cas_found_is_read_at_the_start_with_the_weaker_order() {
    let push = |order, failure| {
        vec![
            load(C, at(X), order),
            alloc(B),
            store(field(VAL, B), v(A), Relaxed),
            repeat(vec![
                store(field(NEXT, B), v(C), Relaxed),
                cas_or(D, Some(C), at(X), v(C), v(B), Release, failure),
                when(v(D), vec![leave()]),
            ]),
        ]
    };
    let expected = |order: &str| {
        format!("b = new\nb->val := a relaxed\nc = x {order}\nb->next := c relaxed\nbcas(x, c, b) release\n")
    };
    assert_eq!(after(1, push(Acquire, Relaxed)), expected("relaxed"));
    assert_eq!(after(1, push(Relaxed, Acquire)), expected("relaxed"));
    assert_eq!(after(1, push(SeqCst, Acquire)), expected("acquire"));
}

#[test]
fn what_a_failing_cas_found_may_be_copied() {
    let body = vec![
        load(A, at(X), Acquire),
        repeat(vec![
            when(not(v(A)), vec![ret(int(0))]),
            load(B, field(NEXT, A), Relaxed),
            cas_or(C, Some(D), at(X), v(A), v(B), AcqRel, Acquire),
            either(v(C), vec![leave()], vec![set(A, v(D))]),
        ]),
        ret(v(A)),
    ];
    assert_eq!(
        after(0, body),
        "a = x acquire\nif !a\n  return 0\nb = a->next relaxed\nbcas(x, a, b) acq_rel\nreturn a\n"
    );
}

#[test]
fn what_a_failing_iteration_loaded_again_is_read_at_the_start() {
    let body = vec![
        load(A, at(X), Acquire),
        repeat(vec![
            load(B, cell(CELL, op(Operator::Rem, v(A), int(2))), Acquire),
            either(
                ne(v(B), v(A)),
                vec![load(A, at(X), Relaxed)],
                vec![
                    cas_or(C, Some(A), at(X), v(A), op(Operator::Add, v(A), int(1)), Relaxed, Acquire),
                    when(v(C), vec![leave()]),
                ],
            ),
        ]),
        store(cell(CELL, v(A)), int(1), Release),
    ];
    assert_eq!(
        after(0, body),
        "a = x relaxed\nb = cell[(a Rem 2)] acquire until !(b NotEqual a)\nbcas(x, a, (a Add 1)) relaxed\n\
         cell[a] := 1 release\n"
    );
}

#[test]
fn expected_value_that_is_set_again() {
    let body = vec![
        set(A, int(0)),
        repeat(vec![
            cas(B, Some(A), at(X), v(A), int(1), Acquire),
            when(v(B), vec![leave()]),
            set(A, int(0)),
        ]),
    ];
    assert_eq!(after(0, body), "a = 0\nbcas(x, a, 1) acquire\n");
}

#[test]
fn a_node_of_each_iteration() {
    let body = vec![repeat(vec![
        alloc(B),
        store(field(VAL, B), v(A), Relaxed),
        cas(C, None, at(X), int(0), v(B), Release),
        when(v(C), vec![leave()]),
    ])];
    assert_eq!(after(1, body), "b = new\nb->val := a relaxed\nbcas(x, 0, b) release\n");
}

#[test]
fn a_traversal_inside_stays_but_may_be_repeated() {
    let traversal =
        repeat(vec![load(C, field(NEXT, B), Acquire), when(not(v(C)), vec![leave()]), set(B, v(C))]);
    let body = vec![repeat(vec![
        load(B, at(X), Acquire),
        traversal,
        cas(D, None, field(NEXT, B), int(0), v(A), Release),
        when(v(D), vec![leave()]),
    ])];
    let done = apply(&library(vec![method("m", 1, body)]));
    assert_eq!(done.kept.len(), 1);
    assert_eq!(
        text(&done.library, &done.library.methods[0].body),
        "b = x acquire\nloop\n  c = b->next acquire\n  if !c\n    break 0\n  b = c\nbcas(b->next, 0, a) release\n"
    );
}

#[test]
fn a_loop_that_never_repeats_is_no_change() {
    let body = vec![repeat(vec![load(A, at(X), Relaxed), when(v(A), vec![leave()]), leave()]), ret(v(A))];
    let done = apply(&library(vec![method("m", 0, body)]));
    assert_eq!((done.changes, done.kept), (vec![], vec![]));
    assert_eq!(text(&done.library, &done.library.methods[0].body), "a = x relaxed\nreturn a\n");
}

#[test]
fn a_counter_of_attempts_that_nobody_asks() {
    let body = vec![
        set(B, int(1)),
        repeat(vec![
            cas(A, None, at(X), int(0), int(1), Acquire),
            when(v(A), vec![leave()]),
            set(B, op(Operator::Mul, v(B), int(2))),
        ]),
    ];
    assert_eq!(after(0, body), "bcas(x, 0, 1) acquire\n");
}
