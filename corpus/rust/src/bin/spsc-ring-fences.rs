//! Ring buffer for one producer and one consumer, with SC fences before each side looks at the other's index (Lamport, TSE 1977).
//@ run: robust

use corpus::{Plain, dawdle, must, nothing, run};
use std::sync::atomic::{AtomicUsize, Ordering::*, fence};
use std::thread::yield_now;

const SIZE: usize = 4;
const ITEMS: usize = 50;
static HEAD: AtomicUsize = AtomicUsize::new(0);
static TAIL: AtomicUsize = AtomicUsize::new(0);
static SLOTS: [Plain<usize>; SIZE] = [const { Plain::new(0) }; SIZE];
static REFUSED: Plain<usize> = Plain::new(0);
static EMPTY: Plain<usize> = Plain::new(0);

fn push(value: usize) -> bool {
    let t = TAIL.load(Relaxed);
    fence(SeqCst);
    let h = HEAD.load(Acquire);
    if t - h == SIZE {
        return false;
    }
    SLOTS[t % SIZE].set(value);
    dawdle(); // Copying takes a while.
    TAIL.store(t + 1, Release);
    true
}

fn pop() -> Option<usize> {
    let h = HEAD.load(Relaxed);
    fence(SeqCst);
    let t = TAIL.load(Acquire);
    if h == t {
        return None;
    }
    let value = SLOTS[h % SIZE].get();
    dawdle();
    HEAD.store(h + 1, Release);
    Some(value)
}

fn body(role: usize) {
    let mut i = 0;
    while i < ITEMS {
        if role == 0 {
            if push(i) {
                i += 1;
                continue;
            }
            REFUSED.set(REFUSED.get() + 1);
        } else {
            if let Some(got) = pop() {
                must(got == i);
                i += 1;
                continue;
            }
            EMPTY.set(EMPTY.get() + 1);
        }
        yield_now();
    }
}

fn main() {
    run(2, 4, body, nothing);
}
