//! The lives of locks, barriers and their like: used after they were freed or destroyed, destroyed while in use, unlocked by
//! who hasn't locked them.
//!
//! That an object was destroyed is remembered by its address (`sync`). Its memory may become another object without
//! anybody telling us (a static initialiser); so it must still look destroyed as well. libc marks destroyed mutexes and
//! condition variables itself, and has words to spare in others. (glibc 2.36, `struct_{mutex,rwlock}.h`,
//! `thread-shared-types.h`, `internaltypes.h`: part of its binary interface.)

use super::caller::Caller;
use super::threads;
use crate::control::{self, queues};
use crate::journal::EventKind;
use crate::report::{self, Misuse, Object};
use crate::sync::{self, Destroyed};
use crate::{memory, thread};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

/// So many forks, one inside of the other, are remembered.
const GENERATIONS: usize = 64;

/// The numbers of the threads that forked this process and those before it, by which it goes in the locks that it has
/// taken before.
static BEFORE_FORKS: [AtomicU32; GENERATIONS] = [const { AtomicU32::new(0) }; GENERATIONS];

/// After a fork, in the child of this thread.
pub(super) fn forked_by(tid: u32) {
    let free = BEFORE_FORKS.iter().find(|before| before.load(Ordering::Relaxed) == 0);
    free.unwrap_or(&BEFORE_FORKS[GENERATIONS - 1]).store(tid, Ordering::Relaxed);
}

/// Is this the thread that calls, or was it when it took its locks?
fn is_caller(owner: u32) -> bool {
    let mut before =
        BEFORE_FORKS.iter().map(|before| before.load(Ordering::Relaxed)).take_while(|&tid| tid != 0);
    owner == threads::tid() || before.any(|tid| tid == owner)
}

/// What a word that is to spare holds after a destruction.
const MARK: u32 = 0xdead_10cc;

/// A word of an object.
///
/// # Safety
/// The object's memory is there.
unsafe fn word(object: usize, index: usize) -> *mut u32 {
    (object as *mut u32).wrapping_add(index)
}

/// The word that is marked, and the bits that say so.
fn mark(kind: Object) -> Option<(usize, u32)> {
    match kind {
        Object::Mutex => Some((4, u32::MAX)), // `__kind`
        Object::Condition => Some((9, 4)),    // `__wrefs`
        Object::RwLock => Some((4, MARK)),    // padding
        Object::Semaphore => Some((6, MARK)), // unused
        Object::Barrier => None,              // always initialised by a call
    }
}

/// # Safety
/// The object's memory is there.
unsafe fn looks_destroyed(object: usize, kind: Object) -> bool {
    // SAFETY: the caller's promise; others may change it by atomics.
    mark(kind).is_none_or(|(index, bits)| unsafe { word(object, index).read_volatile() } & bits == bits)
}

/// An object is about to be used. False: it was destroyed.
#[inline]
pub(super) fn used<T>(object: *const T, kind: Object, caller: Caller) -> bool {
    let addr = object as usize;
    memory::used(addr, caller.pc());
    let Some(destroyed) = sync::destroyed(addr) else { return true };
    // SAFETY: the caller is about to use it.
    let is_dead = destroyed.kind == kind && unsafe { looks_destroyed(addr, kind) };
    if is_dead {
        tell(Misuse::UseAfterDestroy(kind), addr, EventKind::Acquire, caller, Some(destroyed));
    } else {
        sync::forget(addr);
    }
    !is_dead
}

/// An object is misused in a way that is known where it happens.
pub(super) fn misused(misuse: Misuse, addr: usize, what: EventKind, caller: Caller) {
    tell(misuse, addr, what, caller, None);
}

/// An object is about to be destroyed. False: it is in use, or was destroyed already.
pub(super) fn dies<T>(object: *const T, kind: Object, caller: Caller) -> bool {
    if !used(object, kind, caller) {
        return false;
    }
    // SAFETY: the caller's object.
    let in_use = unsafe { is_in_use(object as usize, kind) };
    if in_use {
        tell(Misuse::DestroyInUse(kind), object as usize, EventKind::Destroy, caller, None);
    }
    !in_use
}

/// An object was destroyed, if the real call says so.
pub(super) fn died<T>(result: c_int, object: *const T, kind: Object, caller: Caller) -> c_int {
    if result == 0 {
        let addr = object as usize;
        if let Object::RwLock | Object::Semaphore = kind
            && let Some((index, bits)) = mark(kind)
        {
            // SAFETY: the caller's object, of which nothing but its memory is left.
            unsafe { word(addr, index).write_volatile(bits) };
        }
        sync::destroy(addr, kind, caller.pc());
    }
    result
}

/// # Safety
/// The object's memory is there.
unsafe fn is_in_use(object: usize, kind: Object) -> bool {
    const ONE_READER: u32 = 8;
    const WRITING: u32 = 2;
    // SAFETY: the caller's promise.
    let word = |index: usize| unsafe { word(object, index).read_volatile() };
    let waits = || control::active() && control::is_waited_for(object);
    match kind {
        // Users, those included who wait for a signal; robust ones have none.
        Object::Mutex => word(4) & 16 == 0 && word(3) != 0,
        Object::RwLock => word(0) >= ONE_READER || word(0) & WRITING != 0,
        Object::Barrier => super::barriers::is_entered(object),
        Object::Condition => control::active() && queues::is_waited_for(object),
        Object::Semaphore => word(1) != 0 || waits(),
    }
}

/// A mutex is about to be unlocked. Those that check for errors themselves may.
pub(super) fn unlocked<T>(mutex: *const T, caller: Caller) {
    /// Hints for elision, and whether other processes use it.
    const HINTS: u32 = 0x380;
    const ELISION: u32 = 0x100;
    let addr = mutex as usize;
    if !used(mutex, Object::Mutex, caller) {
        return;
    }
    // SAFETY: the caller's mutex.
    let [lock, owner, kind] = [0, 2, 4].map(|index| unsafe { word(addr, index).read_volatile() });
    if !matches!(kind & !HINTS, 0 | 3) || kind & ELISION != 0 {
        return;
    }
    if lock == 0 {
        tell(Misuse::NotLocked, addr, EventKind::Release, caller, None);
    } else if owner != 0 && !is_caller(owner) {
        tell(Misuse::NotOwner, addr, EventKind::Release, caller, None);
    }
}

#[cold]
fn tell(misuse: Misuse, addr: usize, what: EventKind, caller: Caller, destroyed: Option<Destroyed>) {
    let Some(thread) = thread::entering().filter(|_| !thread::is_blind()) else { return };
    thread.busy = true;
    let site = thread.stack.site(caller.pc());
    let now = report::Access { thread: thread.number, what, mode: None, addr, size: 0, site };
    let earlier = destroyed.map(|destroyed| {
        let (thread, site) = (destroyed.by.thread, destroyed.by.site);
        report::Access { thread, what: EventKind::Destroy, site, ..now }
    });
    report::misuse(misuse, &now, earlier.as_ref(), None);
    thread.leave();
}
