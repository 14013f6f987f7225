//! What happened in one execution: steps, and who could have gone instead.

use crate::{CHOICE, Fingerprints, Kind, Op, State, ThreadId};

/// No step: see [`Step::woken_by`].
pub const NOBODY: u32 = u32::MAX;

/// One step of a thread.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What it did.
    pub op: Op,
    /// Where in the program: a number that only the source understands.
    pub site: u64,
    /// The thread.
    pub thread: ThreadId,
    /// The step that ended this thread's wait, where its own objects don't tell (a write to something that a spinning
    /// thread reads), or [`NOBODY`].
    pub woken_by: u32,
}

impl Step {
    /// What stands on the tape for this step.
    pub fn on_tape(&self) -> ThreadId {
        match self.op.kind {
            Kind::Choose => CHOICE | self.op.objects[0] as ThreadId,
            _ => self.thread,
        }
    }

    /// Does the order of the two steps matter, if different threads do them? (As [`Op::conflicts`], which doesn't know who does
    /// them.)
    pub fn conflicts(&self, other: &Step) -> bool {
        match (self.op.everywhere(), other.op.everywhere()) {
            (None, None) => self.op.conflicts(&other.op),
            (mine, theirs) => {
                let ends = self.op.kind == Kind::Exit || other.op.kind == Kind::Exit;
                ends || mine == Some(other.thread) || theirs == Some(self.thread) || self.op.shares(&other.op)
            }
        }
    }

    /// Is it a turn of its own, and no [`Kind::Choose`]?
    pub fn is_turn(&self) -> bool {
        self.op.kind != Kind::Choose
    }
}

/// A thread could run from now on, or no longer.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// It holds before this step (its index in the trace) and until the next change of this thread.
    pub before: u32,
    /// The thread.
    pub thread: ThreadId,
    /// What it can do now.
    pub state: State,
}

/// What a thread that is left at the end would do next.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// What it would do next.
    pub op: Op,
    /// The place in the program.
    pub site: u64,
    /// The thread.
    pub thread: ThreadId,
    /// 1: it spins, which is to say that it reads the same again and again.
    pub spins: u32,
}

/// How an execution ended.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum End {
    /// All threads came to their ends, or the process did.
    #[default]
    Done = 0,
    /// Threads are left, and none of them can go on: each waits for another.
    Deadlock,
    /// The same, but some of them spin: they read the same again and again, and nobody will change it.
    Livelock,
    /// There were more steps than allowed.
    StepLimit,
    /// All that could come was seen in other executions: every thread that could go on is asleep.
    Redundant,
    /// The tape names a thread that can't run: the program isn't the one that the tape was made for, or it isn't
    /// deterministic.
    Diverged,
}

/// What happened in one execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The steps.
    pub steps: Vec<Step>,
    /// Who could run when, in order.
    pub changes: Vec<Change>,
    /// What the threads would do next that are left at the end and can't go on.
    pub waiting: Vec<Waiting>,
    /// How it ended.
    pub end: End,
}

impl Trace {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.changes.clear();
        self.waiting.clear();
        self.end = End::Done;
    }

    /// The tape that leads here.
    pub fn tape(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.steps.iter().map(Step::on_tape)
    }

    /// The last turn, if it ended the execution for all, though somebody could still go on: the process has ended, crashed,
    /// or failed. It conflicts with everything, whatever it did. `able` are those who could go on at the end.
    pub(crate) fn abrupt_end(&self, mut able: impl Iterator<Item = ThreadId>) -> Option<usize> {
        let last = self.steps.iter().rposition(Step::is_turn)?;
        // Who has come to its end may still seem able to go on.
        let Step { op, thread, .. } = self.steps[last];
        let goes_on = |able| able != thread || op.kind != Kind::End;
        (self.end == End::Done && able.any(goes_on)).then_some(last)
    }

    /// See [`Fingerprints::of`].
    pub fn fingerprint(&self) -> u64 {
        Fingerprints::default().of(self)
    }

    /// How many preemptions there are: see [`States::cost`].
    pub fn preemptions(&self) -> u32 {
        let mut states = States::default();
        let turns = self.steps.iter().enumerate().filter(|(_, step)| step.is_turn());
        turns
            .map(|(at, step)| {
                states.advance(&self.changes, at as u32);
                let cost = states.cost(step.thread);
                states.last = Some(step.thread);
                cost
            })
            .sum()
    }
}

/// Who can run, at a point of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct States {
    states: Vec<State>,
    ready: u32,
    /// Changes that are in `states` already.
    applied: usize,
    /// Whose turn it was last.
    pub last: Option<ThreadId>,
}

impl States {
    /// Back to the beginning.
    pub fn clear(&mut self) {
        self.states.clear();
        (self.ready, self.applied, self.last) = (0, 0, None);
    }

    /// Forward to just before this step. True: something has changed.
    pub fn advance(&mut self, changes: &[Change], before: u32) -> bool {
        let start = self.applied;
        while let Some(change) = changes.get(self.applied).filter(|change| change.before <= before) {
            self.applied += 1;
            let index = change.thread as usize;
            if index >= self.states.len() {
                self.states.resize(index + 1, State::Blocked);
            }
            let old = std::mem::replace(&mut self.states[index], change.state);
            self.ready -= u32::from(old == State::Ready);
            self.ready += u32::from(change.state == State::Ready);
        }
        self.applied > start
    }

    /// What a thread can do.
    pub fn get(&self, thread: ThreadId) -> State {
        self.states.get(thread as usize).copied().unwrap_or_default()
    }

    /// All threads that can go on and may.
    pub fn enabled(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let able = |&(_, state): &(u32, &State)| state.can_go();
        (0..).zip(&self.states).filter(able).map(|(thread, _)| thread)
    }

    /// How many preemptions it costs to go on with this thread: 1 if another one is stopped that was ready to go on, or
    /// if this one has offered its turn and somebody else is ready, else 0.
    pub fn cost(&self, thread: ThreadId) -> u32 {
        let stops = self.last.is_some_and(|last| last != thread && self.get(last) == State::Ready);
        u32::from(stops || self.get(thread) == State::Willing && self.ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(thread: ThreadId) -> Step {
        Step { op: Op::local(Kind::Local), site: 0, thread, woken_by: NOBODY }
    }

    fn change(before: u32, thread: ThreadId, state: State) -> Change {
        Change { before, thread, state }
    }

    #[test]
    fn preemptions_stop_those_who_are_ready() {
        use State::*;
        let of = |steps: &[Step], changes: &[Change]| {
            let trace = Trace { steps: steps.to_vec(), changes: changes.to_vec(), ..Trace::default() };
            trace.preemptions()
        };
        let both = [change(0, 0, Ready), change(0, 1, Ready)];
        assert_eq!(of(&[step(0), step(0), step(1)], &both), 1);
        assert_eq!(of(&[step(1), step(0), step(1), step(1)], &both), 2);
        let blocks = [both[0], both[1], change(2, 0, Blocked)];
        assert_eq!(of(&[step(0), step(0), step(1)], &blocks), 0);
        let offers = [both[0], both[1], change(1, 0, Willing)];
        assert_eq!(of(&[step(0), step(1)], &offers), 0);
        assert_eq!(of(&[step(0), step(0)], &offers), 1, "it goes on although another is ready");
        assert_eq!(of(&[step(0), step(0)], &[both[0], change(1, 0, Willing)]), 0);
        let choice = Step { op: Op::choice(1, 2), ..step(0) };
        assert_eq!(of(&[step(0), choice, step(0), step(1)], &both), 1);
    }
}
