//! What mutexes and read-write locks have in common: locks that one thread has alone, and guards.

use super::{LockResult, PoisonError, TryLockError, TryLockResult, lock, lock_id, really, try_lock, unlock};
use crate::rt::{self, site, site::Site, tag::Tag};
use std::panic::Location;

/// Takes a lock alone, or waits for it: inside a model as the schedule has it, then the real one must be free. Gives where
/// that was, inside a model.
#[track_caller]
pub fn take_alone<R>(
    tag: &Tag,
    wait: impl FnOnce() -> LockResult<R>,
    try_real: impl FnMut() -> TryLockResult<R>,
) -> (Option<Site>, LockResult<R>) {
    if !rt::inside() {
        return (None, wait());
    }
    let site = site::number(Location::caller());
    lock(lock_id(tag), site);
    (Some(site), really(try_real))
}

/// Takes a lock alone if nobody has it.
#[track_caller]
pub fn try_alone<R, G>(
    tag: &Tag,
    try_real: impl FnOnce() -> TryLockResult<R>,
    guard: impl FnOnce(Option<Site>, LockResult<R>) -> LockResult<G>,
) -> TryLockResult<G> {
    try_at(|site| try_lock(lock_id(tag), site), try_real, guard)
}

/// Takes a lock if the model, inside of one, lets us.
#[track_caller]
pub fn try_at<R, G>(
    is_free: impl FnOnce(Site) -> bool,
    try_real: impl FnOnce() -> TryLockResult<R>,
    guard: impl FnOnce(Option<Site>, LockResult<R>) -> LockResult<G>,
) -> TryLockResult<G> {
    let site = rt::inside().then(|| site::number(Location::caller()));
    if site.is_some_and(|site| !is_free(site)) {
        return Err(TryLockError::WouldBlock);
    }
    let real = match try_real() {
        Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
        Err(TryLockError::Poisoned(error)) => Err(error),
        Ok(real) => Ok(real),
    };
    Ok(guard(site, real)?)
}

/// Gives back a lock that was taken alone, unless that was done already.
pub fn give_alone<R>(tag: &Tag, site: Option<Site>, real: Option<R>) {
    match site.filter(|_| real.is_some() && rt::inside()) {
        Some(site) => unlock(lock_id(tag), site, || drop(real)),
        None => drop(real),
    }
}

/// A guard of ours around a real one, poisoned or not.
pub fn guarded<R, G>(real: LockResult<R>, guard: impl Fn(R) -> G) -> LockResult<G> {
    real.map(&guard).map_err(|error| PoisonError::new(guard(error.into_inner())))
}

/// Guards lead to the value, and show it. With `mut` it can be changed.
macro_rules! leads_to_the_value {
    ($guard:ident mut) => {
        leads_to_the_value!($guard);

        impl<T: ?Sized> std::ops::DerefMut for $guard<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                crate::rt::access::changes();
                self.real.as_mut().expect("still taken")
            }
        }
    };
    ($guard:ident) => {
        impl<T: ?Sized> std::ops::Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                self.real.as_ref().expect("still taken")
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + std::fmt::Display> std::fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

pub(super) use leads_to_the_value;
