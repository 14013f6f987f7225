//! crossbeam-epoch 0.1.0: garbage is marked with the epoch in which it was thrown away, but that epoch is read before the fence, so it may be an old
//! one, and the garbage is freed too early (fixed in 0.2.0, which reads it after the fence).
//@ crate: crossbeam-epoch 0.1.0 fixed 0.2.0
//@ vendor: 0.1.0 207b3d14d81f66ac1219ac5d912880e6223009970e36a1bc3ab3b09e557ebfeb
//@ vendor: 0.2.0 9898f21d6d647793e163c804944941fb19aecd1f4a1a4c254bbb0bee15ccdea5
//@ expect: src/internal.rs:66  `self.epoch.load(Relaxed)` in `push_bag`

use crossbeam_epoch::{Atomic, Owned, Shared, pin};
use std::sync::atomic::Ordering::*;
use std::thread::{scope, yield_now};

fn main() {
    let shared = Atomic::new(0);
    scope(|s| {
        for thread in 0..3 {
            let shared = &shared;
            s.spawn(move || {
                for i in 0..300 {
                    let guard = pin();
                    // Others go on in the meantime, and the epoch, too.
                    yield_now();
                    let old = shared.swap(Owned::new(thread * 1000 + i), AcqRel, &guard);
                    // SAFETY: it was taken out of `shared`, once.
                    unsafe { guard.defer(move || drop(old.into_owned())) };
                    guard.flush();
                    // SAFETY: never null, and protected by the guard.
                    assert!(unsafe { *shared.load(Acquire, &guard).deref() } < 3000);
                }
            });
        }
    });
    let guard = pin();
    let last = shared.swap(Shared::null(), AcqRel, &guard);
    // SAFETY: all other threads are gone.
    drop(unsafe { last.into_owned() });
}
