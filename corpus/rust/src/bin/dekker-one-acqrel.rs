//! The entry of Dekker's algorithm with exchanges, one of them acquire-release among SC accesses (Dijkstra, EWD 123, 1965).
//@ run: not-robust

use corpus::run;
use std::sync::atomic::{AtomicBool, Ordering::*};

static WANT: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

fn body(me: usize) {
    let order = if me == 0 { SeqCst } else { AcqRel };
    WANT[me].swap(true, order); //~ missed
    WANT[1 - me].load(SeqCst); //~ stale
}

fn reset() {
    WANT[0].store(false, SeqCst);
    WANT[1].store(false, SeqCst);
}

fn main() {
    run(2, 10, body, reset);
}
