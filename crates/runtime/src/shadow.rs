//! Data races: for each 8 bytes of memory, four cells that say who accessed them last.
//!
//! An access races with an earlier one that overlaps it, by another thread, of which one writes and one isn't atomic,
//! and which doesn't happen before it: the earlier one's local time isn't covered by the thread's view `cur`
//! (C11's happens-before, fences included). Cells are read and written without a lock, one word each: two threads
//! that do so at the same time can lose a cell, never invent one.
//!
//! Cells keep plain accesses. Atomic ones are kept with their location (`places`); here a *mark* tells that there is
//! one. Another mark, on all bytes at once, tells that they belong to a block that was freed (`blocks`).
//!
//! ```text
//! bit 63      62     58..62          48..58  21..48               0..21
//!     mark    write  which bytes     slot    time − base(slot)    site
//! ```

use crate::chunks::{self, CELLS, Chunk};
use crate::context::Site;
use crate::thread::{self, SLOTS, Thread};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64, fence};
use seqcst_model::Mode;
use seqcst_monitor::clocks::{Slot, Time};

const MARK: u64 = 1 << 63;
const WRITE: u64 = 1 << 62;
/// The mark of freed memory: whatever comes upon it is an error.
pub const FREED: u64 = MARK | WRITE;
const BYTES_AT: u32 = 58;
const SLOT_AT: u32 = 48;
const TIME_AT: u32 = 21;
const SITE: u64 = (1 << TIME_AT) - 1;
const TIME: u64 = (1 << (SLOT_AT - TIME_AT)) - 1;
/// The bits that tell whose cell it is; a mark is nobody's.
const OWNER: u64 = MARK | ((SLOTS - 1) as u64) << SLOT_AT;
const BYTES: u64 = 15 << BYTES_AT;

/// The bytes of a granule that each code stands for: all, halves, quarters, single bytes.
const MASK: [u8; 16] =
    [0xff, 0x0f, 0xf0, 0x03, 0x0c, 0x30, 0xc0, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x00];

/// Local times at which the cells of each slot start to count: their field for the time is shorter than times.
static BASE: [AtomicU32; SLOTS] = [const { AtomicU32::new(0) }; SLOTS];

/// Where the time in the cells of a slot starts to count.
pub fn base(slot: Slot) -> Time {
    BASE[usize::from(slot)].load(Relaxed)
}

/// An access to aligned 1, 2, 4 or 8 bytes of one granule.
#[derive(Clone, Copy)]
pub struct Access {
    /// The address of its first byte.
    pub addr: usize,
    code: u64,
    /// Does it write?
    pub write: bool,
}

impl Access {
    /// `size` is 1, 2, 4 or 8, and divides `addr`.
    #[inline(always)]
    pub fn new(addr: usize, size: usize, write: bool) -> Access {
        let code = match size {
            8 => 0,
            4 => 1 + (addr & 7) / 4,
            2 => 3 + (addr & 7) / 2,
            _ => 7 + (addr & 7),
        };
        Access { addr, code: code as u64, write }
    }

    #[inline(always)]
    fn cell(self, thread: &Thread) -> u64 {
        let time = u64::from(thread.views.epoch() - thread.cell_base);
        let write = if self.write { WRITE } else { 0 };
        write | self.code << BYTES_AT | u64::from(thread.views.slot()) << SLOT_AT | time << TIME_AT
    }

    #[inline]
    fn overlaps(self, cell: u64) -> bool {
        MASK[self.code as usize] & mask(cell) != 0
    }

    /// None of the other one's bytes are outside of it.
    #[inline]
    fn covers(self, cell: u64) -> bool {
        mask(cell) & !MASK[self.code as usize] == 0
    }
}

#[inline]
fn mask(cell: u64) -> u8 {
    MASK[(cell >> BYTES_AT & 15) as usize]
}

/// An earlier access, as its cell tells it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Earlier {
    /// By whom.
    pub slot: Slot,
    /// Where in the program.
    pub site: Site,
    /// A write.
    pub write: bool,
    /// The memory order of an atomic one.
    pub mode: Option<Mode>,
    /// How many bytes.
    pub size: u8,
}

