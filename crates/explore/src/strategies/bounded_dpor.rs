//! Partial-order reduction with a preemption bound: sees every trace that has a schedule with up to so many preemptions,
//! in fewer executions than [`super::Bounded`] needs.
//!
//! Source sets can't simply be cut off at a bound: the execution that shows a race may cost more than the bound, though the
//! one with the race reversed doesn't (Coons, Musuvathi, McKinley, OOPSLA 2013, add conservative backtrack points for
//! that reason, and then see all local states, but not all traces). Two rules that are safe under a bound take their place:
//!
//! * Who is stopped before a step sleeps until somebody does what conflicts with that step. If nobody did, the step could
//!   as well come before the thread is stopped: the same trace, at no greater cost. Unless it is a step that others wait
//!   for: those who wait can be left at no cost, and after the step they can't.
//! * Where the steps so far are the same but for the order of independent ones, the last thread is the same, and the same
//!   threads are asleep, what can come and what it costs is the same, too: each way on is tried once, unless it turns out
//!   to be cheaper another time (Musuvathi & Qadeer, "Partial-order reduction for context-bounded state exploration",
//!   2007).

use crate::fingerprint::mix;
use crate::{
    AccessType, CHOICE, End, Fingerprints, Kind, Object, Op, Plan, Progress, State, States, Strategy,
    ThreadId, Trace,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// All traces with few preemptions.
#[derive(Debug, Default)]
pub struct BoundedDpor {
    max: Option<u32>,
    /// Preemptions of the schedules of this round.
    bound: u32,
    started: bool,
    /// A plan was made, and nothing is known of it yet.
    planned: bool,
    /// What is to be tried, by its preemptions.
    rounds: Vec<Vec<Branch>>,
    /// How many of this round were tried.
    taken: u64,
    counts: Vec<u64>,
    /// Something was left out.
    cut: bool,
    /// Ways on that were tried, or will be, with their cost.
    seen: FxHashMap<u64, u32>,
    /// Objects that somebody was seen to wait for.
    awaited: FxHashSet<Object>,
    /// What each thread does next.
    next: FxHashMap<ThreadId, Op>,
    /// The step at hand ends the execution for all.
    fatal: bool,
    states: States,
    fingerprints: Fingerprints,
    asleep: Vec<(ThreadId, Op)>,
}

/// A way that an execution could have gone.
#[derive(Debug)]
struct Branch {
    tape: Rc<[ThreadId]>,
    /// Where it leaves the tape.
    at: u32,
    /// What stands there instead.
    entry: ThreadId,
    asleep: Box<[(ThreadId, Op)]>,
}

impl BoundedDpor {
    /// Up to `max` preemptions, or any number of them.
    pub fn new(max: Option<u32>) -> BoundedDpor {
        BoundedDpor { max, ..BoundedDpor::default() }
    }

    /// Another way on: is it worth a try?
    fn branch(&mut self, tape: &Rc<[ThreadId]>, at: usize, entry: ThreadId, cost: u32, prefix: u64) {
        if self.max.is_some_and(|max| cost > max) {
            self.cut = true;
            return;
        }
        let last = self.states.last.map_or(u64::MAX, u64::from);
        let mut key = mix(mix(prefix, last), u64::from(entry));
        let asleep = self.asleep.iter().map(|(thread, op)| {
            let [a, b] = op.objects;
            let how = u64::from(op.how[0] as u8) << 8 | op.how[1] as u64;
            mix(mix(mix(u64::from(*thread), a), b), how)
        });
        key = mix(key, asleep.fold(0, u64::wrapping_add));
        let cheapest = self.seen.entry(key).or_insert(u32::MAX);
        if cost < *cheapest {
            *cheapest = cost;
            let round = cost as usize;
            if self.rounds.len() <= round {
                self.rounds.resize_with(round + 1, Vec::new);
            }
            let asleep = self.asleep.as_slice().into();
            self.rounds[round].push(Branch { tape: tape.clone(), at: at as u32, entry, asleep });
        }
    }

    /// Can others wait for this?
    fn lets_go(&self, op: &Op) -> bool {
        use Kind::*;
        let awaited =
            |(object, how): (Object, AccessType)| how == AccessType::Write && self.awaited.contains(&object);
        matches!(op.kind, Unlock | Post | Signal | Wait | Arrive | End | Spawn | Exit)
            || op.touches().any(awaited)
    }

    /// Starts again if somebody waits for what nobody was known to wait for.
    fn start_again(&mut self, trace: &Trace) -> bool {
        let before = self.awaited.len();
        self.states.clear();
        self.states.advance(&trace.changes, u32::MAX);
        let objects = |op: &Op| op.touches().map(|(object, _)| object);
        for waiting in &trace.waiting {
            if self.states.get(waiting.thread) == State::Blocked {
                self.awaited.extend(objects(&waiting.op));
            }
            // Who spins waits for what it has read lately.
            let mine = trace.steps.iter().rev().filter(|step| step.thread == waiting.thread);
            let read = mine.take_while(|step| waiting.spins != 0 && step.op.kind != Kind::Store);
            self.awaited.extend(read.flat_map(|step| objects(&step.op)));
        }
        let wakers = trace.steps.iter().filter_map(|step| trace.steps.get(step.woken_by as usize));
        self.awaited.extend(wakers.flat_map(|step| objects(&step.op)));
        // Who could not go on waited for what it did next.
        self.next.clear();
        let mut changes = trace.changes.iter().rev().peekable();
        for at in (0..=trace.steps.len()).rev() {
            if let Some(step) = trace.steps.get(at).filter(|step| step.is_turn()) {
                self.next.insert(step.thread, step.op);
            }
            while let Some(change) = changes.next_if(|change| change.before as usize == at) {
                let waited = self.next.get(&change.thread).filter(|_| change.state == State::Blocked);
                self.awaited.extend(waited.into_iter().flat_map(objects));
            }
        }
        let news = self.awaited.len() > before;
        if news {
            let (max, awaited) = (self.max, std::mem::take(&mut self.awaited));
            *self = BoundedDpor { max, awaited, ..BoundedDpor::default() };
        }
        news
    }

    /// The other ways at a turn that is taken by this thread.
    fn turn(&mut self, trace: &Trace, tape: &Rc<[ThreadId]>, at: usize, cost: u32, prefix: u64) {
        let step = &trace.steps[at];
        let goes_on = self.states.last == Some(step.thread);
        // What it does may depend on a choice, or end everything: then it is not put to sleep.
        let certain = trace.steps.get(at + 1).is_none_or(|next| next.is_turn()) && !self.fatal;
        let ready = self.states.get(step.thread) == State::Ready;
        let stopped = goes_on && certain && ready && !self.lets_go(&step.op);
        let awake = |thread: &ThreadId| !self.asleep.iter().any(|(sleeper, _)| sleeper == thread);
        let others: Vec<_> =
            self.states.enabled().filter(|&other| other != step.thread).filter(awake).collect();
        if stopped {
            self.asleep.push((step.thread, step.op));
        }
        for other in others {
            self.branch(tape, at, other, cost + self.states.cost(other), prefix);
        }
        if stopped {
            self.asleep.pop();
        }
    }
}

impl Strategy for BoundedDpor {
    fn next(&mut self, plan: &mut Plan) -> bool {
        if !self.started {
            plan.replay([]);
            return true;
        }
        loop {
            let Some(round) = self.rounds.get_mut(self.bound as usize) else { return false };
            if let Some(Branch { tape, at, entry, asleep }) = round.pop() {
                plan.replay(tape[..at as usize].iter().copied().chain([entry]));
                plan.asleep.extend_from_slice(&asleep);
                self.taken += 1;
                self.planned = true;
                return true;
            }
            if self.rounds[self.bound as usize..].iter().all(Vec::is_empty) {
                return false;
            }
            self.bound += 1;
            self.taken = 0;
        }
    }

    fn learn(&mut self, plan: &Plan, trace: &Trace) {
        if self.start_again(trace) {
            return;
        }
        (self.started, self.planned) = (true, false);
        self.cut |= trace.end == End::StepLimit;
        self.counts.resize(self.bound as usize + 1, 0);
        self.counts[self.bound as usize] += 1;
        let tape: Rc<[ThreadId]> = trace.tape().collect();
        let from = plan.tape.len();
        // Who is asleep is said of the state before the last turn of the tape.
        let last_turn = plan.tape.iter().rposition(|entry| entry & CHOICE == 0).unwrap_or(0);
        self.asleep.clone_from(&plan.asleep);
        self.states.clear();
        self.states.advance(&trace.changes, u32::MAX);
        let end = trace.abrupt_end(self.states.enabled());
        self.states.clear();
        self.fingerprints.clear();
        let (mut prefix, mut cost) = (0u64, self.bound);
        for (at, step) in trace.steps.iter().enumerate() {
            if step.is_turn() {
                self.states.advance(&trace.changes, at as u32);
                self.fatal = end == Some(at);
                if at >= from {
                    self.turn(trace, &tape, at, cost, prefix);
                    cost += self.states.cost(step.thread);
                }
                self.states.last = Some(step.thread);
                if at >= last_turn {
                    self.asleep
                        .retain(|(sleeper, next)| *sleeper != step.thread && !next.conflicts(&step.op));
                }
            } else if at >= from {
                let [chosen, many] = step.op.objects.map(|n| n as ThreadId);
                for other in (0..many).filter(|&other| other != chosen) {
                    self.branch(&tape, at, CHOICE | other, cost, prefix);
                }
            }
            prefix = prefix.wrapping_add(self.fingerprints.add(step));
        }
    }

    fn progress(&self) -> Progress {
        let left = self.rounds.get(self.bound as usize).map_or(0, Vec::len) as u64;
        let round_done = self.started && !self.planned && left == 0;
        let done = round_done && self.rounds.iter().all(Vec::is_empty);
        let all = left + self.taken;
        Progress {
            by_preemptions: self.counts.clone(),
            finished_bound: match (done, round_done) {
                (true, _) => self.max.or(Some(self.bound)),
                (_, true) => Some(self.bound),
                _ => self.bound.checked_sub(1),
            },
            exhausted: done && !self.cut,
            part: Some(if all == 0 {
                f64::from(u8::from(round_done))
            } else {
                self.taken as f64 / all as f64
            }),
            guarantee: None,
        }
    }
}
