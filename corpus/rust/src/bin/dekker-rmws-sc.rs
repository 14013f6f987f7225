//! The entry of Dekker's algorithm with SC exchanges and loads (Dijkstra, EWD 123, 1965).
//@ run: robust

use corpus::run;
use std::sync::atomic::{AtomicBool, Ordering::*};

static WANT: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

fn body(me: usize) {
    let order = if me == 0 { SeqCst } else { SeqCst };
    WANT[me].swap(true, order);
    WANT[1 - me].load(SeqCst);
}

fn reset() {
    WANT[0].store(false, SeqCst);
    WANT[1].store(false, SeqCst);
}

fn main() {
    run(2, 100, body, reset);
}
