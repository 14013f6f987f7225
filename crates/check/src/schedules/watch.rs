//! The clock monitors, watching an execution: could the next access be stale?

use seqcst_model::{Action, Mode, Model, Op, Outcome, Value};
use seqcst_monitor::clocks::run::{Attempt, Location, Thread};
use seqcst_monitor::clocks::{Hidden, Look, Slot};

/// What threads and locations know; of nobody, if nobody watches.
#[derive(Debug, Default)]
pub struct Watch {
    threads: Vec<Thread>,
    places: Vec<Location>,
}

impl Watch {
    /// At the start of an execution. Executions are short: all of their history is kept.
    pub fn new(model: Model, threads: usize, initial: &[Value]) -> Watch {
        let location = |(&value, number): (&Value, u32)| Location::exact(u64::from(value), number);
        Watch {
            threads: (0..threads as Slot).map(|slot| Thread::first(slot, model)).collect(),
            places: initial.iter().zip(0..).map(location).collect(),
        }
    }

    /// Could this access of the thread be stale, whenever it is made? While a thread waits it learns nothing, so this can
    /// be asked as soon as it comes there. Non-atomic accesses can't be stale without a race.
    pub fn is_stale(&self, thread: usize, action: &Action) -> bool {
        let Some(thread) = self.threads.get(thread).filter(|_| action.mode != Mode::NonAtomic) else {
            return false;
        };
        let place = &self.places[action.loc.index()];
        let (mode, failure, rmw) = (action.mode, action.mode_of(Outcome::Read(0)), is_rmw(thread, action));
        let check = |look, mode| thread.check(place, Attempt { look, mode, failure, rmw }, |_| 0).is_some();
        match action.op {
            Op::Load => check(Look::Load, mode),
            Op::Wait(ref values) => values.iter().any(|&value| check(Look::Wait(u64::from(value)), mode)),
            Op::Store(_) | Op::FetchAdd { .. } | Op::Exchange(_) => check(Look::Store, mode),
            Op::Cas { expected, .. } => check(Look::StrongCas(u64::from(expected)), mode),
            // It may fail for no reason: a load. Where only failing is SC, succeeding may do what failing can't.
            Op::WeakCas { expected, .. } => {
                check(Look::Load, failure) || check(Look::BlockingCas(u64::from(expected)), mode)
            }
            Op::BlockingCas { expected, .. } => check(Look::BlockingCas(u64::from(expected)), mode),
            Op::Fence => false,
        }
    }

    /// The access was made.
    pub fn did(&mut self, thread: usize, action: &Action, outcome: Outcome) {
        let Some(thread) = self.threads.get_mut(thread) else { return };
        let place = &mut self.places[action.loc.index()];
        let (mode, site) = (action.mode_of(outcome), action.site);
        match (outcome.value_read(), outcome.value_written().map(u64::from)) {
            (_, None) if is_rmw(thread, action) => thread.failed_cas(place, mode, site),
            (_, None) => thread.load(place, mode, site),
            (None, Some(value)) => thread.store(place, mode, value, site),
            (Some(_), Some(value)) => thread.rmw(place, mode, value, site),
        };
    }

    /// A fence. Where SC fences update a hidden location, that is an access of its own.
    pub fn fence(&mut self, thread: usize, mode: Mode) {
        if let Some(thread) = self.threads.get_mut(thread) {
            thread.fence(mode, &mut Hidden::new());
        }
    }

    /// RC20's happens-before as far as a thread has come, and the time of its next plain access.
    pub fn hb(&self, thread: usize) -> Option<&Thread> {
        self.threads.get(thread)
    }
}

/// Reads and writes in one instruction, if it writes. On x86 a compare-and-swap that is known to fail is locked, too: a load of
/// mode `sc`.
fn is_rmw(thread: &Thread, action: &Action) -> bool {
    let is_locked = thread.model() == Model::Tso && action.op == Op::Load && action.mode == Mode::SeqCst;
    action.may_write() || is_locked
}
