//! The life of memory: what is given back or handed out starts anew.

use crate::blocks::{self, Beginning, Kept, Who};
use crate::chunks::{self, Chunk};
use crate::context::Site;
use crate::interpose::claims;
use crate::interpose::modules;
use crate::journal::EventKind;
use crate::report::{self, Misuse};
use crate::shadow::{self, Access, Earlier};
use crate::thread::{self, Thread};
use crate::{control, places, sync, sys};

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

/// The allocator has made a block. `pc`: where instrumented code asked for it.
pub fn allocated(addr: usize, pc: Option<usize>) {
    let Some(thread) = thread::entering() else { return blocks::begins(addr, Who::default()) };
    let who = Who { thread: thread.number, site: pc.map_or(Site::UNKNOWN, |pc| thread.stack.site(pc)) };
    blocks::begins(addr, who);
}

/// The program frees what begins at `addr`, by a call at `pc`: `watched`, if instrumented code makes it. `size` tells how
/// many bytes a block has. To free is to write: it races with accesses that don't happen before. True: the allocator gets
/// it now. False: it is kept, if it `may_stay`, or it was no block.
pub fn freed(addr: usize, size: impl Fn() -> usize, (pc, watched): (usize, bool), may_stay: bool) -> bool {
    let Some(thread) = thread::entering() else {
        blocks::ends(addr, Who::default());
        return true;
    };
    thread.busy = true;
    let who = Who { thread: thread.number, site: thread.stack.site(pc) };
    let goes = match blocks::ends(addr, who) {
        Beginning::OfBlock { allocated } => {
            let size = size();
            if watched && thread.looks_for_races(true) && !thread::is_blind() {
                look(thread, addr, size, who.site);
            }
            buried(Kept { addr, size, allocated, freed: who }, may_stay && thread.races)
        }
        Beginning::OfFreed { freed } => not_freed(who, addr, Some(freed)),
        Beginning::Unknown => not_freed(who, addr, None),
    };
    thread.leave();
    goes
}

/// Does the freed block race with what was done to it?
fn look(thread: &Thread, addr: usize, size: usize, site: Site) {
    let end = addr + size.min(CHECKED);
    for at in (addr & !7..end).step_by(8) {
        if let Some(chunk) = chunks::existing(at)
            && let Some(earlier) = earlier(chunk, at, thread)
        {
            let what = EventKind::Store;
            let now = report::Access { what, ..freeing(thread.number, addr, size, site) };
            return report::race(&now, &earlier.access(at), true);
        }
    }
}

/// True: the allocator gets it now.
fn buried(block: Kept, may_stay: bool) -> bool {
    let Kept { addr, size, .. } = block;
    let stays = may_stay && blocks::is_worth_keeping(size);
    match stays {
        true => chunks::bury(addr, size, shadow::FREED),
        false => chunks::clear_cells(addr, size),
    }
    places::forget(addr, size);
    sync::forget_range(addr, size);
    claims::forget(addr, size);
    if stays {
        blocks::keep(block);
    }
    !stays
}

/// A block whose time in quarantine is over: the allocator gets it now.
pub fn excess() -> Option<usize> {
    let thread = thread::entering()?;
    thread.busy = true;
    let block = blocks::excess();
    if let Some(Kept { addr, size, .. }) = block {
        chunks::clear_cells(addr, size);
        places::forget(addr, size);
        sync::forget_range(addr, size);
        claims::forget(addr, size);
    }
    thread.leave();
    block.map(|block| block.addr)
}

/// What is freed is no block in use. Where it can be told what it is that is reported, and nothing else happens; else the
/// allocator may know more.
#[cold]
fn not_freed(by: Who, addr: usize, freed: Option<Who>) -> bool {
    let kept = blocks::find(addr);
    let inside = || {
        let (at, allocated) = blocks::before(addr)?;
        // SAFETY: a block of the allocator that is in use.
        let size = unsafe { libc::malloc_usable_size(at as *mut core::ffi::c_void) };
        (addr - at < size).then_some(allocated)
    };
    let elsewhere = || {
        let here = 0u8;
        let on_stack = addr.wrapping_sub(&raw const here as usize) < 1 << 16;
        on_stack || modules::have(addr) || !addr.is_multiple_of(chunks::BLOCK)
    };
    let (misuse, earlier, allocated) = match (kept, freed) {
        (Some(kept), _) if kept.addr == addr => (Misuse::DoubleFree, Some(kept.freed), Some(kept.allocated)),
        (Some(kept), _) => (Misuse::InvalidFree, None, Some(kept.allocated)),
        (None, freed) => match (inside(), freed) {
            (Some(allocated), _) => (Misuse::InvalidFree, None, Some(allocated)),
            (None, Some(freed)) => (Misuse::DoubleFree, Some(freed), None),
            (None, None) if elsewhere() => (Misuse::InvalidFree, None, None),
            (None, None) => return true,
        },
    };
    if !thread::is_blind() {
        let now = freeing(by.thread, addr, 0, by.site);
        let earlier = earlier.map(|by| freeing(by.thread, addr, 0, by.site));
        report::misuse(
            misuse,
            &now,
            earlier.as_ref(),
            allocated.and_then(|by| allocating(by, addr)).as_ref(),
        );
    }
    false
}

/// Memory is asked for with an alignment that there can't be.
#[cold]
pub fn misaligned(align: usize, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    let what = EventKind::Allocate;
    let now = report::Access {
        thread: thread.number,
        what,
        mode: None,
        addr: align,
        size: 0,
        site: thread.stack.site(pc),
    };
    report::misuse(Misuse::BadAlignment, &now, None, None);
    thread.leave();
}

/// An object at this address is about to be used by a function of libc's.
#[inline]
pub fn used(addr: usize, pc: usize) {
    if control::active() {
        control::stacks::look_at_object(addr, pc);
    }
    if shadow::is_freed(addr)
        && let Some(thread) = thread::entering()
    {
        thread.busy = true;
        let site = thread.stack.site(pc);
        let what = EventKind::Acquire;
        used_after_free(&report::Access { thread: thread.number, what, mode: None, addr, size: 0, site });
        thread.leave();
    }
}

/// An access came upon freed memory. The current thread is inside the runtime.
#[cold]
pub fn used_after_free(now: &report::Access) {
    if thread::is_blind() {
        return;
    }
    // It is marked first, and then kept: who frees it may be in between.
    const PATIENCE: u32 = 100;
    let mut found = (0..PATIENCE).map(|turn| {
        if turn > 0 {
            sys::sched_yield();
        }
        blocks::find(now.addr)
    });
    let kept = found.find_map(|kept| kept);
    let freed = kept.map(|Kept { addr, size, freed, .. }| freeing(freed.thread, addr, size, freed.site));
    let allocated = kept.and_then(|kept| allocating(kept.allocated, kept.addr));
    report::misuse(Misuse::UseAfterFree, now, freed.as_ref(), allocated.as_ref());
}

/// Where a block comes from, if that is known.
fn allocating(Who { thread, site }: Who, addr: usize) -> Option<report::Access> {
    let what = EventKind::Allocate;
    (site != Site::UNKNOWN).then_some(report::Access { thread, what, mode: None, addr, size: 0, site })
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
    let what = EventKind::Free;
    report::Access { thread, what, mode: None, addr, size: size.min(255) as u8, site }
}
