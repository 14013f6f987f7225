//! What was not tried is said, what hangs ends with a word on where, and state that is kept has a name.

use seqcst::sync::atomic::Ordering::{Relaxed, SeqCst};
use seqcst::sync::atomic::{AtomicBool, AtomicUsize};
use seqcst::sync::{Arc, Mutex};
use seqcst::{Builder, Problem, thread};
use std::process::{Command, Output};

/// Runs one of the ignored tests below in a process of its own, as `cargo test` does.
fn run(test: &str, environment: &[(&str, &str)]) -> (Output, String) {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.args(["--exact", test, "--ignored"]).envs(environment.iter().copied());
    let output = command.output().expect("it can be run");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let all = text + &String::from_utf8_lossy(&output.stdout);
    (output, all)
}

/// Two threads, three updates each: 20 orders.
fn twenty() {
    let x = Arc::new(AtomicUsize::new(0));
    let other = x.clone();
    let add = |x: &AtomicUsize| {
        (0..3).for_each(|_| {
            x.fetch_add(1, SeqCst);
        });
    };
    let thread = thread::spawn(move || add(&other));
    add(&x);
    thread.join().unwrap();
}

#[test]
#[ignore = "run by others"]
fn stopped_by_a_limit() {
    seqcst::model(twenty);
}

#[test]
fn a_limit_is_said_though_the_test_passes() {
    let (output, text) = run("stopped_by_a_limit", &[("SEQCST_EXECUTIONS", "7")]);
    assert!(output.status.success(), "{text}");
    let said = "stopped_by_a_limit: not all schedules were tried: stopped at the limit of 7 executions";
    assert!(text.contains(said), "{text}");
    let (output, text) = run("stopped_by_a_limit", &[("SEQCST_EXECUTIONS", "7"), ("SEQCST_ALL", "1")]);
    assert!(!output.status.success() && text.contains("not all schedules were tried"), "{text}");
    // Nothing to be said, and no failure, if all were tried.
    let (output, text) = run("stopped_by_a_limit", &[("SEQCST_ALL", "1")]);
    assert!(output.status.success() && !text.contains("not all"), "{text}");
}

/// "All schedules" is said of nothing but all of them.
#[test]
fn all_schedules_are_all() {
    let all = Builder::default().explore(twenty);
    assert!(all.is_exhaustive() && all.left_out().is_none() && all.distinct() == 20, "{}", all.summary());
    for executions in 1..20 {
        let some = Builder::default().executions(executions).explore(twenty);
        assert!(!some.is_exhaustive() && some.reached_limit(), "{executions}: {}", some.summary());
    }
    // The first execution fails, or the last one of all.
    for which in 1..=20 {
        let mut count = 0;
        let count = std::cell::RefCell::new(&mut count);
        let failing = Builder::default().explore(|| {
            twenty();
            **count.borrow_mut() += 1;
            assert!(**count.borrow() < which);
        });
        assert!(failing.problem().is_some() && !failing.is_exhaustive(), "{which}: {}", failing.summary());
    }
}

/// A loop that counts looks like one that waits: what it does when nobody comes in between was not tried, and must not be
/// called so.
#[test]
fn guesses_are_no_proof() {
    let test = || {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (other, flag) = (x.clone(), y.clone());
        let thread = thread::spawn(move || {
            if (0..10).all(|_| other.load(SeqCst) == 0) {
                flag.store(1, SeqCst);
            }
        });
        x.store(1, SeqCst);
        assert_eq!(y.load(SeqCst), 0, "the other one can have read all before");
        thread.join().unwrap();
    };
    let guessed = Builder::default().explore(test);
    assert!(guessed.problem().is_some() || !guessed.is_exhaustive(), "{}", guessed.summary());
    let patient = Builder::default().patience(100).explore(test);
    assert!(matches!(patient.problem(), Some(Problem::Panic(_))), "{}", patient.summary());
}

/// Who polls under a lock and yields lets others go first, after a while.
#[test]
fn polling_under_a_lock_ends() {
    polls(thread::yield_now);
    polls(|| ());
}

