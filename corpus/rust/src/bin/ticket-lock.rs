//! Ticket lock around data that is not atomic (Reed & Kanodia, CACM 1979; Mellor-Crummey & Scott, TOCS 1991).
//@ run: robust

use corpus::{Plain, must, nothing, run};
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread::yield_now;

static NEXT: AtomicUsize = AtomicUsize::new(0);
static SERVING: AtomicUsize = AtomicUsize::new(0);
static INSIDE: Plain<usize> = Plain::new(0);

fn main() {
    let body = |_| {
        for _ in 0..50 {
            let mine = NEXT.fetch_add(1, AcqRel);
            while SERVING.load(Acquire) != mine {
                yield_now();
            }
            INSIDE.set(INSIDE.get() + 1);
            SERVING.store(mine + 1, Release);
        }
    };
    run(3, 4, body, nothing);
    must(INSIDE.get() == 600);
}
