//! Dynamic partial-order reduction with source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic
//! partial order reduction", POPL 2014, Algorithm 1), without keeping states: one execution for every trace (executions
//! that differ only in the order of independent steps are one trace), and a few that are stopped as redundant.
//!
//! After each execution its *races* are looked at: two steps of different threads that conflict, with nothing in between
//! that orders them. For each, some thread must also go first where the earlier of the two was made: one with which a
//! sequence begins that leads to the later step without the earlier one (an *initial*).
//!
//! Steps that have to wait for others need care beyond Algorithm 1, which is about programs whose steps don't block:
//! * An earlier step that only made the later one possible (an unlock before a lock) is no race: the two can't be
//!   exchanged. The one to be exchanged with stands further back (the lock that belongs to the unlock), so all earlier
//!   steps at the object are looked at that nothing else orders, until one that surely can be exchanged.
//! * A thread that still waits at the end of an execution is looked at as if it had made its step there: it could have
//!   made it before the one who took what it waits for.
//! * So is everybody who is left at the limit of steps: or a thread that never ends would be all there is.
//! * Who ends the process keeps all others from whatever they would do: each of them must go first, too.
//! * Ways that a step can choose between ([`Kind::Choose`]) are all tried.

use super::BoundedDpor;
use super::order::Order;
use super::races::Races;
use crate::threads::Threads;
use crate::{CHOICE, Change, End, Kind, Op, Plan, Progress, State, Step, Strategy, ThreadId, Trace};

/// One execution for every trace.
#[derive(Debug, Default)]
pub struct Dpor {
    started: bool,
    /// The current path; only as many are in use as `order` has steps.
    frames: Vec<Frame>,
    order: Order,
    races: Races,
    /// Who can run at the end of the path.
    enabled: Threads,
    /// Some execution was cut off at the limit of steps.
    cut: bool,
    done: bool,
}

/// A place on the current path, and what was and will be tried there.
#[derive(Debug, Default)]
struct Frame {
    /// What stands on the tape.
    entry: ThreadId,
    /// For a choice: out of how many. Else 0.
    ways: u32,
    /// What the thread did, in all the ways it chose.
    op: Op,
    /// `op` is of an earlier way.
    chose_before: bool,
    /// Who could run before this step.
    enabled: Threads,
    /// Who has been first here, or is now.
    tried: Threads,
    /// Who is still to be first here.
    todo: Threads,
    /// Who needs not be first here, with what it would do: those tried before, and those who were asleep already.
    asleep: Vec<(ThreadId, Op)>,
}

impl Dpor {
    /// All traces.
    pub fn new() -> Dpor {
        Dpor::default()
    }

    /// All traces that have a schedule with up to `max` preemptions.
    pub fn bounded(max: u32) -> BoundedDpor {
        BoundedDpor::new(Some(max))
    }

    /// Goes along the new part of an execution.
    fn walk(&mut self, trace: &Trace) {
        let kept = self.order.len();
        let mut changes = trace.changes.iter();
        if self.started {
            self.enabled.copy(&self.frames[kept].enabled);
            changes = trace.changes[trace.changes.partition_point(|c| c.before as usize <= kept)..].iter();
        }
        for (at, step) in trace.steps.iter().enumerate().skip(kept) {
            self.apply(&mut changes, at);
            self.enter(step, at == kept && self.started);
            let frames = &self.frames;
            self.races.add(&mut self.order, step, |e| frames[e].enabled.has(step.thread));
            self.reverse(Some(step.thread), at);
            if !self.order.woken().is_empty() {
                self.races.add_late_waker(&self.order);
                self.reverse(None, at + 1);
            }
        }
        self.apply(&mut changes, trace.steps.len());
    }

    fn apply(&mut self, changes: &mut std::slice::Iter<'_, Change>, before: usize) {
        while let Some(change) = changes.as_slice().first().filter(|change| change.before as usize <= before)
        {
            changes.next();
            match change.state {
                State::Blocked | State::Held => self.enabled.remove(change.thread),
                State::Ready | State::Willing => self.enabled.insert(change.thread),
            }
        }
    }

    /// The frame of the step that comes next.
    fn enter(&mut self, step: &Step, again: bool) {
        let at = self.order.len();
        if self.frames.len() == at {
            self.frames.push(Frame::default());
        }
        let (before, after) = self.frames.split_at_mut(at);
        let frame = &mut after[0];
        if again {
            frame.op = if frame.chose_before { either(&frame.op, &step.op) } else { step.op };
            return;
        }
        frame.start(step, &self.enabled);
        if let Some(last) = before.last() {
            let did = self.order.step(at - 1);
            let asleep = last.asleep.iter().filter(|(sleeper, next)| {
                !did.is_turn() || *sleeper != did.thread && !next.conflicts(&did.op)
            });
            frame.asleep.extend(asleep);
        }
    }

