//! From a schedule to a run as the search over all states finds it, so that [`crate::witness`] can tell it.

use super::ProgramSource;
use crate::states::{Found, Step, Violation};
use seqcst_explore::{Plan, Source, ThreadId, Trace};
use seqcst_model::Program;

impl ProgramSource<'_> {
    /// The last execution as a run: how threads started, and its steps.
    pub fn run_so_far(&self) -> (Vec<usize>, Vec<Step>) {
        (self.log.starts.clone(), self.log.steps.clone())
    }

    /// Plays a tape and gives everything that goes wrong on the way, each with the run that leads there: the steps that
    /// come before it by the order of conflicting steps, in which what a monitor foresees is there for all to see. A
    /// deadlock comes last, as a thread that is stuck.
    pub fn findings(&mut self, tape: &[ThreadId]) -> Vec<Found> {
        let (mut plan, mut trace) = (Plan::default(), Trace::default());
        plan.replay(tape.iter().copied());
        match self.run(&plan, &mut trace) {
            Ok(_) => {}
            Err(never) => match never {},
        }
        let found = self.log.found.iter().map(|&(at, violation)| self.cut(at, violation));
        let mut found: Vec<Found> = found.collect();
        if trace.end == seqcst_explore::End::Deadlock {
            let stuck =
                trace.waiting.iter().map(|waiting| Violation::Stuck { thread: waiting.thread as usize });
            let (starts, steps) = self.run_so_far();
            found.extend(stuck.map(|violation| Found {
                starts: starts.clone(),
                steps: steps.clone(),
                violation,
            }));
        }
        found
    }

    /// The steps before the `at`-th that matter to what was found then.
    fn cut(&self, at: usize, violation: Violation) -> Found {
        let (starts, mut steps) = self.run_so_far();
        let racing = steps.get(at).copied();
        steps.truncate(at);
        let mut violation = violation;
        match violation {
            Violation::Stale { thread } => steps = self.past(&steps, &[thread]),
            Violation::Race { thread } if !self.machine.code().model.has_races() => {
                // Two accesses that can come one right after the other: the run ends before both.
                if let Some((second, before)) = self.other(&steps, thread, racing) {
                    violation = Violation::Clash { first: thread.min(second), second: thread.max(second) };
                    steps = before;
                }
            }
            _ => {}
        }
        Found { starts, steps, violation }
    }

    /// The accesses of these steps: where each touches memory, and whether it writes.
    fn touches(&self, steps: &[Step]) -> Vec<(usize, bool)> {
        let found = Found {
            starts: self.log.starts.clone(),
            steps: steps.to_vec(),
            violation: Violation::Failed { thread: 0 },
        };
        let Ok(replay) = crate::states::replay(self.machine, &found) else { return Vec::new() };
        let accesses = replay.run.iter().filter(|e| e.action.op != seqcst_model::Op::Fence);
        accesses.map(|e| (e.action.loc.index(), e.outcome.value_written().is_some())).collect()
    }

    /// Which steps come before each step, by program order and the order of conflicting steps.
    fn order(&self, steps: &[Step]) -> Vec<Vec<bool>> {
        let touches = self.touches(steps);
        let mut before: Vec<Vec<bool>> = Vec::with_capacity(steps.len());
        for (b, step) in steps.iter().enumerate() {
            let mut mine = vec![false; steps.len()];
            for a in 0..b.min(touches.len()) {
                let conflict = touches
                    .get(b)
                    .is_some_and(|&(loc, write)| touches[a].0 == loc && (write || touches[a].1));
                if steps[a].thread == step.thread || conflict {
                    mine[a] = true;
                    mine.iter_mut().zip(&before[a]).for_each(|(mine, &theirs)| *mine |= theirs);
                }
            }
            before.push(mine);
        }
        before
    }

    /// The steps of these threads and all that come before them.
    fn past(&self, steps: &[Step], threads: &[usize]) -> Vec<Step> {
        let before = self.order(steps);
        let mut keep = vec![false; steps.len()];
        for (at, step) in steps.iter().enumerate() {
            if threads.contains(&step.thread) {
                keep[at] = true;
                keep.iter_mut().zip(&before[at]).for_each(|(keep, &before)| *keep |= before);
            }
        }
        steps.iter().zip(keep).filter(|(_, keep)| *keep).map(|(step, _)| *step).collect()
    }

    /// For a step of this thread that races with an earlier one: whose it is, and a run that ends right before both.
    fn other(&self, steps: &[Step], thread: usize, racing: Option<Step>) -> Option<(usize, Vec<Step>)> {
        let all: Vec<Step> = steps.iter().copied().chain(racing).collect();
        let touches = self.touches(&all);
        let &(loc, write) = touches.last()?;
        let before = self.order(steps);
        let last = (0..steps.len()).rev().find(|&at| steps[at].thread == thread);
        let known = |at: usize| last.is_some_and(|last| last == at || before[last][at]);
        let conflicts = |&at: &usize| touches[at].0 == loc && (write || touches[at].1) && !known(at);
        let earlier = (0..steps.len()).rev().filter(|&at| steps[at].thread != thread).find(conflicts)?;
        let keep = |at: usize| before[earlier][at] || known(at);
        let kept = (0..steps.len()).filter(|&at| keep(at)).map(|at| steps[at]).collect();
        Some((steps[earlier].thread, kept))
    }
}

/// How many threads a program has, for those who only see the source.
impl ProgramSource<'_> {
    /// The names of the threads, in order.
    pub fn names(&self) -> Vec<&str> {
        let code = self.machine.code();
        (0..self.machine.threads()).map(|thread| code.threads[thread].name.as_str()).collect()
    }
}
