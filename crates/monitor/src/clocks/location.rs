//! What a location remembers: its writes by number, who knew which of them when, and the clocks it hands on.

use super::record::{Did, Moment, Record};
use super::writes::{Write, Writes};
use super::{Clock, Slot, Time};

/// An atomic location, since its first access.
///
/// Writes are numbered in modification order; the value it had before is number 0 and known to everybody.
#[derive(Debug)]
pub struct Location {
    last: Moment,
    /// `hbSC` before or at the last write (`W_SC` of Fig. 4).
    pub(super) write_sc: Clock,
    /// `hbSC` before or at any access (`M_SC`).
    pub(super) access_sc: Clock,
    /// `hb` as handed on by the last write to those who acquire it.
    pub(super) message: Clock,
    writer: (Slot, Time),
    /// One record per thread that came by; `slots` repeats their first field for a quick search.
    slots: Vec<Slot>,
    records: Vec<Record>,
    writes: Writes,
    /// How many moments a record keeps. Twice as many writes are kept: value-sensitive accesses need whole windows.
    history: usize,
    /// The newest moment that some record has dropped. Bounded memory may only miss: for `cur` it counts as known.
    dropped: Moment,
}

/// What an access is about to do, as far as old writes are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Load any value.
    Load,
    /// Wait for this value.
    Wait(u64),
    /// Store, exchange, fetch-and-add: write whatever there is.
    Store,
    /// Compare-and-swap that fails only because of the value: expects this one.
    StrongCas(u64),
    /// Wait for this value and swap it.
    BlockingCas(u64),
    /// Find another value than this one: how a strong compare-and-swap fails.
    FailedCas(u64),
}

/// What may lie between what a thread knows and what is before its access under SC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    known: Moment,
    before: Moment,
}

impl Window {
    pub fn stale(self) -> Stale {
        Stale { known: self.known.writes, missed: self.before.writes }
    }
}

/// A non-robustness witness (extended, \[RSAN25] Thm. 3.1): the access may read, or be placed after, a write older than
/// one that is before it under SC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stale {
    /// The newest write that the thread knows of under RC20: the oldest one it could still read.
    pub known: u32,
    /// The newest write that is before the access under SC: the one it could miss.
    pub missed: u32,
}

impl Location {
    /// A location with this value, of which `history` moments per thread, and as many writes, are remembered.
    pub fn new(value: u64, history: usize) -> Location {
        Location {
            last: Moment::default(),
            write_sc: Clock::new(),
            access_sc: Clock::new(),
            message: Clock::new(),
            writer: (0, 0),
            slots: Vec::new(),
            records: Vec::new(),
            writes: Writes::new(value, history.saturating_mul(2)),
            history: history.max(1),
            dropped: Moment::default(),
        }
    }

    /// The same as a new location with this value; keeps its memory.
    pub fn renew(&mut self, value: u64) {
        for clock in [&mut self.write_sc, &mut self.access_sc, &mut self.message] {
            clock.clear();
        }
        (self.last, self.dropped, self.writer) = (Moment::default(), Moment::default(), (0, 0));
        self.slots.clear();
        self.records.clear();
        self.writes.renew(value);
    }

    /// The number of the last write.
    pub fn last(&self) -> u32 {
        self.last.writes
    }

    /// How many moments per thread are remembered.
    pub(super) fn history(&self) -> usize {
        self.history
    }

    /// The write of this number, if still remembered.
    pub fn write(&self, number: u32) -> Option<&Write> {
        self.writes.get(number)
    }

    /// The last access of each thread, and its last write.
    pub fn accesses(&self) -> impl Iterator<Item = (Slot, Did, Did)> {
        self.slots.iter().zip(&self.records).map(|(&slot, record)| (slot, record.last, record.wrote))
    }

    /// Compares what is known under the two views (`known(cur) < known(hbSC)`).
    #[inline]
    pub(super) fn stale(
        &self,
        cur: &Clock,
        sc: &Clock,
        look: Look,
        forgotten: impl Fn(Slot) -> Time,
    ) -> Option<Stale> {
        if self.is_known(cur) {
            return None;
        }
        let window = self.window(|slot| cur.get(slot), sc, forgotten);
        self.fits(look, window).then(|| window.stale())
    }

    /// Whether the last write is known: nothing older can be read.
    #[inline]
    pub(super) fn is_known(&self, cur: &Clock) -> bool {
        let (slot, time) = self.writer;
        time <= cur.get(slot)
    }

    /// The newest writes that are known and that are before the access under SC.
    pub(super) fn window(
        &self,
        cur: impl Fn(Slot) -> Time,
        sc: &Clock,
        forgotten: impl Fn(Slot) -> Time,
    ) -> Window {
        let mut known = self.dropped;
        let mut before = Moment::default();
        for (&slot, record) in self.slots.iter().zip(&self.records) {
            // At the end of time events have one time: what a view knows of it may be another event.
            let (cur, sc, forgotten) = (cur(slot), sc.get(slot).min(Time::MAX - 1), forgotten(slot));
            let mut open = true;
            for (time, moment) in record.moments() {
                if time <= cur || time <= forgotten {
                    known = known.max(moment);
                }
                if time <= forgotten {
                    break;
                }
                if open && time <= sc {
                    before = before.max(moment);
                    open = false;
                }
                if time <= cur {
                    break;
                }
            }
        }
        Window { known, before }
    }

