//! Peterson's mutual exclusion with an exchange in place of the second store (after Vyukov, 2008).
//@ run: robust

use corpus::{Plain, must, nothing, run};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread::yield_now;

static WANT: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static TURN: AtomicUsize = AtomicUsize::new(0);
static INSIDE: Plain<i32> = Plain::new(0);

fn body(me: usize) {
    let other = 1 - me;
    for _ in 0..20 {
        WANT[me].store(true, Relaxed);
        TURN.swap(other, AcqRel);
        while WANT[other].load(Acquire) && TURN.load(Acquire) == other {
            yield_now();
        }
        INSIDE.set(INSIDE.get() + 1);
        WANT[me].store(false, Release);
    }
}

fn main() {
    run(2, 5, body, nothing);
    must(INSIDE.get() == 200);
}
