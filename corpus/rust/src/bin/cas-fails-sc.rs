//! Store buffering with a compare-and-swap that fails as an SC load (ISO C11, 7.17.7.4).
//@ run: robust

use corpus::run;
use std::sync::atomic::{AtomicUsize, Ordering::*};

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

fn body(me: usize) {
    if me == 0 {
        X.store(1, SeqCst);
        let _ = Y.compare_exchange(1, 2, SeqCst, SeqCst);
    } else {
        Y.store(1, SeqCst);
        X.load(SeqCst);
    }
}

fn reset() {
    X.store(0, SeqCst);
    Y.store(0, SeqCst);
}

fn main() {
    run(2, 100, body, reset);
}
