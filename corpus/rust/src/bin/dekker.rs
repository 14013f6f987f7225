//! Dekker's mutual exclusion, release/acquire (Dijkstra, Cooperating sequential processes, 1965).
//@ run: not-robust

use corpus::{Plain, must, nothing, run};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread::yield_now;

static WANT: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static TURN: AtomicUsize = AtomicUsize::new(0);
static INSIDE: Plain<i32> = Plain::new(0);

fn body(me: usize) {
    let other = 1 - me;
    for _ in 0..20 {
        WANT[me].store(true, Release); //~ missed
        while WANT[other].load(Acquire) {
            //~ stale
            if TURN.load(Acquire) != me {
                //~ stale
                WANT[me].store(false, Release); //~ missed
                while TURN.load(Acquire) != me {
                    //~ stale
                    yield_now();
                }
                WANT[me].store(true, Release); //~ missed
            }
        }
        INSIDE.set(INSIDE.get() + 1);
        TURN.store(other, Release); //~ stale missed
        WANT[me].store(false, Release); //~ missed
    }
}

fn main() {
    run(2, 5, body, nothing);
    must(INSIDE.get() == 200);
}
