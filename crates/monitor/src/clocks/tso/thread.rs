//! What a thread knows under TSO, and how accesses, fences and synchronisation change it (\[Sober08], Fig. 2 and 3).

use super::location::Location;
use crate::clocks::{Clock, Did, Look, Slot, Stale, Time, Write};
use seqcst_model::Mode;

/// A thread's three views, each a clock. Times come from the caller: they grow with every write of a slot.
#[derive(Clone, Debug)]
pub struct Thread {
    slot: Slot,
    /// What the slot did up to this time, another did.
    birth: Time,
    /// Known under SC: `hbSC`.
    sc: Clock,
    /// Globally before its later loads.
    loads: Clock,
    /// Globally before its later stores, together with `loads`.
    stores: Clock,
}

/// What a synchronisation object (a mutex, say) hands on from who releases it to who acquires it.
#[derive(Clone, Default, Debug)]
pub struct Message {
    sc: Clock,
    ghb: Clock,
}

impl Message {
    /// Nothing released yet.
    pub const fn new() -> Message {
        Message { sc: Clock::new(), ghb: Clock::new() }
    }

    /// Nothing released any more; keeps its memory.
    pub fn clear(&mut self) {
        self.sc.clear();
        self.ghb.clear();
    }
}

impl Thread {
    /// The first thread of a program.
    pub const fn first(slot: Slot) -> Thread {
        Thread::foreign(slot, 0)
    }

    /// A thread of unknown origin, which knows nothing, in a slot whose last event was at `start`.
    pub const fn foreign(slot: Slot, start: Time) -> Thread {
        Thread { slot, birth: start, sc: Clock::new(), loads: Clock::new(), stores: Clock::new() }
    }

    /// A new thread, created by this one, in a slot whose last event was at `start` (0: never used).
    ///
    /// If the slot was used, this thread must know all of its former owner: have joined it, for instance, or heard of it
    /// from somebody who has.
    pub fn child(&mut self, slot: Slot, start: Time) -> Thread {
        self.fence();
        Thread { slot, birth: start, ..self.clone() }
    }

    /// Learns all that an ended thread knew, whose buffer is empty by now.
    pub fn join(&mut self, ended: &Thread) {
        self.sc.join(&ended.sc);
        self.loads.join(&ended.loads);
        self.loads.join(&ended.stores);
        self.fence();
    }

    /// Could the next access be stale? Nothing but a load can: as long as it is not part of a read-modify-write.
    ///
    /// `forgotten` tells up to when the events of a slot belong to a thread whose place was taken by another that
    /// doesn't know them: nothing is concluded from these.
    #[inline]
    pub fn check(&self, at: &Location, look: Look, forgotten: impl Fn(Slot) -> Time) -> Option<Stale> {
        let (slot, time) = at.writer;
        if self.knows(slot, time) || !matches!(look, Look::Load | Look::Wait(_)) {
            return None;
        }
        self.look_back(at, look, forgotten)
    }

    /// Fig. 2: over the writes, newest first, until one is known. The oldest that is not known can be missed, too, so
    /// the load can read all from the one before it up to the one before the newest that is before it under SC.
    fn look_back(&self, at: &Location, look: Look, forgotten: impl Fn(Slot) -> Time) -> Option<Stale> {
        let (mut known, mut missed) = (at.last(), 0);
        for &Write { number, slot, time, .. } in at.newest_first() {
            if self.knows(slot, time) || time <= forgotten(slot) {
                break;
            }
            // At the end of time events have one time: what is known of it may be another event.
            if missed == 0 && time <= self.sc.get(slot).min(Time::MAX - 1) {
                missed = number;
            }
            known = number - 1;
        }
        let old = |number| at.write(number).map(|write| write.value);
        let found = match look {
            Look::Wait(value) => (known..missed).any(|number| old(number) == Some(value)),
            _ => known < missed,
        };
        found.then_some(Stale { known, missed })
    }

    /// The thread can't read past this write: it is its own, or its loads come after it.
    #[inline(always)]
    fn knows(&self, slot: Slot, time: Time) -> bool {
        time <= self.loads.get(slot) || self.made(slot, time)
    }

    #[inline(always)]
    fn made(&self, slot: Slot, time: Time) -> bool {
        slot == self.slot && time > self.birth
    }

    /// A load.
    #[inline]
    pub fn load(&mut self, at: &mut Location) {
        self.sc.join(&at.sc.write);
        let (slot, time) = at.writer;
        // What a load takes from the thread's own buffer needs no memory: the load comes after nothing that the store
        // comes after. Here the paper is wrong.
        if !self.made(slot, time) {
            self.loads.join(&at.ghb.write);
        }
        at.sc.access.join(&self.sc);
        at.ghb.access.join(&self.loads);
    }

    /// A compare-and-swap that failed: it is locked like one that succeeds.
    pub fn locked_load(&mut self, at: &mut Location) {
        self.fence();
        self.load(at);
        self.fence();
    }

    /// A store; an SC store comes with a fence.
    #[inline]
    pub fn store(&mut self, at: &mut Location, did: Did, value: u64) {
        self.write(at, did, false, value);
        if did.mode == Mode::SeqCst {
            self.fence();
        }
    }

    /// A successful read-modify-write, of whatever mode.
    #[inline]
    pub fn rmw(&mut self, at: &mut Location, did: Did, value: u64) {
        self.write(at, did, true, value);
        self.fence();
    }

    /// A write comes after every access to the location so far.
    #[inline(always)]
    fn write(&mut self, at: &mut Location, did: Did, rmw: bool, value: u64) {
        self.sc.join(&at.sc.access);
        self.sc.raise(self.slot, did.time);
        at.sc.wrote(&self.sc);
        self.stores.join(&self.loads);
        self.stores.join(&at.ghb.access);
        self.stores.raise(self.slot, did.time);
        at.ghb.wrote(&self.stores);
        at.note_write(self.slot, did, rmw, value);
    }

