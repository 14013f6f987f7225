//! Message passing: a release store and an acquire load (Lahav & Margalit, PLDI 2019).
//@ run: robust

use corpus::{must, run};
use std::sync::atomic::{AtomicUsize, Ordering::*};

static DATA: AtomicUsize = AtomicUsize::new(0);
static FLAG: AtomicUsize = AtomicUsize::new(0);

fn body(role: usize) {
    if role == 0 {
        DATA.store(1, Relaxed);
        FLAG.store(1, Release);
    } else if FLAG.load(Acquire) == 1 {
        let data = DATA.load(Relaxed);
        must(data == 1);
    }
}

fn reset() {
    FLAG.store(0, Relaxed);
    DATA.store(0, Relaxed);
}

fn main() {
    run(2, 100, body, reset);
}
