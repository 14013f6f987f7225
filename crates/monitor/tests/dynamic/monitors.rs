//! The monitors, fed with a run.

use crate::trace::{Happened, Happening, LOCATIONS, OBJECTS};
use seqcst_model::{Action, Op, Value};
use seqcst_monitor::clocks::{Hidden, Location, LocationClocks, Look, Message, Slot, Thread, Time};

/// What a monitor is asked before an access.
fn look(action: &Action) -> Look {
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
pub fn location_clocks(run: &[Happening]) -> Vec<bool> {
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
}

/// Enough to remember all that happens in a trace.
pub const ALL: usize = 1 << 20;

/// What thread clocks say about a run.
#[derive(Default, Debug)]
pub struct Answers {
    /// For every attempted access, whether it could be stale.
    pub stale: Vec<bool>,
    /// For every access, plain or not, whether it races with an earlier one.
    pub races: Vec<bool>,
}

/// Thread clocks that remember so many moments of every thread at every location.
pub fn thread_clocks(run: &[Happening], history: usize, slots: Slots) -> Answers {
    let mut monitor = ThreadClocks::new(history, slots);
    let mut answers = Answers::default();
    for &Happening { thread, ref what, .. } in run {
        match *what {
            Happened::Tried(ref action) => {
                let found =
                    monitor.threads[thread].check(&monitor.places[action.loc.index()], look(action), |_| 0);
                answers.stale.push(found.is_some());
            }
            Happened::Did(ref action, outcome) => {
                let (loc, mode) = (action.loc.index(), action.mode_of(outcome));
                let time = monitor.threads[thread].time();
                let (actor, place) = (&mut monitor.threads[thread], &mut monitor.places[loc]);
                match (outcome.value_read(), outcome.value_written().map(u64::from)) {
                    (_, None) => actor.load(place, mode),
                    (None, Some(value)) => actor.store(place, mode, value, 0),
                    (Some(_), Some(value)) => actor.rmw(place, mode, value, 0),
                }
                // After it: an acquire synchronises with the release whose write it reads.
                let write = outcome.value_written().is_some();
                answers.races.push(monitor.races(
                    thread,
                    loc,
                    Epoch { time, write, plain: false, ..Epoch::default() },
                ));
            }
            Happened::Touched { loc, write } => {
                let time = monitor.threads[thread].time();
                let now = Epoch { time, write, plain: true, ..Epoch::default() };
                answers.races.push(monitor.races(thread, loc.index(), now));
            }
            Happened::Fenced(mode) => monitor.threads[thread].fence(mode, &mut monitor.hidden),
            Happened::Created => monitor.create(thread),
            Happened::Joined(other) => {
                let end = monitor.threads[other].end();
                monitor.free.push((monitor.threads[other].slot(), end));
                let ended = monitor.threads[other].clone();
                monitor.threads[thread].join(&ended);
            }
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
    slots: Slots,
    /// Slots whose thread has ended, and when; and the first that was never used.
    free: Vec<(Slot, Time)>,
    unused: Slot,
    /// All accesses to each location.
    accesses: [Vec<Epoch>; LOCATIONS],
}

/// An access, as race detection sees it.
#[derive(Clone, Copy, Default, Debug)]
struct Epoch {
    slot: Slot,
    time: Time,
    write: bool,
    plain: bool,
}

impl ThreadClocks {
    fn new(history: usize, slots: Slots) -> ThreadClocks {
        ThreadClocks {
            threads: vec![Thread::first(0)],
            places: (0..LOCATIONS).map(|_| Location::new(0, history)).collect(),
            hidden: Hidden::new(),
            objects: Default::default(),
            slots,
            free: Vec::new(),
            unused: 1,
            accesses: Default::default(),
        }
    }

    fn create(&mut self, thread: usize) {
        let parent = &mut self.threads[thread];
        let known = self.free.iter().position(|&(slot, end)| parent.knows_all(slot, end));
        let (slot, start) = match known {
            Some(at) if self.slots == Slots::Reused => self.free.swap_remove(at),
            _ => (self.unused, 0),
        };
        self.unused += Slot::from(start == 0);
        let child = parent.child(slot, start);
        self.threads.push(child);
    }

    /// Whether the access races with an earlier one, which the next ones can race with it, too.
    fn races(&mut self, thread: usize, loc: usize, now: Epoch) -> bool {
        let actor = &self.threads[thread];
        let now = Epoch { slot: actor.slot(), ..now };
        let races = self.accesses[loc].iter().any(|before| {
            (before.write || now.write)
                && (before.plain || now.plain)
                && before.time > actor.cur().get(before.slot)
        });
        self.accesses[loc].push(now);
        races
    }
}
