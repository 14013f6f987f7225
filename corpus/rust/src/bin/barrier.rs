//! Sense-reversing barrier (Mellor-Crummey & Scott, TOCS 1991).
//@ run: robust

use corpus::{Plain, must, nothing, run};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread::yield_now;

const THREADS: usize = 3;
static MISSING: AtomicUsize = AtomicUsize::new(THREADS);
static SENSE: AtomicBool = AtomicBool::new(false);
static WRITTEN: [Plain<usize>; THREADS] = [const { Plain::new(0) }; THREADS];

fn meet(mine: &mut bool) {
    *mine = !*mine;
    if MISSING.fetch_sub(1, AcqRel) == 1 {
        MISSING.store(THREADS, Relaxed);
        SENSE.store(*mine, Release);
    } else {
        while SENSE.load(Acquire) != *mine {
            yield_now();
        }
    }
}

fn main() {
    let body = |role: usize| {
        let mut mine = false;
        for i in 1..=20 {
            WRITTEN[role].set(i);
            meet(&mut mine);
            must(WRITTEN[(role + 1) % THREADS].get() == i);
            meet(&mut mine);
        }
    };
    run(THREADS, 1, body, nothing);
}
