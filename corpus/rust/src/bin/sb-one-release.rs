//! Store buffering with one store that is only a release: an SC load is no fence (ISO C11, 7.17.3).
//@ run: not-robust

use corpus::run;
use std::sync::atomic::{AtomicUsize, Ordering::*};

static AT: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn body(me: usize) {
    if me == 0 {
        AT[0].store(1, SeqCst); //~ missed
        AT[1].load(SeqCst); //~ stale
    } else {
        AT[1].store(1, Release); //~ missed
        AT[0].load(SeqCst); //~ stale
    }
}

fn reset() {
    AT[0].store(0, SeqCst);
    AT[1].store(0, SeqCst);
}

fn main() {
    run(2, 10, body, reset);
}
