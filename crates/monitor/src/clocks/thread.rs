//! What a thread knows, and how accesses, fences and synchronisation change it (\[RSAN25], Fig. 4 and §4.2).

use super::location::{Location, Look, Stale};
use super::record::Did;
use super::{Clock, Site, Slot, Time};
use seqcst_model::Mode;

/// A thread's four views, each a clock.
///
/// `cur ⊑ acq` always holds, and `cur ⊑ sc` but for what [`Thread::blur`] makes up. While no relaxed load has brought
/// news that an acquire fence could pick up, `acq` equals `cur` and isn't kept (`ahead` is false).
#[derive(Clone, Debug)]
pub struct Thread {
    slot: Slot,
    time: Time,
    /// Known under SC: `hbSC`.
    sc: Clock,
    /// Known under RC20: `hb`.
    cur: Clock,
    /// What a relaxed write passes on: `cur` at the last release fence.
    rel: Clock,
    /// What `cur` becomes at the next acquire fence.
    acq: Clock,
    ahead: bool,
    /// When `cur` was last handed on, plus one: what the thread did since then, nobody else knows.
    epoch: Time,
    /// When the thread began: what its slot did before, another did.
    birth: Time,
    /// When `sc` last changed beyond the thread's own component.
    learnt: Time,
}

/// The location behind SC fences, which nobody else uses: an SC fence is an acquire fence, an `RMW(acqrel)` of it, and
/// a release fence.
#[derive(Default, Debug)]
pub struct Hidden {
    last: Message,
}

/// What a synchronisation object (a mutex, say) hands on from who releases it to who acquires it.
#[derive(Clone, Default, Debug)]
pub struct Message {
    sc: Clock,
    hb: Clock,
}

impl Message {
    /// Nothing released yet.
    pub const fn new() -> Message {
        Message { sc: Clock::new(), hb: Clock::new() }
    }

    /// Nothing released any more; keeps its memory.
    pub fn clear(&mut self) {
        self.sc.clear();
        self.hb.clear();
    }
}

impl Hidden {
    /// No fence yet.
    pub const fn new() -> Hidden {
        Hidden { last: Message::new() }
    }

    /// No fence any more; keeps its memory.
    pub fn clear(&mut self) {
        self.last.clear();
    }
}

impl Thread {
    /// The first thread of a program.
    pub fn first(slot: Slot) -> Thread {
        Thread::at(slot, 1, Clock::new(), Clock::new())
    }

    /// A thread of unknown origin, which knows nothing, in a slot whose last event was at `start`.
    pub fn foreign(slot: Slot, start: Time) -> Thread {
        Thread::at(slot, start.saturating_add(1), Clock::new(), Clock::new())
    }

    fn at(slot: Slot, time: Time, mut sc: Clock, mut cur: Clock) -> Thread {
        sc.raise(slot, time);
        cur.raise(slot, time);
        Thread {
            slot,
            time,
            sc,
            cur,
            rel: Clock::new(),
            acq: Clock::new(),
            ahead: false,
            epoch: time,
            birth: time,
            learnt: time,
        }
    }

    /// A new thread, created by this one, in a slot whose last event was at `start` (0: never used).
    ///
    /// If the slot was used, this thread must know all of its former owner ([`Thread::knows_all`]).
    pub fn child(&mut self, slot: Slot, start: Time) -> Thread {
        let child = Thread::at(slot, start.saturating_add(1), self.sc.clone(), self.cur.clone());
        self.tick_epoch();
        child
    }

    /// Becomes what [`Thread::first`] makes; keeps its memory.
    pub fn renew(&mut self, slot: Slot) {
        self.sc.clear();
        self.cur.clear();
        self.begin(slot, 1);
    }

    /// Makes `child` what [`Thread::child`] makes, in its memory.
    pub fn renew_child(&mut self, child: &mut Thread, slot: Slot, start: Time) {
        child.sc.copy(&self.sc);
        child.cur.copy(&self.cur);
        child.begin(slot, start.saturating_add(1));
        self.tick_epoch();
    }

    fn begin(&mut self, slot: Slot, time: Time) {
        self.sc.raise(slot, time);
        self.cur.raise(slot, time);
        self.rel.clear();
        self.acq.clear();
        (self.slot, self.ahead) = (slot, false);
        (self.time, self.epoch, self.birth, self.learnt) = (time, time, time, time);
    }

    /// The thread has ended; its slot's next owner starts after this time.
    pub fn end(&mut self) -> Time {
        self.time
    }

    /// Learns all that an ended thread knew.
    pub fn join(&mut self, ended: &Thread) {
        self.learn_sc(&ended.sc);
        self.learn(&ended.cur);
    }

