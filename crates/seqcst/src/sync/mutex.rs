//! Mutexes.

use super::guards::{give_alone, guarded, leads_to_the_value, take_alone, try_alone};
use super::{LockResult, TryLockResult};
use crate::rt::{site::Site, tag::Tag};
use std::fmt;

/// Like [`std::sync::Mutex`].
///
/// The value of a static one is not what it was at the beginning of an execution: see [`lazy_static!`](crate::lazy_static).
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    pub(super) tag: Tag,
    pub(super) real: std::sync::Mutex<T>,
}

/// Gives the mutex back when dropped.
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) mutex: &'a Mutex<T>,
    /// None only while it is given back.
    pub(super) real: Option<std::sync::MutexGuard<'a, T>>,
    /// Where it was taken, inside a model.
    pub(super) site: Option<Site>,
}

impl<T> Mutex<T> {
    /// A mutex around this value.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { tag: Tag::new(), real: std::sync::Mutex::new(value) }
    }

    /// The value.
    ///
    /// # Errors
    /// If it is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.real.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes the mutex, or waits for it.
    ///
    /// # Errors
    /// If it is poisoned.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let (site, real) = take_alone(&self.tag, || self.real.lock(), || self.real.try_lock());
        self.guard(site, real)
    }

    /// Takes the mutex if nobody has it.
    ///
    /// # Errors
    /// If somebody has it, or it is poisoned.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        try_alone(&self.tag, || self.real.try_lock(), |site, real| self.guard(site, real))
    }

    pub(super) fn guard<'a>(
        &'a self,
        site: Option<Site>,
        real: LockResult<std::sync::MutexGuard<'a, T>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        guarded(real, |real| MutexGuard { mutex: self, real: Some(real), site })
    }

    /// The value, for who has the mutex for himself.
    ///
    /// # Errors
    /// If it is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.real.get_mut()
    }

    /// Did somebody panic who had it?
    pub fn is_poisoned(&self) -> bool {
        self.real.is_poisoned()
    }

    /// It is in order again.
    pub fn clear_poison(&self) {
        self.real.clear_poison();
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        give_alone(&self.mutex.tag, self.site, self.real.take());
    }
}

leads_to_the_value!(MutexGuard mut);

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}
