//! Dekker's mutual exclusion, every access SC (Dijkstra, Cooperating sequential processes, 1965).
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
        WANT[me].store(true, SeqCst);
        while WANT[other].load(SeqCst) {
            if TURN.load(SeqCst) != me {
                WANT[me].store(false, SeqCst);
                while TURN.load(SeqCst) != me {
                    yield_now();
                }
                WANT[me].store(true, SeqCst);
            }
        }
        INSIDE.set(INSIDE.get() + 1);
        TURN.store(other, SeqCst);
        WANT[me].store(false, SeqCst);
    }
}

fn main() {
    run(2, 5, body, nothing);
    must(INSIDE.get() == 200);
}