    /// An SC fence, or anything that empties the buffer. Other fences do nothing under TSO.
    #[inline]
    pub fn fence(&mut self) {
        self.loads.join(&self.stores);
        self.stores.copy(&self.loads);
    }

    /// Acquires a synchronisation object.
    pub fn acquire(&mut self, from: &Message) {
        self.sc.join(&from.sc);
        self.believe(from);
    }

    /// Acquires an object that orders more than there is: what is learnt counts as known, and nothing is concluded from
    /// it, for `sc` must be true.
    pub fn believe(&mut self, from: &Message) {
        self.loads.join(&from.ghb);
        self.fence();
    }

    /// What the thread in `slot` did before this time is in memory, and before what comes next.
    pub fn hear_of(&mut self, slot: Slot, time: Time) {
        let last = time.saturating_sub(1);
        self.sc.raise(slot, last);
        self.loads.raise(slot, last);
        self.fence();
    }

    /// Releases a synchronisation object.
    pub fn release(&mut self, into: &mut Message) {
        self.fence();
        into.sc.join(&self.sc);
        into.ghb.join(&self.stores);
    }

    /// The location is touched by code that nobody sees: learn all that it could hand on, hand on all that is known,
    /// and conclude nothing from the order of accesses.
    pub fn blur(&mut self, at: &mut Location) {
        self.loads.join(&at.ghb.access);
        self.fence();
        at.ghb.access.join(&self.loads);
        at.ghb.write.join(&self.loads);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads 0 and 1, locations x and y.
    struct Run {
        threads: [Thread; 2],
        places: [Location; 2],
        time: Time,
    }

    const X: usize = 0;
    const Y: usize = 1;

    impl Run {
        fn new(history: usize) -> Run {
            Run {
                threads: [0, 1].map(Thread::first),
                places: [X, Y].map(|_| Location::new(0, history)),
                time: 0,
            }
        }

        fn load(&mut self, thread: usize, loc: usize) -> Option<Stale> {
            let stale = self.threads[thread].check(&self.places[loc], Look::Load, |_| 0);
            self.threads[thread].load(&mut self.places[loc]);
            stale
        }

        fn store(&mut self, thread: usize, loc: usize, value: u64) {
            self.time = self.time.saturating_add(1);
            let did = Did { time: self.time, site: 0, mode: Mode::Relaxed };
            self.threads[thread].store(&mut self.places[loc], did, value);
        }
    }

    /// One fence doesn't help: either buffer may hold what the other thread's load misses.
    #[test]
    fn store_buffering() {
        for fences in [[false, false], [true, false], [false, true], [true, true]] {
            let mut run = Run::new(8);
            for me in [0, 1] {
                run.store(me, me, 1);
                if fences[me] {
                    run.threads[me].fence();
                }
                let missed = me == 1 && fences != [true; 2];
                let expected = missed.then_some(Stale { known: 0, missed: 1 });
                assert_eq!(run.load(me, 1 - me), expected, "{fences:?}");
            }
        }
    }

    /// `r=y; y=1; x=1 ∥ x=2; r=x; r=y`, the first thread first: with the paper's rule, the load of x orders the last load
    /// after `x=1`, though it reads `x=2` from its own buffer.
    #[test]
    fn what_a_load_takes_from_its_own_buffer_orders_nothing() {
        let mut run = Run::new(8);
        assert_eq!(run.load(0, Y), None);
        run.store(0, Y, 1);
        run.store(0, X, 1);
        run.store(1, X, 2);
        assert_eq!(run.load(1, X), None);
        assert_eq!(run.load(1, Y), Some(Stale { known: 0, missed: 1 }));
    }

    /// A slot's new owner, who knows nothing of the former one, doesn't find the former one's stores in its buffer.
    #[test]
    fn a_buffer_is_not_handed_on() {
        let mut run = Run::new(8);
        run.store(0, Y, 1);
        run.threads[1].load(&mut run.places[Y]);
        run.store(1, X, 1);
        run.threads[1] = Thread::foreign(1, run.time);
        run.load(1, X);
        assert_eq!(run.load(1, Y), None);
    }

    /// Of many writes some are forgotten: nothing but what can be read is said to be readable.
    #[test]
    fn forgotten_writes() {
        for history in 1..8 {
            let mut run = Run::new(history);
            run.load(1, X);
            for value in 1..=5 {
                run.store(0, X, value);
            }
            run.load(0, Y);
            run.store(1, Y, 1);
            let known = 5u32.saturating_sub(history as u32);
            let (reader, x) = (&run.threads[1], &run.places[X]);
            assert_eq!(reader.check(x, Look::Load, |_| 0), Some(Stale { known, missed: 5 }));
            for value in 0..=6 {
                let found = reader.check(x, Look::Wait(value), |_| 0).is_some();
                assert_eq!(found, value < 5 && value >= 6u64.saturating_sub(history as u64), "{value}");
            }
            assert_eq!(reader.check(x, Look::Load, |_| run.time), None);
        }
    }

    /// Times are used up: writes can't be told apart any more, and nobody is said to have missed one.
    #[test]
    fn the_end_of_time() {
        for start in Time::MAX - 6..=Time::MAX {
            let mut run = Run::new(8);
            run.time = start;
            run.threads[0] = Thread::foreign(0, start);
            for value in 1..5 {
                run.store(0, Y, value);
                run.load(1, Y);
                run.store(0, X, value);
                assert_eq!(run.threads[1].check(&run.places[X], Look::Load, |_| 0), None);
                run.load(0, Y);
                run.load(1, X);
            }
        }
    }
}
