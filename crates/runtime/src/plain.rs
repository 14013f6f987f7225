//! Plain accesses: they can race, and a plain write to an atomic location begins a new life of it.

use crate::chunks::{self, Chunk};
use crate::context::Site;
use crate::control::stacks;
use crate::shadow::{self, Access, Earlier, Found};
use crate::thread::{self, Thread};
use crate::{control, journal::EventKind, memory, places, report};

/// An aligned access to 1, 2, 4 or 8 bytes: the fast path ends here if the thread has done the same in this epoch.
#[inline(always)]
pub fn aligned(addr: usize, size: usize, write: bool, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    if write {
        thread.waits.effect();
        if control::active() {
            control::writes(addr);
        }
    }
    let Some(chunk) = chunks::chunk(addr) else { return };
    let access = Access::new(addr, size, write);
    if !shadow::is_repeated(chunk.cells(addr), access, thread) {
        look(thread, chunk, access, size, pc);
    }
}

/// A plain read of any size and alignment.
pub fn read(addr: usize, size: usize, pc: usize) {
    range(addr, size, false, pc);
}

/// A plain write of any size and alignment.
pub fn write(addr: usize, size: usize, pc: usize) {
    range(addr, size, true, pc);
}

fn range(addr: usize, size: usize, write: bool, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    if write {
        thread.waits.effect();
        if control::active() {
            control::writes(addr);
        }
    }
    thread.busy = true;
    let mut site = None;
    for (at, size) in pieces(addr, size) {
        let Some(chunk) = chunks::chunk(at) else { break };
        let access = Access::new(at, size, write);
        if !shadow::is_repeated(chunk.cells(at), access, thread) {
            let site = *site.get_or_insert_with(|| thread.stack.site(pc));
            look_at(thread, chunk, access, size, site);
        }
    }
    thread.leave();
}

/// A range in aligned pieces of 1, 2, 4 or 8 bytes.
pub fn pieces(addr: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = addr.saturating_add(size);
    let mut at = addr;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let mut size = 1 << at.trailing_zeros().min(3);
        while size > end - at {
            size /= 2;
        }
        at += size;
        Some((at - size, size))
    })
}

#[cold]
#[inline(never)]
fn look(thread: &mut Thread, chunk: Chunk, access: Access, size: usize, pc: usize) {
    thread.busy = true;
    let site = thread.stack.site(pc);
    look_at(thread, chunk, access, size, site);
    thread.leave();
}

#[inline]
fn look_at(thread: &mut Thread, chunk: Chunk, access: Access, size: usize, site: Site) {
    if thread.looks_for_races(access.write) {
        if control::active() {
            let what = if access.write { EventKind::Store } else { EventKind::Load };
            let (number, addr, size) = (thread.number, access.addr, size as u8);
            stacks::look_at(&report::Access { thread: number, what, mode: None, addr, size, site });
        }
        let found = shadow::access(chunk, access, thread, site);
        if found.is_something() {
            tell(thread, access.addr, size, access.write, site, found);
        }
    } else if access.write {
        places::forget(access.addr, size); // still, a plain write to an atomic begins its new life
    }
}

#[inline(never)]
fn tell(thread: &Thread, addr: usize, size: usize, write: bool, site: Site, found: Found) {
    let what = if write { EventKind::Store } else { EventKind::Load };
    let now = report::Access { thread: thread.number, what, mode: None, addr, size: size as u8, site };
    if found.freed {
        return memory::used_after_free(&now);
    }
    let atomic = if found.atomics { places::race(addr, size, write, thread) } else { None };
    if let Some(earlier) = found.race.or(atomic)
        && !thread::is_blind()
    {
        report::race(&now, &earlier.access(addr), false);
    }
    if write && found.atomics {
        places::forget(addr, size);
    }
}

impl Earlier {
    /// As shown in reports.
    pub fn access(&self, addr: usize) -> report::Access {
        let what = if self.write { EventKind::Store } else { EventKind::Load };
        let mode = self.mode;
        let thread = thread::number(self.slot);
        report::Access { thread, what, mode, addr, size: self.size, site: self.site }
    }
}
