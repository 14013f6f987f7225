//! Text snapshots, renewed with `UPDATE_EXPECT=1`.

use super::*;
use crate::samples;
use expect_test::{Expect, expect};

const PLAIN: TextOptions = TextOptions { color: false, explain: false, pairs: 10, summary: true };
const COLORED: TextOptions = TextOptions { color: true, ..PLAIN };

fn check(answer: &Answer, expected: Expect) {
    expected.assert_eq(&render(answer, PLAIN));
}

#[test]
fn part_of_an_execution() {
    check(
        &samples::unproved(),
        expect![[r#"
        may be non-robust: library.c under rc20
           ╭─[ library.c:7:5 ]
           │
         2 │     value.store(1, rlx);
           │     ─────────┬─────────
           │              ╰─────────── (2) step 1 in set(1): the newest write
           │
         7 │     value.load(rlx);
           │     ───────┬───────
           │            ╰───────── (1) step 4 in get(): may miss (2)
        ───╯

          step  set(1)               get()            line
          ────  ───────────────────  ───────────────  ────
             1  value.store(1, rlx)                      2  (2) the newest write
             2  done.store(1, rlx)                       3
             3                       done.load(rlx)      6
             4                       value.load(rlx)     7  (1) may miss (2)

          step 4, `value.load(rlx)` in get() (line 7)
            SC:   it comes after step 1, the newest write there
            rc20: it may miss that: nothing makes step 1 known to it (no happens-before)
            so:   `get` may access value without knowing the write of `set`

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn stale_read() {
    check(
        &samples::sb(),
        expect![[r#"
        not robust: sb.tpl under rc20
            ╭─[ sb.tpl:12:5 ]
            │
          5 │     x.store(1, rlx);
            │     ───────┬───────
            │            ╰───────── (2) step 1 in t1: the latest write, W.rlx x 1
            │
         12 │     b = x.load(rlx);
            │     ───────┬───────
            │            ╰───────── (1) step 4 in t2: SC reads 1 from step 1, rc20 may read 0 from the initial write
        ────╯

          initially x = 0, y = 0

          step  t1                    t2                    line
          ────  ────────────────────  ────────────────────  ────
             1  x.store(1, rlx)  W 1                           5  (2) latest write
             2  a = y.load(rlx)  R 0                           6
             3                        y.store(1, rlx)  W 1    11
             4                        b = x.load(rlx)  R 0    12  (1) stale: SC reads 1 from step 1

          step 4, `b = x.load(rlx)` in t2 (line 12)
            SC:   it must read 1 from step 1, because step 1 →po step 2 →fr step 3 →po step 4
            rc20: it may still read 0 from the initial write: nothing synchronises step 1 with t2 (no happens-before)
            so:   step 4 →fr step 1, and po ∪ rf ∪ mo ∪ fr has a cycle

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn stale_wait() {
    check(
        &samples::waiting(),
        expect![[r#"
        not robust: waiting.tpl under tso
           ╭─[ waiting.tpl:3:21 ]
           │
         2 │ fn t1 { local a; x.store(1, sc); a = y.load(); }
           │                  ───────┬──────
           │                         ╰──────── (2) step 1 in t1: the latest write, W x 1
         3 │ fn t2 { y.store(1); wait(x, 0); }
           │                     ─────┬────
           │                          ╰────── (1) step 4 in t2: SC finds 1 from step 1 and waits, tso may read 0 from the initial write
        ───╯

          initially x = 0, y = 0

          step  t1                   t2               line
          ────  ───────────────────  ───────────────  ────
             1  x.store(1, sc)  W 1                      2  (2) latest write
             2  a = y.load()    R 0                      2
             3                       y.store(1)  W 1     3
             4                       wait(x, 0)  R 0     3  (1) stale: SC finds 1 from step 1 and waits

          step 4, `wait(x, 0)` in t2 (line 3)
            SC:  it finds 1 from step 1 and must wait, because step 1 →po step 2 →fr step 3 →po step 4
            tso: it may still read 0 from the initial write: nothing synchronises step 1 with t2 (no happens-before)
            so:  step 4 →fr step 1, and po ∪ rf ∪ mo ∪ fr has a cycle

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn four_threads() {
    check(
        &samples::iriw(),
        expect![[r#"
        not robust: iriw.tpl under ra
           ╭─[ iriw.tpl:5:37 ]
           │
         2 │ fn w1 { x.store(1, rel); }
           │         ───────┬───────
           │                ╰───────── (2) step 1 in w1: the latest write, W.rel x 1
           │
         5 │ fn r2 { local c d; c = y.load(acq); d = x.load(acq); }
           │                                     ───────┬───────
           │                                            ╰───────── (1) step 6 in r2: SC reads 1 from step 1, ra may read 0 from the initial write
        ───╯

          initially x = 0, y = 0

          step  w1                    w2                    r1                    r2                    line
          ────  ────────────────────  ────────────────────  ────────────────────  ────────────────────  ────
             1  x.store(1, rel)  W 1                                                                       2  (2) latest write
             2                                              a = x.load(acq)  R 1                           4
             3                                              b = y.load(acq)  R 0                           4
             4                        y.store(1, rel)  W 1                                                 3
             5                                                                    c = y.load(acq)  R 1     5
             6                                                                    d = x.load(acq)  R 0     5  (1) stale: SC reads 1 from step 1

          step 6, `d = x.load(acq)` in r2 (line 5)
            SC: it must read 1 from step 1, because step 1 →rf step 2 →po step 3 →fr step 4 →rf step 5 →po step 6
            ra: it may still read 0 from the initial write: nothing synchronises step 1 with r2 (no happens-before)
            so: step 6 →fr step 1, and po ∪ rf ∪ mo ∪ fr has a cycle

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn stale_write() {
    check(
        &samples::two_plus_two_w(),
        expect![[r#"
        not robust: 2+2w.tpl under rc20
           ╭─[ 2+2w.tpl:3:26 ]
           │
         2 │ fn t1 { x.store(1, rlx); y.store(2, rlx); }
           │         ───────┬───────
           │                ╰───────── (2) step 1 in t1: the latest write, W.rlx x 1
         3 │ fn t2 { y.store(1, rlx); x.store(2, rlx); }
           │                          ───────┬───────
           │                                 ╰───────── (1) step 4 in t2: SC lands after step 1, rc20 may land before step 1
        ───╯

          initially x = 0, y = 0

          step  t1                    t2                    line
          ────  ────────────────────  ────────────────────  ────
             1  x.store(1, rlx)  W 1                           2  (2) latest write
             2  y.store(2, rlx)  W 2                           2
             3                        y.store(1, rlx)  W 1     3
             4                        x.store(2, rlx)  W 2     3  (1) stale: SC lands after step 1

          step 4, `x.store(2, rlx)` in t2 (line 3)
            SC:   it must land after step 1 in modification order, because step 1 →po step 2 →mo step 3 →po step 4
            rc20: it may still land right after the initial write, before step 1: nothing synchronises step 1 with t2
                  (no happens-before)
            so:   step 4 →mo step 1, and po ∪ rf ∪ mo ∪ fr has a cycle

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn race() {
    check(
        &samples::race(),
        expect![[r#"
        data race: mp.tpl under rc20
           ╭─[ mp.tpl:3:15 ]
           │
         3 │ fn producer { data = 42; flag.store(1, rlx); }
           │               ────┬────
           │                   ╰────── (1) step 1 in producer: W.na data 42, races with (2)
         4 │ fn consumer { local r; wait(flag = 1, rlx); r = data; }
           │                                             ────┬───
           │                                                 ╰───── (2) step 4 in consumer: R.na data 42, races with (1)
        ───╯

          initially flag = 0, data = 0

          step  producer                  consumer                   line
          ────  ────────────────────────  ─────────────────────────  ────
             1  data = 42           W 42                                3  (1) races with (2)
             2  flag.store(1, rlx)  W 1                                 3
             3                            wait(flag = 1, rlx)  R 1      4
             4                            r = data             R 42     4  (2) races with (1)

          step 1, `data = 42` in producer (line 3)
            races with: step 4, `r = data` in consumer (line 4)
            race:       both access data, not both read it, and no happens-before orders them

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn assertion() {
    check(
        &samples::assertion(),
        expect![[r#"
        assertion can fail: lost.tpl under rc20
           ╭─[ lost.tpl:3:73 ]
           │
         3 │ fn t2 { local b; b = x.load(rlx); x.store(b + 1, rlx); b = x.load(rlx); assert(b == 2); }
           │                                                                         ───────┬──────
           │                                                                                ╰──────── (1) can fail in t2
        ───╯

          initially x = 0

          step  t1                        t2                        line
          ────  ────────────────────────  ────────────────────────  ────
             1  a = x.load(rlx)      R 0                               2
             2                            b = x.load(rlx)      R 0     3
             3  x.store(a + 1, rlx)  W 1                               2
             4                            x.store(b + 1, rlx)  W 1     3
             5                            b = x.load(rlx)      R 1     3
             ✗                            assert(b == 2)               3  fails

          `assert(b == 2)` in t2 (line 3)
            assertion: fails after step 5, in a run that SC allows too

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn deadlock() {
    check(
        &samples::deadlock(),
        expect![[r#"
        deadlock: locks.tpl under rc20
           ╭─[ locks.tpl:2:20 ]
           │
         2 │ fn left { lock(m); lock(n); unlock(n); unlock(m); }
           │                    ───┬───
           │                       ╰───── (1) left waits here for ever
        ───╯

          initially m = 0, n = 0

          step  left            right           line
          ────  ──────────────  ──────────────  ────
             1  lock(m)  U 0→1                     2
             2                  lock(n)  U 0→1     3
             ✗  lock(n)                            2  stuck

          `lock(n)` in left (line 2)
            deadlock: stuck for ever after step 2: no other thread can let it go on

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn one_liners() {
    check(
        &samples::robust(),
        expect![[r#"
        robust: dekker.tpl under ra — 1,234 states, 0.02 s
    "#]],
    );
    check(
        &samples::gave_up(),
        expect![[r#"
        gave up: big.tpl under tso — limit of 10,000,000 states reached at depth 57; 10,000,000 states, 61.50 s
    "#]],
    );
}

#[test]
fn a_fence_is_one_step() {
    check(
        &samples::fenced(),
        expect![[r#"
        not robust: sb+fence.tpl under rc20
            ╭─[ sb+fence.tpl:13:5 ]
            │
          5 │     x.store(1, rlx);
            │     ───────┬───────
            │            ╰───────── (2) step 1 in t1: the latest write, W.rlx x 1
            │
         13 │     b = x.load(rlx);
            │     ───────┬───────
            │            ╰───────── (1) step 5 in t2: SC reads 1 from step 1, rc20 may read 0 from the initial write
        ────╯

          initially x = 0, y = 0

          step  t1                    t2                    line
          ────  ────────────────────  ────────────────────  ────
             1  x.store(1, rlx)  W 1                           5  (2) latest write
             2  fence(sc)                                      6
             3  a = y.load(rlx)  R 0                           7
             4                        y.store(1, rlx)  W 1    12
             5                        b = x.load(rlx)  R 0    13  (1) stale: SC reads 1 from step 1

          step 5, `b = x.load(rlx)` in t2 (line 13)
            SC:   it must read 1 from step 1, because step 1 →po step 3 →fr step 4 →po step 5
            rc20: it may still read 0 from the initial write: nothing synchronises step 1 with t2 (no happens-before)
            so:   step 5 →fr step 1, and po ∪ rf ∪ mo ∪ fr has a cycle

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn wide_runs_become_lists() {
    check(
        &samples::long(),
        expect![[r#"
        not robust: some/long/path/<config> & "co".tpl under rc20
           ╭─[ some/long/path/<config> & "co".tpl:6:3 ]
           │
         2 │   shared_configuration_pointer.store(previous_configuration + 1, memory_order_release);
           │   ──────────────────────────────────────────┬─────────────────────────────────────────
           │                                             ╰─────────────────────────────────────────── (2) step 1 in updater: the latest write, W.rel shared_configuration_pointer 1
           │
         6 │   observed = shared_configuration_pointer.compare_exchange_strong(expected_value, desired_value & 0xff);
           │   ──────────────────────────────────────────────────┬──────────────────────────────────────────────────
           │                                                     ╰──────────────────────────────────────────────────── (1) step 3 in observer: SC reads 1 from step 1, rc20 may read 0 from the initial write
        ───╯

          initially shared_configuration_pointer = 0, ready = 0

          step  thread    statement                                                  line
          ────  ────────  ─────────────────────────────────────────────────────────  ────
             1  updater   shared_configuration_pointer.store(previous_con…  W 1         2  (2) latest write
             2  observer  ready < 2 && "x"                                  R 0         5
             3  observer  observed = shared_configuration_pointer.compare…  U 0→255     6  (1) stale: SC reads 1 from step 1

          step 3, `observed = shared_configuration_pointer.compare_exchange_strong(expecte…` in observer (line 6)
            SC:   it must read 1 from step 1, because step 1 →mo step 3
            rc20: it may still read 0 from the initial write: nothing synchronises step 1 with observer
                  (no happens-before)
            so:   step 3 →fr step 1, and po ∪ rf ∪ mo ∪ fr has a cycle

          1,234 states, 4,321 transitions, 0.02 s
    "#]],
    );
}

#[test]
fn colors_only_on_request() {
    for (name, answer) in samples::all() {
        let (plain, colored) = (render(&answer, PLAIN), render(&answer, COLORED));
        assert!(!plain.contains('\x1b'), "{name}");
        assert!(colored.contains('\x1b'), "{name}");
        assert!(plain.ends_with('\n') && !plain.lines().any(|l| l.ends_with(' ')), "{name}");
    }
}

#[test]
fn odd_input_is_no_panic() {
    for answer in samples::odd() {
        for color in [false, true] {
            assert!(
                render(&answer, TextOptions { color, ..PLAIN }).lines().next().is_some_and(|l| !l.is_empty())
            );
        }
    }
}

#[test]
fn the_source_cannot_talk_to_the_terminal() {
    let mut answer = samples::sb();
    let witness = answer.witness.as_mut().expect("a witness");
    witness.source = witness.source.replace("b = x", "b\x1b= x");
    assert!(!render(&answer, PLAIN).contains('\x1b'));
}
