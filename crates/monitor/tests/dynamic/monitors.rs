//! The monitors, fed with a run.

use crate::trace::{Happened, Happening, LOCATIONS, OBJECTS};
use seqcst_model::{Action, Op, Value};
use seqcst_monitor::clocks::{Hidden, Location, LocationClocks, Look, Message, Slot, Stale, Thread, Time};
use std::collections::HashMap;

/// What a monitor is asked before an access.
pub fn look(action: &Action) -> Look {
    let value = |value: Value| u64::from(value);
    match action.op {
        Op::Wait(ref values) => Look::Wait(value(values[0])),
        Op::Store(_) | Op::FetchAdd { .. } | Op::Exchange(_) => Look::Store,
        Op::Cas { expected, .. } => Look::StrongCas(value(expected)),
        Op::BlockingCas { expected, .. } => Look::BlockingCas(value(expected)),
        // A weak compare-and-swap may fail for no reason: a load of anything.
        Op::Load | Op::WeakCas { .. } | Op::Fence => Look::Load,
    }
}

/// For every attempted access, what the paper's location clocks say.
pub fn location_clocks(run: &[Happening]) -> Vec<Option<Stale>> {
    let mut clocks = LocationClocks::new(&[0; LOCATIONS], OBJECTS);
    let mut answers = Vec::new();
    for &Happening { thread, ref what, .. } in run {
        match *what {
            Happened::Tried(ref action) => {
                answers.push(clocks.stale(thread, action.loc.index(), look(action)));
            }
            Happened::Did(ref action, outcome) => {
                let (loc, mode) = (action.loc.index(), action.mode_of(outcome));
                match (outcome.value_read(), outcome.value_written().map(u64::from)) {
                    (_, None) => clocks.load(thread, loc, mode),
                    (None, Some(value)) => clocks.store(thread, loc, mode, value),
                    (Some(_), Some(value)) => clocks.rmw(thread, loc, mode, value),
                }
            }
            Happened::Fenced(mode) => clocks.fence(thread, mode),
            Happened::Touched { .. } => {}
            Happened::Created => clocks.create(thread),
            Happened::Met => clocks.appear(),
            Happened::Ended => {}
            Happened::Joined(other) => clocks.join(thread, other),
            Happened::Acquired(object) => clocks.acquire(thread, object),
            Happened::Released(object) => clocks.release(thread, object),
        }
    }
    answers
}

/// Who gets which slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slots {
    /// Every thread its own.
    Fresh,
    /// That of an ended thread, if the creator knows all that it did.
    Reused,
    /// That of any ended thread: what it did is forgotten if the creator doesn't know it.
    Taken,
}

/// What thread clocks may forget.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Moments that are remembered of every thread at every location.
    pub history: usize,
    pub slots: Slots,
    /// From this access on, location 0 is touched by code that nobody sees.
    pub blur: usize,
    /// Object 0 orders nothing in truth.
    pub believe: bool,
}

/// They remember all that happens in a trace.
pub const EXACT: Limits = Limits { history: 1 << 20, slots: Slots::Fresh, blur: usize::MAX, believe: false };

/// One answer for every question.
#[derive(Default, Debug)]
pub struct Answers {
    /// For every attempted access, whether it could be stale.
    pub stale: Vec<Option<Stale>>,
    /// For every access, plain or not, whether it races with an earlier one.
    pub races: Vec<bool>,
}

/// What thread clocks say about a run.
pub fn thread_clocks(run: &[Happening], limits: Limits) -> Answers {
    let mut monitor = ThreadClocks::new(limits);
    let mut answers = Answers::default();
    for &Happening { thread, ref what, .. } in run {
        match *what {
            Happened::Tried(ref action) => {
                let (actor, place) = (&monitor.threads[thread], &monitor.places[action.loc.index()]);
                let found = actor.check(place, look(action), |slot| monitor.forgotten(slot));
                answers.stale.push(found.filter(|_| !monitor.is_blurred(action.loc.index())));
            }
            Happened::Did(ref action, outcome) => {
                let (loc, mode) = (action.loc.index(), action.mode_of(outcome));
                let blurred = monitor.is_blurred(loc);
                let (actor, place) = (&mut monitor.threads[thread], &mut monitor.places[loc]);
                let _first = match (outcome.value_read(), outcome.value_written().map(u64::from)) {
                    _ if blurred => {
                        actor.blur(place);
                        false
                    }
                    (_, None) => actor.load(place, mode, 0),
                    (None, Some(value)) => actor.store(place, mode, value, 0),
                    (Some(_), Some(value)) => actor.rmw(place, mode, value, 0),
                };
                // After it: an acquire synchronises with the release whose write it reads.
                let write = outcome.value_written().is_some();
                answers.races.push(monitor.atomic_races(thread, loc, write));
                monitor.visits += usize::from(loc == 0);
            }
            Happened::Touched { loc, write } => {
                answers.races.push(monitor.plain_races(thread, loc.index(), write));
            }
            Happened::Fenced(mode) => monitor.threads[thread].fence(mode, &mut monitor.hidden),
            Happened::Created => monitor.begin(Some(thread)),
            Happened::Met => monitor.begin(None),
            Happened::Ended => {
                let end = monitor.threads[thread].end();
                monitor.free.push((monitor.threads[thread].slot(), end));
            }
            Happened::Joined(other) => {
                let ended = monitor.threads[other].clone();
                monitor.threads[thread].join(&ended);
            }
            Happened::Acquired(0) if limits.believe => monitor.threads[thread].believe(&monitor.objects[0]),
            Happened::Acquired(object) => monitor.threads[thread].acquire(&monitor.objects[object]),
            Happened::Released(object) => monitor.threads[thread].release(&mut monitor.objects[object]),
        }
    }
    answers
}

