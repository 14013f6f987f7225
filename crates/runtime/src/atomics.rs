//! One atomic operation of the program: executed while its location is locked, watched before and after.
//!
//! The lock makes the program's atomics sequentially consistent, which is what the monitors need. Before the operation
//! the monitor tells whether it could be stale; after it, the monitor learns of it. Reports are made with no lock held.

use crate::chunks;
use crate::context::Site;
use crate::control::{accesses, settings, stacks};
use crate::held::{Held, Hold};
use crate::journal::{self, Event, EventKind};
use crate::places::{self, Others, Place};
use crate::report::Swap;
use crate::shadow::{self, Access, Found};
use crate::spin::Lock;
use crate::thread::{self, Thread};
use crate::waits::Load;
use crate::{control, memory, plain, report};
use seqcst_model::{Mode, Model};
use seqcst_monitor::clocks::run::{Attempt, orders_sc};
use seqcst_monitor::clocks::{Hidden, Look, Stale, Time, Write};

/// The location behind SC fences, and how many there were.
static HIDDEN: Lock<(Hidden, u32)> = Lock::new((Hidden::new(), 0));

/// Around a fork.
pub fn held() -> &'static dyn Hold {
    static HELD: Held<(Hidden, u32), 1> = Held::new(core::array::from_ref(&HIDDEN));
    &HELD
}

/// What an operation did, as the monitor sees it.
pub enum Done {
    /// It read, no more.
    Read,
    /// It stored this value.
    Stored(u64),
    /// It read and wrote this value.
    Updated(u64),
    /// It would have to wait: nothing happened.
    Nothing,
}

/// An atomic operation about to happen.
pub struct Operation {
    /// Where.
    pub addr: usize,
    /// How many bytes.
    pub size: usize,
    /// Its mode, of the successful case.
    pub mode: Mode,
    /// Its mode if it turns out to read only.
    pub failure: Mode,
    /// What it does with old values; None: no verdict (16 bytes and a comparison).
    pub look: Option<Look>,
    /// What it is called in reports.
    pub what: EventKind,
    /// The return address into the program.
    pub pc: usize,
}

/// Executes `act`, which tells its result, what it did, and the value that it read; `value` reads the location without
/// side effects.
#[inline]
pub fn perform<T>(operation: &Operation, value: impl Fn() -> u64, act: impl Fn() -> (T, Done, u64)) -> T {
    let Some(thread) = thread::entering() else { return act().0 };
    thread.busy = true;
    if control::active() {
        controlled(thread, operation, value, act)
    } else {
        watched::<T, false>(thread, operation, value, act)
    }
}

/// As a step, when it is its turn.
#[inline(never)]
fn controlled<T>(
    thread: &mut Thread,
    operation: &Operation,
    value: impl Fn() -> u64,
    act: impl Fn() -> (T, Done, u64),
) -> T {
    accesses::announce(operation, &value);
    let &Operation { addr, size, what, mode, pc, .. } = operation;
    let site = thread.stack.site(pc);
    let (number, mode, size) = (thread.number, Some(mode), size as u8);
    stacks::look_at(&report::Access { thread: number, what, mode, addr, size, site });
    let act = || {
        let (result, done, read) = act();
        accesses::happened(operation, &done, read);
        (result, done, read)
    };
    if settings::get().watches() {
        return watched::<T, true>(thread, operation, value, act);
    }
    let overlaps = places::with(operation.addr, operation.size, value, |_, others| !others.is_empty());
    if overlaps == Some(true) {
        accesses::overlaps();
    }
    let result = act().0;
    thread.leave();
    result
}

