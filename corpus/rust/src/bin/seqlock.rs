//! Sequence lock with relaxed loads of the data and an acquire fence behind them (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012).
//@ run: not-robust
//
// Correct, as the reader throws such values away, but not robust: it may read a new `LOW` and then an old `HIGH` in an order
// that no SC run shows.

use corpus::{dawdle, must, nothing, run};
use std::sync::atomic::{AtomicUsize, Ordering::*, fence};

static VERSION: AtomicUsize = AtomicUsize::new(0);
static LOW: AtomicUsize = AtomicUsize::new(0);
static HIGH: AtomicUsize = AtomicUsize::new(0);

fn write_both(value: usize) {
    let v = VERSION.load(Relaxed);
    VERSION.store(v + 1, Relaxed);
    fence(Release);
    LOW.store(value, Relaxed);
    HIGH.store(value, Relaxed); //~ missed
    VERSION.store(v + 2, Release);
}

fn read_both() -> Option<(usize, usize)> {
    let before = VERSION.load(Acquire);
    if before % 2 != 0 {
        return None;
    }
    dawdle(); // A reader that takes its time.
    let l = LOW.load(Relaxed);
    let h = HIGH.load(Relaxed); //~ stale
    fence(Acquire);
    (VERSION.load(Relaxed) == before).then_some((l, h))
}

fn main() {
    let body = |role| {
        for i in 1..=100 {
            if role == 0 {
                write_both(i);
            } else if let Some((l, h)) = read_both() {
                must(l == h);
            }
        }
    };
    run(3, 4, body, nothing);
}