    /// The slot.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The time of the next event.
    #[inline]
    pub fn time(&self) -> Time {
        self.time
    }

    /// A time that stands for all events since `cur` was last handed on: for data races they are the same.
    #[inline]
    pub fn epoch(&self) -> Time {
        self.epoch
    }

    /// Happens-before, as far as this thread has come.
    #[inline]
    pub fn cur(&self) -> &Clock {
        &self.cur
    }

    /// `hbSC`, as far as this thread has come.
    #[inline]
    pub(super) fn sc(&self) -> &Clock {
        &self.sc
    }

    /// All events of `slot` up to `time` happen before what this thread does next, under SC too: what is only believed
    /// doesn't count.
    pub fn knows_all(&self, slot: Slot, time: Time) -> bool {
        self.cur.get(slot) >= time && self.sc.get(slot) >= time
    }

    /// Could the next access be stale? Only for accesses weaker than SC, or after the fence that an SC access starts
    /// with.
    ///
    /// `forgotten` tells up to when the events of a slot belong to a thread whose place was taken by another that
    /// doesn't know them: nothing is concluded from these.
    #[inline]
    pub fn check(&self, at: &Location, look: Look, forgotten: impl Fn(Slot) -> Time) -> Option<Stale> {
        at.stale(&self.cur, &self.sc, look, forgotten)
    }

    /// A load, or a failed compare-and-swap. Tells whether it is the thread's first access to the location.
    #[inline]
    pub fn load(&mut self, at: &mut Location, mode: Mode, site: Site) -> bool {
        self.load_message(at, mode, site).0
    }

    /// The same; tells, too, whether the last write's message was taken: not for the second time.
    #[inline(always)]
    pub(super) fn load_message(&mut self, at: &mut Location, mode: Mode, site: Site) -> (bool, bool) {
        let record = at.record(self.slot);
        let first = at.taught(record) < self.birth;
        if at.is_news(&self.sc) && self.sc.join(&at.write_sc) {
            self.learnt = self.time;
        }
        let seen = at.seen(record, self.birth);
        let takes = !(seen && (at.acquired(record) || !mode.is_acquire()));
        if takes {
            self.take(&at.message, mode.is_acquire());
        }
        if at.taught(record) >= self.learnt {
            at.access_sc.raise(self.slot, self.time);
        } else {
            at.access_sc.join(&self.sc);
        }
        at.note_read(record, Did { time: self.time, site, mode }, seen);
        self.tick();
        (first, takes)
    }

    /// A store. Tells whether it is the thread's first write to the location.
    #[inline]
    pub fn store(&mut self, at: &mut Location, mode: Mode, value: u64, site: Site) -> bool {
        self.write_sc(at);
        at.message.copy(if mode.is_release() { &self.cur } else { &self.rel });
        self.wrote(at, mode, false, value, site)
    }

    /// A successful read-modify-write. Tells whether it is the thread's first write to the location.
    #[inline]
    pub fn rmw(&mut self, at: &mut Location, mode: Mode, value: u64, site: Site) -> bool {
        self.write_sc(at);
        self.take(&at.message, mode.is_acquire());
        at.message.join(if mode.is_release() { &self.cur } else { &self.rel });
        self.wrote(at, mode, true, value, site)
    }

    /// A write comes after every access to the location so far.
    #[inline(always)]
    fn write_sc(&mut self, at: &Location) {
        if self.sc.join(&at.access_sc) {
            self.learnt = self.time;
        }
    }

    #[inline(always)]
    fn wrote(&mut self, at: &mut Location, mode: Mode, rmw: bool, value: u64, site: Site) -> bool {
        at.access_sc.copy(&self.sc);
        at.write_sc.copy(&self.sc);
        let record = at.record(self.slot);
        let first = at.wrote(record) < self.birth;
        at.note_write(record, Did { time: self.time, site, mode }, rmw, value);
        if mode.is_release() {
            self.tick_epoch();
        } else {
            self.tick();
        }
        first
    }

    /// A fence.
    pub fn fence(&mut self, mode: Mode, hidden: &mut Hidden) {
        if mode.is_acquire() {
            self.acquire_fence();
        }
        if mode == Mode::SeqCst {
            self.acquire(&hidden.last);
            hidden.last.sc.copy(&self.sc);
            hidden.last.hb.copy(&self.cur);
        }
        if mode.is_release() {
            self.rel.copy(&self.cur);
            self.tick_epoch();
        }
    }

    #[inline]
    fn acquire_fence(&mut self) {
        if self.ahead {
            std::mem::swap(&mut self.cur, &mut self.acq);
            self.ahead = false;
        }
    }

