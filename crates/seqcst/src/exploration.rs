//! What came of an exploration.

use crate::builder::{Builder, Strategy};
use crate::report::{self, Problem};
use crate::rt::objects::Counting;
use crate::rt::source::{Closure, Options, StartAnew};
use crate::rt::statics;
use seqcst_explore::strategies::{Bounded, BoundedDpor, Dpor, Pct, RandomWalk, Replay, minimize};
use seqcst_explore::{
    Failing, Limits, Outcome, Plan, Source, Strategy as Schedules, Summary, Trace, explore, tape,
};
use std::time::{Duration, Instant};

/// What came of an exploration.
#[derive(Debug)]
pub struct Exploration {
    summary: Summary,
    /// Spinning threads went on so often because nobody else could.
    went_on: u64,
    /// Threads were taken for spinning ones so often without having said so.
    guessed: u64,
    builder: Builder,
    /// Stale accesses that only make a wait longer.
    longer_waits: u64,
    report: Option<report::Report>,
}

/// So many executions are spent on making a failing one simpler.
const SIMPLER: u64 = 500;

/// And so much time.
const SIMPLIFYING: Duration = Duration::from_secs(10);

/// So many executions may have too many steps: the closure won't do better.
const GIVEN_UP: u64 = 100;

impl Exploration {
    pub(crate) fn new(builder: &Builder, f: &dyn Fn()) -> Exploration {
        // A debugger may stop what is replayed.
        let hang = if builder.tape.is_some() { Duration::ZERO } else { builder.options.hang };
        statics::first();
        let start = Instant::now();
        let mut source = Closure::new(f, Options { hang, ..builder.options });
        let mut limits = Limits {
            executions: builder.limit(),
            time: builder.time,
            given_up: GIVEN_UP,
            ..Limits::default()
        };
        source.world.counting = builder.tape.as_ref().map_or(Counting::Nothing, |text| counting(text));
        let summary = loop {
            let mut strategy = schedules(builder);
            if let Ok(summary) = explore(&mut source, &mut *strategy, &limits, |_, _| ()) {
                break summary;
            }
            limits.time = builder.time.saturating_sub(start.elapsed());
        };
        let (went_on, guessed) = (source.world.went_on, source.world.guessed);
        let longer_waits = source.longer_waits;
        let report = match (&summary.diverged, summary.first()) {
            (Some(divergence), _) => Some(report::diverged(divergence, &source.kept())),
            (None, Some(failing)) => Some(tell(&mut source, failing, builder)),
            (None, None) => None,
        };
        Exploration { summary, went_on, guessed, longer_waits, report, builder: builder.clone() }
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

    /// All schedules were tried, up to the order of independent steps. A loop that says that it waits
    /// ([`crate::hint::spin_loop`], [`crate::thread::yield_now`]) is taken at its word: it runs only when something that it
    /// reads has changed.
    #[must_use]
    pub fn is_exhaustive(&self) -> bool {
        self.summary.progress.exhausted && !self.summary.stopped && self.approximations() == 0
    }

    /// How often a thread was only *taken* for one that waits in a loop: it had read the same many times in a row
    /// ([`Builder::patience`]), or went on because nobody else could run. If it isn't 0, loops that count may have been taken
    /// for loops that wait, and schedules left out.
    #[must_use]
    pub fn approximations(&self) -> u64 {
        self.went_on + self.guessed
    }

    /// A limit ended the exploration.
    #[must_use]
    pub fn reached_limit(&self) -> bool {
        self.summary.stopped
    }

    /// Why the strategy did not come to its end, or not to all that it should have seen; None: it did.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        let Summary { executions, cut, fair, stopped, .. } = self.summary;
        let mut reasons = Vec::new();
        if stopped {
            reasons.push(match () {
                () if executions >= self.builder.limit() => format!(
                    "stopped at the limit of {executions} executions (Builder::executions, SEQCST_EXECUTIONS)"
                ),
                () if cut >= GIVEN_UP => format!("stopped after {executions} executions"),
                () => format!("stopped at the limit of {:?} (Builder::time_limit)", self.builder.time),
            });
        }
        if self.builder.tape.is_none()
            && matches!(self.builder.strategy, Strategy::Pct { .. } | Strategy::Random)
        {
            reasons.push("the strategy picks at random".to_owned());
        }
        if cut > 0 {
            reasons.push(format!("{cut} executions were given up before their ends (Builder::steps)"));
        }
        if fair > 0 {
            reasons.push(format!(
                "in {fair} executions a thread that polled, or ran for very long, was held back until others had a turn"
            ));
        }
        if self.approximations() > 0 {
            reasons.push(format!("loops were taken for waits {} times", self.approximations()));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
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
        let Summary { executions, redundant, distinct, steps, time, .. } = &self.summary;
        let rate = *executions as f64 / time.as_secs_f64().max(1e-9);
        let mut line = format!(
            "seqcst: {executions} executions ({distinct} different, {redundant} redundant), {steps} steps, {:.3} s, \
             {rate:.0}/s",
            time.as_secs_f64()
        );
        if self.is_exhaustive() {
            line += ", all schedules";
        } else if let Some(why) = self.left_out() {
            line += &format!("; not all schedules: {why}");
        }
        if let Some(guarantee) = &self.summary.progress.guarantee {
            line += &format!("; {guarantee}");
        }
        if self.longer_waits > 0 {
            line += &format!("; {} stale reads that only wait longer", self.longer_waits);
        }
        line
    }
}

/// A tape that begins with this is for executions in which drops of references are steps; with two, all that is counted.
const COUNTED: char = '+';

/// Which changes of reference counters are steps when this tape is replayed.
fn counting(tape: &str) -> Counting {
    match tape.chars().take_while(|&c| c == COUNTED).count() {
        0 => Counting::Nothing,
        1 => Counting::Drops,
        _ => Counting::Everything,
    }
}

fn schedules(builder: &Builder) -> Box<dyn Schedules> {
    match (&builder.tape, builder.strategy) {
        (Some(text), _) => match tape::read(text.trim_start_matches(COUNTED)) {
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
    source.settled = true;
    let kind = |outcome: &Outcome, trace: &Trace| {
        (outcome.found.first().cloned(), outcome.failure.clone(), trace.end)
    };
    let wanted = (failing.outcome.found.first().cloned(), failing.outcome.failure.clone(), failing.end);
    let mut tape = failing.tape.clone();
    if builder.tape.is_none() {
        let same = |trace: &Trace, outcome: &Outcome| kind(outcome, trace) == wanted;
        source.until(Some(Instant::now() + SIMPLIFYING));
        let simpler = minimize(source, &tape, same, SIMPLER).ok().flatten();
        source.until(None);
        tape = simpler.map_or(tape, |simpler| simpler.tape);
    }
    let mut plan = Plan::default();
    plan.replay(tape.iter().copied());
    let mut trace = Trace::default();
    source.world.notes.wanted = true;
    let outcome = match source.run(&plan, &mut trace) {
        Ok(outcome) => outcome,
        Err(StartAnew) => unreachable!("settled"),
    };
    let counted = COUNTED.to_string().repeat(source.world.counting as usize);
    report::report(source, &trace, &outcome, &(counted + &tape::show(&tape)))
}