/// What a plain access came upon.
#[derive(Clone, Copy)]
pub struct Found {
    /// It races with this one.
    pub race: Option<Earlier>,
    /// There are atomic locations among its bytes.
    pub atomics: bool,
    /// Its bytes were freed: nothing else was looked at.
    pub freed: bool,
}

impl Found {
    /// There is nothing to tell.
    pub const NOTHING: Found = Found { race: None, atomics: false, freed: false };
    const FREED: Found = Found { freed: true, ..Found::NOTHING };

    /// Is there something to tell?
    #[inline]
    pub fn is_something(&self) -> bool {
        self.race.is_some() || self.atomics || self.freed
    }
}

/// The thread has done the same in this epoch: nothing to see, nothing to note.
#[inline(always)]
pub fn is_repeated(cells: &[AtomicU64; CELLS], access: Access, thread: &Thread) -> bool {
    // A write says as much as a read of the same bytes.
    let ignored = SITE | if access.write { 0 } else { WRITE };
    let cell = access.cell(thread);
    let same = |old: u64| (old ^ cell) & !ignored == 0;
    if !access.write {
        return cells.iter().any(|old| same(old.load(Relaxed)));
    }
    // What was accessed atomically since then begins a new life.
    let old = cells.each_ref().map(|old| old.load(Relaxed));
    old.into_iter().any(same) && !old.into_iter().any(|old| old & MARK != 0 && access.overlaps(old))
}

/// A plain access: looks for races with earlier plain accesses, and notes this one.
#[inline]
pub fn access(chunk: Chunk, access: Access, thread: &mut Thread, site: Site) -> Found {
    if u64::from(thread.views.epoch() - thread.cell_base) >= TIME {
        start_over(thread);
    }
    if chunk.is_freed(access.addr) {
        return Found::FREED;
    }
    let cells = chunk.cells(access.addr);
    let new = access.cell(thread) | u64::from(site.0);
    let (mut room, mut spare) = (None, None);
    let mut found = Found::NOTHING;
    for cell in cells {
        let old = cell.load(Relaxed);
        if old == 0 {
            spare = Some(cell);
        } else if (old ^ new) & OWNER == 0 {
            // The thread's own: what comes later says as much, for the same bytes, and if it writes or the other doesn't.
            if (old ^ new) & BYTES == 0 && (access.write || old & WRITE == 0) {
                room = Some(cell);
            }
        } else if (old | new) & (WRITE | MARK) != 0 && access.overlaps(old) {
            meet(cell, old, access, thread, &mut found, &mut room);
            if found.freed {
                return found;
            }
        }
    }
    room.or(spare).unwrap_or_else(|| evict(cells, new)).store(new, Relaxed);
    found
}

/// A cell of another thread, or a mark, that the access may conflict with.
#[inline(never)]
fn meet<'a>(
    cell: &'a AtomicU64,
    old: u64,
    access: Access,
    thread: &Thread,
    found: &mut Found,
    room: &mut Option<&'a AtomicU64>,
) {
    if old == FREED {
        *found = Found::FREED;
    } else if old & MARK != 0 {
        found.atomics = true;
        if access.write {
            cell.store(0, Relaxed); // the location's life ends here
        }
    } else if !happens_before(old, thread) {
        found.race = confirmed(cell, old).or(found.race);
    } else if access.write && access.covers(old) {
        if room.is_none() {
            *room = Some(cell);
        } else {
            cell.store(0, Relaxed);
        }
    }
}

/// An atomic access: looks for races with earlier plain accesses, and leaves a mark.
#[inline]
pub fn atomic_access(chunk: Chunk, access: Access, thread: &Thread) -> Found {
    if chunk.is_freed(access.addr) {
        return Found::FREED;
    }
    let cells = chunk.cells(access.addr);
    let mark = MARK | access.code << BYTES_AT;
    let (mut race, mut marked, mut spare) = (None, false, None);
    for cell in cells {
        let old = cell.load(Relaxed);
        if old == mark {
            marked = true;
        } else if old == 0 {
            spare = spare.or(Some(cell));
        } else if old == FREED {
            return Found::FREED;
        } else if old & MARK == 0 && access.overlaps(old) && (access.write || old & WRITE != 0) {
            if !happens_before(old, thread) {
                race = confirmed(cell, old).or(race);
            } else if access.write && access.covers(old) {
                spare = spare.or(Some(cell)); // what the location keeps of this access says as much
            }
        }
    }
    if !marked {
        spare.unwrap_or_else(|| evict(cells, mark)).store(mark, Relaxed);
    }
    Found { race, ..Found::NOTHING }
}

