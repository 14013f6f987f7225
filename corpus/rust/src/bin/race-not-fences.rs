//! Message passing of plain data with a release fence and an acquire fence: no race, though ThreadSanitizer reports one (Batty et al., C11, POPL 2011).
//@ run: robust

use corpus::{Plain, must, run};
use std::sync::atomic::{AtomicUsize, Ordering::*, fence};

static DATA: Plain<usize> = Plain::new(0);
static FLAG: AtomicUsize = AtomicUsize::new(0);

fn body(role: usize) {
    if role == 0 {
        DATA.set(1);
        fence(Release);
        FLAG.store(1, Relaxed);
    } else if FLAG.load(Relaxed) == 1 {
        fence(Acquire);
        let data = DATA.get();
        must(data == 1);
    }
}

fn reset() {
    FLAG.store(0, Relaxed);
    DATA.set(0);
}

fn main() {
    run(2, 100, body, reset);
}
