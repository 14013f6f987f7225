//! Store buffering: both threads may miss the other's store (Lahav & Margalit, PLDI 2019, Ex. 3.1).
//@ run: not-robust

use corpus::run;
use std::sync::atomic::{AtomicUsize, Ordering::*};

static AT: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn body(me: usize) {
    AT[me].store(1, Release); //~ missed
    AT[1 - me].load(Acquire); //~ stale
}

fn reset() {
    AT[0].store(0, SeqCst);
    AT[1].store(0, SeqCst);
}

fn main() {
    run(2, 10, body, reset);
}
