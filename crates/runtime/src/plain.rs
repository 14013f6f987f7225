//! Plain accesses: they can race, and a plain write to an atomic location begins a new life of it.

use crate::chunks;
use crate::shadow::{self, Access, Earlier};
use crate::thread::{self, Thread};
use crate::{journal::What, places, report};

/// An aligned access to 1, 2, 4 or 8 bytes: the fast path ends here if the thread has done the same in this epoch.
#[inline]
pub fn aligned(addr: usize, size: usize, write: bool, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    if write {
        thread.waits.effect();
    }
    let Some(chunk) = chunks::chunk(addr) else { return };
    let access = Access::plain(addr, size, write);
    if !shadow::is_repeated(chunk.cells(addr), access, thread) {
        look(thread, access, size, write, pc);
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

/// In aligned pieces.
fn range(addr: usize, size: usize, write: bool, pc: usize) {
    let Some(end) = addr.checked_add(size) else { return };
    let mut at = addr;
    while at < end {
        let aligned_to = if at == 0 { 8 } else { 1 << at.trailing_zeros().min(3) };
        let mut piece: usize = aligned_to;
        while piece > end - at {
            piece /= 2;
        }
        aligned(at, piece, write, pc);
        at += piece;
    }
}

#[cold]
#[inline(never)]
fn look(thread: &mut Thread, access: Access, size: usize, write: bool, pc: usize) {
    thread.busy = true;
    let addr = access.addr;
    if !thread::races() {
        // Still, a plain write to an atomic begins its new life.
        if write {
            places::forget(addr, size);
        }
        thread.busy = false;
        return;
    }
    let site = thread.stack.site(pc);
    if let Some(chunk) = chunks::chunk(addr) {
        let found = shadow::access(chunk, access, thread, thread.views.time(), site);
        if let Some(earlier) = found.race
            && !thread::is_blind()
        {
            let what = if write { What::Store } else { What::Load };
            let now =
                report::Access { thread: thread.number, what, mode: None, addr, size: size as u8, site };
            report::race(&now, &earlier.access(addr), false);
        }
        if write && found.atomics {
            places::forget(addr, size);
        }
    }
    thread.busy = false;
}

impl Earlier {
    /// As shown in reports.
    pub fn access(&self, addr: usize) -> report::Access {
        let what = match (self.write, self.atomic) {
            (true, _) => What::Store,
            (false, _) => What::Load,
        };
        let mode = self.atomic.then_some(seqcst_model::Mode::Relaxed);
        let thread = thread::number(self.slot);
        report::Access { thread, what, mode, addr, size: self.size, site: self.site }
    }
}
