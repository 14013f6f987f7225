//! One execution: its threads, its objects, whose turn it is. The memory of all this is used again in the next one.

use super::note::{Dead, Notes};
use super::objects::{Barrier, CellState, Channel, Condvar, Counter, Counting, Lock, Place};
use super::site::Site;
use super::tag;
use super::tag::Table;
use super::task::{Job, Task};
use super::wait::Wait;
use super::watch::Watch;
use super::watchdog::Pulse;
use super::what_if::WhatIf;
use seqcst_explore::{
    AccessType, Choice, End, Failure, Found, Kind, Object, Op, Plan, Player, State, ThreadId, Trace,
};
use seqcst_monitor::clocks::Slot;
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// How an execution goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Way {
    /// As planned.
    #[default]
    Planned,
    /// To its end, unwatched: all that comes was seen in other executions, but what is on the stacks must be dropped.
    Unwatched,
    /// Not at all: stacks are unwound, and nothing blocks any more.
    Aborted,
}

/// How many steps to make between two looks at the clock.
const LOOK: usize = 4096;

/// One execution.
#[derive(Default)]
pub struct World {
    pub player: Player,
    pub trace: Trace,
    /// What happened up to the point from which nothing new could come.
    pub seen: Option<Trace>,
    pub tasks: Vec<Task>,
    /// How many threads there are in this execution; the others are memory for later ones.
    pub threads: u32,
    /// How many of them the player knows: it is told after the step that makes one.
    known: u32,
    /// How many of them have not ended.
    pub live: u32,
    /// Who runs.
    pub current: ThreadId,
    /// Threads that wait for something which others can change.
    pub waiting: u32,
    pub stamp: u64,
    pub way: Way,
    pub step_limit: u32,
    pub pulse: Arc<Pulse>,
    /// No step is made after this time; one was not.
    pub until: Option<Instant>,
    pub late: bool,
    pub watch: Watch,
    pub found: Vec<Found>,
    pub failure: Option<Failure>,
    /// Who panicked, and how.
    pub dead: Vec<(ThreadId, Dead)>,
    /// How often spinning threads had to go on since nobody else could, in a row and in all.
    pub rounds: u32,
    pub went_on: u64,
    /// How often a thread was taken for one that waits since it had read the same so often.
    pub guessed: u64,
    /// What every step did, in words, if somebody wants to read it.
    pub notes: Notes,
    pub atomics: Table<Place>,
    pub cells: Table<CellState>,
    pub locks: Table<Lock>,
    pub condvars: Table<Condvar>,
    pub channels: Table<Channel>,
    pub barriers: Table<Barrier>,
    pub counters: Table<Counter>,
    /// Counters of references that were turned into plain pointers.
    pub raw: rustc_hash::FxHashMap<usize, u32>,
    /// Values of lazy statics, by the addresses of these.
    pub statics: Vec<(usize, Box<dyn Any>)>,
    /// See [`super::spin::Spin::comes_back`].
    pub patience: u32,
    /// Which changes of reference counters are steps.
    pub counting: Counting,
    /// Which of them should have been: if more, this execution doesn't count.
    pub needed: Counting,
    /// The value that was last read or written atomically.
    pub last_value: u64,
    /// A load is given an old value.
    pub what_if: Option<WhatIf>,
    /// Weak exchanges may fail without a reason.
    pub spurious: bool,
    /// May a thread panic, as long as somebody joins it?
    pub may_panic: bool,
}

/// Names of objects of each kind begin here.
pub mod names {
    use super::{Object, ThreadId};
    pub const ATOMIC: Object = 1 << 32;
    pub const LOCK: Object = 2 << 32;
    pub const CONDVAR: Object = 3 << 32;
    pub const CHANNEL: Object = 4 << 32;
    pub const BARRIER: Object = 5 << 32;
    pub const COUNTER: Object = 6 << 32;

    /// Threads are numbered in order of creation, so creations are ordered.
    pub const SPAWNS: Object = 2;

    /// Begins, ends.
    pub fn thread(thread: ThreadId) -> Object {
        1 << 63 | Object::from(thread)
    }

    /// What `unpark` gives.
    pub fn token(thread: ThreadId) -> Object {
        1 << 62 | Object::from(thread)
    }
}

impl World {
    /// Everything as at the beginning of an execution, with one thread.
    pub fn start(&mut self, plan: &Plan, main: Job) {
        self.player.limit_steps(self.step_limit);
        self.player.start(plan);
        self.stamp = tag::next_stamp();
        (self.threads, self.live, self.current, self.waiting) = (0, 0, 0, 0);
        (self.way, self.rounds, self.seen, self.late) = (Way::Planned, 0, None, false);
        self.found.clear();
        self.failure = None;
        self.dead.clear();
        self.notes.clear();
        self.atomics.clear();
        self.cells.clear();
        self.locks.clear();
        self.condvars.clear();
        self.channels.clear();
        self.barriers.clear();
        self.counters.clear();
        self.raw.clear();
        self.watch.start();
        let first = self.add_thread(None, main);
        self.player.set(first, State::Ready, &mut self.trace);
        self.known = 1;
        self.tasks[0].views.renew(first as Slot, self.watch.model);
    }

