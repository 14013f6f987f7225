//! What is known about each byte of the program's memory: a table over the whole address space.
//!
//! The address space is cut into chunks of 4 MiB. A chunk that the program uses in an instrumented access gets one
//! mapping of its own, of which only touched pages cost memory:
//!
//! ```text
//! cells    4 × u64 per 8 bytes    who accessed them last            (`shadow`)
//! places   1 × u64 per 8 bytes    the atomic locations among them   (`places`)
//! counts   4 × u16 per 4 KiB      how many places there are, how many synchronisation objects; is all of it freed?
//! blocks   1 × u64 per 16 bytes   the blocks of the allocator that begin there (`blocks`)
//! ```
//!
//! The table of chunks stands at a fixed address, so that finding a chunk is one load.

use crate::held::{Held, Hold};
use crate::{spin::Lock, sys};
use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use core::sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering};

/// Bytes per granule: the unit in which cells and places are kept.
pub const GRANULE: usize = 8;
/// Race cells per granule.
pub const CELLS: usize = 4;
const PAGE: usize = 4096;
const CHUNK_BITS: usize = 22;
const CHUNK: usize = 1 << CHUNK_BITS;
/// User space ends here.
const TOP_BITS: usize = 47;
const TABLE: usize = 0x1000_0000_0000;
const TABLE_BYTES: usize = (1 << (TOP_BITS - CHUNK_BITS)) * size_of::<usize>();

const CELL_BYTES: usize = CHUNK * CELLS;
const PLACE_BYTES: usize = CHUNK;
const COUNT_BYTES: usize = CHUNK / PAGE * size_of::<Counts>();
/// Blocks of the allocator begin at multiples of this.
pub const BLOCK: usize = 16;
const BLOCK_BYTES: usize = CHUNK / BLOCK * size_of::<u64>();

/// Of a page: granules with places, synchronisation objects, whether it is freed as a whole. (The last one is spare.)
type Counts = [AtomicU16; 4];

/// A chunk's mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Chunk(usize);

static ALL: Lock<Vec<Chunk>> = Lock::new(Vec::new());

/// Around a fork.
pub fn held() -> &'static dyn Hold {
    static HELD: Held<Vec<Chunk>, 1> = Held::new(core::array::from_ref(&ALL));
    &HELD
}

/// Reserves the table. Must come before everything else in this module; called once, at start.
pub fn init() {
    if sys::mmap_at(TABLE, TABLE_BYTES).is_err() {
        sys::fatal(
            "no room in the address space for the table of shadow memory (is there a limit, `ulimit -v`?)",
        );
    }
}

/// The chunk of an address, made if it isn't there. None: not an address of the program.
#[inline]
pub fn chunk(addr: usize) -> Option<Chunk> {
    let entry = entry(addr)?;
    let base = entry.load(Ordering::Acquire);
    if base != 0 { Some(Chunk(base)) } else { Some(make(entry)) }
}

/// The chunk of an address, if it is there.
#[inline]
pub fn existing(addr: usize) -> Option<Chunk> {
    let base = entry(addr)?.load(Ordering::Acquire);
    (base != 0).then_some(Chunk(base))
}

#[inline]
fn entry(addr: usize) -> Option<&'static AtomicUsize> {
    if addr >> TOP_BITS != 0 {
        return None;
    }
    // SAFETY: `init` has mapped the table for all addresses of user space, for good.
    Some(unsafe { &*((TABLE + (addr >> CHUNK_BITS) * size_of::<usize>()) as *const AtomicUsize) })
}

#[cold]
fn make(entry: &AtomicUsize) -> Chunk {
    let mut all = ALL.lock();
    let base = entry.load(Ordering::Acquire);
    if base != 0 {
        return Chunk(base);
    }
    let size = CELL_BYTES + PLACE_BYTES + COUNT_BYTES.next_multiple_of(PAGE) + BLOCK_BYTES;
    let memory = sys::reserve(size);
    // SAFETY: our own fresh mapping. Large pages would make every touched byte cost two mebibytes.
    let _ = unsafe { sys::madvise(memory, size, sys::MADV_NOHUGEPAGE) };
    let base = memory as usize;
    all.push(Chunk(base));
    entry.store(base, Ordering::Release);
    Chunk(base)
}