/// `CONTROLLED`: a plan is played.
#[inline(always)]
fn watched<T, const CONTROLLED: bool>(
    thread: &mut Thread,
    operation: &Operation,
    value: impl Fn() -> u64,
    act: impl Fn() -> (T, Done, u64),
) -> T {
    let site = thread.stack.site(operation.pc);
    let &Operation { mode, failure, what, .. } = operation;
    if (mode == Mode::SeqCst || failure == Mode::SeqCst) && orders_sc(thread.views.model()) {
        full_fence(thread, site);
    }
    let time = thread.views.time();
    let mut finding = None;
    let watched = places::with(operation.addr, operation.size, &value, |place, others| {
        if CONTROLLED && !others.is_empty() {
            accesses::overlaps();
        }
        if let Some(look) = operation.look.filter(|_| !place.blurred) {
            let attempt = Attempt { look, mode, failure, rmw: what == EventKind::Rmw };
            if let Some(stale) = thread.views.check(&place.location, attempt, thread::forgotten) {
                let write = |number| place.location.write(number).copied();
                finding = Some(Finding::new::<CONTROLLED>(thread, write, stale, operation));
            }
        }
        let (result, done, read) = act();
        if let Some(finding) = &mut finding {
            finding.came_to(operation, &done, read);
        }
        let first = learn(thread, place, &others, operation, &done, site);
        if CONTROLLED {
            // Between two atomic accesses there is always something plain: a local variable, at least.
            thread.views.plain();
        }
        match done {
            Done::Read => thread.waits.read(Load { pc: operation.pc, addr: operation.addr }, read),
            Done::Stored(_) | Done::Updated(_) => thread.waits.effect(),
            Done::Nothing => {}
        }
        // Plain accesses before the place was made were looked at when the thread first came here, and it only learns
        // more. As soon as the lock is gone, others who see this operation may use the memory for something else.
        let writes = matches!(done, Done::Stored(_) | Done::Updated(_));
        let look = thread.looks_for_races(writes) && (first || place.touched);
        let found = if look { race(thread, operation, writes) } else { Found::NOTHING };
        (result, found)
    });
    let Some((result, found)) = watched else {
        thread.leave();
        return act().0; // not an address: let the program fault by itself
    };
    if finding.is_some() || found.is_something() {
        tell(thread, operation, finding, found, (site, time));
    }
    thread.leave();
    result
}

/// Tells the monitor. True if the thread does so here for the first time.
#[inline]
fn learn(
    thread: &mut Thread,
    place: &mut Place,
    others: &Others,
    operation: &Operation,
    done: &Done,
    site: Site,
) -> bool {
    let time = thread.views.time();
    let location = &mut place.location;
    if place.blurred {
        thread.views.blur(location);
        let own = std::ptr::from_ref(place);
        others.each(own, |other| thread.views.blur(other));
        return true;
    }
    let &Operation { mode, failure, .. } = operation;
    let (what, mode, first) = match *done {
        Done::Read if operation.what == EventKind::Rmw => {
            (EventKind::FailedCas, failure, thread.views.failed_cas(location, failure, site.0))
        }
        Done::Read => (EventKind::Load, failure, thread.views.load(location, failure, site.0)),
        Done::Stored(value) => (EventKind::Store, mode, thread.views.store(location, mode, value, site.0)),
        Done::Updated(value) => (EventKind::Rmw, mode, thread.views.rmw(location, mode, value, site.0)),
        Done::Nothing => return false,
    };
    let write = location.last();
    let (addr, size, mode) = (operation.addr, operation.size as u8, thread.views.mode(mode));
    thread.journal.push(Event { time, write, addr, life: place.life, site, what, mode, size });
    first
}

/// A fence of the program.
pub fn fence(mode: Mode, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    if control::active() {
        accesses::fence(mode, pc);
    }
    fence_here(thread, mode, pc);
    thread.leave();
}

/// A fence of the current thread, when it is its turn.
pub fn fence_here(thread: &mut Thread, mode: Mode, pc: usize) {
    let site = thread.stack.site(pc);
    let model = thread.views.model();
    if mode == Mode::SeqCst && orders_sc(model) {
        full_fence(thread, site);
    } else if model != Model::Ra {
        let time = thread.views.time();
        thread.views.fence(mode, &mut Hidden::new());
        thread.waits.effect();
        thread.journal.push(fenced(time, 0, mode, site));
    }
}

/// An SC fence that is ordered among all others.
fn full_fence(thread: &mut Thread, site: Site) {
    let time = thread.views.time();
    let mut hidden = HIDDEN.lock();
    hidden.1 = hidden.1.wrapping_add(1);
    let count = hidden.1;
    thread.views.fence(Mode::SeqCst, &mut hidden.0);
    drop(hidden);
    thread.waits.effect();
    thread.journal.push(fenced(time, count, Mode::SeqCst, site));
}

/// `write`: its number among those that are ordered, or 0.
fn fenced(time: Time, write: u32, mode: Mode, site: Site) -> Event {
    Event { time, write, addr: 0, life: 0, site, what: EventKind::Fence, mode, size: 0 }
}

