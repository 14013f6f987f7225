//! The loop: a strategy makes a plan, a source executes it, until something is found or nothing is left.

use crate::{End, Plan, Progress, Strategy, Trace};
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};

/// Executes a program under a plan.
pub trait Source {
    /// What can go wrong with the source itself (not with the program).
    type Error;

    /// Executes the program once; the trace is empty before.
    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, Self::Error>;
}

/// What an execution brought, besides its trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// What the monitors found, in order.
    pub found: Vec<Found>,
    /// How the program failed, if it did.
    pub failure: Option<Failure>,
}

/// A monitor's finding.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Found {
    /// An access that could be stale: at this site.
    Stale(u64),
    /// A data race between these two sites.
    Race(u64, u64),
}

/// How a program failed by itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Failure {
    /// An assertion doesn't hold, with its text if there is one.
    Assertion(String),
    /// A signal ended it.
    Crash(i32),
    /// It ended with this code.
    ExitCode(i32),
    /// It didn't come to a scheduling point for too long.
    Hang(String),
}

/// When to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// After so many executions.
    pub executions: u64,
    /// After this time.
    pub time: Duration,
    /// Go on after something was found.
    pub keep_going: bool,
}

/// What an exploration came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Executions, redundant ones included.
    pub executions: u64,
    /// Executions that were stopped because all that could come had been seen.
    pub redundant: u64,
    /// Different traces: executions that differ in more than the order of independent steps.
    pub distinct: u64,
    /// Executions in which a monitor found a stale access.
    pub borderline: u64,
    /// Steps of all executions.
    pub steps: u64,
    /// Time of it all.
    pub time: Duration,
    /// The first execution in which something was found: its number, its tape and what it was.
    pub first: Option<(u64, Vec<crate::ThreadId>, End, Outcome)>,
    /// Stopped by a limit.
    pub stopped: bool,
    /// How far the strategy came.
    pub progress: Progress,
}

/// Explores: returns when something is found, nothing is left, or a limit is reached. `watch` is called now and then.
pub fn explore<S: Source>(
    source: &mut S,
    strategy: &mut dyn Strategy,
    limits: &Limits,
    mut watch: impl FnMut(&Summary, &dyn Strategy),
) -> Result<Summary, S::Error> {
    let start = Instant::now();
    let mut summary = Summary::default();
    let mut seen = FxHashSet::default();
    let (mut plan, mut trace) = (Plan::default(), Trace::default());
    while strategy.next(&mut plan) {
        if summary.executions >= limits.executions
            || (summary.executions & 63 == 0 && start.elapsed() > limits.time)
        {
            summary.stopped = true;
            break;
        }
        trace.clear();
        let outcome = source.run(&plan, &mut trace)?;
        summary.executions += 1;
        summary.steps += trace.steps.len() as u64;
        if trace.end == End::Redundant {
            summary.redundant += 1;
        } else {
            summary.distinct += u64::from(seen.insert(trace.fingerprint()));
        }
        summary.borderline += u64::from(outcome.found.iter().any(|found| matches!(found, Found::Stale(_))));
        strategy.learn(&plan, &trace);
        let bad = !outcome.found.is_empty()
            || outcome.failure.is_some()
            || matches!(trace.end, End::Deadlock | End::Livelock | End::StepLimit | End::Diverged);
        if bad && summary.first.is_none() {
            summary.first = Some((summary.executions, trace.tape().collect(), trace.end, outcome));
        }
        if summary.executions & 255 == 0 {
            summary.time = start.elapsed();
            watch(&summary, &*strategy);
        }
        if bad && !limits.keep_going {
            break;
        }
    }
    summary.time = start.elapsed();
    summary.progress = strategy.progress();
    Ok(summary)
}