/// Thread clocks with all that a caller keeps for them.
struct ThreadClocks {
    threads: Vec<Thread>,
    places: Vec<Location>,
    hidden: Hidden,
    objects: [Message; OBJECTS],
    limits: Limits,
    /// Accesses to location 0.
    visits: usize,
    /// Slots whose thread has ended, and when; and the first that was never used.
    free: Vec<(Slot, Time)>,
    unused: Slot,
    /// Up to when nothing is concluded from what happened in a slot.
    forgotten: HashMap<Slot, Time>,
    /// All plain accesses to each location.
    plain: [Vec<Plain>; LOCATIONS],
}

/// A plain access.
#[derive(Clone, Copy, Debug)]
struct Plain {
    slot: Slot,
    time: Time,
    write: bool,
}

impl ThreadClocks {
    fn new(limits: Limits) -> ThreadClocks {
        ThreadClocks {
            threads: vec![Thread::first(0)],
            places: (0..LOCATIONS).map(|_| Location::new(0, limits.history)).collect(),
            hidden: Hidden::new(),
            objects: Default::default(),
            limits,
            visits: 0,
            free: Vec::new(),
            unused: 1,
            forgotten: HashMap::new(),
            plain: Default::default(),
        }
    }

    /// A new thread, by this one or from nowhere.
    fn begin(&mut self, parent: Option<usize>) {
        let knows = |&(slot, end): &(Slot, Time)| {
            parent.is_some_and(|parent| self.threads[parent].knows_all(slot, end))
        };
        let free = match self.limits.slots {
            Slots::Fresh => None,
            Slots::Reused => self.free.iter().position(knows),
            Slots::Taken => self.free.len().checked_sub(1),
        };
        let (slot, start) = match free {
            Some(at) => {
                if !knows(&self.free[at]) {
                    self.forgotten.extend([self.free[at]]);
                }
                self.free.swap_remove(at)
            }
            None => {
                self.unused += 1;
                (self.unused - 1, 0)
            }
        };
        let child = match parent {
            Some(parent) => self.threads[parent].child(slot, start),
            None => Thread::foreign(slot, start),
        };
        self.threads.push(child);
    }

    fn is_blurred(&self, loc: usize) -> bool {
        loc == 0 && self.visits >= self.limits.blur
    }

    fn forgotten(&self, slot: Slot) -> Time {
        self.forgotten.get(&slot).copied().unwrap_or(0)
    }

    /// Whether an atomic access that was just made races with an earlier plain one.
    fn atomic_races(&self, thread: usize, loc: usize, write: bool) -> bool {
        self.plain[loc]
            .iter()
            .any(|before| (before.write || write) && self.unordered(thread, before.slot, before.time))
    }

    /// Whether a plain access races with an earlier one; the next ones can race with it, too.
    fn plain_races(&mut self, thread: usize, loc: usize, write: bool) -> bool {
        let with_plain = self.atomic_races(thread, loc, write);
        // Of the atomic ones, who knows the last of a thread knows all of them.
        let with_atomic = self.places[loc].accesses().any(|(slot, last, wrote)| {
            self.unordered(thread, slot, if write { last.time } else { wrote.time })
        });
        let (slot, time) = (self.threads[thread].slot(), self.threads[thread].epoch());
        self.plain[loc].push(Plain { slot, time, write });
        with_plain || with_atomic
    }

    fn unordered(&self, thread: usize, slot: Slot, time: Time) -> bool {
        time > self.threads[thread].cur().get(slot) && time > self.forgotten(slot)
    }
}
