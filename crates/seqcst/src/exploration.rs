//! What came of an exploration.

use crate::builder::{Builder, Strategy};
use crate::report::{self, Problem};
use crate::rt::source::{Closure, StartAnew};
use seqcst_explore::strategies::{Bounded, BoundedDpor, Dpor, Pct, RandomWalk, Replay, minimize};
use seqcst_explore::{
    Failing, Limits, Outcome, Plan, Source, Strategy as Schedules, Summary, Trace, explore, tape,
};

/// What came of an exploration.
#[derive(Debug)]
pub struct Exploration {
    summary: Summary,
    /// Spinning threads went on so often because nobody else could.
    went_on: u64,
    /// Stale accesses that only make a wait longer.
    longer_waits: u64,
    report: Option<report::Report>,
}

/// So many executions are spent on making a failing one simpler.
const SIMPLER: u64 = 500;

impl Exploration {
    pub(crate) fn new(builder: &Builder, f: &dyn Fn()) -> Exploration {
        let mut source = Closure::new(f, builder.options);
        let limits = Limits { executions: builder.limit(), time: builder.time, ..Limits::default() };
        source.world.drops_matter = builder.tape.as_ref().is_some_and(|text| text.starts_with(DROPS));
        let summary = loop {
            let mut strategy = schedules(builder);
            if let Ok(summary) = explore(&mut source, &mut *strategy, &limits, |_, _| ()) {
                break summary;
            }
        };
        let (went_on, longer_waits) = (source.world.went_on, source.longer_waits);
        let report = match (&summary.diverged, summary.first()) {
            (Some(divergence), _) => Some(report::diverged(divergence)),
            (None, Some(failing)) => Some(tell(&mut source, failing, builder)),
            (None, None) => None,
        };
        Exploration { summary, went_on, longer_waits, report }
    }

    /// Executions, redundant ones included.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.summary.executions
    }

    /// Executions that were stopped because all that could come had been seen.
    #[must_use]
    pub fn redundant(&self) -> u64 {
        self.summary.redundant
    }

    /// Executions that differ in more than the order of independent steps.
    #[must_use]
    pub fn distinct(&self) -> u64 {
        self.summary.distinct
    }

    /// Steps of all executions.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.summary.steps
    }

    /// How long it took.
    #[must_use]
    pub fn time(&self) -> std::time::Duration {
        self.summary.time
    }

    /// All schedules were tried, up to the order of independent steps. Spin loops are taken for waits: see
    /// [`Exploration::approximations`].
    #[must_use]
    pub fn is_exhaustive(&self) -> bool {
        self.summary.progress.exhausted && !self.summary.stopped
    }

    /// How often threads that seemed to wait in a loop went on because nobody else could run. If it isn't 0, loops that
    /// count may have been taken for loops that wait, and schedules left out.
    #[must_use]
    pub fn approximations(&self) -> u64 {
        self.went_on
    }

    /// What is wrong; None: nothing was found.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        self.report.as_ref().map(|report| &report.problem)
    }

    /// What is wrong, for people; None: nothing was found.
    #[must_use]
    pub fn report(&self) -> Option<&str> {
        self.report.as_ref().map(|report| report.text.as_str())
    }

    /// In which execution it was found, from 1.
    #[must_use]
    pub fn found_in(&self) -> Option<u64> {
        self.summary.first().map(|failing| failing.number)
    }

    /// The tape that replays it.
    #[must_use]
    pub fn tape(&self) -> Option<&str> {
        self.report.as_ref().map(|report| report.tape.as_str())
    }

    /// One line for people.
    #[must_use]
    pub fn summary(&self) -> String {
        let Summary { executions, redundant, distinct, steps, time, stopped, .. } = &self.summary;
        let rate = *executions as f64 / time.as_secs_f64().max(1e-9);
        let mut line = format!(
            "seqcst: {executions} executions ({distinct} different, {redundant} redundant), {steps} steps, {:.3} s, \
             {rate:.0}/s",
            time.as_secs_f64()
        );
        if self.is_exhaustive() {
            line += ", all schedules";
        } else if *stopped {
            line += ", stopped at a limit";
        }
        if let Some(guarantee) = &self.summary.progress.guarantee {
            line += &format!("; {guarantee}");
        }
        if self.longer_waits > 0 {
            line += &format!("; {} stale reads that only wait longer", self.longer_waits);
        }
        if self.went_on > 0 {
            line += &format!("; loops taken for waits went on {} times when nobody else could", self.went_on);
        }
        line
    }
}

/// A tape that begins with this is for executions in which drops of shared references are steps.
const DROPS: char = '+';

fn schedules(builder: &Builder) -> Box<dyn Schedules> {
    match (&builder.tape, builder.strategy) {
        (Some(text), _) => match tape::read(text.trim_start_matches(DROPS)) {
            Ok(tape) => Box::new(Replay::new(tape)),
            Err(error) => panic!("seqcst: SEQCST_TAPE: {error}"),
        },
        (None, Strategy::Dpor) => Box::new(Dpor::new()),
        (None, Strategy::BoundedDpor(max)) => Box::new(BoundedDpor::new(Some(max))),
        (None, Strategy::Bounded(max)) => Box::new(Bounded::new(max)),
        (None, Strategy::Pct { depth }) => Box::new(Pct::new(depth, builder.seed, builder.limit())),
        (None, Strategy::Random) => Box::new(RandomWalk::new(builder.seed, builder.limit())),
    }
}

/// Replays a failing execution, made simpler if possible, and tells about it.
fn tell(source: &mut Closure<'_>, failing: &Failing, builder: &Builder) -> report::Report {
    let kind = |outcome: &Outcome, trace: &Trace| {
        (outcome.found.first().cloned(), outcome.failure.clone(), trace.end)
    };
    let wanted = (failing.outcome.found.first().cloned(), failing.outcome.failure.clone(), failing.end);
    let mut tape = failing.tape.clone();
    if builder.tape.is_none() {
        let same = |trace: &Trace, outcome: &Outcome| kind(outcome, trace) == wanted;
        let simpler = minimize(source, &tape, same, SIMPLER).ok().flatten();
        tape = simpler.map_or(tape, |simpler| simpler.tape);
    }
    let mut plan = Plan::default();
    plan.replay(tape.iter().copied());
    let mut trace = Trace::default();
    source.world.notes.wanted = true;
    let outcome = match source.run(&plan, &mut trace) {
        Ok(outcome) => outcome,
        Err(StartAnew) => unreachable!("found in all executions, or in none"),
    };
    let drops = if source.world.drops_matter { DROPS.to_string() } else { String::new() };
    report::report(source, &trace, &outcome, &(drops + &tape::show(&tape)))
}
