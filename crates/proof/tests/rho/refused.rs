//! Loops that must stay.

use super::ir::*;
use seqcst_c11::code::Mode::{Acquire, Relaxed, Release};
use seqcst_c11::code::{Operator, Statement, Update};
use seqcst_proof::rho::apply;

/// Why the only loop of a method stays.
fn why(parameters: u32, body: Vec<Statement>) -> String {
    let library = library(vec![method("m", parameters, body)]);
    let done = apply(&library);
    assert_eq!(done.changes, vec![]);
    assert_eq!(done.kept.len(), 1);
    assert_eq!(done.library, library);
    done.kept[0].why.clone()
}

fn attempt() -> [Statement; 2] {
    [cas(C, None, at(X), int(0), int(1), Acquire), when(v(C), vec![leave()])]
}

#[test]
fn a_counter_is_carried_over() {
    let [try_it, end] = attempt();
    let body = vec![repeat(vec![try_it, end, set(A, op(Operator::Add, v(A), int(1)))]), ret(v(A))];
    assert_eq!(why(0, body), "`a` is carried over from an iteration that fails");
}

#[test]
fn a_counter_decides_when_to_leave() {
    let [try_it, end] = attempt();
    let give_up = when(eq(v(A), int(3)), vec![leave()]);
    let body = vec![repeat(vec![try_it, end, set(A, op(Operator::Add, v(A), int(1))), give_up])];
    assert_eq!(why(0, body), "`a` is carried over from an iteration that fails");
}

#[test]
fn a_write_in_a_failing_iteration() {
    let [try_it, end] = attempt();
    let body = vec![repeat(vec![store(at(Y), int(1), Relaxed), try_it, end])];
    assert!(why(0, body).starts_with("an iteration that fails is visible to others: it writes"));
}

#[test]
fn a_helping_cas_in_a_failing_iteration() {
    let [try_it, end] = attempt();
    let body = vec![repeat(vec![try_it, end, cas(D, None, at(Y), int(0), int(1), Release)])];
    assert!(why(0, body).contains("a compare-and-swap in it succeeds"));
}

#[test]
fn an_update_in_a_failing_iteration() {
    let body =
        vec![repeat(vec![rmw(A, at(X), Update::Add, int(1), Acquire), when(not(v(A)), vec![leave()])])];
    assert!(why(0, body).contains("it updates shared memory"));
}

#[test]
fn an_exchange_may_find_other_values() {
    let lock = method(
        "lock",
        0,
        vec![repeat(vec![rmw(A, at(X), Update::Exchange, int(1), Acquire), when(not(v(A)), vec![leave()])])],
    );
    // Now 2 may be found and replaced by 1, in an iteration that fails.
    let mark = method("mark", 0, vec![store(at(X), int(2), Release)]);
    let done = apply(&library(vec![lock, mark]));
    assert!(done.kept[0].why.contains("it updates shared memory"));
}

#[test]
fn a_node_that_was_published_before() {
    let [try_it, end] = attempt();
    let body = vec![
        alloc(B),
        store(at(Y), v(B), Release),
        repeat(vec![load(D, at(X), Relaxed), store(field(NEXT, B), v(D), Relaxed), try_it, end]),
    ];
    assert!(why(0, body).contains("it writes"));
}

#[test]
fn a_node_that_an_earlier_iteration_published() {
    // A failing iteration may be one whose compare-and-swap on y published the node.
    let [try_it, end] = attempt();
    let body = vec![
        alloc(B),
        repeat(vec![
            store(field(NEXT, B), int(0), Relaxed),
            cas(D, None, at(Y), int(0), v(B), Release),
            try_it,
            end,
        ]),
    ];
    assert!(why(0, body).starts_with("an iteration that fails is visible to others"));
}

#[test]
fn a_field_that_is_not_stored_again() {
    let [try_it, end] = attempt();
    let body = vec![
        alloc(B),
        repeat(vec![try_it, end, load(D, at(Y), Relaxed), store(field(NEXT, B), v(D), Relaxed)]),
        store(at(Y), v(B), Release),
    ];
    assert_eq!(why(0, body), "`node.next` of an own node keeps what an iteration that fails stored there");
}

#[test]
fn a_field_that_is_stored_again_too_late() {
    let body = vec![
        alloc(B),
        repeat(vec![
            cas(C, None, at(X), int(0), v(B), Release),
            load(D, at(Y), Relaxed),
            store(field(NEXT, B), v(D), Relaxed),
            when(v(C), vec![leave()]),
        ]),
    ];
    assert_eq!(why(0, body), "`node.next` of an own node keeps what an iteration that fails stored there");
}

#[test]
fn a_field_that_is_read_before_it_is_stored_again() {
    let body = vec![
        alloc(B),
        repeat(vec![
            load(D, field(NEXT, B), Relaxed),
            store(field(NEXT, B), op(Operator::Add, v(D), int(1)), Relaxed),
            cas(C, None, at(X), int(0), v(B), Release),
            when(v(C), vec![leave()]),
        ]),
    ];
    assert_eq!(why(0, body), "`node.next` of an own node keeps what an iteration that fails stored there");
}

#[test]
fn a_node_that_others_may_remember() {
    let push = method(
        "push",
        0,
        vec![
            alloc(B),
            repeat(vec![
                load(C, at(X), Relaxed),
                store(field(NEXT, B), v(C), Relaxed),
                cas(D, None, at(X), v(C), v(B), Release),
                when(v(D), vec![leave()]),
            ]),
        ],
    );
    assert!(apply(&library(vec![push.clone()])).kept.is_empty());
    // Once freed, a node is handed out again, while others may still look at it.
    let drop = method("drop", 0, vec![load(A, at(X), Acquire), free(A)]);
    let done = apply(&library(vec![push, drop]));
    assert!(done.kept[0].why.contains("it writes"));
}

#[test]
fn a_copy_of_the_address_gets_out() {
    let [try_it, end] = attempt();
    let body = vec![
        alloc(B),
        set(D, v(B)),
        store(at(Y), v(D), Release),
        repeat(vec![store(field(NEXT, B), int(1), Relaxed), try_it, end]),
    ];
    assert!(why(0, body).contains("it writes"));
}

#[test]
fn a_traversal() {
    let body = vec![
        load(A, at(X), Acquire),
        repeat(vec![when(not(v(A)), vec![leave()]), load(B, field(NEXT, A), Acquire), set(A, v(B))]),
    ];
    let why = why(0, body);
    assert_eq!(
        why,
        "`a` is carried over from an iteration that fails, and the load before the loop is of another place"
    );
}

#[test]
fn what_a_failing_cas_found_was_not_loaded_before() {
    let carry =
        || repeat(vec![cas_or(D, Some(C), at(X), v(C), v(A), Release, Relaxed), when(v(D), vec![leave()])]);
    let start = "`c` is carried over from an iteration that fails, and ";
    let elsewhere = vec![load(C, at(Y), Relaxed), carry()];
    assert_eq!(why(1, elsewhere), format!("{start}the load before the loop is of another place"));
    let fenced = vec![load(C, at(X), Relaxed), fence(Acquire), carry()];
    assert_eq!(why(1, fenced), format!("{start}other accesses stand between the load and the loop"));
    let constant = vec![set(C, int(7)), carry()];
    assert_eq!(why(1, constant), format!("{start}no load of the same place comes right before the loop"));
}

#[test]
fn an_endless_loop() {
    let body = vec![repeat(vec![load(A, at(X), Relaxed)])];
    assert_eq!(why(0, body), "it is never left");
}
