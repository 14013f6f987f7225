//! Atomic pointers.

use super::{Call, Ordering, check_failure, check_load, check_store, peek, take};
use crate::rt::{inside, tag::Tag};
use std::fmt;
use std::sync::atomic as real;

fn bits<T>(pointer: *mut T) -> u64 {
    pointer.expose_provenance() as u64
}

fn of<T>(bits: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(bits as usize)
}

/// Like [`std::sync::atomic::AtomicPtr`].
pub struct AtomicPtr<T> {
    real: real::AtomicPtr<T>,
    tag: Tag,
}

impl<T> AtomicPtr<T> {
    /// An atomic with this value.
    #[must_use]
    pub const fn new(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr { real: real::AtomicPtr::new(value), tag: Tag::new() }
    }

    #[inline]
    #[track_caller]
    fn perform(&self, call: Call, act: impl FnOnce(*mut T) -> Option<*mut T>) -> (*mut T, bool) {
        let start = || bits(self.real.load(Ordering::Relaxed));
        let (old, wrote) = call.perform(&self.tag, start, |old| act(of(old)).map(bits));
        (of(old), wrote)
    }

    /// See [`std::sync::atomic`].
    #[inline]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> *mut T {
        check_load(order);
        if !inside() {
            return self.real.load(order);
        }
        self.perform(Call::load(order), |_| None).0
    }

    /// See [`std::sync::atomic`].
    #[inline]
    #[track_caller]
    pub fn store(&self, value: *mut T, order: Ordering) {
        check_store(order);
        if !inside() {
            return self.real.store(value, order);
        }
        self.perform(Call::store(order), |_| Some(value));
    }

    /// See [`std::sync::atomic`].
    #[inline]
    #[track_caller]
    pub fn swap(&self, value: *mut T, order: Ordering) -> *mut T {
        if !inside() {
            return self.real.swap(value, order);
        }
        self.perform(Call::rmw("swap", order), |_| Some(value)).0
    }

    /// See [`std::sync::atomic`].
    ///
    /// # Errors
    /// The value that was found, if it is not the expected one.
    #[inline]
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        check_failure(failure);
        if !inside() {
            return self.real.compare_exchange(current, new, success, failure);
        }
        let call = Call::strong(bits(current), success, failure);
        let (found, done) = self.perform(call, |old| (old == current).then_some(new));
        if done { Ok(found) } else { Err(found) }
    }

    /// See [`std::sync::atomic`]. It does not fail without a reason here, but what it could miss then is watched.
    ///
    /// # Errors
    /// The value that was found, if it is not the expected one.
    #[inline]
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        check_failure(failure);
        if !inside() {
            return self.real.compare_exchange_weak(current, new, success, failure);
        }
        let (found, done) = self.perform(Call::weak(success, failure), |old| (old == current).then_some(new));
        if done { Ok(found) } else { Err(found) }
    }

    /// See [`std::sync::atomic`].
    ///
    /// # Errors
    /// The last value, if `update` returns nothing.
    #[track_caller]
    pub fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        mut update: impl FnMut(*mut T) -> Option<*mut T>,
    ) -> Result<*mut T, *mut T> {
        let mut old = self.load(fetch);
        while let Some(new) = update(old) {
            match self.compare_exchange_weak(old, new, set, fetch) {
                Ok(old) => return Ok(old),
                Err(found) => old = found,
            }
        }
        Err(old)
    }

    /// The value, for who has the atomic for himself.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut *mut T {
        if let Some(value) = take(&mut self.tag) {
            *self.real.get_mut() = of(value);
        }
        self.real.get_mut()
    }

    /// The value, for who has the atomic for himself, like loom's.
    #[track_caller]
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut *mut T) -> R) -> R {
        f(self.get_mut())
    }

    /// The value.
    #[must_use]
    #[track_caller]
    pub fn into_inner(mut self) -> *mut T {
        *self.get_mut()
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    fn from(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr::new(value)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let real = self.real.load(Ordering::Relaxed);
        peek(&self.tag).map_or(real, of).fmt(f)
    }
}
