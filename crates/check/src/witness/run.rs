//! A run, cut down to what matters.
//!
//! What happens in a thread depends on nothing but the events that are `hbSC`-before it: these alone are a run again
//! (the construction of \[RSAN25] Thm. 3.1). It contains the last write to every location that the thread is about to
//! be stale on.

use super::{Unconfirmed, disagree};
use crate::states::{Executed, Replay, Violation};
use seqcst_model::{Action, Event, Graph, Loc, Mode, Model, Outcome, Program, Value};
use seqcst_program::semantics::Machine;

/// A run of a program.
pub struct Run {
    initial: Vec<Value>,
    events: Vec<Executed>,
    next: Vec<Option<Action>>,
    failed: Vec<Option<u32>>,
}

impl Run {
    /// The run, with the fences that come after the last access of each thread at its end.
    pub fn new(machine: &Machine, replay: Replay) -> Run {
        let mut events = replay.run;
        for (thread, fences) in replay.fences.into_iter().enumerate() {
            let fence = |action| Executed { thread, action, outcome: Outcome::Fenced };
            events.extend(fences.into_iter().map(fence));
        }
        events.dedup_by(|later, earlier| join_fences(later, earlier));
        Run { initial: machine.initial().to_vec(), events, next: replay.next, failed: replay.failed }
    }

    /// The access that a thread is about to execute.
    pub fn next(&self, thread: usize) -> Result<&Action, Unconfirmed> {
        match self.next.get(thread).and_then(Option::as_ref) {
            Some(action) => Ok(action),
            None => disagree(format!("thread {thread} has no next access")),
        }
    }

    /// The assertion that a thread failed.
    pub fn failed(&self, thread: usize) -> Option<u32> {
        self.failed.get(thread).copied().flatten()
    }

    /// The accesses of other threads that conflict with this one, the last first.
    pub fn conflicts(&self, thread: usize, access: &Action) -> impl Iterator<Item = usize> {
        let conflict = move |event: &Executed| {
            event.thread != thread
                && event.outcome != Outcome::Fenced
                && event.action.loc == access.loc
                && (access.may_write() || event.outcome.value_written().is_some())
        };
        (0..self.events.len()).rev().filter(move |&number| conflict(&self.events[number]))
    }

    /// The events that are `hbSC`-before or equal to an event of one of the threads, or to this event.
    ///
    /// From the end to the start: an event is kept for the sake of a later kept event of its thread (`po`), a write
    /// for a later access to its location (`mo? ; rf`, `mo`), a read for a later write to it (`fr`).
    pub fn before(&self, threads: &[usize], event: Option<usize>) -> Vec<usize> {
        let mut thread_kept = vec![false; self.next.len()];
        threads.iter().for_each(|&thread| thread_kept[thread] = true);
        let mut accessed = vec![false; self.initial.len()];
        let mut written = vec![false; self.initial.len()];
        let mut kept = Vec::new();
        for (number, Executed { thread, action, outcome }) in self.events.iter().enumerate().rev() {
            let (x, writes) = (action.loc.index(), outcome.value_written().is_some());
            let is_access = *outcome != Outcome::Fenced;
            if thread_kept[*thread]
                || event == Some(number)
                || is_access && (written[x] || writes && accessed[x])
            {
                thread_kept[*thread] = true;
                accessed[x] |= is_access;
                written[x] |= writes;
                kept.push(number);
            }
        }
        kept.reverse();
        kept
    }

    /// All events.
    pub fn all(&self) -> Vec<usize> {
        (0..self.events.len()).collect()
    }

    /// The most events that a graph for this violation can have: initial writes, the part of the run that matters,
    /// and two accesses after it.
    pub fn size(&self, violation: &Violation) -> usize {
        let run = match *violation {
            Violation::Stale { thread } | Violation::Failed { thread } => self.before(&[thread], None).len(),
            Violation::Clash { first, second } => self.before(&[first, second], None).len(),
            Violation::Race { .. } | Violation::Stuck { .. } => self.events.len(),
        };
        self.initial.len() + run + 2
    }

    /// The execution graph of these events, with the initial writes to the locations they access and to `also`.
    pub fn graph<const W: usize>(&self, kept: &[usize], also: &[Loc]) -> Result<Graph<W>, Unconfirmed> {
        let mut graph = Graph::default();
        let used = |x: Loc| {
            also.contains(&x)
                || kept
                    .iter()
                    .map(|&number| &self.events[number])
                    .any(|event| event.outcome != Outcome::Fenced && event.action.loc == x)
        };
        for (x, value) in self.initial.iter().enumerate() {
            let x = Loc(x as u8);
            if used(x) {
                graph.push(Event::initial(x, *value), None);
            }
        }
        for &number in kept {
            let Executed { thread, action, outcome } = &self.events[number];
            if graph.add(*thread, action, *outcome, None).is_none() {
                return Err(Unconfirmed::TooLong(kept.len()));
            }
        }
        match Model::Sc.check(&graph) {
            Ok(()) => Ok(graph),
            Err(violation) => disagree(format!("the run is not sequentially consistent ({violation})")),
        }
    }

    /// The number that an event of the run has in a graph of some of its events.
    pub fn number<const W: usize>(&self, graph: &Graph<W>, event: usize) -> Option<usize> {
        let Executed { thread, .. } = self.events[event];
        let index = self.events[..event].iter().filter(|other| other.thread == thread).count();
        graph.events.iter().position(|e| e.thread == Some(thread) && e.index == index)
    }
}

/// An acquire-release fence was executed as an acquire fence and a release fence: makes it one again. By the definition
/// of `sw`, one fence that is both is the same as the two in a row.
fn join_fences(later: &Executed, earlier: &mut Executed) -> bool {
    let fence = |event: &Executed, mode: Mode| event.outcome == Outcome::Fenced && event.action.mode == mode;
    let joins = earlier.thread == later.thread
        && earlier.action.site == later.action.site
        && fence(earlier, Mode::Acquire)
        && fence(later, Mode::Release);
    if joins {
        earlier.action.mode = Mode::AcqRel;
    }
    joins
}