    /// Acquires a synchronisation object.
    pub fn acquire(&mut self, from: &Message) {
        self.learn_sc(&from.sc);
        self.learn(&from.hb);
    }

    /// Acquires an object that orders more than there is: what is learnt counts as known, and nothing is concluded from
    /// it, for `sc` must be true.
    pub fn believe(&mut self, from: &Message) {
        self.learn(&from.hb);
    }

    /// What the thread in `slot` did before its event of this time happens before what comes next, and so do its plain
    /// accesses so far. That one must begin another epoch: by a fence, say.
    pub fn hear_of(&mut self, slot: Slot, time: Time) {
        if self.sc.get(slot) < time.saturating_sub(1) {
            self.sc.raise(slot, time.saturating_sub(1));
            self.learnt = self.time;
        }
        self.cur.raise(slot, time);
        if self.ahead {
            self.acq.raise(slot, time);
        }
    }

    /// Releases a synchronisation object.
    pub fn release(&mut self, into: &mut Message) {
        into.sc.join(&self.sc);
        into.hb.join(&self.cur);
        self.tick_epoch();
    }

    /// The location is touched by code that nobody sees: learn all that it could hand on, hand on all that is known,
    /// and conclude nothing from the order of accesses.
    pub fn blur(&mut self, at: &mut Location) {
        // Not into `sc`: what is known there must be true, and goes further than `cur` does.
        self.learn(&at.message);
        at.message.join(&self.cur);
        self.tick_epoch();
    }

    fn learn_sc(&mut self, news: &Clock) {
        if self.sc.join(news) {
            self.learnt = self.time;
        }
    }

    fn learn(&mut self, news: &Clock) {
        self.cur.join(news);
        if self.ahead {
            self.acq.join(news);
        }
    }

    /// Takes a message that was read: into `cur` if the access acquires, else for an acquire fence to come.
    #[inline(always)]
    fn take(&mut self, message: &Clock, acquire: bool) {
        if acquire {
            self.learn(message);
        } else if self.ahead {
            self.acq.join(message);
        } else if !self.cur.covers(message) {
            self.acq.copy(&self.cur);
            self.acq.join(message);
            self.ahead = true;
        }
    }

    /// As [`Thread::tick`], where `cur` was handed on.
    #[inline(always)]
    fn tick_epoch(&mut self) {
        self.tick();
        self.epoch = self.time;
    }

    /// What comes next isn't known to those who know what came before. At the end of time ([`Time::MAX`]) it is, so
    /// nothing is concluded from what happens then (`Location::stale`).
    #[inline(always)]
    fn tick(&mut self) {
        self.time = self.time.saturating_add(1);
        self.sc.raise(self.slot, self.time);
        self.cur.raise(self.slot, self.time);
        if self.ahead {
            self.acq.raise(self.slot, self.time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: fn(Slot) -> Time = |_| 0;

    /// A slot is handed on only by those who know its former owner's events under SC: or the new owner would seem to.
    #[test]
    fn what_is_only_believed_hands_on_no_slot() {
        let (mut joiner, mut ended) = (Thread::first(0), Thread::first(1));
        let mut message = Message::new();
        ended.store(&mut Location::new(0, 8), Mode::Relaxed, 1, 0);
        let last = ended.end();
        joiner.join(&ended);
        joiner.release(&mut message);
        let (mut told, mut believer) = (Thread::first(2), Thread::first(3));
        told.acquire(&message);
        believer.believe(&message);
        assert!(joiner.knows_all(1, last) && told.knows_all(1, last));
        assert!(!believer.knows_all(1, last));
    }

    /// Times are used up: accesses can't be told apart any more, and nobody is said to have missed one.
    #[test]
    fn the_end_of_time() {
        for start in Time::MAX - 6..=Time::MAX {
            let (mut writer, mut reader) = (Thread::foreign(0, start), Thread::first(1));
            let (mut x, mut y) = (Location::new(0, 8), Location::new(0, 8));
            for value in 1..5 {
                writer.store(&mut y, Mode::Relaxed, value, 0);
                reader.load(&mut y, Mode::Relaxed, 0);
                writer.store(&mut x, Mode::Relaxed, value, 0);
                assert_eq!(reader.check(&x, Look::Load, NOTHING), None);
                writer.load(&mut y, Mode::Relaxed, 0);
                assert_eq!(reader.check(&x, Look::Store, NOTHING), None);
                reader.load(&mut x, Mode::Relaxed, 0);
            }
            assert!(writer.time() >= writer.epoch());
            reader.release(&mut Message::new());
        }
    }
}
