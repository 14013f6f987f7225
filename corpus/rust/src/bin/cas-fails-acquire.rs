//! Store buffering with a compare-and-swap that fails: then it is an acquire load, though all else is SC (ISO C11, 7.17.7.4).
//@ run: not-robust

use corpus::run;
use std::sync::atomic::{AtomicUsize, Ordering::*};

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

fn body(me: usize) {
    if me == 0 {
        X.store(1, SeqCst); //~ missed
        let _ = Y.compare_exchange(1, 2, SeqCst, Acquire); //~ stale
    } else {
        Y.store(1, SeqCst); //~ missed
        X.load(SeqCst); //~ stale
    }
}

fn reset() {
    X.store(0, SeqCst);
    Y.store(0, SeqCst);
}

fn main() {
    run(2, 10, body, reset);
}
