//! A client for crate seqlock, which has no tests of its own: two threads write pairs of numbers, two others read them.

use seqlock::SeqLock;
use std::thread::{scope, yield_now};

fn main() {
    let both = SeqLock::new((0, 0));
    scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..500 {
                    let mut both = both.lock_write();
                    both.0 += 1;
                    both.1 += 1;
                    drop(both);
                    yield_now();
                }
            });
            s.spawn(|| {
                for _ in 0..500 {
                    let (a, b) = both.read();
                    assert_eq!(a, b);
                }
            });
        }
    });
    assert_eq!(both.read(), (1000, 1000));
}
