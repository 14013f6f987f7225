//! Locks around a fork: they are taken before it and given back after it, so that what they protect is whole in the
//! child, where the other threads don't exist.
//!
//! A fork may come from a signal handler that has interrupted the holder of a lock. So patience is limited; in the child,
//! a lock that couldn't be had is simply free.

use crate::spin::{Guard, Lock};
use core::cell::UnsafeCell;

/// Turns of giving up the processor until a lock is given up: more than any holder needs.
const PATIENCE: u32 = 100_000;

/// Locks that can be held around a fork.
pub struct Held<T: 'static, const N: usize> {
    locks: &'static [Lock<T>; N],
    guards: UnsafeCell<[Option<Guard<'static, T>>; N]>,
}

// SAFETY: `guards` is only used by the thread that forks, and only one does at a time: libc sees to that.
unsafe impl<T: Send, const N: usize> Sync for Held<T, N> {}

impl<T, const N: usize> Held<T, N> {
    /// These locks.
    pub const fn new(locks: &'static [Lock<T>; N]) -> Held<T, N> {
        Held { locks, guards: UnsafeCell::new([const { None }; N]) }
    }
}

/// Something that is held around a fork.
pub trait Hold: Sync {
    /// Before.
    fn take(&self);
    /// After, in the parent.
    fn give(&self);
    /// After, in the child.
    fn renew(&self);
}

impl<T: Send, const N: usize> Hold for Held<T, N> {
    fn take(&self) {
        for (i, lock) in self.locks.iter().enumerate() {
            let guard = lock.lock_within(PATIENCE);
            // SAFETY: only the thread that forks comes here.
            unsafe { (*self.guards.get())[i] = guard };
        }
    }

    fn give(&self) {
        for i in 0..N {
            // SAFETY: only the thread that forks comes here.
            let guard = unsafe { (*self.guards.get())[i].take() };
            drop(guard);
        }
    }

    fn renew(&self) {
        self.give();
        self.locks.iter().for_each(Lock::reset);
    }
}
