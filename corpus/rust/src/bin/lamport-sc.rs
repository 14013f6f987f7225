//! Lamport's fast mutual exclusion, every access SC (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
//@ run: robust
//@ args: 2 | 3 | 4

use corpus::{Plain, must, nothing, run, threads};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread::yield_now;

const MOST: usize = 4;
static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);
static BUSY: [AtomicBool; MOST + 1] = [const { AtomicBool::new(false) }; MOST + 1];
static INSIDE: Plain<usize> = Plain::new(0);

fn lock(me: usize, threads: usize) {
    loop {
        BUSY[me].store(true, SeqCst);
        X.store(me, SeqCst);
        if Y.load(SeqCst) != 0 {
            BUSY[me].store(false, SeqCst);
            while Y.load(SeqCst) != 0 {
                yield_now();
            }
            continue;
        }
        Y.store(me, SeqCst);
        if X.load(SeqCst) == me {
            return;
        }
        BUSY[me].store(false, SeqCst);
        for other in 1..=threads {
            while BUSY[other].load(SeqCst) {
                yield_now();
            }
        }
        if Y.load(SeqCst) == me {
            return;
        }
        while Y.load(SeqCst) != 0 {
            yield_now();
        }
    }
}

fn unlock(me: usize) {
    Y.store(0, SeqCst);
    BUSY[me].store(false, SeqCst);
}

fn main() {
    let threads = threads(MOST);
    let body = |role| {
        for _ in 0..20 {
            lock(role + 1, threads);
            INSIDE.set(INSIDE.get() + 1);
            unlock(role + 1);
        }
    };
    run(threads, 5, body, nothing);
    must(INSIDE.get() == 100 * threads);
}
