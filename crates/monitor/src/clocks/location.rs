//! What a location remembers: its writes by number, who knew which of them when, and the clocks it hands on.

use super::{Clock, Site, Slot, Time};

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
    /// The newest writes, the last one at the end.
    writes: Vec<Write>,
    /// How many older moments a record keeps, and how many writes are kept.
    history: usize,
    /// The newest moment that some record has dropped. Bounded memory may only miss: for `cur` it counts as known.
    dropped: Moment,
}

/// A point in a location's modification order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct Moment {
    /// Writes so far.
    writes: u32,
    /// Among them, those that aren't RMWs.
    plain: u32,
}

/// What one thread did with the location.
#[derive(Debug)]
struct Record {
    newest: (Time, Moment),
    /// Oldest first.
    older: Vec<(Time, Moment)>,
    /// The write whose message the thread has acquired, plus one.
    acquired: u32,
    /// When the thread last added what it knew to `access_sc`.
    taught: Time,
}

/// One write of a location's recent history.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// Number in modification order.
    pub number: u32,
    /// The value written.
    pub value: u64,
    /// Part of a read-modify-write.
    pub rmw: bool,
    /// By whom.
    pub slot: Slot,
    /// At which local time.
    pub time: Time,
    /// Where in the program.
    pub site: Site,
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
}

/// A non-robustness witness (extended, seed 000 Thm. 3.1): the access may read, or be placed after, a write older than
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
        let first = Write { number: 0, value, rmw: false, slot: 0, time: 0, site: 0 };
        Location {
            last: Moment::default(),
            write_sc: Clock::new(),
            access_sc: Clock::new(),
            message: Clock::new(),
            writer: (0, 0),
            slots: Vec::new(),
            records: Vec::new(),
            writes: vec![first],
            history: history.max(1),
            dropped: Moment::default(),
        }
    }

    /// The number of the last write.
    pub fn last(&self) -> u32 {
        self.last.writes
    }

    /// The write of this number, if still remembered.
    pub fn write(&self, number: u32) -> Option<&Write> {
        let first = self.writes.first()?.number;
        self.writes.get(number.checked_sub(first)? as usize)
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
        let (slot, time) = self.writer;
        if time <= cur.get(slot) {
            return None; // the last write is known: nothing older can be read
        }
        self.stale_slowly(cur, sc, look, forgotten)
    }

    fn stale_slowly(
        &self,
        cur: &Clock,
        sc: &Clock,
        look: Look,
        forgotten: impl Fn(Slot) -> Time,
    ) -> Option<Stale> {
        let mut known = self.dropped;
        let mut before = Moment::default();
        for (&slot, record) in self.slots.iter().zip(&self.records) {
            let (cur, sc, forgotten) = (cur.get(slot), sc.get(slot), forgotten(slot));
            let mut open = true;
            for &(time, moment) in std::iter::once(&record.newest).chain(record.older.iter().rev()) {
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
        let stale = Stale { known: known.writes, missed: before.writes };
        let found = match look {
            Look::Load => known.writes < before.writes,
            Look::Store => known.plain < before.plain,
            Look::Wait(value) => self.some_old(stale, |old, _| old.value == value),
            Look::BlockingCas(value) => self.some_old(stale, |old, free| free && old.value == value),
            Look::StrongCas(value) => self.some_old(stale, |old, free| free || old.value != value),
        };
        found.then_some(stale)
    }

    /// Is there such a write among those that the access could read instead of the missed one? `free` tells that no
    /// RMW reads it. A window that is no longer remembered gives no verdict.
    fn some_old(&self, window: Stale, such: impl Fn(&Write, bool) -> bool) -> bool {
        let Some(first) = self.writes.first() else { return false };
        if window.known < first.number || window.known >= window.missed {
            return false;
        }
        let from = (window.known - first.number) as usize;
        let to = (window.missed - first.number) as usize;
        self.writes[from..=to].windows(2).any(|pair| such(&pair[0], !pair[1].rmw))
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
        let newest = (0, Moment::default());
        self.records.push(Record { newest, older: Vec::new(), acquired: 0, taught: 0 });
        self.records.len() - 1
    }

    /// The thread that began at `birth` has read or made the last write.
    #[inline]
    pub(super) fn seen(&self, record: usize, birth: Time) -> bool {
        let (time, moment) = self.records[record].newest;
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
    pub(super) fn note_read(&mut self, record: usize, time: Time, seen: bool, acquire: bool) {
        if !seen {
            self.remember(record, time);
            self.records[record].acquired = 0;
        }
        if acquire {
            self.records[record].acquired = self.last.writes + 1;
        }
    }

    #[inline]
    pub(super) fn note_write(&mut self, record: usize, time: Time, rmw: bool, value: u64, site: Site) {
        if self.last.writes == u32::MAX - 1 {
            self.start_over();
        }
        self.last.writes += 1;
        self.last.plain += u32::from(!rmw);
        let slot = self.slots[record];
        self.writer = (slot, time);
        if self.writes.len() > self.history {
            self.writes.remove(0);
        }
        self.writes.push(Write { number: self.last.writes, value, rmw, slot, time, site });
        self.remember(record, time);
    }

    #[inline]
    fn remember(&mut self, record: usize, time: Time) {
        let record = &mut self.records[record];
        let old = std::mem::replace(&mut record.newest, (time, self.last));
        if old.0 == 0 || old.0 == time {
            return; // nothing before, or a newer write at the same time says more
        }
        if self.history == 1 {
            self.dropped = self.dropped.max(old.1);
            return;
        }
        if record.older.len() + 1 >= self.history {
            self.dropped = self.dropped.max(record.older.remove(0).1);
        }
        record.older.push(old);
    }

    /// Numbers are used up: forget who knew what, which can only miss.
    #[cold]
    fn start_over(&mut self) {
        self.last = Moment::default();
        self.dropped = Moment::default();
        self.writes.clear();
        for record in &mut self.records {
            record.newest = (0, Moment::default());
            record.older.clear();
            record.acquired = 0;
        }
    }

    /// When the thread last added what it knew to `access_sc`.
    #[inline]
    pub(super) fn taught(&self, record: usize) -> Time {
        self.records[record].taught
    }

    #[inline]
    pub(super) fn teach(&mut self, record: usize, time: Time) {
        self.records[record].taught = time;
    }
}
