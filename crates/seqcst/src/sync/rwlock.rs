//! Read-write locks.

use super::guards::{give_alone, guarded, leads_to_the_value, take_alone, try_alone, try_at};
use super::{LockResult, TryLockResult, lock_id, really};
use crate::rt::world::{World, names, op};
use crate::rt::{self, note, site, site::Site, step, tag::Tag, wait::Wait};
use seqcst_explore::{AccessType, Kind};
use std::fmt;
use std::panic::Location;

/// Like [`std::sync::RwLock`].
#[derive(Default)]
pub struct RwLock<T: ?Sized> {
    tag: Tag,
    real: std::sync::RwLock<T>,
}

/// Stops reading when dropped.
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    real: Option<std::sync::RwLockReadGuard<'a, T>>,
    site: Option<Site>,
}

/// Stops writing when dropped.
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    real: Option<std::sync::RwLockWriteGuard<'a, T>>,
    site: Option<Site>,
}

impl<T> RwLock<T> {
    /// A lock around this value.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { tag: Tag::new(), real: std::sync::RwLock::new(value) }
    }

    /// The value.
    ///
    /// # Errors
    /// If it is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.real.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock to read, or waits for it.
    ///
    /// # Errors
    /// If it is poisoned.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        if !rt::inside() {
            return self.reader(None, self.real.read());
        }
        let (id, site) = (lock_id(&self.tag), site::number(Location::caller()));
        let taken = op(Kind::Lock, AccessType::Read, names::LOCK, id);
        step(site, taken, Wait::Shared(id), |world| {
            note(world, || format!("lock m{id} to read"));
            take(world, id);
            (taken, ())
        });
        self.reader(Some(site), really(|| self.real.try_read()))
    }

    /// Takes the lock to read if nobody writes.
    ///
    /// # Errors
    /// If somebody writes, or it is poisoned.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let is_free = |site| {
            let id = lock_id(&self.tag);
            let taken = op(Kind::TryLock, AccessType::Read, names::LOCK, id);
            step(site, taken, Wait::Nothing, |world| {
                let free = world.locks.get(id).writer.is_none();
                note(world, || format!("try to lock m{id} to read: {}", if free { "done" } else { "taken" }));
                if free {
                    take(world, id);
                }
                (taken, free)
            })
        };
        try_at(is_free, || self.real.try_read(), |site, real| self.reader(site, real))
    }

    /// Takes the lock to write, or waits for it.
    ///
    /// # Errors
    /// If it is poisoned.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let (site, real) = take_alone(&self.tag, || self.real.write(), || self.real.try_write());
        self.writer(site, real)
    }

    /// Takes the lock to write if nobody has it.
    ///
    /// # Errors
    /// If somebody has it, or it is poisoned.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        try_alone(&self.tag, || self.real.try_write(), |site, real| self.writer(site, real))
    }

    fn reader<'a>(
        &'a self,
        site: Option<Site>,
        real: LockResult<std::sync::RwLockReadGuard<'a, T>>,
    ) -> LockResult<RwLockReadGuard<'a, T>> {
        guarded(real, |real| RwLockReadGuard { lock: self, real: Some(real), site })
    }

    fn writer<'a>(
        &'a self,
        site: Option<Site>,
        real: LockResult<std::sync::RwLockWriteGuard<'a, T>>,
    ) -> LockResult<RwLockWriteGuard<'a, T>> {
        guarded(real, |real| RwLockWriteGuard { lock: self, real: Some(real), site })
    }

    /// The value, for who has the lock for himself.
    ///
    /// # Errors
    /// If it is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.real.get_mut()
    }

    /// Did somebody panic who wrote?
    pub fn is_poisoned(&self) -> bool {
        self.real.is_poisoned()
    }
}

/// Reads from now on: knows what writers knew.
fn take(world: &mut World, id: u32) {
    let lock = world.locks.get(id);
    lock.readers += 1;
    let task = &mut world.tasks[world.current as usize];
    task.spin.clear();
    task.views.acquire(&lock.written);
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        let real = self.real.take();
        let Some(site) = self.site.filter(|_| rt::inside()) else { return drop(real) };
        let id = lock_id(&self.lock.tag);
        let given = op(Kind::Unlock, AccessType::Read, names::LOCK, id);
        step(site, given, Wait::Nothing, |world| {
            note(world, || format!("unlock m{id}"));
            drop(real);
            let lock = world.locks.get(id);
            lock.readers = lock.readers.saturating_sub(1);
            let task = &mut world.tasks[world.current as usize];
            task.spin.clear();
            task.views.release(&mut lock.read);
            (given, ())
        });
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        give_alone(&self.lock.tag, self.site, self.real.take());
    }
}

leads_to_the_value!(RwLockReadGuard);
leads_to_the_value!(RwLockWriteGuard mut);

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}