fn polls(pause: fn()) {
    let test = || {
        let ready = Arc::new(Mutex::new(false));
        let pollers: Vec<_> = (0..2)
            .map(|_| {
                let ready = ready.clone();
                thread::spawn(move || {
                    while !*ready.lock().unwrap() {
                        pause();
                    }
                })
            })
            .collect();
        *ready.lock().unwrap() = true;
        pollers.into_iter().for_each(|poller| poller.join().unwrap());
    };
    for strategy in
        [seqcst::Strategy::Dpor, seqcst::Strategy::Bounded(Some(2)), seqcst::Strategy::Pct { depth: 3 }]
    {
        let exploration = Builder::default().strategy(strategy).executions(20_000).explore(test);
        assert_eq!(exploration.problem(), None, "{strategy:?}: {}", exploration.summary());
        assert!(!exploration.reached_limit(), "{strategy:?}: {}", exploration.summary());
        assert!(!exploration.is_exhaustive(), "{strategy:?}: {}", exploration.summary());
        assert!(exploration.steps() / exploration.executions() < 200, "{}", exploration.summary());
    }
}

/// An execution that is given up doesn't end the search for the one that fails.
#[test]
fn one_endless_execution_is_not_all() {
    let test = || {
        let (x, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (other, stop) = (x.clone(), go.clone());
        let thread = thread::spawn(move || stop.store(true, SeqCst));
        if !go.load(SeqCst) {
            // Forever, and without a pause.
            loop {
                other.fetch_add(1, SeqCst);
            }
        }
        thread.join().unwrap();
        panic!("found");
    };
    let exploration = Builder::default().steps(500).explore(test);
    assert_eq!(exploration.problem(), Some(&Problem::Panic("found".into())), "{}", exploration.summary());
}

#[test]
#[ignore = "run by others"]
fn a_lock_across_a_step() {
    let lock = &*Box::leak(Box::new(std::sync::Mutex::new(0)));
    seqcst::model(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let other = x.clone();
        let thread = thread::spawn(move || {
            let mut guard = lock.lock().unwrap();
            *guard += other.fetch_add(1, SeqCst);
        });
        {
            let mut guard = lock.lock().unwrap();
            *guard += x.fetch_add(1, SeqCst);
        }
        thread.join().unwrap();
    });
}

#[test]
#[ignore = "run by others"]
fn a_loop_without_a_step() {
    static GO: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    seqcst::model(|| {
        GO.store(false, Relaxed);
        let thread = thread::spawn(|| GO.store(true, Relaxed));
        while !GO.load(Relaxed) {
            std::hint::spin_loop();
        }
        thread.join().unwrap();
    });
}

#[test]
fn what_hangs_is_ended_and_named() {
    let (output, text) = run("a_lock_across_a_step", &[("SEQCST_HANG", "1")]);
    assert!(!output.status.success(), "{text}");
    for part in ["a_lock_across_a_step hangs", "std::sync::Mutex", "seqcst::sync", "blocked", "limits.rs:"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (output, text) = run("a_loop_without_a_step", &[("SEQCST_HANG", "1")]);
    assert!(!output.status.success() && text.contains("goes round in a loop"), "{text}");
}

static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

mod inner {
    pub static ONCE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
}

/// A closure that does something else from the second (third …) time on.
fn depends(on_state: impl Fn() -> bool) -> String {
    let exploration = Builder::default().explore(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let other = x.clone();
        if on_state() {
            x.load(SeqCst);
        }
        thread::spawn(move || (0..3).for_each(|value| other.store(value, SeqCst)));
        (0..3).for_each(|value| x.store(value, SeqCst));
    });
    assert_eq!(exploration.problem(), Some(&Problem::NotDeterministic));
    exploration.report().expect("there is a problem").to_owned()
}

#[test]
#[cfg(target_os = "linux")]
fn statics_that_keep_state_are_named() {
    let report = depends(|| CALLS.fetch_add(1, Relaxed) > 3);
    assert!(report.contains("static limits::CALLS (at 0x"), "{report}");
    // It changes but once, before anybody could know that it matters.
    let report = depends(|| inner::ONCE.swap(true, Relaxed));
    assert!(report.contains("static limits::inner::ONCE"), "{report}");
}
