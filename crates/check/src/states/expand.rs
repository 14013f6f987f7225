//! The successors of a state, with the monitor's word on them.

use super::locals::{Locals, LocalsCache};
use seqcst_model::{Loc, Mode, Outcome, Program, Value};
use seqcst_monitor::finite::{Monitor, Shape};

/// Something that ends the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateViolation {
    /// The access at the end of the thread's way can be stale.
    Stale { thread: usize, way: usize },
    /// The access at the end of the thread's way races with an earlier one.
    Race { thread: usize, way: usize },
    /// The accesses at the end of the ways of both threads conflict, and nothing orders them.
    Clash { first: (usize, usize), second: (usize, usize) },
    /// The thread's move leads into a failed assertion by this way.
    Failed { step: Move, way: usize },
    /// A thread fails an assertion before its first access.
    FailedAtStart { thread: usize, way: usize },
}

/// A step from a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Who moved.
    pub thread: usize,
    /// Which of the ways ahead it took.
    pub way: usize,
    /// What came of its action.
    pub outcome: Outcome,
}

/// Computes successors. Each worker has its own.
pub struct Expander<'a> {
    monitor: &'a dyn Monitor,
    shape: &'a Shape,
    locals: LocalsCache<'a>,
    shared: &'a Locals<'a>,
    /// Whether two enabled conflicting non-atomic accesses are a race (rather than by happens-before).
    clash: bool,
    fenced: Vec<u64>,
    after: Vec<u64>,
}

