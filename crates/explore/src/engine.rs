//! The loop: a strategy makes a plan, a source executes it, until something is found or nothing is left.

use crate::determinism::{Divergence, compare};
use crate::{CHOICE, End, Fallback, Fingerprints, Plan, Progress, State, Strategy, ThreadId, Trace};
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};

/// Executes a program under a plan.
pub trait Source {
    /// What can go wrong with the source itself (not with the program).
    type Error;

    /// Executes the program once; the trace is empty before.
    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, Self::Error>;

    /// From now on no execution goes on after this time: see [`Outcome::late`].
    fn until(&mut self, _: Option<Instant>) {}
}

/// What an execution brought, besides its trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// What the monitors found, in order.
    pub found: Vec<Found>,
    /// How the program failed, if it did.
    pub failure: Option<Failure>,
    /// Time was up ([`Source::until`]) before it came to its end: it doesn't count.
    pub late: bool,
}

/// A monitor's finding.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Found {
    /// An access that could be stale: at this site.
    Stale(u64),
    /// A data race between these two sites.
    Race(u64, u64),
    /// Memory or an object that may not be used, or not so, is used at the first site; its life ended at the second one, or 0.
    Misuse(u64, u64),
}

/// How a program failed by itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Failure {
    /// An assertion doesn't hold, with its text if there is one.
    Assertion(String),
    /// It needs something that cannot be modelled, and this is it.
    Unmodelled(String),
    /// A signal ended it.
    Crash(i32),
    /// It ended with this code.
    ExitCode(i32),
    /// It didn't come to a scheduling point for too long.
    Hang(String),
}

/// When to stop, and what to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// After so many executions.
    pub executions: u64,
    /// After this time.
    pub time: Duration,
    /// After so many that were given up: see [`Summary::cut`].
    pub given_up: u64,
    /// Go on after something was found.
    pub keep_going: bool,
    /// Count different traces, in 8 to 16 bytes each.
    pub distinct: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            executions: u64::MAX,
            time: Duration::MAX,
            given_up: u64::MAX,
            keep_going: false,
            distinct: true,
        }
    }
}

/// An execution in which something was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failing {
    /// Which one, from 1.
    pub number: u64,
    /// The tape that leads there.
    pub tape: Vec<ThreadId>,
    /// How it ended.
    pub end: End,
    /// What was found.
    pub outcome: Outcome,
}

impl Failing {
    /// It was given up, and nothing was found until then.
    pub fn is_cut(&self) -> bool {
        is_cut(self.end, &self.outcome)
    }
}

/// What an exploration came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Executions, redundant ones included.
    pub executions: u64,
    /// Executions that were stopped because all that could come had been seen.
    pub redundant: u64,
    /// Different traces: executions that differ in more than the order of independent steps. Redundant ones don't count.
    pub distinct: u64,
    /// Executions that were given up: they had too many steps, one that took too long, or values that are
    /// not modelled. What would have come then is not known.
    pub cut: u64,
    /// Executions in which a thread was held back for others to go first ([`State::Held`]): schedules in which it goes on
    /// were not tried.
    pub fair: u64,
    /// Executions in which a monitor found a stale access.
    pub borderline: u64,
    /// Steps of all executions.
    pub steps: u64,
    /// Time of it all.
    pub time: Duration,
    /// The first execution in which something was found, and the first for everything else that was found after it.
    pub failing: Vec<Failing>,
    /// The program isn't deterministic: that ended it.
    pub diverged: Option<Divergence>,
    /// Stopped by a limit.
    pub stopped: bool,
    /// How far the strategy came.
    pub progress: Progress,
}

impl Summary {
    /// The first execution in which something was found; without one, the first that was given up.
    pub fn first(&self) -> Option<&Failing> {
        self.failing.iter().find(|failing| !failing.is_cut()).or(self.failing.first())
    }

    /// Was something found?
    pub fn has_found(&self) -> bool {
        self.failing.iter().any(|failing| !failing.is_cut())
    }
}

/// So many executions may hang: the program won't do better.
const HANGS: u32 = 3;

/// How often to call `watch`.
const LOOK: Duration = Duration::from_millis(20);

