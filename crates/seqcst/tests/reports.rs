//! What people read when something is wrong.

#![allow(unsafe_code)] // cells

#[path = "reports/cases.rs"]
mod cases;

use expect_test::{Expect, expect};
use seqcst::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use seqcst::sync::{Arc, Mutex};
use seqcst::{Builder, Model, Problem, Strategy, thread};

/// The report, which must come again when its tape is replayed.
#[track_caller]
fn report(builder: Builder, f: impl Fn(), expected: Expect) {
    expected.assert_eq(&text(builder, f));
}

#[track_caller]
fn text(builder: Builder, f: impl Fn()) -> String {
    let exploration = builder.explore(&f);
    let (text, tape) = (exploration.report().expect("a problem"), exploration.tape().unwrap_or_default());
    if exploration.problem() != Some(&Problem::NotDeterministic) {
        let again = builder.tape(tape).explore(&f);
        assert_eq!(again.report(), Some(text));
        assert_eq!(again.executions(), 1);
    }
    text.to_owned()
}

/// It is told as what it was: a read, with the order of failure, and what it found.
#[test]
fn a_compare_and_swap_that_fails() {
    let text = text(Builder::default(), cases::failing_swap);
    for part in [
        "compare_exchange(Acquire) of a0, which failed, as it found 1",
        "and fail on the value at the beginning: 0",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn store_buffering() {
    report(
        Builder::default(),
        cases::store_buffering,
        expect![[r#"
            seqcst: not robust under RC11 (C11): an access may be stale
              thread 1 at crates/seqcst/tests/reports/cases.rs:13:17: load(Acquire) of a0
                  13 | other.1.load(Acquire)
              can miss the Release write of 1 by main at crates/seqcst/tests/reports/cases.rs:15:14
                  15 | shared.1.store(1, Release);
              and read the value at the beginning: 0
              under sequential consistency the write comes before the access:
                2    main       a0.store(1, Release)  crates/seqcst/tests/reports/cases.rs:15:14
                3    main       a1.load(Acquire) = 0  crates/seqcst/tests/reports/cases.rs:16:14
                6    thread 1   a1.store(1, Release)  crates/seqcst/tests/reports/cases.rs:12:17
                7    thread 1   a0.load(Acquire) = 1  crates/seqcst/tests/reports/cases.rs:13:17

            the execution, step by step:
                    main                  thread 1
                 1  spawn thread 1                              cases.rs:11:5
                 2  a0.store(1, Release)                        cases.rs:15:14
                 3  a1.load(Acquire) = 0                        cases.rs:16:14
                 4  end
                 5                        begin
                 6                        a1.store(1, Release)  cases.rs:12:17
                 7                        a0.load(Acquire) = 1  cases.rs:13:17  ← here

            repair: SeqCst for the accesses at cases.rs:15:14, cases.rs:16:14, cases.rs:12:17, cases.rs:13:17, or a fence(SeqCst) between the accesses of each thread among them

            replay: SEQCST_TAPE=0x4,1x4 cargo test store_buffering"#]],
    );
}

#[test]
fn store_buffering_on_x86() {
    let builder = Builder::default().memory_model(Model::Tso);
    let (usual, on_x86) =
        (text(Builder::default(), cases::store_buffering), text(builder, cases::store_buffering));
    assert_eq!(usual.lines().count(), on_x86.lines().count());
    // What is not the same as above.
    let others: Vec<&str> =
        on_x86.lines().zip(usual.lines()).filter(|(a, b)| a != b).map(|(a, _)| a).collect();
    expect![[r#"
        seqcst: not robust under TSO (x86): an access may be stale
        repair: a fence(SeqCst) between the write and the later load of each thread, or a read-modify-write, or SeqCst for the writes at cases.rs:15:14, cases.rs:16:14, cases.rs:12:17, cases.rs:13:17"#]].assert_eq(&others.join("\n"));
}

#[test]
fn message_passing_without_release() {
    report(
        Builder::default(),
        cases::message_passing_without_release,
        expect![[r#"
            seqcst: not robust under RC11 (C11): an access may be stale
              main at crates/seqcst/tests/reports/cases.rs:29:25: load(Relaxed) of a1
                  29 | assert_eq!(shared.0.load(Relaxed), 7);
              can miss the Relaxed write of 7 by thread 1 at crates/seqcst/tests/reports/cases.rs:23:17
                  23 | other.0.store(7, Relaxed);
              and read the value at the beginning: 0
              under sequential consistency the write comes before the access:
                4    thread 1   a1.store(7, Relaxed)  crates/seqcst/tests/reports/cases.rs:23:17
                5    thread 1   a0.store(1, Relaxed)  crates/seqcst/tests/reports/cases.rs:24:17
                7    main       a0.load(Acquire) = 1  crates/seqcst/tests/reports/cases.rs:26:21
                8    main       a1.load(Relaxed) = 7  crates/seqcst/tests/reports/cases.rs:29:25

            the execution, step by step:
                    main                  thread 1
                 1  spawn thread 1                              cases.rs:22:5
                 2  a0.load(Acquire) = 0                        cases.rs:26:21
                 3                        begin
                 4                        a1.store(7, Relaxed)  cases.rs:23:17
                 5                        a0.store(1, Relaxed)  cases.rs:24:17
                 6                        end
                 7  a0.load(Acquire) = 1                        cases.rs:26:21
                 8  a1.load(Relaxed) = 7                        cases.rs:29:25  ← here

            repair: Release for the writes and Acquire for the reads at cases.rs:23:17, cases.rs:24:17, cases.rs:26:21, cases.rs:29:25

            replay: SEQCST_TAPE=0x2,1x4,0x3 cargo test message_passing_without_release"#]],
    );
}

#[test]
fn races() {
    report(
        Builder::default(),
        cases::race,
        expect![[r#"
        seqcst: data race: nothing orders these two accesses to a cell
          read by main at crates/seqcst/tests/reports/cases.rs:40:14
              40 | shared.0.with(|cell| unsafe { *cell });
          write by thread 1 at crates/seqcst/tests/reports/cases.rs:39:35
              39 | thread::spawn(move || other.0.with_mut(|cell| unsafe { *cell = 1 }));

        the execution, step by step:
                main            thread 1
             1  spawn thread 1            cases.rs:39:5
             2  end
             3                  begin       ← here

        replay: SEQCST_TAPE=0x2,1x2 cargo test races"#]],
    );
}

#[test]
fn panics() {
    report(
        Builder::default(),
        cases::lost_update,
        expect![[r#"
        seqcst: main panicked at crates/seqcst/tests/reports/cases.rs:50:5:
          assertion `left == right` failed: an update was lost
            left: 1
           right: 2

        the execution, step by step:
                main                 thread 1 (adder)
             1  spawn thread 1                            cases.rs:47:25
             2  a0.load(SeqCst) = 0                       cases.rs:48:23
             3                       begin
             4                       a0.load(SeqCst) = 0  cases.rs:47:57
             5                       a0.store(1, SeqCst)  cases.rs:47:45
             6                       end
             7  a0.store(1, SeqCst)                       cases.rs:48:11
             8  join thread 1                             cases.rs:49:12
             9  a0.load(SeqCst) = 1                       cases.rs:50:22

        replay: SEQCST_TAPE=0x2,1x4,0x3 cargo test panics"#]],
    );
    let bounded = [Strategy::Bounded(Some(1)), Strategy::BoundedDpor(1)];
    for strategy in [Strategy::Random, Strategy::Pct { depth: 2 }].into_iter().chain(bounded) {
        let exploration = Builder::default().strategy(strategy).explore(cases::lost_update);
        assert!(matches!(exploration.problem(), Some(Problem::Panic(_))), "{strategy:?}");
    }
}

#[test]
fn deadlocks() {
    report(
        Builder::default(),
        cases::deadlock,
        expect![[r#"
        seqcst: deadlock: no thread can go on
          main waits for a lock or a signal at crates/seqcst/tests/reports/cases.rs:61:26
              61 | let second = locks.1.lock().unwrap();
          thread 1 waits for a lock or a signal at crates/seqcst/tests/reports/cases.rs:58:30
              58 | let _first = other.0.lock().unwrap();

        the execution, step by step:
                main            thread 1
             1  spawn thread 1            cases.rs:56:17
             2  lock m0                   cases.rs:60:25
             3                  begin
             4                  lock m1   cases.rs:57:31

        replay: SEQCST_TAPE=0x2,1x2 cargo test deadlocks"#]],
    );
}

#[test]
fn waiting_for_nobody() {
    report(
        Builder::default(),
        cases::waiting_for_nobody,
        expect![[r#"
        seqcst: livelock: threads spin, and nobody will end that
          main spins at crates/seqcst/tests/reports/cases.rs:71:22
              71 | while !ready.load(Acquire) {
          thread 1 waits to be given something at crates/seqcst/tests/reports/cases.rs:70:38
              70 | scope.spawn(move || receiver.recv());

        the execution, step by step:
                main                  thread 1
             1  spawn thread 1                  cases.rs:70:15
             2  a0.load(Acquire) = 0            cases.rs:71:22
             3                        begin
             4  a0.load(Acquire) = 0            cases.rs:71:22  (1000 times)

        replay: SEQCST_TAPE=0x2,1,0x1000 cargo test waiting_for_nobody"#]],
    );
}

#[test]
fn too_many_steps() {
    report(
        Builder::default().steps(5),
        cases::too_many_steps,
        expect![[r#"
        seqcst: more steps than allowed (see Builder::steps)

        the execution, step by step:
                main
             1  a0.fetch_add(Relaxed): 0 → 1  cases.rs:80:17
             2  a0.fetch_add(Relaxed): 1 → 2  cases.rs:80:17
             3  a0.fetch_add(Relaxed): 2 → 3  cases.rs:80:17
             4  a0.fetch_add(Relaxed): 3 → 4  cases.rs:80:17
             5  a0.fetch_add(Relaxed): 4 → 5  cases.rs:80:17

        replay: SEQCST_TAPE=0x5 cargo test too_many_steps"#]],
    );
}

#[test]
fn leaks() {
    report(
        Builder::default().find_leaks(true),
        cases::leak,
        expect![[r#"
        seqcst: the Arc made at crates/seqcst/tests/reports/cases.rs:86:17 is never dropped (1 references are left)

        the execution, step by step:
                main
             1  lock m0    cases.rs:87:14
             2  unlock m0  cases.rs:87:14
             3  end

        replay: SEQCST_TAPE=0x3 cargo test leaks"#]],
    );
    Builder::default().check(cases::leak);
}

#[test]
fn not_deterministic() {
    let calls = std::cell::Cell::new(0);
    let test = || {
        calls.set(calls.get() + 1);
        let x = Arc::new(AtomicUsize::new(0));
        let other = x.clone();
        thread::spawn(move || (0..3).for_each(|value| other.store(value, SeqCst)));
        if calls.get() > 3 {
            x.load(SeqCst);
        }
        x.store(2, SeqCst);
        x.store(3, SeqCst);
    };
    let exploration = Builder::default().explore(test);
    assert_eq!(exploration.problem(), Some(&Problem::NotDeterministic));
    assert!(exploration.report().is_some_and(|report| report.contains("not deterministic")));
}

/// What threads leave behind when an execution is given up is dropped.
#[test]
fn everything_is_dropped() {
    struct Counted<'a>(&'a std::cell::Cell<i32>);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    let alive = std::cell::Cell::new(0);
    let exploration = Builder::default().explore(|| {
        let new = || {
            alive.set(alive.get() + 1);
            Counted(&alive)
        };
        let (_first, lock) = (new(), Mutex::new(0));
        let _guard = lock.lock().unwrap();
        let _second = new();
        let _again = lock.lock().unwrap();
    });
    assert_eq!(exploration.problem(), Some(&Problem::Deadlock));
    assert_eq!(alive.get(), 0);
}

/// Panics are heard of by those who join, if they may be.
#[test]
fn panics_of_threads_can_be_expected() {
    let test = || {
        let lock = Arc::new(Mutex::new(0));
        let other = lock.clone();
        let panicking = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("as expected");
        });
        assert!(panicking.join().is_err());
        assert!(lock.lock().is_err(), "poisoned");
    };
    Builder::default().threads_may_panic(true).check(test);
    assert_eq!(Builder::default().explore(test).problem(), Some(&Problem::Panic("as expected".into())));
}

#[test]
#[should_panic(expected = "an access may be stale")]
fn model_panics() {
    seqcst::model(cases::store_buffering);
}
