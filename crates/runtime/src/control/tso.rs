//! The monitor for TSO, beside the one for RC20, which goes on to keep happens-before for data races and the order of
//! events for reports.
//!
//! Its locations are known by the lives of places, its threads by their numbers: neither is ever used again.

use super::scheduler;
use super::settings;
use crate::atomics::Done;
use crate::journal::What;
use crate::sync::{Side, Spread};
use core::cell::UnsafeCell;
use seqcst_explore::ThreadId;
use seqcst_model::Mode;
use seqcst_monitor::clocks::tso::{Location, Message, Thread};
use seqcst_monitor::clocks::{Did, Look, Slot, Stale, Time, Write};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Writes per location that are remembered.
const HISTORY: usize = 16;

type Map<T> = HashMap<usize, T, BuildHasherDefault<Spread>>;

/// What is known.
#[derive(Default)]
struct Monitor {
    threads: Vec<Thread>,
    locations: Map<Location>,
    /// What writers and readers of a synchronisation object have released.
    objects: Map<[Message; 2]>,
}

struct Cell(UnsafeCell<Option<Monitor>>);

// SAFETY: used by the running thread alone.
unsafe impl Sync for Cell {}

static MONITOR: Cell = Cell(UnsafeCell::new(None));

/// The monitor, if it is wanted, and the running thread.
#[inline]
fn get() -> Option<(&'static mut Monitor, usize)> {
    if !settings::get().is_tso() {
        return None;
    }
    let me = scheduler::get()?.me() as usize;
    // SAFETY: as said.
    let monitor = unsafe { (*MONITOR.0.get()).get_or_insert_default() };
    (me < monitor.threads.len()).then_some((monitor, me))
}

/// The first thread, in this slot, at this time.
pub fn start(slot: Slot, time: Time) {
    let first = Thread::foreign(slot, time.saturating_sub(1));
    // SAFETY: nobody else is there.
    unsafe { (*MONITOR.0.get()).insert(Monitor::default()) }.threads.push(first);
}

/// The running thread creates another one, in this slot, whose first event is at this time.
pub fn born(number: ThreadId, slot: Slot, time: Time) {
    if let Some((monitor, me)) = get() {
        let child = monitor.threads[me].child(slot, time.saturating_sub(1));
        monitor.threads.truncate(number as usize);
        monitor.threads.push(child);
    }
}

/// The running thread has joined another one.
pub fn join(number: ThreadId) {
    if let Some((monitor, me)) = get()
        && let Some(ended) = monitor.threads.get(number as usize).cloned()
    {
        monitor.threads[me].join(&ended);
    }
}

/// Could the access be stale? Of a place with this life and, if it is a new one, this value.
#[inline]
pub fn check(
    life: u32,
    value: impl Fn() -> u64,
    look: Look,
    forgotten: impl Fn(Slot) -> Time,
) -> Option<Stale> {
    let (monitor, me) = get()?;
    let location = monitor.locations.entry(life as usize).or_insert_with(|| Location::new(value(), HISTORY));
    monitor.threads[me].check(location, look, forgotten)
}

/// A write to a place, if it is remembered.
pub fn write(life: u32, number: u32) -> Option<Write> {
    get()?.0.locations.get(&(life as usize))?.write(number).copied()
}

/// The access has happened.
#[inline]
pub fn learn(life: u32, what: What, done: &Done, did: Did) {
    let Some((Monitor { threads, locations, .. }, me)) = get() else { return };
    let Some(location) = locations.get_mut(&(life as usize)) else { return };
    let thread = &mut threads[me];
    match *done {
        Done::Read if what == What::Rmw => thread.locked_load(location),
        Done::Read => thread.load(location),
        Done::Stored(value) => thread.store(location, did, value),
        Done::Updated(value) => thread.rmw(location, did, value),
        Done::Nothing => {}
    }
}

/// The place is touched by code that nobody sees.
pub fn blur(life: u32) {
    if let Some((Monitor { threads, locations, .. }, me)) = get()
        && let Some(location) = locations.get_mut(&(life as usize))
    {
        threads[me].blur(location);
    }
}

/// A fence.
pub fn fence(mode: Mode) {
    if mode == Mode::SeqCst
        && let Some((monitor, me)) = get()
    {
        monitor.threads[me].fence();
    }
}

/// The running thread has acquired an object.
pub fn acquire(addr: usize, side: Side) {
    if let Some((Monitor { threads, objects, .. }, me)) = get()
        && let Some([by_writers, by_readers]) = objects.get(&addr)
    {
        match side {
            Side::Loose => threads[me].believe(by_writers),
            Side::Readers => threads[me].acquire(by_writers),
            Side::All => {
                threads[me].acquire(by_writers);
                threads[me].acquire(by_readers);
            }
        }
    }
}

/// The running thread is about to release an object.
pub fn release(addr: usize, side: Side) {
    if let Some((Monitor { threads, objects, .. }, me)) = get() {
        let [by_writers, by_readers] = objects.entry(addr).or_default();
        threads[me].release(if side == Side::Readers { by_readers } else { by_writers });
    }
}

/// The object is no more.
pub fn forget(addr: usize) {
    if let Some((monitor, _)) = get() {
        monitor.objects.remove(&addr);
    }
}
