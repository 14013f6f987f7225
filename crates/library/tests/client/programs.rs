//! What becomes of a client, and which clients there are.

use super::ir::*;
use super::libraries::*;
use seqcst_library::client::{Call, Client, Limits, Plain, check, enumerate, program, respects};
use seqcst_library::code::Mode::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use seqcst_library::code::{Library, Operator, Role, Update};
use seqcst_library::rho::apply;
use seqcst_program::print;
use seqcst_report::Verdict;

/// A client: calls of a thread are separated by blanks, `push:1` has an argument.
fn client(threads: &[&str]) -> Client {
    let call = |text: &str| {
        let mut parts = text.split(':');
        let method = parts.next().unwrap().to_owned();
        Call { method, arguments: parts.map(|part| part.parse().unwrap()).collect() }
    };
    Client { threads: threads.iter().map(|calls| calls.split(' ').map(call).collect()).collect() }
}

fn verdict(library: &Library, threads: &[&str]) -> (Verdict, Option<bool>) {
    let checked =
        check(&apply(library).library, &client(threads), Plain::Relaxed, &Limits::default()).unwrap();
    (checked.answer.verdict, checked.is_complete)
}

#[test]
fn a_stack_as_a_program() {
    let library = apply(&treiber([Relaxed, Release, Acquire, Relaxed])).library;
    let client = client(&["push:7", "pop"]);
    assert_eq!(client.to_string(), "thread 1: push(7)\nthread 2: pop()");
    let text = print(&program(&library, &client).unwrap());
    assert_eq!(
        text,
        "max_value 7;
global x, node1_next, node1_val;

fn thread1 {
    local a_1, b_1, c_1, d_1, e_1, f_1, read_1;
    a_1 = 7;
    b_1 = 1;
    node1_val.store(a_1, rlx);
    c_1 = x.load(rlx);
    node1_next.store(c_1, rlx);
    read_1 = BCAS(x, c_1, b_1, rlx, rel);
    end1:
}

fn thread2 {
    local a_2, b_2, c_2, d_2, e_2, f_2, read_2;
    a_2 = x.load(acq);
    if (!a_2) goto end1;
    b_2 = node1_next.load(rlx);
    read_2 = BCAS(x, a_2, b_2, rlx, rlx);
    d_2 = node1_val.load(rlx);
    goto end1;
    end1:
}
"
    );
}

#[test]
fn clients_are_listed_once_and_keep_the_contract() {
    let stack = treiber([Relaxed, Release, Acquire, Relaxed]);
    let all = enumerate(&stack, 3, 2);
    // Two methods: six sequences of one or two calls, of which two or three are chosen with repetition.
    assert_eq!(all.len(), 21 + 56);
    assert_eq!(all[0].to_string(), "thread 1: push(1)\nthread 2: push(2)");
    let calls = |client: &Client| client.threads.iter().map(Vec::len).sum::<usize>();
    assert!(all.windows(2).all(|pair| calls(&pair[0]) <= calls(&pair[1])));

    let ring = ring(Release, Acquire, true);
    let all = enumerate(&ring, 3, 2);
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|client| respects(&ring, client)));
    assert!(!respects(&ring, &client(&["enqueue:1", "enqueue:2"])));
    assert!(!respects(&ring, &client(&["enqueue:1 dequeue", "dequeue"])));

    let mut lock = library(vec![
        method(
            "lock",
            0,
            vec![repeat(vec![
                rmw(A, at(X), Update::Exchange, int(1), Acquire),
                when(not(v(A)), vec![leave()]),
            ])],
        ),
        method("unlock", 0, vec![store(at(X), int(0), Release)]),
    ]);
    lock.contract.roles = vec![(Role::Lock, "lock".to_owned()), (Role::Unlock, "unlock".to_owned())];
    let all: Vec<String> = enumerate(&lock, 2, 2).iter().map(ToString::to_string).collect();
    assert_eq!(all.len(), 3);
    assert_eq!(all[2], "thread 1: lock(); unlock()\nthread 2: lock(); unlock()");
}

#[test]
fn arguments_that_are_compared_may_be_equal() {
    let compares = library(vec![method("add", 1, vec![cas(B, None, at(X), v(A), int(1), Relaxed)])]);
    let all: Vec<String> = enumerate(&compares, 2, 1).iter().map(ToString::to_string).collect();
    assert!(all.contains(&"thread 1: add(1)\nthread 2: add(1)".to_owned()));
    let stores = one_location(Relaxed, Relaxed);
    let all: Vec<String> = enumerate(&stores, 2, 1).iter().map(ToString::to_string).collect();
    assert!(!all.contains(&"thread 1: set(1)\nthread 2: set(1)".to_owned()));
}

/// Appendix C of [RoboCop24]: an old version may be read, but then the call never ends.
#[test]
fn executions_that_block_for_ever_confirm_nothing() {
    let speculative = library(vec![
        method("publish", 1, vec![store(at(Y), v(A), Relaxed)]),
        method(
            "observe",
            0,
            vec![repeat(vec![
                load(A, at(X), Acquire),
                load(B, at(Y), Relaxed),
                cas(C, None, at(X), v(A), op(Operator::Add, v(A), int(1)), AcqRel),
                when(v(C), vec![ret(v(B))]),
            ])],
        ),
    ]);
    let threads = ["publish:1 observe", "observe publish:2"];
    assert_eq!(verdict(&speculative, &threads), (Verdict::NotRobust, Some(false)));
    // A violation among calls that block, but not for ever.
    let relaxed = treiber([Relaxed, Relaxed, Acquire, Relaxed]);
    assert_eq!(verdict(&relaxed, &["push:1", "pop"]), (Verdict::NotRobust, Some(true)));
}

