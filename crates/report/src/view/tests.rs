//! How events become rows.

use super::*;
use crate::samples::Builder;
use crate::{Problem, Verdict};
use expect_test::{Expect, expect};

const SOURCE: &str = "fn t1 { x.store(1, sc); fence(sc); fence(sc); } fn t2 { y.store(1, sc); }";

fn check(builder: Builder, expected: Expect) {
    let answer = builder.done(Verdict::Race, Problem::Race { first: 0, second: 0 });
    let view = View::new(answer.witness.as_ref().expect("a witness"));
    let rows = (0..view.rows.len()).map(|i| {
        let name = view.rows[i].thread.map_or("init".to_owned(), |t| view.thread_name(t));
        format!("{} {name}: {} [{}]\n", view.rows[i].step, view.statement(i), view.label(i))
    });
    expected.assert_eq(&rows.collect::<String>());
}

fn fence(builder: Builder, thread: usize, text: &str) -> Builder {
    builder
        .hidden(thread, text, "F.acq")
        .hidden(thread, text, "U.acq_rel - 0→0")
        .hidden(thread, text, "F.rel")
}

fn two_threads() -> Builder {
    Builder::new("f", "rc20", &["t1", "t2"], SOURCE)
}

#[test]
fn sc_access_is_one_row() {
    let builder = fence(two_threads().init("x", 0), 0, "x.store(1, sc)");
    check(
        builder.step(0, "x.store(1, sc)", "W.rel x 1"),
        expect![[r#"
        0 init: W x 0 [W x 0]
        1 t1: x.store(1, sc) [W.rel x 1]
    "#]],
    );
}

#[test]
fn fences_in_a_loop_stay_apart() {
    let builder = fence(two_threads(), 0, "fence(sc)");
    check(
        fence(builder, 0, "fence(sc)"),
        expect![[r#"
        1 t1: fence(sc) [F.sc]
        2 t1: fence(sc) [F.sc]
    "#]],
    );
}

/// The other thread's SC access comes between a fence and its access: two rows, so that edges still run down.
#[test]
fn interrupted_sc_access_is_two_rows() {
    let builder = fence(two_threads(), 0, "x.store(1, sc)");
    let builder = fence(builder, 1, "y.store(1, sc)").step(1, "y.store(1, sc)", "W.rel y 1");
    check(
        builder.step(0, "x.store(1, sc)", "W.rel x 1"),
        expect![[r#"
        1 t1: SC fence of x.store(1, sc) [F.sc]
        2 t2: y.store(1, sc) [W.rel y 1]
        3 t1: x.store(1, sc) [W.rel x 1]
    "#]],
    );
}
