//! Test-and-set lock around data that is not atomic (Rudolph & Segall, ISCA 1984).
//@ run: robust

use corpus::{Plain, must, nothing, run};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread::yield_now;

static LOCK: AtomicBool = AtomicBool::new(false);
static INSIDE: Plain<usize> = Plain::new(0);

fn main() {
    let body = |_| {
        for _ in 0..50 {
            while LOCK.swap(true, Acquire) {
                yield_now();
            }
            INSIDE.set(INSIDE.get() + 1);
            LOCK.store(false, Release);
        }
    };
    run(3, 4, body, nothing);
    must(INSIDE.get() == 600);
}
