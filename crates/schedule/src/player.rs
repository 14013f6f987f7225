//! Whose turn is it now? Plays a plan, inside the execution.
//!
//! The source says when threads come ([`Player::set`] with a new number), when they can run and when they can't, asks
//! whose turn it is ([`Player::turn`]) and tells what that thread did ([`Player::did`]). It is fast where nothing is to
//! decide: one thread going on costs a few comparisons.

use crate::{Change, NOBODY, Op, Plan, Step, Then, ThreadId, Trace};

/// What a thread can do now.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum State {
    /// It waits for others, or it has ended.
    #[default]
    Blocked = 0,
    /// It can go on.
    Ready = 1,
    /// It can go on and offers its turn to others: a yield, a sleep, a wait whose time can be up. To go on with another
    /// thread is no preemption.
    Willing = 2,
}

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// This thread's.
    Go(ThreadId),
    /// Nobody can run.
    Stuck,
    /// All that could run are asleep: [`crate::End::Redundant`].
    Redundant,
    /// The tape names a thread that can't run: [`crate::End::Diverged`].
    Diverged,
}

/// Where the steps of an execution are written down: a [`Trace`], or shared memory.
pub trait Record {
    /// How many steps there are.
    fn count(&self) -> u32;
    /// One step more.
    fn step(&mut self, step: Step);
    /// A thread can run from now on, or no longer.
    fn change(&mut self, change: Change);
}

impl Record for Trace {
    fn count(&self) -> u32 {
        self.steps.len() as u32
    }

    fn step(&mut self, step: Step) {
        self.steps.push(step);
    }

    fn change(&mut self, change: Change) {
        self.changes.push(change);
    }
}

/// Plays a plan.
#[derive(Debug, Default)]
pub struct Player {
    plan: Plan,
    states: Vec<State>,
    /// How many threads are ready, how many are willing.
    ready: u32,
    willing: u32,
    current: ThreadId,
    /// The next place on the tape.
    at: usize,
    lots: Lots,
    priorities: Vec<u64>,
    /// Steps at which the running thread's priority is lowered, in descending order.
    lowerings: Vec<u32>,
    /// A thread's priority or state changed since the last choice.
    stirred: bool,
}

impl Player {
    /// Starts anew with this plan; keeps its memory. No thread is there yet.
    pub fn start(&mut self, plan: &Plan) {
        self.plan.clone_from(plan);
        self.states.clear();
        (self.ready, self.willing, self.current, self.at) = (0, 0, 0, 0);
        self.priorities.clear();
        self.lowerings.clear();
        self.stirred = true;
        match plan.then {
            Then::Steady => {}
            Then::Random { seed } => self.lots = Lots(seed),
            Then::Pct { seed, depth, length } => {
                self.lots = Lots(seed);
                let lots = &mut self.lots;
                self.lowerings.extend((1..depth).map(|_| lots.below(length.max(1))));
                self.lowerings.sort_unstable_by(|a, b| b.cmp(a));
            }
        }
    }

    /// What a thread can do from now on. A number that wasn't there before is a new thread (numbers are consecutive).
    pub fn set(&mut self, thread: ThreadId, state: State, record: &mut impl Record) {
        let index = thread as usize;
        if index >= self.states.len() {
            self.states.resize(index + 1, State::Blocked);
        }
        if self.states[index] == state {
            return;
        }
        self.count(self.states[index], u32::wrapping_sub);
        self.count(state, u32::wrapping_add);
        self.states[index] = state;
        self.stirred = true;
        // The lowest priority of all is for who offers its turn.
        if state == State::Willing && index < self.priorities.len() {
            let lowest = self.priorities.iter().min().copied().unwrap_or(1 << 32);
            self.priorities[index] = lowest.saturating_sub(1);
        }
        record.change(Change { before: record.count(), thread, state });
    }

    fn count(&mut self, state: State, change: fn(u32, u32) -> u32) {
        match state {
            State::Blocked => {}
            State::Ready => self.ready = change(self.ready, 1),
            State::Willing => self.willing = change(self.willing, 1),
        }
    }

    /// What a thread can do now.
    pub fn state(&self, thread: ThreadId) -> State {
        self.states.get(thread as usize).copied().unwrap_or_default()
    }

    /// Whose turn it was last.
    pub fn current(&self) -> ThreadId {
        self.current
    }

    /// Is the tape used up? (From here on the plan's `then` decides.)
    pub fn is_past_tape(&self) -> bool {
        self.at >= self.plan.tape.len()
    }

    /// Whose turn is it? The same answer until [`Player::did`] is called.
    #[inline]
    pub fn turn(&mut self) -> Choice {
        if self.is_past_tape()
            && self.plan.then == Then::Steady
            && self.plan.asleep.is_empty()
            && self.state(self.current) == State::Ready
        {
            return Choice::Go(self.current);
        }
        self.decide()
    }

