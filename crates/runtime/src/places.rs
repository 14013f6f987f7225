//! The atomic locations of the program, found by address.
//!
//! A granule of 8 bytes that was accessed atomically has a word that points to its *places* and whose lowest bit is a
//! lock. An atomic operation holds the locks of the granules it touches, in order of address: threads that touch
//! different granules never wait for one another.
//!
//! A place is known by address and size. Atomic accesses of different sizes that overlap are outside every memory model
//! of ours: such places become *blurred*. So do places that code without instrumentation changes. A blurred place
//! synchronises as strongly as possible, and no verdict is made on it.

use crate::chunks::{self, Chunk, GRANULE};
use crate::context::Site;
use crate::control;
use crate::shadow::Earlier;
use crate::thread::{self, Thread};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use seqcst_monitor::clocks::Did;
use seqcst_monitor::clocks::run::Location;

const LOCK: u64 = 1;
/// Granules that one access locks: 16 bytes, not aligned, and the granule before.
const MOST: usize = 4;

/// Moments per thread and location that the monitor remembers. On long random runs with this many it misses less than
/// one violation in a hundred (`cargo test -p seqcst-monitor --test dynamic` counts them).
const HISTORY: usize = 8;

static LIVES: AtomicU32 = AtomicU32::new(0);

/// An atomic location.
pub struct Place {
    addr: usize,
    size: u8,
    /// No verdicts here.
    pub blurred: bool,
    /// There were plain accesses to it since it is an atomic location.
    pub touched: bool,
    /// Overlaps another place.
    mixed: bool,
    /// Tells apart the places that had this address one after the other.
    pub life: u32,
    /// What the monitor keeps.
    pub location: Location,
}

/// The places that begin in one granule.
///
/// Nearly always there is one: it stands here, one step from the word.
#[derive(Default)]
struct Granule {
    first: Option<Place>,
    more: Vec<Place>,
}

impl Granule {
    #[inline]
    fn places(&mut self) -> impl Iterator<Item = &mut Place> {
        self.first.iter_mut().chain(&mut self.more)
    }

    fn add(&mut self, place: Place) -> &mut Place {
        if self.first.is_none() {
            return self.first.insert(place);
        }
        self.more.push(place);
        let last = self.more.len() - 1;
        &mut self.more[last]
    }

    fn retain(&mut self, keep: impl Fn(&Place) -> bool) {
        self.more.retain(&keep);
        self.first = self.first.take().filter(&keep).or_else(|| self.more.pop());
    }
}

impl Place {
    #[inline]
    fn is(&self, addr: usize, size: usize) -> bool {
        self.addr == addr && usize::from(self.size) == size
    }

    fn overlaps(&self, addr: usize, size: usize) -> bool {
        self.addr < addr + size && addr < self.addr + usize::from(self.size)
    }
}

