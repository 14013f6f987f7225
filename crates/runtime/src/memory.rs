//! The life of memory: what is given back or handed out starts anew.

use crate::chunks::{self, Chunk};
use crate::context::Site;
use crate::interpose::claims;
use crate::shadow::{self, Access, Earlier};
use crate::thread::{self, Thread};
use crate::{places, report, sync};

/// Of a block that is freed, this much is checked for races: the rest is forgotten unseen.
const CHECKED: usize = 1024;

/// Memory that begins a new life: a mapping, a thread's stack. (Fresh memory of `malloc` needs no call: `died` has
/// cleaned it.)
pub fn born(addr: usize, size: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    chunks::clear_cells(addr, size);
    places::forget(addr, size);
    sync::forget_range(addr, size);
    claims::forget(addr, size);
    thread.leave();
}

/// A block that is being freed. To free is to write: it races with accesses that don't happen before.
pub fn died(addr: usize, size: usize, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    if thread.looks_for_races(true) && !thread::is_blind() {
        let end = addr + size.min(CHECKED);
        let mut at = addr & !7;
        while at < end {
            if let Some(chunk) = chunks::existing(at)
                && let Some(earlier) = earlier(chunk, at, thread)
            {
                let site = thread.stack.site(pc);
                report::race(&freeing(thread.number, addr, size, site), &earlier.access(at), true);
                break;
            }
            at += 8;
        }
    }
    chunks::clear_cells(addr, size);
    places::forget(addr, size);
    sync::forget_range(addr, size);
    claims::forget(addr, size);
    thread.leave();
}

fn earlier(chunk: Chunk, at: usize, thread: &Thread) -> Option<Earlier> {
    let found = shadow::look(chunk, Access::new(at, 8, true), thread);
    let atomic = || if found.atomics { places::race(at, 8, true, thread) } else { None };
    found.race.or_else(atomic)
}

/// A mapping that is gone.
pub fn unmapped(addr: usize, size: usize) {
    born(addr, size);
}

fn freeing(thread: u32, addr: usize, size: usize, site: Site) -> report::Access {
    let what = crate::journal::EventKind::Store;
    report::Access { thread, what, mode: None, addr, size: size.min(255) as u8, site }
}