impl<'a> Expander<'a> {
    pub fn new(monitor: &'a dyn Monitor, shared: &'a Locals<'a>, clash: bool) -> Expander<'a> {
        let words = monitor.shape().words();
        Expander {
            monitor,
            shape: monitor.shape(),
            locals: LocalsCache::new(shared),
            shared,
            clash,
            fenced: vec![0; words],
            after: vec![0; words],
        }
    }

    /// The initial state.
    pub fn start(&mut self) -> Result<Vec<u64>, StateViolation> {
        let shape = self.shape;
        let mut state = vec![0; shape.words()];
        for (x, value) in self.shared.machine().initial().iter().enumerate() {
            state[shape.location(Loc(x as u8))] = u64::from(*value);
        }
        self.monitor.start(&mut state);
        for thread in 0..shape.threads {
            let goto = self.shared.start(thread);
            if let Some(way) = goto.failed {
                return Err(StateViolation::FailedAtStart { thread, way });
            }
            state[shape.thread(thread)] = u64::from(goto.place.unwrap_or(0));
            goto.fences.iter().for_each(|mode| self.monitor.fence(&mut state, thread, *mode));
        }
        self.finish(&mut state);
        Ok(state)
    }

    fn place(&self, state: &[u64], thread: usize) -> u32 {
        state[self.shape.thread(thread)] as u32
    }

    fn value(&self, state: &[u64], x: Loc) -> Value {
        state[self.shape.location(x)] as Value
    }

    /// What is wrong in this state before anybody moves.
    pub fn violation(&mut self, state: &[u64]) -> Option<StateViolation> {
        let mut race = None;
        for thread in 0..self.shape.threads {
            let place = self.place(state, thread);
            for cached in 0..self.locals.cached_accesses(thread, place).len() {
                if let Some(violation) = self.violation_ahead(state, thread, cached) {
                    if matches!(violation, StateViolation::Stale { .. }) {
                        return Some(violation);
                    }
                    race = race.or(Some(violation));
                }
            }
        }
        race
    }

    /// What is wrong with one of the accesses that a thread can execute next.
    fn violation_ahead(&mut self, state: &[u64], thread: usize, cached: usize) -> Option<StateViolation> {
        let monitor = self.monitor;
        let place = self.place(state, thread);
        let cached = &self.locals.cached_accesses(thread, place)[cached];
        let (action, way) = (&cached.action, cached.ahead.way);
        let state = if cached.ahead.fences.is_empty() {
            state
        } else {
            self.fenced.copy_from_slice(state);
            cached.ahead.fences.iter().for_each(|mode| monitor.fence(&mut self.fenced, thread, *mode));
            &self.fenced
        };
        if monitor.stale(state, thread, action) {
            return Some(StateViolation::Stale { thread, way });
        }
        if action.mode != Mode::NonAtomic {
            return None;
        }
        if monitor.races(state, thread, action) {
            return Some(StateViolation::Race { thread, way });
        }
        if !self.clash {
            return None;
        }
        let (loc, write) = (action.loc, action.may_write());
        for other in 0..thread {
            let place = state[self.shape.thread(other)] as u32;
            for cached in self.locals.cached_accesses(other, place) {
                if cached.action.loc == loc && (write || cached.action.may_write()) {
                    return Some(StateViolation::Clash {
                        first: (other, cached.ahead.way),
                        second: (thread, way),
                    });
                }
            }
        }
        None
    }

    /// Calls `visit` with every successor by a move of `thread`.
    pub fn moves(
        &mut self,
        state: &[u64],
        thread: usize,
        mut visit: impl FnMut(Move, &mut Vec<u64>),
    ) -> Option<StateViolation> {
        let monitor = self.monitor;
        let shape = self.shape;
        let place = self.place(state, thread);
        let mut after = std::mem::take(&mut self.after);
        let mut failed = None;
        for number in 0..self.locals.cached_accesses(thread, place).len() {
            let cached = &self.locals.cached_accesses(thread, place)[number];
            let (loc, way) = (cached.action.loc, cached.ahead.way);
            let value = self.value(state, loc);
            let outcomes = self.locals.cached_accesses(thread, place)[number].action.outcomes(value);
            for outcome in outcomes {
                let next = self.locals.next(thread, place, number, outcome);
                let step = Move { thread, way, outcome };
                if let Some(way) = next.failed {
                    failed = failed.or(Some(StateViolation::Failed { step, way }));
                }
                let Some(to) = next.place else { continue };
                let cached = &self.locals.cached_accesses(thread, place)[number];
                after.copy_from_slice(state);
                cached.ahead.fences.iter().for_each(|mode| monitor.fence(&mut after, thread, *mode));
                monitor.step(&mut after, thread, &cached.action, outcome);
                if let Some(written) = outcome.value_written() {
                    after[shape.location(loc)] = u64::from(written);
                }
                next.fences.iter().for_each(|mode| monitor.fence(&mut after, thread, *mode));
                after[shape.thread(thread)] = u64::from(to);
                self.finish(&mut after);
                visit(step, &mut after);
            }
        }
        self.after = after;
        failed
    }

    /// A thread that may move alone: it can move, and nothing that the others can still do conflicts with its next
    /// accesses. See [`super::independence`].
    pub fn alone(&mut self, state: &[u64]) -> Option<usize> {
        let threads = self.shape.threads;
        (0..threads).find(|&thread| {
            let place = self.place(state, thread);
            let known = self.locals.known(thread, place);
            if known.cached_accesses.is_empty() || known.closes_loop {
                return false;
            }
            let now = known.now;
            let independent = (0..threads).filter(|&other| other != thread).all(|other| {
                let place = self.place(state, other);
                !now.conflicts(self.locals.known(other, place).ahead)
            });
            independent
                && self.locals.cached_accesses(thread, self.place(state, thread)).iter().any(|cached| {
                    let value = state[self.shape.location(cached.action.loc)] as Value;
                    cached.action.outcomes(value).next().is_some()
                })
        })
    }

    /// Normalises a new state.
    fn finish(&mut self, state: &mut [u64]) {
        let mut finished = 0;
        for thread in 0..self.shape.threads {
            let place = self.place(state, thread);
            if self.locals.cached_accesses(thread, place).is_empty() {
                finished |= 1 << thread;
            }
        }
        self.monitor.normalise(state, finished);
    }

    /// Whether the access at the end of the thread's way can be stale here (or races).
    pub fn confirm(&mut self, state: &[u64], thread: usize, way: usize, racing: bool) -> bool {
        let place = self.place(state, thread);
        let cached_accesses = self.locals.cached_accesses(thread, place);
        let Some(cached) = cached_accesses.iter().position(|cached| cached.ahead.way == way) else {
            return false;
        };
        match self.violation_ahead(state, thread, cached) {
            Some(StateViolation::Stale { .. }) => !racing,
            Some(StateViolation::Race { .. }) => racing,
            _ => false,
        }
    }
}