/// Was the memory at this address freed?
pub fn is_freed(addr: usize) -> bool {
    chunks::existing(addr).is_some_and(|chunk| {
        chunk.is_freed(addr) || chunk.cells(addr).iter().any(|cell| cell.load(Relaxed) == FREED)
    })
}

/// Looks for races without noting anything: memory that is given back.
pub fn look(chunk: Chunk, access: Access, thread: &Thread) -> Found {
    let mut found = Found::NOTHING;
    for cell in chunk.cells(access.addr) {
        let old = cell.load(Relaxed);
        if old == 0 || old == FREED || !access.overlaps(old) {
        } else if old & MARK != 0 {
            found.atomics = true;
        } else if (access.write || old & WRITE != 0) && !happens_before(old, thread) {
            found.race = confirmed(cell, old).or(found.race);
        }
    }
    found
}

#[inline]
fn happens_before(old: u64, thread: &Thread) -> bool {
    let slot = slot(old);
    let time = (old >> TIME_AT & TIME) as Time + base(slot);
    time <= thread.views.cur().get(slot) || time <= thread::forgotten(slot)
}

#[inline]
fn slot(cell: u64) -> Slot {
    (cell >> SLOT_AT) as Slot & (SLOTS - 1) as Slot
}

/// The access that `old` tells of. It must still be there: if not, its time may have been counted from another start
/// (`start_over` empties the cells first, then it moves the start).
#[cold]
fn confirmed(cell: &AtomicU64, old: u64) -> Option<Earlier> {
    fence(Acquire);
    (cell.load(Relaxed) == old).then(|| earlier(old))
}

fn earlier(cell: u64) -> Earlier {
    let size = mask(cell).count_ones() as u8;
    Earlier { slot: slot(cell), site: Site((cell & SITE) as u32), write: cell & WRITE != 0, mode: None, size }
}

/// All cells are taken: lose one. Marks stay as long as there are others.
fn evict(cells: &[AtomicU64; CELLS], new: u64) -> &AtomicU64 {
    let start = (new >> TIME_AT) as usize ^ (new as usize);
    let mut order = (0..CELLS).map(|i| &cells[(start + i) % CELLS]);
    order.find(|cell| cell.load(Relaxed) & MARK == 0).unwrap_or(&cells[start % CELLS])
}

/// The field for times is used up: forget all accesses, which can only miss, and count from now on.
#[cold]
fn start_over(thread: &mut Thread) {
    chunks::clear_all_cells();
    thread.cell_base = thread.views.epoch() - 1;
    BASE[usize::from(thread.views.slot())].store(thread.cell_base, Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small blocks are marked granule by granule, large ones page by page, with the rest as small ones.
    #[test]
    fn freed_blocks_are_marked_whole() {
        crate::start();
        for (addr, size) in [(0x6_0000_0010, 24), (0x6_0100_0010, 200_000), (0x6_013f_f010, 8_000)] {
            chunks::bury(addr, size, FREED);
            let end = addr + size;
            let at = [addr, addr + 8, addr + size / 2, addr + 5000, end - 1];
            assert!(at.into_iter().filter(|&at| at < end).all(is_freed), "{addr:#x}");
            assert!(!is_freed(addr - 1) && !is_freed(end), "{addr:#x}");
            let chunk = chunks::existing(addr + size / 2).unwrap();
            let thread = thread::current();
            assert!(look(chunk, Access::new(addr + size / 2, 4, true), thread).race.is_none());
            let found = atomic_access(chunk, Access::new(addr + size / 2, 4, true), thread);
            assert!(found.freed && found.race.is_none());
            let found = access(chunk, Access::new(addr + size / 2, 1, false), thread, Site::UNKNOWN);
            assert!(found.freed && !found.atomics);
            chunks::clear_cells(addr, size);
            assert!(!at.into_iter().any(is_freed), "{addr:#x}");
            let found = access(chunk, Access::new(addr + size / 2, 1, false), thread, Site::UNKNOWN);
            assert!(!found.is_something());
        }
    }
}
