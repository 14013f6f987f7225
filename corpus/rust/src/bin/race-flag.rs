//! Message passing of plain data with a relaxed flag: a race whenever the flag is seen (Batty et al., C11, POPL 2011).
//@ run: race

use corpus::{Plain, must, run};
use std::sync::atomic::{AtomicUsize, Ordering::*};

static DATA: Plain<usize> = Plain::new(0);
static FLAG: AtomicUsize = AtomicUsize::new(0);

fn body(role: usize) {
    if role == 0 {
        DATA.set(1); //~ race
        FLAG.store(1, Relaxed);
    } else if FLAG.load(Acquire) == 1 {
        let data = DATA.get(); //~ race
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