    fn decide(&mut self) -> Choice {
        while let Some(&thread) = self.plan.tape.get(self.at) {
            if self.state(thread) != State::Blocked {
                return Choice::Go(thread);
            }
            if !self.plan.lenient {
                return if self.ready + self.willing == 0 { Choice::Stuck } else { Choice::Diverged };
            }
            self.at += 1;
        }
        if self.ready + self.willing == 0 {
            return Choice::Stuck;
        }
        let chosen = match self.plan.then {
            Then::Steady => self.steady(),
            Then::Random { .. } => self.random(),
            Then::Pct { .. } => self.highest(),
        };
        chosen.map_or(Choice::Redundant, Choice::Go)
    }

    /// The thread is about to do this. Needed only where objects have other names in every execution (by order of first
    /// use, say): then those who are asleep are woken by the right ones.
    #[inline]
    pub fn announce(&mut self, thread: ThreadId, op: &Op) {
        for (sleeper, next) in &mut self.plan.asleep {
            if *sleeper == thread {
                next.objects = op.objects;
            }
        }
    }

    /// The thread did this. `woken_by`: see [`Step::woken_by`].
    #[inline]
    pub fn did(
        &mut self,
        thread: ThreadId,
        op: Op,
        site: u64,
        woken_by: Option<u32>,
        record: &mut impl Record,
    ) {
        record.step(Step { op, site, thread, woken_by: woken_by.unwrap_or(NOBODY) });
        if self.at < self.plan.tape.len() {
            self.at += 1;
        }
        // Who is asleep is said of the state before the last step of the tape.
        if self.is_past_tape() && !self.plan.asleep.is_empty() {
            self.plan.asleep.retain(|(sleeper, next)| *sleeper != thread && !next.conflicts(&op));
        }
        if self.current != thread {
            self.current = thread;
            self.stirred = true;
        }
        if let Then::Pct { .. } = self.plan.then {
            self.lower(record.count());
        } else if let Then::Random { .. } = self.plan.then {
            self.lots.next();
        }
    }

    fn is_awake(&self, thread: ThreadId) -> bool {
        self.plan.asleep.is_empty() || !self.plan.asleep.iter().any(|(sleeper, _)| *sleeper == thread)
    }

    fn can_go(&self, thread: ThreadId, state: State) -> bool {
        self.states[thread as usize] == state && self.is_awake(thread)
    }

    /// The current thread if it is ready, else the next one that is, else the next one that is willing.
    fn steady(&self) -> Option<ThreadId> {
        let threads = self.states.len() as u32;
        let current = self.current;
        if current < threads && self.can_go(current, State::Ready) {
            return Some(current);
        }
        let others = || (1..=threads).map(|i| (current + i) % threads);
        let next = |state| others().find(|&thread| self.can_go(thread, state));
        next(State::Ready).or_else(|| next(State::Willing))
    }

    fn random(&self) -> Option<ThreadId> {
        let threads = 0..self.states.len() as u32;
        let can_go =
            |&thread: &ThreadId| self.states[thread as usize] != State::Blocked && self.is_awake(thread);
        let many = threads.clone().filter(can_go).count() as u32;
        if many == 0 {
            return None;
        }
        let lot = Lots(self.lots.0).below(many);
        threads.filter(can_go).nth(lot as usize)
    }

    /// The ready thread with the highest priority.
    fn highest(&mut self) -> Option<ThreadId> {
        while self.priorities.len() < self.states.len() {
            self.priorities.push((1 << 32) + u64::from(self.lots.next() as u32));
        }
        if !self.stirred && self.state(self.current) != State::Blocked {
            return Some(self.current);
        }
        self.stirred = false;
        let threads = 0..self.states.len() as u32;
        let can_go =
            |&thread: &ThreadId| self.states[thread as usize] != State::Blocked && self.is_awake(thread);
        threads.filter(can_go).max_by_key(|&thread| self.priorities[thread as usize])
    }

    fn lower(&mut self, step: u32) {
        while self.lowerings.last().is_some_and(|&at| at <= step) {
            self.lowerings.pop();
            if let Some(priority) = self.priorities.get_mut(self.current as usize) {
                // The later, the higher: all below the priorities that threads start with.
                *priority = (1 << 31) - self.lowerings.len() as u64;
                self.stirred = true;
            }
        }
    }
}

/// Lots to draw (splitmix64).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Lots(u64);

impl Lots {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, many: u32) -> u32 {
        ((self.next() as u32 as u64 * u64::from(many)) >> 32) as u32
    }
}
