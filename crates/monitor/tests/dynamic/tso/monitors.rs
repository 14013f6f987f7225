//! The monitors for x86, fed with a run.

use super::definition::{is_sc_store, lowered};
use crate::monitors::{Slots, look};
use crate::trace::{Happened, Happening, LOCATIONS, MODULUS, OBJECTS};
use seqcst_model::{Action, Loc, Mode};
use seqcst_monitor::clocks::tso::{Location, Message, Thread};
use seqcst_monitor::clocks::{Did, Slot, Stale, Time};
use seqcst_monitor::finite::{Monitor, Summary, Tso, Usage, Use};
use std::collections::HashMap;

/// What thread clocks may forget.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Writes that are remembered of every location.
    pub history: usize,
    pub slots: Slots,
    /// From this access on, location 0 is touched by code that nobody sees.
    pub blur: usize,
    /// Object 0 orders nothing in truth.
    pub believe: bool,
}

/// For every attempted access, what thread clocks say.
pub fn thread_clocks(run: &[Happening], limits: Limits) -> Vec<Option<Stale>> {
    let mut threads = Threads::new(limits.slots);
    let mut places: Vec<_> = (0..LOCATIONS).map(|_| Location::new(0, limits.history)).collect();
    let mut objects: [Message; OBJECTS] = Default::default();
    let mut answers = Vec::new();
    let mut visits = 0;
    for (time, &Happening { thread, ref what, .. }) in (1..).zip(run) {
        let actor = &mut threads.all[thread];
        let blurred = |access: &Action| access.loc == Loc(0) && visits >= limits.blur;
        match *what {
            Happened::Tried(ref access) => {
                let forgotten = |slot| threads.forgotten.get(&slot).copied().unwrap_or(0);
                let found = actor.check(&places[access.loc.index()], look(access), forgotten);
                // A weak compare-and-swap looks like a load, but it is locked.
                answers.push(found.filter(|_| !access.may_write() && !blurred(access)));
            }
            Happened::Did(ref access, outcome) => {
                let place = &mut places[access.loc.index()];
                let did = Did { time, site: 0, mode: access.mode };
                match (outcome.value_read(), outcome.value_written().map(u64::from)) {
                    _ if blurred(access) => actor.blur(place),
                    (_, None) if access.may_write() => actor.locked_load(place),
                    (_, None) => actor.load(place),
                    (None, Some(value)) => actor.store(place, did, value),
                    (Some(_), Some(value)) => actor.rmw(place, did, value),
                }
                visits += usize::from(access.loc == Loc(0));
            }
            Happened::Fenced(Mode::SeqCst) => actor.fence(),
            Happened::Fenced(_) | Happened::Touched { .. } => {}
            Happened::Created => threads.begin(Some(thread)),
            Happened::Met => threads.begin(None),
            Happened::Ended => threads.free.push(Free { ended: thread, end: time, joined: None }),
            Happened::Joined(other) => threads.join(thread, other),
            Happened::Acquired(0) if limits.believe => actor.believe(&objects[0]),
            Happened::Acquired(object) => actor.acquire(&objects[object]),
            Happened::Released(object) => actor.release(&mut objects[object]),
        }
    }
    answers
}

/// The threads, and who has which slot.
struct Threads {
    all: Vec<Thread>,
    policy: Slots,
    slots: Vec<Slot>,
    free: Vec<Free>,
    unused: Slot,
    /// Up to when nothing is concluded from what happened in a slot.
    forgotten: HashMap<Slot, Time>,
}

/// A thread that ended, and who has joined it.
struct Free {
    ended: usize,
    end: Time,
    joined: Option<usize>,
}

impl Threads {
    fn new(policy: Slots) -> Threads {
        let (all, slots) = (vec![Thread::first(0)], vec![0]);
        Threads { all, policy, slots, free: Vec::new(), unused: 1, forgotten: HashMap::new() }
    }

