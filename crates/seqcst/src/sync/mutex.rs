//! Mutexes.

use super::{LockResult, PoisonError, TryLockError, TryLockResult, lock, lock_id, really, try_lock, unlock};
use crate::rt::{self, site, site::Site, tag::Tag};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

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
        if !rt::inside() {
            return self.guard(None, self.real.lock());
        }
        let site = site::number(Location::caller());
        lock(lock_id(&self.tag), site);
        self.guard(Some(site), really(|| self.real.try_lock()))
    }

    /// Takes the mutex if nobody has it.
    ///
    /// # Errors
    /// If somebody has it, or it is poisoned.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let mut at = None;
        if rt::inside() {
            let site = site::number(Location::caller());
            if !try_lock(lock_id(&self.tag), site) {
                return Err(TryLockError::WouldBlock);
            }
            at = Some(site);
        }
        match self.real.try_lock() {
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            Err(TryLockError::Poisoned(error)) => Ok(self.guard(at, Err(error))?),
            Ok(real) => Ok(self.guard(at, Ok(real))?),
        }
    }

    pub(super) fn guard<'a>(
        &'a self,
        site: Option<Site>,
        real: LockResult<std::sync::MutexGuard<'a, T>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        let guard = |real| MutexGuard { mutex: self, real: Some(real), site };
        real.map(guard).map_err(|error| PoisonError::new(guard(error.into_inner())))
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
        let real = self.real.take();
        match self.site.filter(|_| real.is_some() && rt::inside()) {
            Some(site) => unlock(lock_id(&self.mutex.tag), site, || drop(real)),
            None => drop(real),
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.real.as_ref().expect("still taken")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.real.as_mut().expect("still taken")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

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