    /// The same where such writes are known, too. Those that are no longer remembered count as such.
    pub(super) fn narrowed(&self, window: Window, such: impl Fn(&Write) -> bool) -> Window {
        let mut plain = self.last.plain;
        for number in (window.known.writes + 1..=self.last.writes).rev() {
            let write = self.write(number);
            if write.is_none_or(&such) {
                return Window { known: Moment { writes: number, plain }, ..window };
            }
            plain -= write.map_or(0, |write| u32::from(!write.rmw));
        }
        window
    }

    /// Whether the window has a write that the access could read, or come right after.
    pub(super) fn fits(&self, look: Look, window: Window) -> bool {
        let Window { known, before } = window;
        let stale = window.stale();
        match look {
            Look::Load => known.writes < before.writes,
            Look::Store => known.plain < before.plain,
            Look::Wait(value) => self.some_old(stale, |old, _| old.value == value),
            Look::BlockingCas(value) => self.some_old(stale, |old, free| free && old.value == value),
            Look::StrongCas(value) => self.some_old(stale, |old, free| free || old.value != value),
            Look::FailedCas(value) => self.some_old(stale, |old, _| old.value != value),
        }
    }

    /// Is there such a write among those that the access could read instead of the missed one? `free` tells that no
    /// RMW reads it. A window that is no longer remembered gives no verdict.
    fn some_old(&self, window: Stale, such: impl Fn(&Write, bool) -> bool) -> bool {
        let covered = self.write(window.known).is_some();
        covered
            && (window.known..window.missed).any(|number| {
                let (old, next) = (self.write(number), self.write(number + 1));
                old.zip(next).is_some_and(|(old, next)| such(old, !next.rmw))
            })
    }

    /// The place of a thread's record.
    #[inline]
    pub(super) fn record(&mut self, slot: Slot) -> usize {
        match self.slots.iter().position(|&s| s == slot) {
            Some(at) => at,
            None => self.add_record(slot),
        }
    }

    #[cold]
    fn add_record(&mut self, slot: Slot) -> usize {
        self.slots.push(slot);
        self.records.push(Record::default());
        self.records.len() - 1
    }

    /// The thread that began at `birth` has read or made the last write.
    #[inline]
    pub(super) fn seen(&self, record: usize, birth: Time) -> bool {
        let (time, moment) = self.records[record].newest();
        time >= birth && moment == self.last
    }

    /// The thread has acquired the last write's message before.
    #[inline]
    pub(super) fn acquired(&self, record: usize) -> bool {
        self.records[record].acquired == self.last.writes + 1
    }

    /// Does the last write come with news for a thread that knows `sc`?
    #[inline]
    pub(super) fn is_news(&self, sc: &Clock) -> bool {
        let (slot, time) = self.writer;
        sc.get(slot) < time
    }

    #[inline]
    pub(super) fn note_read(&mut self, record: usize, did: Did, seen: bool) {
        if !seen {
            self.remember(record, did.time);
        }
        let record = &mut self.records[record];
        record.last = did;
        if did.mode.is_acquire() {
            record.acquired = self.last.writes + 1;
        } else if !seen {
            record.acquired = 0;
        }
    }

    #[inline]
    pub(super) fn note_write(&mut self, record: usize, did: Did, rmw: bool, value: u64) {
        if self.last.writes == u32::MAX - 1 {
            self.start_over();
        }
        self.last.writes += 1;
        self.last.plain += u32::from(!rmw);
        let slot = self.slots[record];
        let Did { time, site, mode } = did;
        self.writer = (slot, time);
        self.writes.push(Write { number: self.last.writes, value, rmw, mode, slot, time, site });
        self.remember(record, time);
        let record = &mut self.records[record];
        record.last = did;
        record.wrote = did;
    }

    #[inline]
    fn remember(&mut self, record: usize, time: Time) {
        let forgotten = self.records[record].remember(time, self.last, self.history);
        self.dropped = self.dropped.max(forgotten.unwrap_or_default());
    }

    /// Numbers are used up: forget who knew what, which can only miss.
    #[cold]
    fn start_over(&mut self) {
        self.last = Moment::default();
        self.dropped = Moment::default();
        self.writes.start_over();
        self.records.iter_mut().for_each(Record::start_over);
    }

    /// When the thread last wrote.
    #[inline]
    pub(super) fn wrote(&self, record: usize) -> Time {
        self.records[record].wrote.time
    }

    /// When the thread last added what it knew to `access_sc`: at every access.
    #[inline]
    pub(super) fn taught(&self, record: usize) -> Time {
        self.records[record].last.time
    }
}
