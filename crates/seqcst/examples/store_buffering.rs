//! How many executions per second: store buffering, two threads and the one that starts them. With `random` or `dpor` as
//! an argument, only that.

use seqcst::sync::Arc;
use seqcst::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use seqcst::{Builder, Strategy, thread};
use std::time::Instant;

fn store_buffering() {
    let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (x2, y2) = (x.clone(), y.clone());
    let first = thread::spawn(move || {
        x.store(1, SeqCst);
        y.load(SeqCst)
    });
    let second = thread::spawn(move || {
        y2.store(1, SeqCst);
        x2.load(SeqCst)
    });
    let (a, b) = (first.join().unwrap(), second.join().unwrap());
    assert!(a == 1 || b == 1);
}

/// A million random executions.
fn random() {
    let random = Builder::new().strategy(Strategy::Random).executions(1_000_000);
    println!("random: {}", random.explore(store_buffering).summary());
}

/// All of them, again and again.
fn dpor() {
    let start = Instant::now();
    let (mut executions, mut rounds) = (0, 0);
    while executions < 1_000_000 {
        let exploration = Builder::new().explore(store_buffering);
        assert!(exploration.is_exhaustive() && exploration.problem().is_none());
        executions += exploration.executions();
        rounds += 1;
    }
    let rate = executions as f64 / start.elapsed().as_secs_f64();
    println!("dpor: {} executions in each of {rounds} explorations, {rate:.0}/s", executions / rounds);
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("random") => random(),
        Some("dpor") => dpor(),
        _ => {
            random();
            dpor();
        }
    }
}