/// Locked granules.
struct Guard {
    words: [Option<&'static AtomicU64>; MOST],
}

/// Locks the granules of an access and calls `with` with its place, which is made if it isn't there, with `value` as
/// its value so far. Overlapping places of other extents are blurred with it, and handed over as well.
#[inline]
pub fn with<T>(
    addr: usize,
    size: usize,
    value: impl FnOnce() -> u64,
    with: impl FnOnce(&mut Place, Others) -> T,
) -> Option<T> {
    if addr & 7 == 0 && size == 8 || addr & 7 <= 8 - size.min(8) && size < 8 {
        let chunk = chunks::chunk(addr)?;
        let word = chunk.places(addr);
        lock(word);
        let guard = Guard { words: [Some(word), None, None, None] };
        // SAFETY: the word's lock is held until `guard` is dropped.
        if let Some(granule) = unsafe { granule(word) } {
            let own = |place: &&mut Place| place.is(addr, size) && !place.mixed;
            if let Some(place) = granule.places().find(own) {
                return Some(with(place, Others { addr: 0, size: 0 }));
            }
        }
        drop(guard);
    }
    slowly(addr, size, value, with)
}

/// Places that overlap an access without being its own.
pub struct Others {
    addr: usize,
    size: usize,
}

impl Others {
    /// Are there none?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Calls `with` for each of them. The granules are locked.
    #[inline]
    pub fn each(&self, own: *const Place, mut with: impl FnMut(&mut Location)) {
        if self.size == 0 {
            return;
        }
        each_overlapping(self.addr, self.size, |place| {
            if !std::ptr::eq(place, own) {
                with(&mut place.location);
            }
        });
    }
}

#[cold]
fn slowly<T>(
    addr: usize,
    size: usize,
    value: impl FnOnce() -> u64,
    with: impl FnOnce(&mut Place, Others) -> T,
) -> Option<T> {
    let guard = lock_range(addr, size)?;
    let mut mixed = false;
    each_overlapping(addr, size, |place| mixed |= !place.is(addr, size));
    if mixed {
        each_overlapping(addr, size, |place| {
            place.blurred = true;
            place.mixed = true;
        });
    }
    let chunk = chunks::chunk(addr)?;
    let word = chunk.places(addr);
    // SAFETY: locked above.
    let granule = unsafe { granule_or_new(word, chunk, addr) };
    let new = || {
        // An exploration claims more than a run does: what can be known exactly is.
        let location = match control::active() {
            true => Location::numbered(value(), HISTORY, 0),
            false => Location::new(value(), HISTORY),
        };
        let life = LIVES.fetch_add(1, Ordering::Relaxed);
        Place { addr, size: size as u8, blurred: mixed, touched: mixed, mixed, life, location }
    };
    if !granule.places().any(|place| place.is(addr, size)) {
        granule.add(new());
    }
    let place = granule.places().find(|place| place.is(addr, size))?;
    let result = with(place, Others { addr, size: if mixed { size } else { 0 } });
    drop(guard);
    Some(result)
}

/// An earlier atomic access that a plain one of the thread races with.
#[cold]
pub fn race(addr: usize, size: usize, write: bool, thread: &Thread) -> Option<Earlier> {
    let guard = lock_range(addr, size)?;
    let mut race = None;
    each_overlapping(addr, size, |place| {
        place.touched = true;
        for (slot, last, wrote) in place.location.accesses() {
            let Did { time, site, mode } = if write { last } else { wrote };
            let known = time <= thread.views.cur().get(slot) || time <= thread::forgotten(slot);
            if !known {
                let site = Site(site);
                race = Some(Earlier {
                    slot,
                    site,
                    write: time == wrote.time,
                    mode: Some(mode),
                    size: place.size,
                });
            }
        }
    });
    drop(guard);
    race
}

/// Code that nobody sees works on the 4 bytes at `addr`, like the slow paths of a lock.
pub fn opaque(addr: usize) {
    with(addr, 4, || 0, |place, _| place.blurred = true);
}

/// Memory is given back or used anew: its places are no more.
pub fn forget(addr: usize, size: usize) {
    chunks::each_page(addr, size, |chunk, from, to| {
        if chunk.count(from).load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut at = from & !(GRANULE - 1);
        while at < to {
            let word = chunk.places(at);
            if word.load(Ordering::Relaxed) != 0 {
                forget_in(chunk, word, at, addr, size);
            }
            at += GRANULE;
        }
    });
}

fn forget_in(chunk: Chunk, word: &'static AtomicU64, at: usize, addr: usize, size: usize) {
    lock(word);
    let guard = Guard { words: [Some(word), None, None, None] };
    // SAFETY: locked.
    if let Some(granule) = unsafe { granule(word) } {
        granule.retain(|place| !place.overlaps(addr, size));
        if granule.first.is_none() {
            // SAFETY: made from a box by `granule_or_new`; nobody else has it while the lock is held.
            drop(unsafe { Box::from_raw(granule) });
            word.store(LOCK, Ordering::Relaxed);
            chunk.count(at).fetch_sub(1, Ordering::Relaxed);
        }
    }
    drop(guard);
}

/// After a fork, in the child: what other threads were at work on is left as it is, and forgotten.
pub fn fork_child() {
    chunks::each_touched_page_of_places(|words| {
        for word in words {
            if word.load(Ordering::Relaxed) & LOCK != 0 {
                word.store(0, Ordering::Relaxed);
            }
        }
    });
}

/// Calls `with` for each place that overlaps the range. Its granules, and the one before, are locked.
fn each_overlapping(addr: usize, size: usize, mut with: impl FnMut(&mut Place)) {
    let first = (addr & !(GRANULE - 1)).saturating_sub(GRANULE);
    let mut at = first;
    while at < addr + size {
        // SAFETY: locked by the caller.
        if let Some(chunk) = chunks::existing(at)
            && let Some(granule) = unsafe { granule(chunk.places(at)) }
        {
            granule.places().filter(|place| place.overlaps(addr, size)).for_each(&mut with);
        }
        at += GRANULE;
    }
}

/// Locks the granules of a range, and the one before: a place of 16 bytes may begin there.
fn lock_range(addr: usize, size: usize) -> Option<Guard> {
    let mut guard = Guard { words: [None; MOST] };
    let mut at = (addr & !(GRANULE - 1)).saturating_sub(GRANULE);
    for place in &mut guard.words {
        if at >= addr + size {
            break;
        }
        let word = chunks::chunk(at)?.places(at);
        lock(word);
        *place = Some(word);
        at += GRANULE;
    }
    Some(guard)
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        self.words.iter().flatten().for_each(|word| unlock(word));
    }
}

#[inline]
fn lock(word: &AtomicU64) {
    let old = word.load(Ordering::Relaxed);
    if old & LOCK == 0
        && word.compare_exchange_weak(old, old | LOCK, Ordering::Acquire, Ordering::Relaxed).is_ok()
    {
        return;
    }
    lock_slowly(word);
}

#[cold]
fn lock_slowly(word: &AtomicU64) {
    let mut turn = 0;
    loop {
        let old = word.load(Ordering::Relaxed);
        if old & LOCK == 0
            && word.compare_exchange_weak(old, old | LOCK, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            return;
        }
        thread::pause(&mut turn);
    }
}

#[inline]
fn unlock(word: &AtomicU64) {
    // Nobody else changes a locked word.
    word.store(word.load(Ordering::Relaxed) & !LOCK, Ordering::Release);
}

/// # Safety
/// The word is locked as long as the result is used.
#[inline]
unsafe fn granule(word: &AtomicU64) -> Option<&'static mut Granule> {
    let pointer = (word.load(Ordering::Relaxed) & !LOCK) as *mut Granule;
    // SAFETY: null or from `granule_or_new`, and the caller has the lock.
    unsafe { pointer.as_mut() }
}

/// # Safety
/// As `granule`.
unsafe fn granule_or_new(word: &AtomicU64, chunk: Chunk, addr: usize) -> &'static mut Granule {
    // SAFETY: the caller's promise.
    if let Some(granule) = unsafe { granule(word) } {
        return granule;
    }
    let new = Box::leak(Box::<Granule>::default());
    word.store(std::ptr::from_mut(new) as u64 | LOCK, Ordering::Relaxed);
    chunk.count(addr).fetch_add(1, Ordering::Relaxed);
    new
}
