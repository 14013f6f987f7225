//! Store buffering with SC fences in between (Lahav & Margalit, PLDI 2019).
//@ run: robust

use corpus::{Plain, must, run};
use std::sync::atomic::{AtomicUsize, Ordering::*, fence};

static AT: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
static SEEN: [Plain<usize>; 2] = [const { Plain::new(0) }; 2];

fn body(me: usize) {
    AT[me].store(1, Relaxed);
    fence(SeqCst);
    SEEN[me].set(AT[1 - me].load(Relaxed));
}

fn reset() {
    must(SEEN[0].get() == 1 || SEEN[1].get() == 1);
    AT[0].store(0, SeqCst);
    AT[1].store(0, SeqCst);
}

fn main() {
    run(2, 100, body, reset);
}