impl Chunk {
    /// The cells of the granule that holds `addr`.
    #[inline]
    pub fn cells(self, addr: usize) -> &'static [AtomicU64; CELLS] {
        let offset = (addr & (CHUNK - GRANULE)) * CELLS;
        // SAFETY: inside the mapping, aligned, never unmapped; any bits are valid.
        unsafe { &*((self.0 + offset) as *const [AtomicU64; CELLS]) }
    }

    /// The word for places of the granule that holds `addr`.
    #[inline]
    pub fn places(self, addr: usize) -> &'static AtomicU64 {
        // SAFETY: as above.
        unsafe { &*((self.0 + CELL_BYTES + (addr & (CHUNK - GRANULE))) as *const AtomicU64) }
    }

    /// How many granules of the 4 KiB page that holds `addr` have places.
    pub fn count(self, addr: usize) -> &'static AtomicU16 {
        &self.counts(addr)[0]
    }

    /// How many synchronisation objects begin in the 4 KiB page that holds `addr`.
    pub fn objects(self, addr: usize) -> &'static AtomicU16 {
        &self.counts(addr)[1]
    }

    /// Is the 4 KiB page that holds `addr` freed as a whole? Then its cells say nothing.
    #[inline]
    pub fn is_freed(self, addr: usize) -> bool {
        FREED_PAGES.load(Ordering::Relaxed) != 0 && self.counts(addr)[2].load(Ordering::Relaxed) != 0
    }

    fn set_freed(self, addr: usize, freed: bool) {
        self.counts(addr)[2].store(freed.into(), Ordering::Relaxed);
    }

    /// The word for the block of the allocator that begins at `addr`.
    #[inline]
    pub fn block(self, addr: usize) -> &'static AtomicU64 {
        let first = self.0 + CELL_BYTES + PLACE_BYTES + COUNT_BYTES.next_multiple_of(PAGE);
        // SAFETY: as above.
        unsafe { &*((first + (addr & (CHUNK - 1)) / BLOCK * size_of::<u64>()) as *const AtomicU64) }
    }

    #[inline]
    fn counts(self, addr: usize) -> &'static Counts {
        let page = (addr & (CHUNK - 1)) / PAGE;
        let at = self.0 + CELL_BYTES + PLACE_BYTES + page * size_of::<Counts>();
        // SAFETY: as above.
        unsafe { &*(at as *const Counts) }
    }
}

/// Calls `with` for each page of `addr..addr+size` in a chunk that exists, with the part of the range in that page.
pub fn each_page(addr: usize, size: usize, mut with: impl FnMut(Chunk, usize, usize)) {
    let end = addr.saturating_add(size);
    let mut at = addr;
    while at < end {
        let Some(chunk) = existing(at) else {
            at = ((at >> CHUNK_BITS) + 1) << CHUNK_BITS;
            continue;
        };
        let stop = end.min((at / PAGE + 1) * PAGE);
        with(chunk, at, stop);
        at = stop;
    }
}

