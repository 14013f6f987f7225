//! A lock for the runtime's own data: spins a little, then sleeps in the kernel.
//!
//! `std::sync::Mutex` won't do: it calls libc's `syscall`, which the runtime itself interposes. A thread that is
//! interrupted by a signal while it holds a lock must not take the same lock in the handler: code that a handler can
//! reach uses [`Lock::try_lock`] or [`Lock::lock_within`].

use crate::sys;
use core::cell::UnsafeCell;
use core::hint;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and somebody may be asleep.
const CROWDED: u32 = 2;
const SPINS: u32 = 100;

/// A value that one thread at a time can use.
pub struct Lock<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: only the holder of the lock reaches the value.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock.
    pub const fn new(value: T) -> Self {
        Lock { state: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        let taken = self.state.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed);
        taken.ok().map(|_| Guard { lock: self })
    }

    /// Takes the lock.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        self.try_lock().unwrap_or_else(|| self.wait())
    }

    /// Takes the lock unless it stays taken for `turns` turns of giving up the processor.
    pub fn lock_within(&self, turns: u32) -> Option<Guard<'_, T>> {
        for _ in 0..turns {
            if let Some(guard) = self.try_lock() {
                return Some(guard);
            }
            sys::sched_yield();
        }
        self.try_lock()
    }

    #[cold]
    fn wait(&self) -> Guard<'_, T> {
        for _ in 0..SPINS {
            hint::spin_loop();
            if self.state.load(Ordering::Relaxed) == FREE
                && let Some(guard) = self.try_lock()
            {
                return guard;
            }
        }
        while self.state.swap(CROWDED, Ordering::Acquire) != FREE {
            sys::futex_wait(&self.state, CROWDED);
        }
        Guard { lock: self }
    }

    /// The value, when nobody else can have it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Frees the lock whoever holds it: for the child of a fork, where the holder may not exist any more.
    pub fn reset(&self) {
        self.state.store(FREE, Ordering::Release);
    }
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Self {
        Lock::new(T::default())
    }
}

/// The right to use the value; gives it back when dropped.
pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.lock.state.swap(FREE, Ordering::Release) == CROWDED {
            sys::futex_wake(&self.lock.state, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let lock = Lock::new(0u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for i in 0..10_000 {
                        let mut guard = lock.lock();
                        let seen = *guard;
                        if i % 100 == 0 {
                            std::thread::yield_now();
                        }
                        *guard = seen + 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), 40_000);
    }

    #[test]
    fn taken_and_free() {
        let lock = Lock::new(());
        let guard = lock.try_lock().unwrap();
        assert!(lock.try_lock().is_none());
        assert!(lock.lock_within(3).is_none());
        drop(guard);
        assert!(lock.lock_within(0).is_some());
    }
}
