//! Message passing with relaxed accesses, a release fence and an acquire fence (Batty et al., C11, POPL 2011).
//@ run: robust

use corpus::{must, run};
use std::sync::atomic::{AtomicUsize, Ordering::*, fence};

static DATA: AtomicUsize = AtomicUsize::new(0);
static FLAG: AtomicUsize = AtomicUsize::new(0);

fn body(role: usize) {
    if role == 0 {
        DATA.store(1, Relaxed);
        fence(Release);
        FLAG.store(1, Relaxed);
    } else if FLAG.load(Relaxed) == 1 {
        fence(Acquire);
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