    /// A new thread, by this one or from nowhere.
    fn begin(&mut self, parent: Option<usize>) {
        let knows = |free: &Free| parent.is_some() && free.joined == parent;
        let free = match self.policy {
            Slots::Fresh => None,
            Slots::Reused => self.free.iter().position(knows),
            Slots::Taken => self.free.len().checked_sub(1),
        };
        let (slot, start) = match free.map(|at| self.free.swap_remove(at)) {
            Some(free) => {
                let slot = self.slots[free.ended];
                if !knows(&free) {
                    self.forgotten.insert(slot, free.end);
                }
                (slot, free.end)
            }
            None => {
                self.unused += 1;
                (self.unused - 1, 0)
            }
        };
        let child = match parent {
            Some(parent) => self.all[parent].child(slot, start),
            None => Thread::foreign(slot, start),
        };
        self.all.push(child);
        self.slots.push(slot);
    }

    fn join(&mut self, thread: usize, other: usize) {
        let ended = self.all[other].clone();
        self.all[thread].join(&ended);
        self.free.iter_mut().filter(|free| free.ended == other).for_each(|free| free.joined = Some(thread));
    }
}

/// For every attempted access, the number of the last write to its location.
pub fn last_writes(run: &[Happening]) -> Vec<u32> {
    let mut last = [0; LOCATIONS];
    let mut answers = Vec::new();
    for happening in run {
        match &happening.what {
            Happened::Tried(access) => answers.push(last[access.loc.index()]),
            Happened::Did(access, outcome) => {
                last[access.loc.index()] += u32::from(outcome.value_written().is_some());
            }
            _ => {}
        }
    }
    answers
}

/// The run without all that finite-state programs don't have: its threads are there from the start.
pub fn accesses_only(run: &[Happening]) -> Vec<Happening> {
    let kept = run.iter().filter_map(|happening| {
        let what = match &happening.what {
            Happened::Created => Happened::Met,
            Happened::Joined(_) | Happened::Acquired(_) | Happened::Released(_) => return None,
            Happened::Ended | Happened::Touched { .. } => return None,
            other => other.clone(),
        };
        Some(Happening { what, ..happening.clone() })
    });
    kept.collect()
}

/// For every attempted access of such a run, what the finite-state monitor says: whether it may miss the *last* write.
pub fn finite(run: &[Happening]) -> Vec<bool> {
    let monitor = Tso::new(&anything(run), None);
    let mut state = vec![0; monitor.shape().words()];
    monitor.start(&mut state);
    let mut answers = Vec::new();
    for &Happening { thread, ref what, .. } in run {
        match *what {
            Happened::Tried(ref access) => answers.push(monitor.stale(&state, thread, &lowered(access))),
            Happened::Did(ref access, outcome) => {
                monitor.step(&mut state, thread, &lowered(access), outcome);
                if let Some(value) = outcome.value_written() {
                    state[monitor.shape().location(access.loc)] = u64::from(value);
                }
                if is_sc_store(access) {
                    monitor.fence(&mut state, thread, Mode::SeqCst);
                }
            }
            Happened::Fenced(mode) => monitor.fence(&mut state, thread, mode),
            _ => {}
        }
        monitor.normalise(&mut state, 0);
    }
    assert!(!monitor.overflowed(), "there are few values");
    answers
}

/// A program in which every thread can do everything.
fn anything(run: &[Happening]) -> Summary {
    let threads = 1 + run.iter().filter(|happening| matches!(happening.what, Happened::Met)).count();
    let kinds = [
        Use::Load,
        Use::Wait((0..MODULUS).map(Some).collect()),
        Use::Store,
        Use::Update,
        Use::Cas(None),
        Use::WeakCas(None),
        Use::BlockingCas(None),
    ];
    let mut uses = Vec::new();
    for thread in 0..threads {
        for loc in (0..LOCATIONS as u8).map(Loc) {
            let mode = |what: &Use| if what.updates() { Mode::SeqCst } else { Mode::Relaxed };
            uses.extend(kinds.iter().map(|what| Usage {
                thread,
                loc,
                what: what.clone(),
                mode: mode(what),
                read_mode: mode(what),
            }));
        }
    }
    let fences = (0..threads).map(|thread| (thread, Mode::SeqCst)).collect();
    Summary { threads, locations: LOCATIONS, modulus: MODULUS, uses, fences }
}