    /// Nothing of an exploration is left but memory.
    pub fn forget(&mut self) {
        self.what_if = None;
        (self.counting, self.needed) = (Counting::Nothing, Counting::Nothing);
        (self.went_on, self.guessed, self.until) = (0, 0, None);
        self.notes.wanted = false;
        self.notes.clear();
        self.tasks.iter_mut().for_each(|task| task.locals.clear());
    }

    /// A new thread, not known to the clocks yet.
    pub fn add_thread(&mut self, name: Option<String>, job: Job) -> ThreadId {
        let thread = self.threads;
        assert!(thread < u32::from(u16::MAX), "seqcst: more than 65,000 threads in one execution");
        self.threads += 1;
        self.live += 1;
        if self.tasks.len() <= thread as usize {
            self.tasks.push(Task::default());
        }
        self.tasks[thread as usize].start(name, job);
        thread
    }

    /// The running thread.
    #[inline]
    pub fn me(&mut self) -> &mut Task {
        &mut self.tasks[self.current as usize]
    }

    /// The running thread is about to do this, as soon as it can.
    #[inline]
    pub fn announce(&mut self, op: &Op, site: Site, wait: Wait) {
        self.pulse.arrives(self.current, site);
        self.me().next = (*op, site);
        if wait != Wait::Nothing {
            self.waiting += 1;
            self.me().wait = wait;
            let state = self.state_of(self.current);
            self.player.set(self.current, state, &mut self.trace);
            if wait == Wait::Spin && state == State::Blocked && self.way == Way::Planned {
                self.guessed += u64::from(self.me().spin.guessed);
            }
        }
    }

    /// Is it the running thread's turn?
    #[inline]
    pub fn is_my_turn(&mut self) -> bool {
        self.player.turn() == Choice::Go(self.current)
    }

    /// The running thread did this.
    #[inline]
    pub fn did(&mut self, op: Op, site: Site) {
        let me = self.current;
        let task = &mut self.tasks[me as usize];
        if task.dropping > 0 {
            self.needed = self.needed.max(Counting::Drops);
        }
        task.remember(u64::from(site) << 8 | op.kind as u64);
        let woken_by = task.woken_by.take();
        let waited = std::mem::take(&mut task.wait);
        self.waiting -= u32::from(waited != Wait::Nothing);
        if self.way == Way::Aborted {
            return;
        }
        self.player.did(me, op, u64::from(site), woken_by, &mut self.trace);
        if waited != Wait::Nothing {
            self.player.set(me, State::Ready, &mut self.trace);
        }
        while self.known < self.threads {
            self.player.set(self.known, State::Ready, &mut self.trace);
            self.known += 1;
        }
        self.since_then(&op, site);
        if op.how[0] == AccessType::Write {
            self.rounds = 0;
        }
        self.stir();
        let steps = self.trace.steps.len();
        if steps as u32 >= self.step_limit {
            self.give_up(End::StepLimit);
        }
        if steps.is_multiple_of(LOOK) && self.until.is_some_and(|until| Instant::now() > until) {
            self.late = true;
            self.give_up(End::StepLimit);
        }
    }

    /// While a stack is being unwound, what its thread does belongs to the step before, unless it has to wait for others:
    /// they would see a panic that isn't theirs.
    #[cold]
    pub fn goes_on_unwinding(&mut self, wait: Wait) -> bool {
        let before = std::mem::replace(&mut self.me().wait, wait);
        let can = self.way == Way::Aborted || self.can(self.current);
        self.me().wait = before;
        can
    }

    /// Who waits is looked at again.
    #[inline]
    pub fn stir(&mut self) {
        if self.waiting > 0 {
            self.stir_waiting();
        }
    }

    fn stir_waiting(&mut self) {
        for thread in 0..self.threads {
            let task = &self.tasks[thread as usize];
            if task.wait == Wait::Nothing || thread == self.current {
                continue;
            }
            let state = self.state_of(thread);
            if self.tasks[thread as usize].wait == Wait::Spin
                && state == State::Ready
                && self.player.state(thread) == State::Blocked
            {
                self.tasks[thread as usize].woken_by =
                    self.trace.steps.len().checked_sub(1).map(|i| i as u32);
            }
            self.player.set(thread, state, &mut self.trace);
        }
    }

    /// These changes of reference counters matter to somebody.
    pub fn needs(&mut self, counting: Counting) {
        self.needed = self.needed.max(counting);
    }

    /// Does a weak exchange fail that could succeed?
    pub fn fails_anyway(&mut self) -> bool {
        self.spurious && self.either_way()
    }

    /// Does something go the other way, as the schedule has it?
    pub fn either_way(&mut self) -> bool {
        self.way != Way::Aborted && self.player.choose(2) == 1
    }
}
/// A step that touches one object of a kind.
pub fn op(kind: Kind, how: AccessType, names: Object, id: u32) -> Op {
    Op::new(kind, how, names + Object::from(id))
}
