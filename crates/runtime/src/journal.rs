//! What each thread did lately with atomics, to explain a report when it comes.
//!
//! One ring of events per slot, written by its thread alone, on every atomic operation: four stores and a counter.
//! Others read it while it is written and drop what may have been overwritten in the meantime.
//! [`chain()`] finds in the rings why one access must come before another under SC.

mod chain;

pub use chain::{Edge, Link, Point, chain};

use crate::context::Site;
use crate::control::server;
use crate::options;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
use seqcst_model::Mode;
use seqcst_monitor::clocks::{Slot, Time};

/// Kinds of events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum EventKind {
    /// Atomic or plain load.
    Load,
    /// Atomic or plain store.
    Store,
    /// Successful read-modify-write.
    Rmw,
    /// A compare-and-swap that found another value.
    FailedCas,
    /// A fence.
    Fence,
    /// Acquired a synchronisation object (a mutex, say).
    Acquire,
    /// Released one.
    Release,
    /// Created a thread.
    Spawn,
    /// Began, as a created thread.
    Begin,
    /// Ended.
    End,
    /// Joined a thread.
    Join,
    /// Freed memory.
    Free,
    /// Allocated memory.
    Allocate,
    /// Destroyed an object of synchronisation.
    Destroy,
}

const WHATS: [EventKind; 14] = [
    EventKind::Load,
    EventKind::Store,
    EventKind::Rmw,
    EventKind::FailedCas,
    EventKind::Fence,
    EventKind::Acquire,
    EventKind::Release,
    EventKind::Spawn,
    EventKind::Begin,
    EventKind::End,
    EventKind::Join,
    EventKind::Free,
    EventKind::Allocate,
    EventKind::Destroy,
];
const MODES: [Mode; 6] =
    [Mode::NonAtomic, Mode::Relaxed, Mode::Acquire, Mode::Release, Mode::AcqRel, Mode::SeqCst];

/// Something that a thread did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The thread's local time.
    pub time: Time,
    /// Load, failed compare-and-swap: the number of the write it read. Store, RMW: of the write it made.
    /// Release, SC fence: how many there were on the object, this one included. Acquire: how many there were.
    pub write: u32,
    /// The location or object; for `Spawn`, `Begin`, `End` and `Join` the number of the created or joined thread.
    pub addr: usize,
    /// Tells apart locations that had this address one after the other. Write numbers compare within one life.
    pub life: u32,
    /// Where in the program.
    pub site: Site,
    /// Its kind.
    pub what: EventKind,
    /// The memory order.
    pub mode: Mode,
    /// Bytes.
    pub size: u8,
}

/// The recent events of a slot.
pub struct Journal {
    /// The number, as shown to people, of the thread that has the slot.
    thread: AtomicU32,
    /// Events so far.
    head: AtomicU64,
    mask: u64,
    ring: *const Entry,
}

/// `[time | write << 32, addr, site | thread << 32, what | mode << 8 | size << 16 | life << 32]`
#[repr(align(32))]
struct Entry([AtomicU64; 4]);

// SAFETY: only atomics are shared.
unsafe impl Sync for Journal {}

const SLOTS: usize = 1024;
static JOURNALS: [AtomicPtr<Journal>; SLOTS] = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];

