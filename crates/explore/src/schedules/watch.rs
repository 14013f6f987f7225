//! The clock monitors, watching an execution: could the next access be stale?

use seqcst_model::{Action, Mode, Op, Outcome, Value};
use seqcst_monitor::clocks::{Did, Hidden, Location, Look, Slot, Thread, Time, tso};
use seqcst_program::Target;

/// The monitor of one memory model.
#[derive(Debug)]
pub enum Watch {
    /// Nobody watches.
    Nobody,
    /// RC20, and RA for programs lowered for it.
    Rc20(Vec<Thread>, Vec<Location>),
    /// x86.
    Tso(Vec<tso::Thread>, Vec<tso::Location>, Time),
}

/// Executions are short: all of their history is kept.
const HISTORY: usize = 1 << 24;

impl Watch {
    /// At the start of an execution.
    pub fn new(target: Target, threads: usize, initial: &[Value]) -> Watch {
        let slots = 0..threads as Slot;
        let values = initial.iter().map(|&value| u64::from(value));
        match target {
            Target::Sc => Watch::Nobody,
            Target::Ra | Target::Rc20 => Watch::Rc20(
                slots.map(Thread::first).collect(),
                values.map(|value| Location::new(value, HISTORY)).collect(),
            ),
            Target::Tso => Watch::Tso(
                slots.map(tso::Thread::first).collect(),
                values.map(|value| tso::Location::new(value, HISTORY)).collect(),
                0,
            ),
        }
    }

    /// Could this access of the thread be stale, whenever it is made? While a thread waits it learns nothing, so this can
    /// be asked as soon as it comes there. Non-atomic accesses can't be stale without a race.
    pub fn is_stale(&self, thread: usize, action: &Action) -> bool {
        if action.mode == Mode::NonAtomic {
            return false;
        }
        let at = action.loc.index();
        match self {
            Watch::Nobody => false,
            Watch::Rc20(threads, places) => {
                let check = |look| threads[thread].check(&places[at], look, |_| 0).is_some();
                let value = |value: Value| u64::from(value);
                match action.op {
                    Op::Load | Op::WeakCas { .. } => check(Look::Load),
                    Op::Wait(ref values) => values.iter().any(|&v| check(Look::Wait(value(v)))),
                    Op::Store(_) | Op::FetchAdd { .. } | Op::Exchange(_) => check(Look::Store),
                    Op::Cas { expected, .. } => check(Look::StrongCas(value(expected))),
                    Op::BlockingCas { expected, .. } => check(Look::BlockingCas(value(expected))),
                    Op::Fence => false,
                }
            }
            Watch::Tso(threads, places, _) => {
                let check = |look| threads[thread].check(&places[at], look, |_| 0).is_some();
                match action.op {
                    Op::Load => check(Look::Load),
                    Op::Wait(ref values) => values.iter().any(|&value| check(Look::Wait(u64::from(value)))),
                    // Locked, or not a load at all.
                    _ => false,
                }
            }
        }
    }

    /// The access was made.
    pub fn did(&mut self, thread: usize, action: &Action, outcome: Outcome) {
        let (at, mode, site) = (action.loc.index(), action.mode_of(outcome), action.site);
        let (read, wrote) = (outcome.value_read().is_some(), outcome.value_written().map(u64::from));
        match self {
            Watch::Nobody => {}
            Watch::Rc20(threads, places) => {
                let (actor, place) = (&mut threads[thread], &mut places[at]);
                match (read, wrote) {
                    (_, None) => actor.load(place, mode, site),
                    (false, Some(value)) => actor.store(place, mode, value, site),
                    (true, Some(value)) => actor.rmw(place, mode, value, site),
                };
            }
            Watch::Tso(threads, places, time) => {
                let (actor, place) = (&mut threads[thread], &mut places[at]);
                *time = time.saturating_add(1);
                let did = Did { time: *time, site, mode };
                match (read, wrote) {
                    (_, None) if action.may_write() => actor.locked_load(place),
                    (_, None) => actor.load(place),
                    (false, Some(value)) => actor.store(place, did, value),
                    (true, Some(value)) => actor.rmw(place, did, value),
                }
            }
        }
    }

    /// A fence.
    pub fn fence(&mut self, thread: usize, mode: Mode) {
        match self {
            Watch::Nobody => {}
            // The update of the hidden location is an access of its own.
            Watch::Rc20(threads, _) => threads[thread].fence(mode, &mut Hidden::new()),
            Watch::Tso(threads, ..) if mode == Mode::SeqCst => threads[thread].fence(),
            Watch::Tso(..) => {}
        }
    }

    /// Happens-before as far as a thread has come, and the time of its next plain access: RC20's, if that is watched.
    pub fn hb(&self, thread: usize) -> Option<&Thread> {
        match self {
            Watch::Rc20(threads, _) => threads.get(thread),
            _ => None,
        }
    }
}
