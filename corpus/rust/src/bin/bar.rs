//! A meeting of two: each raises its flag and waits for the other's (Margalit et al., PLDI 2025, Ex. 4.2).
//@ run: benign-wait
//
// Not robust, but what is new under the weak model is only a longer wait. The first rounds give the evidence for that: in each of
// them one thread only waits for the other, which comes late, and is seen to come back to its load with nothing done in between.

use corpus::{Plain, run};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread::{sleep, yield_now};
use std::time::Duration;

static FLAG: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static ROUND: Plain<usize> = Plain::new(0);

fn body(me: usize) {
    let (first, late) = (ROUND.get() < 4, ROUND.get() / 2);
    if first && me == late {
        sleep(Duration::from_millis(3));
    }
    if !first || me == late {
        FLAG[me].store(true, Release); //~ missed
    }
    if !first || me != late {
        while !FLAG[1 - me].load(Acquire) {
            //~ stale
            yield_now();
        }
    }
}

fn reset() {
    FLAG[0].store(false, Relaxed);
    FLAG[1].store(false, Relaxed);
    ROUND.set(ROUND.get() + 1);
}

fn main() {
    run(2, 50, body, reset);
}