/// Looks for plain accesses that race with this one, and whether the memory was freed, in aligned pieces.
#[inline]
fn race(thread: &Thread, operation: &Operation, write: bool) -> Found {
    let &Operation { addr, size, .. } = operation;
    let look = |at: usize, size: usize| match chunks::chunk(at) {
        Some(chunk) => shadow::atomic_access(chunk, Access::new(at, size, write), thread),
        None => Found::NOTHING,
    };
    if size <= 8 && addr.is_multiple_of(size) {
        return look(addr, size);
    }
    let mut found = Found::NOTHING;
    for (at, size) in plain::pieces(addr, size) {
        let piece = look(at, size);
        found = if piece.is_something() { piece } else { found };
    }
    found
}

/// A stale access, with what is needed to tell about it, taken while the location was locked.
struct Finding {
    missed: Option<Write>,
    older: Option<Write>,
    /// Where every stale value has always led: benign if all of these are the load itself. None: not benign.
    back_at: Option<Vec<usize>>,
    /// Of a compare-and-swap.
    swap: Option<Swap>,
    /// What the access was: a compare-and-swap that failed is a load.
    what: EventKind,
    mode: Mode,
}

impl Finding {
    #[cold]
    fn new<const CONTROLLED: bool>(
        thread: &Thread,
        write: impl Fn(u32) -> Option<Write>,
        stale: Stale,
        operation: &Operation,
    ) -> Finding {
        let load = Load { pc: operation.pc, addr: operation.addr };
        let back_at = |number| {
            let value = write(number)?.value;
            // Whoever stands where it stood, and would read what it read, comes back here.
            if CONTROLLED && control::would_come_back(value) {
                return Some(operation.pc);
            }
            match operation.look? {
                Look::Load => thread.waits.back_at(load, value),
                // The value that it expects may make the exchange succeed.
                Look::StrongCas(expected) if value != expected => thread.waits.back_at(load, value),
                _ => None,
            }
        };
        let back_at = (stale.known..stale.missed).map(back_at).collect();
        let swap = match operation.look {
            Some(Look::StrongCas(expected)) => {
                let (failure, mut old) = (operation.failure, Vec::new());
                for (before, after) in (stale.known..stale.missed).filter_map(|n| write(n).zip(write(n + 1)))
                {
                    // To succeed, it would have to come right after.
                    if (before.value != expected || !after.rmw) && !old.contains(&before.value) {
                        old.push(before.value);
                    }
                }
                Some(Swap { expected, found: 0, old, failure })
            }
            _ => None,
        };
        let &Operation { what, mode, .. } = operation;
        Finding { missed: write(stale.missed), older: write(stale.known), back_at, swap, what, mode }
    }

    /// The access has happened, and has read this.
    #[cold]
    fn came_to(&mut self, operation: &Operation, done: &Done, read: u64) {
        if let Some(swap) = &mut self.swap {
            swap.found = read;
        }
        if operation.what == EventKind::Rmw && matches!(done, Done::Read) {
            (self.what, self.mode) = (EventKind::FailedCas, operation.failure);
        }
    }
}

#[cold]
#[inline(never)]
fn tell(
    thread: &mut Thread,
    operation: &Operation,
    finding: Option<Finding>,
    found: Found,
    (site, time): (Site, Time),
) {
    if thread::is_blind() {
        return;
    }
    let &Operation { addr, what, mode, .. } = operation;
    let size = operation.size as u8;
    let now = report::Access { thread: thread.number, what, mode: Some(mode), addr, size, site };
    if found.freed {
        memory::used_after_free(&now);
    }
    if let Some(earlier) = found.race {
        report::race(&now, &earlier.access(addr), false);
    }
    let Some(finding) = finding else { return };
    let now = report::Access { what: finding.what, mode: Some(finding.mode), ..now };
    let shown = |write: &Write| report::Access {
        thread: thread::number(write.slot),
        what: if write.rmw { EventKind::Rmw } else { EventKind::Store },
        mode: (write.mode != Mode::NonAtomic).then_some(write.mode),
        addr,
        size,
        site: Site(write.site),
    };
    let slot = thread.views.slot();
    let from = finding.missed.map(|write| (write.slot, write.time, addr));
    let chain = || from.map(|from| journal::chain(from, (slot, time))).unwrap_or_default();
    let (missed, older) = (finding.missed.as_ref().map(shown), finding.older.as_ref().map(shown));
    let same = |&pc: &usize| pc == operation.pc || report::same_source(pc, operation.pc);
    let benign = finding.back_at.is_some_and(|pcs| pcs.iter().all(same));
    report::stale(&now, missed.as_ref(), older.as_ref(), finding.swap, chain, benign);
}
