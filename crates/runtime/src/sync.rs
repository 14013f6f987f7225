//! Synchronisation through objects that aren't atomics of the program: mutexes, semaphores, and so on.
//!
//! Who acquires an object learns what those who released it knew, in C11's happens-before and in SC's alike.

use crate::blocks::Who;
use crate::chunks;
use crate::held::{Held, Hold};
use crate::journal::{Event, EventKind};
use crate::report;
use crate::spin::Lock;
use crate::thread::{self, Thread};
use core::sync::atomic::{AtomicBool, AtomicU16, Ordering::Relaxed};
use seqcst_model::Mode;
use seqcst_monitor::clocks::Time;
use seqcst_monitor::clocks::run::Message;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Who releases or acquires a lock that several readers may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Writers, and everybody with ordinary locks: learn from all, are heard by all.
    All,
    /// Readers: learn from writers and are heard by writers only.
    Readers,
    /// An object that stands for several: who acquires it may not have heard from all who released it. What it hands on
    /// counts as known in happens-before, and not under SC, so that it can hide a violation but never make one.
    Loose,
}

#[derive(Default)]
struct Object {
    by_writers: Message,
    by_readers: Message,
    /// Releases so far.
    releases: u32,
    /// Its life is over.
    destroyed: Option<Destroyed>,
}

/// The end of an object's life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Destroyed {
    /// What it was.
    pub kind: report::Object,
    /// Who destroyed it, and where.
    pub by: Who,
}

/// Was any object ever destroyed?
static SOME_DESTROYED: AtomicBool = AtomicBool::new(false);

const SHARDS: usize = 64;
type Objects = HashMap<usize, Object, BuildHasherDefault<Spread>>;
static OBJECTS: [Lock<Option<Objects>>; SHARDS] = [const { Lock::new(None) }; SHARDS];

/// Around a fork.
pub fn held() -> &'static dyn Hold {
    static HELD: Held<Option<Objects>, SHARDS> = Held::new(&OBJECTS);
    &HELD
}

/// Addresses spread by multiplication: no randomness needed, and none to be had this early.
#[derive(Default)]
pub struct Spread(u64);

impl std::hash::Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(byte.into()));
    }
    fn write_usize(&mut self, value: usize) {
        self.0 = (self.0 ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

fn with<T>(addr: usize, act: impl FnOnce(&mut Objects) -> T) -> T {
    let mut shard = OBJECTS[(addr >> 4) % SHARDS].lock();
    act(shard.get_or_insert_with(Objects::default))
}

/// The current thread has acquired the object at `addr`.
pub fn acquire(addr: usize, side: Side, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    thread.waits.effect();
    let time = thread.views.time();
    let releases = with(addr, |objects| {
        if let Some(object) = objects.get(&addr) {
            match side {
                Side::Loose => thread.views.believe(&object.by_writers),
                Side::Readers => thread.views.acquire(&object.by_writers),
                Side::All => {
                    thread.views.acquire(&object.by_writers);
                    thread.views.acquire(&object.by_readers);
                }
            }
            object.releases
        } else {
            0
        }
    });
    note(thread, EventKind::Acquire, addr, time, releases, pc);
    thread.leave();
}

/// The current thread is about to release the object at `addr`.
pub fn release(addr: usize, side: Side, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    thread.waits.effect();
    let time = thread.views.time();
    let releases = with(addr, |objects| {
        let object = entry(objects, addr);
        let heard = if side == Side::Readers { &mut object.by_readers } else { &mut object.by_writers };
        thread.views.release(heard);
        object.releases = object.releases.wrapping_add(1);
        object.releases
    });
    note(thread, EventKind::Release, addr, time, releases, pc);
    thread.leave();
}

fn entry(objects: &mut Objects, addr: usize) -> &mut Object {
    objects.entry(addr).or_insert_with(|| {
        count(addr, |objects| objects.fetch_add(1, Relaxed));
        Object::default()
    })
}

/// The current thread has destroyed the object: what it knew is forgotten, and its end remembered.
pub fn destroy(addr: usize, kind: report::Object, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    let by = Who { thread: thread.number, site: thread.stack.site(pc) };
    SOME_DESTROYED.store(true, Relaxed);
    with(addr, |objects| {
        *entry(objects, addr) = Object { destroyed: Some(Destroyed { kind, by }), ..Object::default() };
    });
    thread.leave();
}

/// How the object's life ended, if that is all that there is to say of it.
#[inline]
pub fn destroyed(addr: usize) -> Option<Destroyed> {
    if !SOME_DESTROYED.load(Relaxed) {
        return None;
    }
    let thread = thread::entering()?;
    thread.busy = true;
    let destroyed = with(addr, |objects| objects.get(&addr).and_then(|object| object.destroyed));
    thread.leave();
    destroyed
}

fn note(thread: &mut Thread, what: EventKind, addr: usize, time: Time, write: u32, pc: usize) {
    let site = thread.stack.site(pc);
    let mode = if what == EventKind::Acquire { Mode::Acquire } else { Mode::Release };
    thread.journal.push(Event { time, write, addr, life: 0, site, what, mode, size: 0 });
}

/// The object is no more.
pub fn forget(addr: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    remove(addr);
    thread.leave();
}

/// Memory is given back or used anew: objects in it are no more. The current thread is inside the runtime.
pub fn forget_range(addr: usize, size: usize) {
    const FEW: usize = 64;
    let mut some = false;
    chunks::each_page(addr, size, |chunk, from, _| some |= chunk.objects(from).load(Relaxed) != 0);
    if !some {
        return;
    }
    if size <= FEW {
        return (addr..addr + size).for_each(remove);
    }
    for shard in &OBJECTS {
        let mut shard = shard.lock();
        let Some(objects) = &mut *shard else { continue };
        objects.retain(|&at, _| {
            let gone = at.wrapping_sub(addr) < size;
            if gone {
                count(at, |objects| objects.fetch_sub(1, Relaxed));
            }
            !gone
        });
    }
}

fn remove(addr: usize) {
    if with(addr, |objects| objects.remove(&addr)).is_some() {
        count(addr, |objects| objects.fetch_sub(1, Relaxed));
    }
}

/// The count of objects in a page: most pages have none, and then there is nothing to forget.
fn count(addr: usize, change: impl FnOnce(&AtomicU16) -> u16) {
    if let Some(chunk) = chunks::chunk(addr) {
        change(chunk.objects(addr));
    }
}
