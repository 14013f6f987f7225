//! The successors of a state, with the monitor's word on them.

use super::locals::{Goto, Locals, LocalsCache};
use seqcst_model::{Action, Loc, Mode, Op, Outcome, Program, Value};
use seqcst_monitor::finite::Monitor;

/// Something that ends the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// The thread's next access can be stale.
    Stale { thread: usize },
    /// The thread's next access races with an earlier one.
    Race { thread: usize },
    /// The next accesses of both threads conflict, and nothing orders them.
    Clash { first: usize, second: usize },
    /// The thread's next access, with this outcome, leads into a failed assertion.
    Failed { thread: usize, outcome: Outcome, choice: usize },
    /// A thread fails an assertion before its first access.
    FailedAtStart { thread: usize, choice: usize },
}

/// A step from a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Who moved.
    pub thread: usize,
    /// What came of its action.
    pub outcome: Outcome,
    /// Which of the places it can go to after that.
    pub choice: usize,
}

/// Computes successors. Each worker has its own.
pub struct Expander<'a> {
    monitor: &'a dyn Monitor,
    locals: LocalsCache<'a>,
    shared: &'a Locals<'a>,
    /// Whether two enabled conflicting non-atomic accesses are a race (rather than by happens-before).
    clash: bool,
    before: Vec<u64>,
    after: Vec<u64>,
}

impl<'a> Expander<'a> {
    pub fn new(monitor: &'a dyn Monitor, shared: &'a Locals<'a>, clash: bool) -> Expander<'a> {
        let words = monitor.shape().words();
        Expander {
            monitor,
            locals: LocalsCache::new(shared),
            shared,
            clash,
            before: vec![0; words],
            after: vec![0; words],
        }
    }

    /// The initial states: several if threads begin with a free choice.
    pub fn start(&mut self) -> Result<Vec<Vec<u64>>, Trouble> {
        let shape = self.monitor.shape();
        let mut state = vec![0; shape.words()];
        for (x, value) in self.shared.machine().initial().iter().enumerate() {
            state[shape.location(Loc(x as u8))] = u64::from(*value);
        }
        self.monitor.start(&mut state);
        let mut states = vec![state];
        for thread in 0..shape.threads {
            let mut next = Vec::new();
            for (choice, goto) in self.shared.start(thread).iter().enumerate() {
                match goto {
                    Goto::Failed(_) => return Err(Trouble::FailedAtStart { thread, choice }),
                    Goto::Local(local, fences) => {
                        for state in &states {
                            let mut state = state.clone();
                            state[shape.thread(thread)] = u64::from(*local);
                            fences.iter().for_each(|mode| self.monitor.fence(&mut state, thread, *mode));
                            next.push(state);
                        }
                    }
                }
            }
            states = next;
        }
        for state in &mut states {
            self.finish(state);
        }
        Ok(states)
    }

    fn local(&self, state: &[u64], thread: usize) -> u32 {
        state[self.monitor.shape().thread(thread)] as u32
    }

    /// The thread's next action.
    pub fn action(&mut self, state: &[u64], thread: usize) -> Option<&Action> {
        let local = self.local(state, thread);
        self.locals.node(thread, local).action.as_ref()
    }

    fn value(&self, state: &[u64], x: Loc) -> Value {
        state[self.monitor.shape().location(x)] as Value
    }

    /// What is wrong in this state before anybody moves.
    pub fn trouble(&mut self, state: &[u64]) -> Option<Trouble> {
        let threads = self.monitor.shape().threads;
        let monitor = self.monitor;
        let mut race = None;
        for thread in 0..threads {
            let local = self.local(state, thread);
            let Some(action) = &self.locals.node(thread, local).action else { continue };
            if monitor.stale(state, thread, action) {
                return Some(Trouble::Stale { thread });
            }
            if action.mode == Mode::NonAtomic && race.is_none() {
                let (loc, write) = (action.loc, action.may_write());
                if monitor.races(state, thread, action) {
                    race = Some(Trouble::Race { thread });
                } else if self.clash {
                    race = (0..thread)
                        .find(|&other| {
                            let local = self.local(state, other);
                            self.locals.node(other, local).action.as_ref().is_some_and(|action| {
                                action.op != Op::Fence && action.loc == loc && (write || action.may_write())
                            })
                        })
                        .map(|first| Trouble::Clash { first, second: thread });
                }
            }
        }
        race
    }

    /// Calls `visit` with every successor by a move of `thread`.
    pub fn moves(
        &mut self,
        state: &[u64],
        thread: usize,
        mut visit: impl FnMut(Move, &mut Vec<u64>),
    ) -> Option<Trouble> {
        let shape = self.monitor.shape();
        let local = self.local(state, thread);
        let monitor = self.monitor;
        let node = self.locals.node(thread, local);
        let Some(action) = node.action.clone() else { return None };
        let value = self.value(state, action.loc);
        let mut before = std::mem::take(&mut self.before);
        let mut after = std::mem::take(&mut self.after);
        let mut failed = None;
        for outcome in action.outcomes(value) {
            before.copy_from_slice(state);
            monitor.step(&mut before, thread, &action, outcome);
            if let Some(written) = outcome.value_written() {
                before[shape.location(action.loc)] = u64::from(written);
            }
            let nexts = self.locals.next(thread, local, outcome);
            for (choice, goto) in nexts.iter().enumerate() {
                match goto {
                    Goto::Failed(_) => {
                        failed = failed.or(Some(Trouble::Failed { thread, outcome, choice }));
                    }
                    Goto::Local(next, fences) => {
                        after.copy_from_slice(&before);
                        fences.iter().for_each(|mode| monitor.fence(&mut after, thread, *mode));
                        after[shape.thread(thread)] = u64::from(*next);
                        self.finish(&mut after);
                        visit(Move { thread, outcome, choice }, &mut after);
                    }
                }
            }
        }
        self.before = before;
        self.after = after;
        failed
    }

    /// Normalises a new state.
    fn finish(&mut self, state: &mut [u64]) {
        let mut finished = 0;
        for thread in 0..self.monitor.shape().threads {
            let local = self.local(state, thread);
            if self.locals.node(thread, local).action.is_none() {
                finished |= 1 << thread;
            }
        }
        self.monitor.normalise(state, finished);
    }
}