    /// For each race that was found with the step of this thread at `end`: somebody else must go first.
    fn reverse(&mut self, thread: Option<ThreadId>, end: usize) {
        for race in 0..self.races.found.len() {
            let e = self.races.found[race] as usize;
            let frame = &mut self.frames[e];
            if self.races.initials(&self.order, e, thread, end, |initial| frame.is_covered(initial)) {
                continue;
            }
            // The thread itself comes last among them.
            let mut initials = self.races.initials.iter().rev();
            match initials.find(|&&initial| frame.enabled.has(initial)) {
                Some(&initial) => frame.add(initial),
                None => frame.add_all(),
            }
        }
    }

    /// What could have come after the end.
    fn look_beyond(&mut self, trace: &Trace) {
        let end = trace.steps.len();
        for waiting in &trace.waiting {
            // At the limit of steps, those who could go on are in the same position.
            if trace.end == End::StepLimit || !self.enabled.has(waiting.thread) {
                let frames = &self.frames;
                let could_run = |e: usize| frames[e].enabled.has(waiting.thread);
                self.races.add_waiting(&self.order, &waiting.op, waiting.thread, could_run);
                self.reverse(Some(waiting.thread), end);
            }
        }
        let Some(last) = trace.abrupt_end(self.enabled.iter()) else { return };
        self.frames[last].add_all();
        self.frames[last].op = Op::local(Kind::Exit);
        if trace.steps[last].op.kind != Kind::Exit {
            let thread = trace.steps[last].thread;
            self.order.truncate(last);
            self.races.add_end(&self.order, thread);
            self.reverse(Some(thread), last);
            for step in &trace.steps[last..] {
                let frames = &self.frames;
                self.races.add(&mut self.order, step, |e| frames[e].enabled.has(step.thread));
            }
        }
    }
}

impl Strategy for Dpor {
    fn next(&mut self, plan: &mut Plan) -> bool {
        if !self.started {
            plan.replay([]);
            return true;
        }
        while let Some(at) = self.order.len().checked_sub(1) {
            let (before, after) = self.frames.split_at_mut(at);
            let frame = &mut after[0];
            self.order.truncate(at);
            if frame.ways != 0 {
                if (frame.entry & !CHOICE) + 1 < frame.ways {
                    plan.replay(before.iter().map(|frame| frame.entry).chain([frame.entry + 1]));
                    if let Some(turn) = before.last_mut() {
                        turn.chose_before = true;
                        plan.asleep.extend_from_slice(&turn.asleep);
                    }
                    self.order.truncate(at - 1);
                    return true;
                }
                continue;
            }
            if let Some(thread) = frame.todo.pop() {
                frame.asleep.push((frame.entry, frame.op));
                frame.tried.insert(thread);
                (frame.entry, frame.chose_before) = (thread, false);
                plan.replay(before.iter().map(|frame| frame.entry).chain([thread]));
                plan.asleep.extend_from_slice(&frame.asleep);
                return true;
            }
        }
        self.done = true;
        false
    }

    fn learn(&mut self, _: &Plan, trace: &Trace) {
        self.cut |= trace.end == End::StepLimit;
        if trace.steps.len() > self.order.len() {
            self.walk(trace);
            self.look_beyond(trace);
        }
        self.started = true;
    }

    fn progress(&self) -> Progress {
        // At each frame on the path, how many of its ways are behind us: as if all of them were equally large.
        let (mut part, mut weight) = (0.0, 1.0);
        for frame in &self.frames[..self.order.len()] {
            let (behind, all) = match frame.ways {
                0 => (frame.tried.len() - 1, frame.tried.len() + frame.todo.len()),
                ways => (frame.entry & !CHOICE, ways),
            };
            part += weight * f64::from(behind) / f64::from(all);
            weight /= f64::from(all);
        }
        let exhausted = self.done && !self.cut;
        Progress { exhausted, part: Some(if self.done { 1.0 } else { part }), ..Progress::default() }
    }
}

impl Frame {
    fn start(&mut self, step: &Step, enabled: &Threads) {
        self.entry = step.on_tape();
        self.ways = if step.is_turn() { 0 } else { step.op.objects[1] as u32 };
        self.op = step.op;
        self.chose_before = false;
        self.enabled.copy(enabled);
        self.tried.clear();
        self.tried.insert(step.thread);
        self.todo.clear();
        self.asleep.clear();
    }

    /// Is it known, or not even needed, what comes of letting this thread go first?
    fn is_covered(&self, thread: ThreadId) -> bool {
        let asleep = || self.asleep.iter().any(|(sleeper, _)| *sleeper == thread);
        self.tried.has(thread) || self.todo.has(thread) || asleep()
    }

    fn add(&mut self, thread: ThreadId) {
        if !self.is_covered(thread) {
            self.todo.insert(thread);
        }
    }

    fn add_all(&mut self) {
        let enabled = std::mem::take(&mut self.enabled);
        enabled.iter().for_each(|thread| self.add(thread));
        self.enabled = enabled;
    }
}

/// A step that conflicts with whatever one of the two conflicts with.
fn either(a: &Op, b: &Op) -> Op {
    if a.objects != b.objects {
        return Op::local(Kind::Exit);
    }
    let how = [0, 1].map(|i| if a.how[i] as u8 > b.how[i] as u8 { a.how[i] } else { b.how[i] });
    Op { how, ..*a }
}
