//! arc-swap 1.8.2: a reader takes the pointer, writes down its debt, and looks at the pointer again; a writer replaces the pointer and pays
//! debts. Too weak orderings let the reader look at a pointer that was freed since (fixed in 1.9.1, which made the accesses SC).
//@ crate: arc-swap 1.8.2 fixed 1.9.1
//@ expect: src/strategy/hybrid.rs:44  `storage.load(Relaxed)` in `attempt`
//@ expect: src/strategy/hybrid.rs:77  `storage.load(Acquire)` in `fallback`
//@ expect: src/debt/mod.rs:77         `compare_exchange(…, AcqRel, Acquire)` in `pay`

use arc_swap::ArcSwap;
use std::sync::Arc;
use std::thread::{scope, yield_now};

fn main() {
    let shared = ArcSwap::from_pointee(0);
    scope(|s| {
        for writer in 0..2 {
            let shared = &shared;
            s.spawn(move || {
                for i in 0..1000 {
                    shared.store(Arc::new(writer * 1000 + i));
                    if i % 4 == 0 {
                        yield_now();
                    }
                }
            });
        }
        for _ in 0..2 {
            s.spawn(|| {
                for i in 0..1000 {
                    // More guards than there are fast slots, so that the slow path is taken, too.
                    let guards: Vec<_> = (0..i % 12).map(|_| shared.load()).collect();
                    assert!(guards.iter().all(|guard| ***guard < 2000));
                    drop(guards);
                    yield_now();
                }
            });
        }
    });
}
