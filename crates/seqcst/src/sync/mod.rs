//! Synchronisation with the interface of [`std::sync`].

mod arc;
mod arc_traits;
pub mod atomic;
mod barrier;
mod condvar;
mod guards;
mod lazy;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod rwlock;
mod weak;

pub use arc::Arc;
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
pub use weak::Weak;

use crate::rt::world::{World, names, op};
use crate::rt::{self, here, note, site::Site, step, tag::Tag, wait::Wait, worker};
use seqcst_explore::{AccessType, Kind};

/// The number of a lock in this execution.
fn lock_id(tag: &Tag) -> u32 {
    let world = here();
    world.locks.find(tag, world.stamp, |_| ())
}

/// Takes a lock to write.
fn lock(id: u32, site: Site) {
    let taken = op(Kind::Lock, AccessType::Write, names::LOCK, id);
    let wait = if here().me().spin.polls(site) { Wait::Polled(id) } else { Wait::Free(id) };
    step(site, taken, wait, |world| {
        note(world, || format!("lock m{id}"));
        take(world, id);
        (taken, ())
    });
}

/// Tries to take a lock to write.
fn try_lock(id: u32, site: Site) -> bool {
    let taken = op(Kind::TryLock, AccessType::Write, names::LOCK, id);
    step(site, taken, Wait::Nothing, |world| {
        let free = world.locks.get(id).is_free();
        note(world, || format!("try to lock m{id}: {}", if free { "done" } else { "taken" }));
        if free {
            take(world, id);
            return (taken, true);
        }
        // Readers come and go without a conflict among them, but not with this.
        let how = if world.locks.get(id).readers > 0 { AccessType::Write } else { AccessType::Read };
        (op(Kind::TryLock, how, names::LOCK, id), false)
    })
}

/// Gives a lock back; `done` when it is time to.
fn unlock(id: u32, site: Site, done: impl FnOnce()) {
    let given = op(Kind::Unlock, AccessType::Write, names::LOCK, id);
    step(site, given, Wait::Nothing, |world| {
        note(world, || format!("unlock m{id}"));
        done();
        give(world, id);
        (given, ())
    });
}

fn take(world: &mut World, id: u32) {
    let me = world.current;
    let lock = world.locks.get(id);
    lock.writer = Some(me);
    let task = &mut world.tasks[me as usize];
    task.spin.section();
    task.views.acquire(&lock.written);
    task.views.acquire(&lock.read);
}

fn give(world: &mut World, id: u32) {
    let lock = world.locks.get(id);
    lock.writer = None;
    let task = &mut world.tasks[world.current as usize];
    task.spin.section();
    task.views.release(&mut lock.written);
}

/// The real lock behind one that the model has given to this thread. While stacks are unwound, it may still be held by
/// another thread, which comes first then.
fn really<G>(mut try_lock: impl FnMut() -> TryLockResult<G>) -> LockResult<G> {
    loop {
        match try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
            Err(TryLockError::WouldBlock) if rt::is_aborted() => worker::switch(),
            Err(TryLockError::WouldBlock) => {
                panic!("seqcst: a lock that is used inside a model is held outside of it")
            }
        }
    }
}