/// Explores: returns when something is found, nothing is left, or a limit is reached. `watch` is called now and then.
pub fn explore<S: Source>(
    source: &mut S,
    strategy: &mut dyn Strategy,
    limits: &Limits,
    mut watch: impl FnMut(&Summary, &dyn Strategy),
) -> Result<Summary, S::Error> {
    let start = Instant::now();
    source.until(start.checked_add(limits.time));
    let mut summary = Summary::default();
    let (mut seen, mut fingerprints) = (FxHashSet::default(), Fingerprints::default());
    let (mut plan, mut trace, mut last) = (Plan::default(), Trace::default(), Trace::default());
    let mut look_at = 1;
    let mut hung = 0;
    while strategy.next(&mut plan) {
        summary.time = start.elapsed();
        let done = summary.executions >= limits.executions || summary.cut >= limits.given_up;
        if done || summary.time > limits.time || hung >= HANGS {
            summary.stopped = true;
            break;
        }
        trace.clear();
        let outcome = source.run(&plan, &mut trace)?;
        if outcome.late {
            summary.stopped = true;
            break;
        }
        summary.executions += 1;
        summary.steps += trace.steps.len() as u64;
        let hangs = matches!(outcome.failure, Some(Failure::Hang(_)));
        summary.diverged = if hangs { None } else { diverged(&plan, &last, &trace) };
        if plan.then != Fallback::NonPreemptive
            && summary.executions.is_power_of_two()
            && summary.diverged.is_none()
            && !hangs
        {
            summary.diverged = run_again(source, &trace, &mut last)?;
        }
        if trace.end == End::Redundant {
            summary.redundant += 1;
        } else if limits.distinct {
            summary.distinct += u64::from(seen.insert(fingerprints.of(&trace)));
        }
        summary.borderline += u64::from(outcome.found.iter().any(|found| matches!(found, Found::Stale(_))));
        let cut = is_cut(trace.end, &outcome);
        summary.cut += u64::from(cut || trace.end == End::StepLimit || hangs);
        summary.fair += u64::from(trace.changes.iter().any(|change| change.state == State::Held));
        let fails = is_failing(&trace, &outcome);
        if fails && is_new(&summary.failing, trace.end, &outcome) {
            let tape = trace.tape().collect();
            summary.failing.push(Failing { number: summary.executions, tape, end: trace.end, outcome });
        }
        if summary.diverged.is_some() || fails && !cut && !limits.keep_going {
            break;
        }
        strategy.learn(&plan, &trace);
        std::mem::swap(&mut trace, &mut last);
        if hangs {
            // Another time it may take less long.
            last.clear();
            hung += 1;
        }
        if summary.executions >= look_at {
            summary.time = start.elapsed();
            watch(&summary, &*strategy);
            let each = summary.time.div_f64(summary.executions as f64).max(Duration::from_nanos(1));
            look_at = summary.executions + (LOOK.as_nanos() / each.as_nanos().max(1)).max(1) as u64;
        }
    }
    summary.time = start.elapsed();
    source.until(None);
    summary.progress = strategy.progress();
    // Who was given up, or kept from going on, might have done something else.
    summary.progress.exhausted &= summary.cut + summary.fair == 0;
    Ok(summary)
}

/// Did something go wrong in this execution?
pub(crate) fn is_failing(trace: &Trace, outcome: &Outcome) -> bool {
    let stuck = matches!(trace.end, End::Deadlock | End::Livelock | End::StepLimit);
    stuck || !outcome.found.is_empty() || outcome.failure.is_some()
}

/// Was it given up, with nothing found until then?
fn is_cut(end: End, outcome: &Outcome) -> bool {
    let failed = !matches!(outcome.failure, None | Some(Failure::Hang(_) | Failure::Unmodelled(_)));
    let given_up = end == End::StepLimit || outcome.failure.is_some();
    given_up && !failed && outcome.found.is_empty()
}

/// Has nothing like that been found before?
fn is_new(failing: &[Failing], end: End, outcome: &Outcome) -> bool {
    let known = |found| failing.iter().any(|failing| failing.outcome.found.contains(found));
    let failed = |failure| failing.iter().any(|failing| failing.outcome.failure.as_ref() == Some(failure));
    let ended = end == End::Done || end == End::Redundant || failing.iter().any(|f| f.end == end);
    !(ended && outcome.found.iter().all(known) && outcome.failure.as_ref().is_none_or(failed))
}

fn diverged(plan: &Plan, last: &Trace, trace: &Trace) -> Option<Divergence> {
    let differs = compare(last, trace);
    if differs.is_none() && trace.end == End::Diverged && !plan.lenient {
        let at = trace.steps.len();
        let thread = plan.tape.get(at).copied().unwrap_or_default() & !CHOICE;
        let expected = last.steps.get(at).filter(|step| step.thread == thread).copied();
        return Some(Divergence { step: at as u32, thread, expected, came: None });
    }
    differs
}

/// Plays what was drawn as a tape: random strategies seldom see the same twice.
fn run_again<S: Source>(
    source: &mut S,
    trace: &Trace,
    again: &mut Trace,
) -> Result<Option<Divergence>, S::Error> {
    let mut plan = Plan::default();
    plan.replay(trace.tape());
    again.clear();
    let outcome = source.run(&plan, again)?;
    Ok(if outcome.late { None } else { diverged(&plan, trace, again) })
}
