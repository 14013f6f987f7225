//! Iterative preemption bounding (Musuvathi & Qadeer, PLDI 2007): all schedules without a preemption, then all with one,
//! then all with two, …, each exactly once. Most bugs need few preemptions, and with `c` of them there are polynomially
//! many schedules in the length of an execution.
//!
//! What costs a preemption says [`States::cost`]. An execution goes on from the end of its tape at no cost. Wherever it
//! could have gone another way, that way is tried now if it costs nothing more, and in the next round if it costs a
//! preemption. What is to be tried is kept in ranges: as long as a thread goes on and nobody's state changes, the same
//! others could have gone instead.

use crate::{CHOICE, End, Kind, Plan, Progress, States, Strategy, ThreadId, Trace};
use std::rc::Rc;

/// All schedules, by their number of preemptions.
#[derive(Debug, Default)]
pub struct Bounded {
    max: Option<u32>,
    /// Preemptions of the schedules of this round.
    bound: u32,
    started: bool,
    /// A plan was made, and nothing is known of it yet.
    planned: bool,
    now: Round,
    later: Round,
    counts: Vec<u64>,
    /// Something was left out: an execution was cut off at the limit of steps, or `max` was reached.
    cut: bool,
    states: States,
    /// The ranges that the last step belongs to.
    open: Vec<Branch>,
    found: [Vec<Branch>; 2],
    runs: Vec<(ThreadId, u32)>,
}

/// What is to be tried in one round.
#[derive(Debug, Default)]
struct Round {
    /// Taken from the end.
    branches: Vec<Branches>,
    /// How many executions they are.
    left: u64,
    /// How many were taken.
    taken: u64,
}

/// Ways that one execution could have gone.
#[derive(Debug)]
struct Branches {
    tape: Rc<[(ThreadId, u32)]>,
    ways: Vec<Branch>,
}

/// At each of these turns, this could have stood on the tape instead.
#[derive(Clone, Copy, Debug)]
struct Branch {
    from: u32,
    to: u32,
    entry: ThreadId,
    /// 0 or 1.
    cost: u32,
}

impl Bounded {
    /// All schedules with up to `max` preemptions, or with any number of them.
    pub fn new(max: Option<u32>) -> Bounded {
        Bounded { max, ..Bounded::default() }
    }

    /// The preemptions of the schedules that are being tried.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// Notes what could have been at each step from `from` on.
    fn look(&mut self, trace: &Trace, from: usize) {
        self.states.clear();
        let mut steady = false;
        for (at, step) in trace.steps.iter().enumerate() {
            let here = at as u32;
            if step.op.kind == Kind::Choose {
                let [chosen, many] = step.op.objects.map(|n| n as ThreadId);
                let others = (0..many).filter(|&other| other != chosen && at >= from);
                let branch = |other| Branch { from: here, to: here + 1, entry: CHOICE | other, cost: 0 };
                self.found[0].extend(others.map(branch));
                steady = false;
                continue;
            }
            let changed = self.states.advance(&trace.changes, here);
            let goes_on = self.states.last == Some(step.thread);
            if at >= from {
                if goes_on && steady && !changed {
                    self.open.iter_mut().for_each(|branch| branch.to += 1);
                } else {
                    self.close();
                    let states = &self.states;
                    let others = states.enabled().filter(|&thread| thread != step.thread);
                    let branch = |entry| Branch { from: here, to: here + 1, entry, cost: states.cost(entry) };
                    self.open.extend(others.map(branch));
                }
                steady = goes_on;
            }
            self.states.last = Some(step.thread);
        }
        self.close();
    }

    fn close(&mut self) {
        for branch in self.open.drain(..) {
            self.found[branch.cost as usize].push(branch);
        }
    }
}

impl Strategy for Bounded {
    fn next(&mut self, plan: &mut Plan) -> bool {
        if !self.started {
            plan.replay([]);
            return true;
        }
        self.planned = true;
        while !self.now.take(plan) {
            self.planned = false;
            if self.later.left == 0 || self.max.is_some_and(|max| self.bound >= max) {
                return false;
            }
            self.bound += 1;
            self.now = std::mem::take(&mut self.later);
            self.planned = true;
        }
        true
    }

    fn learn(&mut self, plan: &Plan, trace: &Trace) {
        (self.started, self.planned) = (true, false);
        self.cut |= trace.end == End::StepLimit;
        self.counts.resize(self.bound as usize + 1, 0);
        self.counts[self.bound as usize] += 1;
        self.look(trace, plan.tape.len());
        if self.max.is_some_and(|max| self.bound >= max) {
            self.cut |= !self.found[1].is_empty();
            self.found[1].clear();
        }
        if self.found.iter().all(Vec::is_empty) {
            return;
        }
        self.runs.clear();
        for entry in trace.tape() {
            match self.runs.last_mut() {
                Some((last, many)) if *last == entry => *many += 1,
                _ => self.runs.push((entry, 1)),
            }
        }
        let tape = Rc::from(self.runs.as_slice());
        self.now.add(&tape, &mut self.found[0]);
        self.later.add(&tape, &mut self.found[1]);
    }

    fn progress(&self) -> Progress {
        let round_done = self.started && !self.planned && self.now.left == 0;
        let all = self.now.left + self.now.taken;
        Progress {
            by_preemptions: self.counts.clone(),
            finished_bound: if round_done { Some(self.bound) } else { self.bound.checked_sub(1) },
            exhausted: round_done && self.later.left == 0 && !self.cut,
            part: Some(if all == 0 {
                f64::from(u8::from(round_done))
            } else {
                self.now.taken as f64 / all as f64
            }),
            guarantee: None,
        }
    }
}

impl Round {
    fn add(&mut self, tape: &Rc<[(ThreadId, u32)]>, found: &mut Vec<Branch>) {
        if found.is_empty() {
            return;
        }
        self.left += found.iter().map(|way| u64::from(way.to - way.from)).sum::<u64>();
        self.branches.push(Branches { tape: tape.clone(), ways: found.as_slice().into() });
        found.clear();
    }

    /// Makes the next one the plan, if there is one.
    fn take(&mut self, plan: &mut Plan) -> bool {
        while let Some(Branches { tape, ways }) = self.branches.last_mut() {
            let Some(way) = ways.last_mut() else {
                self.branches.pop();
                continue;
            };
            way.to -= 1;
            let (at, entry) = (way.to as usize, way.entry);
            let before = tape.iter().flat_map(|&(entry, many)| std::iter::repeat_n(entry, many as usize));
            plan.replay(before.take(at));
            plan.tape.push(entry);
            if way.from == way.to {
                ways.pop();
            }
            self.left -= 1;
            self.taken += 1;
            return true;
        }
        false
    }
}
