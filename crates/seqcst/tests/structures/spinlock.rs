//! A spinlock.

use seqcst::cell::UnsafeCell;
use seqcst::hint;
use seqcst::sync::atomic::{AtomicBool, Ordering};

pub struct Spinlock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is used by who has taken the lock.
unsafe impl<T: Send> Sync for Spinlock<T> {}
// SAFETY: it owns its value.
unsafe impl<T: Send> Send for Spinlock<T> {}

impl<T> Spinlock<T> {
    pub fn new(value: T) -> Spinlock<T> {
        Spinlock { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Uses the value; gives the lock back with this ordering.
    pub fn with<R>(&self, release: Ordering, f: impl FnOnce(&mut T) -> R) -> R {
        while self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            hint::spin_loop();
        }
        // SAFETY: see above.
        let result = self.value.with_mut(|value| f(unsafe { &mut *value }));
        self.taken.store(false, release);
        result
    }
}
