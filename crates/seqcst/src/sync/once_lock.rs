//! Values that are set once.

use super::Once;
use crate::rt;
use std::cell::UnsafeCell;
use std::fmt;

/// Like [`std::sync::OnceLock`]. Inside a model it is as outside, mostly empty, at the beginning of each execution.
pub struct OnceLock<T> {
    once: Once,
    real: std::sync::OnceLock<T>,
    /// The value inside a model, and in which execution it was set.
    inside: UnsafeCell<Option<(u64, Box<T>)>>,
}

// SAFETY: as the standard library's; the value inside is used by coroutines of one OS thread, ordered by `once`. (Two
// models that run at the same time and share one keep apart as far as `once` does.)
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
// SAFETY: it owns its values.
unsafe impl<T: Send> Send for OnceLock<T> {}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> OnceLock<T> {
    /// Empty.
    #[must_use]
    pub const fn new() -> OnceLock<T> {
        OnceLock { once: Once::new(), real: std::sync::OnceLock::new(), inside: UnsafeCell::new(None) }
    }

    /// The value, if it is set.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let real = self.real.get();
        if real.is_some() || !rt::inside() || !self.once.is_completed() {
            return real;
        }
        self.value()
    }

    fn value(&self) -> Option<&T> {
        let stamp = rt::world()?.stamp;
        // SAFETY: it was set before, in this execution, and stays until the next one.
        let (set, value) = unsafe { &*self.inside.get() }.as_ref()?;
        (*set == stamp).then_some(value)
    }

    /// Sets the value.
    ///
    /// # Errors
    /// The value given, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        if self.real.get().is_some() || !rt::inside() {
            return self.real.set(value);
        }
        let mut value = Some(value);
        self.once.call_once_force(|_| self.keep(value.take().expect("not used yet")));
        value.map_or(Ok(()), Err)
    }

    /// The value; made by `f` if there is none.
    #[track_caller]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        if let Some(real) = self.real.get() {
            return real;
        }
        self.get_or_make(f)
    }

    /// The same, but what was set outside doesn't count inside.
    #[track_caller]
    pub(super) fn get_or_make(&self, f: impl FnOnce() -> T) -> &T {
        if !rt::inside() {
            return self.real.get_or_init(f);
        }
        self.once.call_once_force(|_| self.keep(f()));
        self.value().expect("set by now")
    }

    fn keep(&self, value: T) {
        let stamp = rt::here().stamp;
        // SAFETY: nobody else is inside `once`, and what an earlier execution left nobody uses any more.
        let old = unsafe { (*self.inside.get()).replace((stamp, Box::new(value))) };
        drop(old);
    }

    /// The value, for who has the lock for himself.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.real.get().is_some() {
            return self.real.get_mut();
        }
        let stamp = rt::world()?.stamp;
        self.inside.get_mut().as_mut().filter(|(set, _)| *set == stamp).map(|(_, value)| &mut **value)
    }

    /// The value, if it was set.
    pub fn into_inner(mut self) -> Option<T> {
        self.get_mut()?;
        match self.real.into_inner() {
            Some(value) => Some(value),
            None => self.inside.into_inner().map(|(_, value)| *value),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.real.get().or_else(|| self.value());
        f.debug_tuple("OnceLock").field(&value).finish()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> OnceLock<T> {
        let lock = OnceLock::new();
        let _ = lock.set(value);
        lock
    }
}