#[test]
fn freed_records_are_handed_out_again() {
    // Like Treiber's stack, but pop frees the node.
    let stack = |free_it: bool| {
        let mut stack = treiber([Relaxed, Release, Acquire, Relaxed]);
        let last = vec![load(D, field(VAL, A), Relaxed)].into_iter().chain(free_it.then(|| free(A)));
        stack.methods[1] = method(
            "pop",
            0,
            vec![repeat(vec![
                load(A, at(X), Acquire),
                when(not(v(A)), vec![ret(int(0))]),
                load(B, field(NEXT, A), Relaxed),
                cas(C, None, at(X), v(A), v(B), Relaxed),
                when(v(C), last.chain([ret(v(D))]).collect()),
            ])],
        );
        stack
    };
    let threads = ["push:1 pop push:2", "pop"];
    assert_eq!(verdict(&stack(false), &threads).0, Verdict::Robust);
    let text = print(&program(&apply(&stack(true)).library, &client(&threads)).unwrap());
    assert!(text.contains("BCAS(free_1, 0, 1, rel)") && text.contains("BCAS(free_1, 1, 0, acq)"), "{text}");
    assert_eq!(verdict(&stack(true), &threads).0, Verdict::NotRobust);
}

#[test]
fn plain_fields_may_race() {
    let racy = apply(&register(Relaxed, Acquire)).library;
    let client = client(&["set:1", "get"]);
    let checked = check(&racy, &client, Plain::NonAtomic, &Limits::default()).unwrap();
    assert_eq!(checked.answer.verdict, Verdict::Race);
    let fine = apply(&register(Release, Acquire)).library;
    let checked = check(&fine, &client, Plain::NonAtomic, &Limits::default()).unwrap();
    assert_eq!(checked.answer.verdict, Verdict::Robust);
}

#[test]
fn tags_in_addresses_and_negative_numbers() {
    // A pointer with a mark, and a difference that may be negative.
    let tagged = library(vec![
        method(
            "mark",
            0,
            vec![
                alloc(A),
                store(field(VAL, A), int(1), Relaxed),
                store(at(X), op(Operator::Or, v(A), int(1)), Release),
            ],
        ),
        method(
            "look",
            0,
            vec![
                load(A, at(X), Acquire),
                set(B, op(Operator::And, v(A), int(-2))),
                when(not(v(B)), vec![ret(int(0))]),
                load(C, field(VAL, B), Relaxed),
                ret(v(C)),
            ],
        ),
        method(
            "less",
            0,
            vec![
                load(A, at(Y), Relaxed),
                when(
                    op(Operator::Less, op(Operator::Sub, v(A), int(2)), int(0)),
                    vec![store(at(Y), int(1), Relaxed)],
                ),
            ],
        ),
    ]);
    let checked = check(&tagged, &client(&["mark", "look"]), Plain::Relaxed, &Limits::default()).unwrap();
    assert_eq!(checked.answer.verdict, Verdict::Robust);
    assert!(checked.program.contains("node1_val.load(rlx)"), "{}", checked.program);
    let text = print(&program(&tagged, &client(&["less", "less"])).unwrap());
    // -2 < 0, as numbers that wrap around.
    assert!(text.starts_with("max_value 7;") && text.contains("a_1 - 2 + 4 < 0 + 4"), "{text}");
}

#[test]
fn updates_of_bits() {
    let flags = library(vec![
        method("set", 0, vec![rmw(A, at(X), Update::Or, int(2), AcqRel), ret(v(A))]),
        method("clear", 0, vec![rmw(A, at(X), Update::And, int(1), AcqRel), ret(v(A))]),
    ]);
    assert_eq!(verdict(&flags, &["set clear", "set clear"]).0, Verdict::Robust);
}

#[test]
fn what_is_not_modelled_is_said() {
    let why =
        |library: &Library, threads: &[&str]| program(library, &client(threads)).unwrap_err().to_string();
    let counter = library(vec![method(
        "count",
        0,
        vec![repeat(vec![set(A, op(Operator::Add, v(A), int(1))), store(at(X), v(A), Relaxed)])],
    )]);
    assert_eq!(why(&counter, &["count", "count"]), "a location has too many values in this client");
    let large = library(vec![method("set", 0, vec![store(at(X), int(1 << 20), Relaxed)])]);
    assert_eq!(why(&large, &["set", "set"]), "numbers beyond 30000 are not modelled");
    let stack = treiber([Relaxed, Release, Acquire, Relaxed]);
    let many = ["push:1 push:2 push:3 push:4 push:5 push:6 push:7 push:8"; 4];
    assert_eq!(why(&stack, &many), "65 locations are needed, at most 63 are modelled");
    assert_eq!(why(&stack, &["push", "pop"]), "`push` takes 1 arguments");
    assert_eq!(why(&stack, &["peek", "pop"]), "there is no method `peek`");
}

#[test]
fn fences_and_sc_accesses() {
    assert_eq!(verdict(&store_buffering(SeqCst, SeqCst), &["left", "right"]).0, Verdict::Robust);
    assert_eq!(verdict(&store_buffering(SeqCst, Relaxed), &["left", "right"]).0, Verdict::NotRobust);
}
