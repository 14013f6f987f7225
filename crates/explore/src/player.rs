//! Whose turn is it now? Plays a plan, inside the execution.
//!
//! The source says when threads come ([`Player::set`] with a new number), when they can run and when they can't, asks
//! whose turn it is ([`Player::turn`]) and tells what that thread did ([`Player::did`]). It is fast where nothing is to
//! decide: one thread going on costs a few comparisons.

use crate::fairness::Fairness;
use crate::priorities::Priorities;
use crate::{CHOICE, Change, Fallback, Kind, NOBODY, Op, Plan, Step, ThreadId, Trace};
use seqcst_model::sample::Random as Rng;

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
    /// It could go on, but has done so in vain, again and again, and must let others go first who can: never told by a
    /// source, only found on a [`Trace`] (see `fairness.rs`).
    Held = 3,
}

impl State {
    /// Can it go on, and may it?
    pub fn can_go(self) -> bool {
        matches!(self, State::Ready | State::Willing)
    }
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
    rng: Rng,
    priorities: Priorities,
    fairness: Fairness,
    /// Steps so far, with choices.
    steps: u32,
    /// Who is held from now on, or no longer: not yet on the trace.
    held: Vec<Change>,
    /// So many steps of a thread in a row are too many, if others can go on; 0: none are.
    most_in_a_row: u32,
    /// Who has the highest priority, if that is known.
    highest: Option<ThreadId>,
    /// The choice made in this turn, and out of how many.
    chosen: Option<(u32, u32)>,
    /// A choice was asked for where the tape has none, or has one that isn't there.
    diverged: bool,
}

impl Player {
    /// From the next plan on: no execution has more steps than these. So that one thread can't use them all up, it lets
    /// others go first after a part of them.
    pub fn limit_steps(&mut self, most: u32) {
        self.most_in_a_row = (most / 8).max(1);
    }