impl Journal {
    /// The journal of a slot, from now on kept by the thread with this number.
    pub fn of(slot: Slot, thread: u32) -> &'static Journal {
        let place = &JOURNALS[usize::from(slot) % SLOTS];
        if place.load(Ordering::Acquire).is_null() {
            // What isn't reported needn't be explained.
            let history = if server::is_quiet() { 0 } else { options::get().history };
            let journal = Box::into_raw(Box::new(Journal::new(history)));
            if place.compare_exchange(ptr::null_mut(), journal, Ordering::AcqRel, Ordering::Relaxed).is_err()
            {
                // SAFETY: nobody has seen it. (Its ring is lost: slots have one owner at a time, this can't happen.)
                drop(unsafe { Box::from_raw(journal) });
            }
        }
        // SAFETY: journals are never freed.
        let journal = unsafe { &*place.load(Ordering::Acquire) };
        journal.thread.store(thread, Ordering::Relaxed);
        journal
    }

    fn new(history: usize) -> Journal {
        let capacity = history.max(1).next_power_of_two();
        let ring = if capacity == 1 {
            Box::into_raw(Box::new(Entry([const { AtomicU64::new(0) }; 4])))
        } else {
            crate::sys::reserve(capacity * size_of::<Entry>()).cast::<Entry>()
        };
        Journal { thread: AtomicU32::new(0), head: AtomicU64::new(0), mask: capacity as u64 - 1, ring }
    }

    /// Writes an event down. Only the thread that owns the journal may do so.
    #[inline(always)]
    pub fn push(&self, event: Event) {
        let head = self.head.load(Ordering::Relaxed);
        // SAFETY: masked, so inside of the ring.
        let Entry(words) = unsafe { &*self.ring.add((head & self.mask) as usize) };
        // A reader who sees any word of this event also sees the head that came before it.
        fence(Ordering::Release);
        let thread = self.thread.load(Ordering::Relaxed);
        let kind = event.what as u64 | (event.mode as u64) << 8 | u64::from(event.size) << 16;
        words[0].store(u64::from(event.time) | u64::from(event.write) << 32, Ordering::Relaxed);
        words[1].store(event.addr as u64, Ordering::Relaxed);
        words[2].store(u64::from(event.site.0) | u64::from(thread) << 32, Ordering::Relaxed);
        words[3].store(kind | u64::from(event.life) << 32, Ordering::Relaxed);
        self.head.store(head + 1, Ordering::Release);
    }

    /// The events that are left, oldest first, each with the number of its thread.
    pub fn events(&self) -> Vec<(u32, Event)> {
        let end = self.head.load(Ordering::Acquire);
        let start = end.saturating_sub(self.mask);
        let copies: Vec<[u64; 4]> = (start..end)
            .map(|index| {
                // SAFETY: masked, so inside of the ring.
                let Entry(words) = unsafe { &*self.ring.add((index & self.mask) as usize) };
                words.each_ref().map(|word| word.load(Ordering::Relaxed))
            })
            .collect();
        fence(Ordering::Acquire);
        // The writer may be at work on the event after the head, which takes the place of the one a round before.
        let intact = self.head.load(Ordering::Relaxed).saturating_sub(self.mask);
        copies.into_iter().skip(intact.saturating_sub(start) as usize).filter_map(decode).collect()
    }
}

fn decode([a, addr, c, d]: [u64; 4]) -> Option<(u32, Event)> {
    let event = Event {
        time: a as u32,
        write: (a >> 32) as u32,
        addr: addr as usize,
        life: (d >> 32) as u32,
        site: Site(c as u32),
        what: *WHATS.get(d as usize & 0xff)?,
        mode: *MODES.get((d >> 8) as usize & 0xff)?,
        size: (d >> 16) as u8,
    };
    Some(((c >> 32) as u32, event))
}

/// All journals in use.
fn all() -> impl Iterator<Item = (Slot, &'static Journal)> {
    // SAFETY: journals are never freed.
    let journal = |place: &AtomicPtr<Journal>| unsafe { place.load(Ordering::Acquire).as_ref() };
    JOURNALS.iter().enumerate().filter_map(move |(slot, place)| Some((slot as Slot, journal(place)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time: u32) -> Event {
        Event {
            time,
            write: time * 3,
            addr: time as usize * 7,
            life: time * 11,
            site: Site(time % (1 << 21)),
            what: WHATS[time as usize % WHATS.len()],
            mode: MODES[time as usize % MODES.len()],
            size: time as u8,
        }
    }

    #[test]
    fn codes_are_positions() {
        assert!(WHATS.iter().enumerate().all(|(i, &what)| what as usize == i));
        assert!(MODES.iter().enumerate().all(|(i, &mode)| mode as usize == i));
    }

    #[test]
    fn the_newest_are_kept() {
        let journal = Journal::new(8);
        for count in 0..30u32 {
            let kept: Vec<_> = journal.events().into_iter().map(|(_, event)| event).collect();
            let expected: Vec<_> = (count.saturating_sub(7)..count).map(event).collect();
            assert_eq!(kept, expected);
            journal.push(event(count));
        }
        let nothing = Journal::new(0);
        nothing.push(event(1));
        assert!(nothing.events().is_empty());
    }

    #[test]
    fn threads_take_over() {
        let journal = Journal::of(1000, 5);
        journal.push(event(1));
        Journal::of(1000, 9).push(event(2));
        let threads: Vec<_> = journal.events().into_iter().map(|(thread, _)| thread).collect();
        assert_eq!(threads, [5, 9]);
        assert!(all().any(|(slot, _)| slot == 1000));
    }

    #[test]
    fn no_torn_events() {
        let journal = Journal::new(64);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..200_000).for_each(|time| journal.push(event(time))));
            for _ in 0..2000 {
                let events = journal.events();
                assert!(events.iter().all(|(_, seen)| *seen == event(seen.time)));
                assert!(events.windows(2).all(|pair| pair[0].1.time + 1 == pair[1].1.time));
            }
        });
    }
}
