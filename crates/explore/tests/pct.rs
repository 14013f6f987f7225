//! Probabilistic concurrency testing keeps its promise: programs with bugs of known depth, over many seeds; and it still
//! varies where threads poll, and where few executions are very long.

mod common;

use common::{Do, Machine, Script};
use seqcst_explore::strategies::Pct;
use seqcst_explore::{Limits, Source, Strategy, Trace, explore};

/// Somebody who takes no part, and makes executions longer.
fn bystander(steps: usize) -> Vec<Do> {
    vec![Do::Rmw(3); steps]
}

/// A thread that fails if the other one's store came first.
fn depth_1() -> Script {
    Script(vec![vec![Do::Store(0)], vec![Do::Check(0)], bystander(6)])
}

/// It fails if it comes while the other one has the lock.
fn depth_2() -> Script {
    use Do::*;
    let late = [TryLock(0), Unlock(0), Exit, Store(1), Check(1)].to_vec();
    Script(vec![vec![Rmw(2), Lock(0), Unlock(0), Rmw(2)], late, bystander(5)])
}

/// One comes while the other has a lock, and then that one while the first has another lock.
fn depth_3() -> Script {
    use Do::*;
    let first = [Rmw(2), Lock(0), Unlock(0), TryLock(1), Unlock(1), Exit, Store(1), Check(1)].to_vec();
    let second = [TryLock(0), Unlock(0), Exit, Lock(1), Unlock(1)].to_vec();
    Script(vec![first, second, bystander(3)])
}

/// How often an execution fails, and how often it should at least.
fn measure(script: &Script, depth: u32, seeds: u64, each: u64) -> (f64, f64) {
    let (mut failed, mut least) = (0u64, 1.0f64);
    for seed in 0..seeds {
        let mut machine = Machine::new(script);
        let mut strategy = Pct::new(depth, seed, each);
        let (mut plan, mut trace) = Default::default();
        while strategy.next(&mut plan) {
            Trace::clear(&mut trace);
            let Ok(outcome) = machine.run(&plan, &mut trace);
            failed += u64::from(outcome.failure.is_some());
            strategy.learn(&plan, &trace);
        }
        least = least.min(strategy.chance());
    }
    (failed as f64 / (seeds * each) as f64, least)
}

#[test]
fn bugs_of_known_depth_show_as_often_as_promised() {
    for (depth, script) in [(1, depth_1()), (2, depth_2()), (3, depth_3())] {
        let (seeds, each) = (100, 400);
        let (rate, promised) = measure(&script, depth, seeds, each);
        println!("depth {depth}: {rate:.4} measured, {promised:.4} promised");
        let slack = 3.0 * (promised / (seeds * each) as f64).sqrt();
        assert!(
            rate >= promised - slack,
            "depth {depth}: {rate:.5} of the executions, promised: {promised:.5}"
        );
        // Without enough changes it doesn't show at all: the depths are what they are said to be.
        if depth > 1 {
            assert_eq!(measure(&script, depth - 1, 20, 400).0, 0.0, "depth {depth}");
        }
    }
}

/// Two threads poll under a lock and yield, for a third one that goes on with its own work in several steps: changes of
/// priority still come between those steps after somebody has yielded.
#[test]
fn it_varies_where_threads_yield() {
    use Do::*;
    let poll =
        |x| vec![Lock(0), Load(x), Unlock(0), Yield, Lock(0), Load(x), Unlock(0), Yield, Load(0), Load(1)];
    let work = vec![Lock(0), Store(2), Unlock(0), Store(0), Store(1), Store(0), Store(1), Store(0)];
    let mut machine = Machine::new(&Script(vec![work, poll(2), poll(2)]));
    let limits = Limits { keep_going: true, ..Limits::default() };
    let Ok(summary) = explore(&mut machine, &mut Pct::new(3, 1, 3000), &limits, |_, _| ());
    println!("{} different", summary.distinct);
    assert!(summary.distinct > 100, "{} different of 3000", summary.distinct);
}

/// One execution in a thousand is very long: changes must not be drawn from all of its steps ever after.
#[test]
fn one_long_execution_changes_little() {
    let mut strategy = Pct::new(3, 1, 10_000);
    let (mut plan, mut trace) = Default::default();
    let mut machine = Machine::new(&depth_3());
    let mut failed = 0;
    for number in 0..10_000 {
        assert!(strategy.next(&mut plan));
        Trace::clear(&mut trace);
        let Ok(outcome) = machine.run(&plan, &mut trace);
        failed += u32::from(outcome.failure.is_some());
        if number % 1000 == 10 {
            let last = *trace.steps.last().expect("there are some");
            trace.steps.resize(100_000, last);
        }
        strategy.learn(&plan, &trace);
    }
    let promised = strategy.chance();
    println!("{failed} failed, {promised} promised, of {} steps", strategy.length());
    assert!(strategy.length() < 100);
    assert!(f64::from(failed) >= 10_000.0 * promised / 2.0, "{failed} of 10,000");
    let words = strategy.progress().guarantee.expect("it gives one");
    assert!(words.contains(&format!("within {} steps of 3 threads", strategy.length())), "{words}");
}