/// Calls `with` for the words for places of each page of them that was ever touched.
pub fn each_touched_page_of_places(
    mut with: impl FnMut(&'static [AtomicU64; PAGE / size_of::<AtomicU64>()]),
) {
    let mut resident = vec![0; PLACE_BYTES / PAGE];
    for chunk in ALL.lock().iter() {
        let first = chunk.0 + CELL_BYTES;
        sys::mincore(first, PLACE_BYTES, &mut resident);
        for (page, _) in resident.iter().enumerate().filter(|&(_, &there)| there & 1 != 0) {
            // SAFETY: inside the mapping, aligned, never unmapped; any bits are valid.
            with(unsafe { &*((first + page * PAGE) as *const _) });
        }
    }
}

/// From so many bytes on, whole pages are dealt with as such.
const LARGE: usize = 16 * PAGE;

/// Empties the cells of a range; whole pages are given back.
pub fn clear_cells(addr: usize, size: usize) {
    for_parts(addr, size, existing, zero, |chunk, from, to| {
        give_back(chunk.0 + (from & (CHUNK - 1)) * CELLS, (to - from) * CELLS);
    });
    if FREED_PAGES.load(Ordering::Relaxed) > 0 {
        each_page(addr, size, |chunk, from, _| {
            if chunk.is_freed(from) {
                chunk.set_freed(from, false);
                FREED_PAGES.fetch_sub(1, Ordering::Relaxed);
            }
        });
    }
}

/// Leaves this mark, and nothing else, in the cells of a freed block; whole pages of a large one are given back.
pub fn bury(addr: usize, size: usize, mark: u64) {
    let small = |chunk: Chunk, from: usize, to: usize| {
        for at in (from & !(GRANULE - 1)..to).step_by(GRANULE) {
            let [first, others @ ..] = chunk.cells(at);
            first.store(mark, Ordering::Relaxed);
            others
                .iter()
                .filter(|cell| cell.load(Ordering::Relaxed) != 0)
                .for_each(|cell| cell.store(0, Ordering::Relaxed));
        }
    };
    for_parts(addr, size, chunk, small, |chunk, from, to| {
        for page in (from..to).step_by(PAGE) {
            chunk.set_freed(page, true);
        }
        FREED_PAGES.fetch_add((to - from) / PAGE, Ordering::Relaxed);
        give_back(chunk.0 + (from & (CHUNK - 1)) * CELLS, (to - from) * CELLS);
    });
}

/// The cells of a range, or of its beginning, will soon be used.
#[inline]
pub fn prefetch_cells(addr: usize, size: usize) {
    const LINE: usize = 64;
    const MOST: usize = 512;
    let Some(chunk) = existing(addr) else { return };
    for at in (addr..addr + size.min(MOST)).step_by(LINE / CELLS) {
        // SAFETY: a hint; no access is made.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(chunk.cells(at).as_ptr().cast()) };
    }
}

/// Pages that are marked as freed: nearly always there are none.
static FREED_PAGES: AtomicUsize = AtomicUsize::new(0);

/// Cuts a range up: `large` is called for whole pages in a row, if there are many, `small` for the rest.
fn for_parts(
    addr: usize,
    size: usize,
    chunk: impl Fn(usize) -> Option<Chunk>,
    small: impl Fn(Chunk, usize, usize),
    large: impl Fn(Chunk, usize, usize),
) {
    let end = addr.saturating_add(size);
    let mut at = addr;
    while at < end {
        let next = ((at >> CHUNK_BITS) + 1) << CHUNK_BITS;
        let stop = end.min(next);
        if let Some(chunk) = chunk(at) {
            let (from, to) = (at.next_multiple_of(PAGE), stop / PAGE * PAGE);
            if to.saturating_sub(from) >= LARGE {
                small(chunk, at, from);
                large(chunk, from, to);
                small(chunk, to, stop);
            } else {
                small(chunk, at, stop);
            }
        }
        at = stop;
    }
}

/// Looks before it writes: an untouched page stays untouched.
fn zero(chunk: Chunk, from: usize, to: usize) {
    let mut at = from & !(GRANULE - 1);
    while at < to {
        for cell in chunk.cells(at) {
            if cell.load(Ordering::Relaxed) != 0 {
                cell.store(0, Ordering::Relaxed);
            }
        }
        at += GRANULE;
    }
}

/// Empties all cells there are.
pub fn clear_all_cells() {
    for chunk in ALL.lock().iter() {
        give_back(chunk.0, CELL_BYTES);
    }
}

fn give_back(first: usize, size: usize) {
    // SAFETY: cells are our own, and empty (zero) is a valid state of theirs at any time.
    let _ = unsafe { sys::madvise(first as *mut u8, size, sys::MADV_DONTNEED) };
}