    /// Starts anew with this plan; keeps its memory. No thread is there yet.
    pub fn start(&mut self, plan: &Plan) {
        self.plan.clone_from(plan);
        self.states.clear();
        (self.ready, self.willing, self.current, self.at) = (0, 0, 0, 0);
        (self.highest, self.chosen, self.diverged) = (None, None, false);
        self.fairness.start(self.most_in_a_row);
        self.steps = 0;
        self.held.clear();
        match plan.then {
            Fallback::NonPreemptive => {}
            Fallback::Random { seed } => self.rng = Rng::new(seed),
            Fallback::Pct { seed, depth, length } => {
                self.rng = Rng::new(!seed);
                self.priorities.start(seed, depth, length);
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
        if let Fallback::Pct { .. } = self.plan.then {
            self.highest = None;
            self.priorities.welcome(self.states.len());
        }
        self.tell_held(record);
        self.fairness.changed();
        if self.fairness.held.has(thread) {
            if state != State::Blocked {
                return;
            }
            self.fairness.held.remove(thread);
        }
        record.change(Change { before: record.count(), thread, state });
    }

    #[inline]
    fn tell_held(&mut self, record: &mut impl Record) {
        self.held.drain(..).for_each(|change| record.change(change));
    }

    fn count(&mut self, state: State, change: fn(u32, u32) -> u32) {
        match state {
            State::Blocked | State::Held => {}
            State::Ready => self.ready = change(self.ready, 1),
            State::Willing => self.willing = change(self.willing, 1),
        }
    }

    /// What a thread can do now.
    #[inline]
    pub fn state(&self, thread: ThreadId) -> State {
        self.states.get(thread as usize).copied().unwrap_or_default()
    }

    /// Whose turn it was last.
    pub fn current(&self) -> ThreadId {
        self.current
    }

    /// Is the tape used up? (From here on the plan's `then` decides.)
    #[inline]
    pub fn is_past_tape(&self) -> bool {
        self.at >= self.plan.tape.len()
    }

    /// Whose turn is it? The same answer until [`Player::did`] or [`Player::set`] is called.
    #[inline]
    pub fn turn(&mut self) -> Choice {
        if self.fairness.is_late() {
            self.be_fair();
        }
        if self.is_past_tape()
            && self.plan.then == Fallback::NonPreemptive
            && self.plan.asleep.is_empty()
            && self.state(self.current) == State::Ready
            && !self.fairness.held.has(self.current)
            && !self.diverged
        {
            return Choice::Go(self.current);
        }
        self.decide()
    }

    /// Finds out who must let others go first. With priorities, they stay in front of it.
    #[cold]
    fn be_fair(&mut self) {
        let Player { fairness, states, priorities, plan, held, steps, .. } = self;
        fairness.look(states, |thread, must_wait, behind| {
            let state = if must_wait { State::Held } else { states[thread as usize] };
            if must_wait && let Fallback::Pct { .. } = plan.then {
                priorities.put_behind(thread, behind.iter());
            }
            held.push(Change { before: *steps, thread, state });
        });
        self.highest = None;
    }

    fn decide(&mut self) -> Choice {
        if self.diverged {
            return Choice::Diverged;
        }
        while let Some(&thread) = self.plan.tape.get(self.at) {
            if thread & CHOICE == 0 && self.state(thread) != State::Blocked {
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
            Fallback::NonPreemptive => self.steady(),
            Fallback::Random { .. } => self.random(),
            Fallback::Pct { .. } => {
                let (states, held) = (&self.states, &self.fairness.held);
                let can_go = |thread| states[thread as usize] != State::Blocked && !held.has(thread);
                self.highest = self.highest.or_else(|| self.priorities.highest(can_go));
                self.highest
            }
        };
        chosen.map_or(Choice::Redundant, Choice::Go)
    }

    /// Which of `many` ways does the thread whose turn it is take? To be asked after [`Player::turn`] and before
    /// [`Player::did`], once at most; the same answer until then.
    pub fn choose(&mut self, many: u32) -> u32 {
        let many = many.max(1);
        let past = self.is_past_tape();
        let chosen = match self.plan.tape.get(self.at + 1) {
            Some(entry) if entry & CHOICE != 0 && entry & !CHOICE < many => entry & !CHOICE,
            Some(_) if !self.plan.lenient => {
                self.diverged = true;
                0
            }
            None if self.plan.then != Fallback::NonPreemptive && (past || self.plan.tape.is_empty()) => {
                self.rng.beside().pick(many)
            }
            _ => 0,
        };
        self.chosen = Some((chosen, many));
        chosen
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
        self.tell_held(record);
        record.step(Step { op, site, thread, woken_by: woken_by.unwrap_or(NOBODY) });
        self.steps += 1;
        let yields = op.kind == Kind::Yield || self.state(thread) == State::Willing;
        self.fairness.made(thread, &op, yields.then_some(site));
        let on_tape = !self.is_past_tape();
        self.at += usize::from(on_tape);
        if let Some((chosen, many)) = self.chosen.take() {
            record.step(Step { op: Op::choice(chosen, many), site, thread, woken_by: NOBODY });
            self.steps += 1;
            let played = self.plan.tape.get(self.at).is_some_and(|entry| entry & CHOICE != 0);
            self.at += usize::from(on_tape && played);
        }
        // Who is asleep is said of the state before the last turn of the tape.
        if !self.plan.asleep.is_empty() && self.is_past_tape() {
            self.plan.asleep.retain(|(sleeper, next)| *sleeper != thread && !next.conflicts(&op));
        }
        self.current = thread;
        match self.plan.then {
            Fallback::NonPreemptive => {}
            Fallback::Random { .. } => {
                self.rng.draw();
            }
            Fallback::Pct { .. } => {
                self.rng.draw();
                if self.priorities.made(record.count(), thread) {
                    self.highest = None;
                }
            }
        }
    }

    /// It neither sleeps nor must let others go first.
    fn is_awake(&self, thread: ThreadId) -> bool {
        let sleeps = || self.plan.asleep.iter().any(|(sleeper, _)| *sleeper == thread);
        !self.fairness.held.has(thread) && (self.plan.asleep.is_empty() || !sleeps())
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
        let mut rng = self.rng;
        threads.filter(can_go).nth(rng.pick(many) as usize)
    }
}
