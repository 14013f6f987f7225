//! Which schedules to try: from flags to a strategy.

use super::verdict::Conclusion;
use crate::flags::{ExploreFlags, StrategyName};
use seqcst_explore::strategies::{Bounded, Dpor, Minimized, Pct, RandomWalk, minimize};
use seqcst_explore::{Failing, Outcome, Source, Strategy, ThreadId, Trace, tape};
use std::time::{Duration, Instant};

/// Executions of strategies that come to no end by themselves.
pub const EXECUTIONS: u64 = 10_000;
/// With strategies that come to their end, so many executions may be given up: then there is none in sight.
pub const GIVEN_UP: u64 = 100;
/// Preemptions that are tried.
pub const BOUND: u32 = 2;
/// Steps of an execution, as declared in the flags.
pub const STEPS: u32 = 100_000;

/// The strategy: the user's, or the usual one. Models are small, so all of their schedules are tried; programs are not, and
/// most bugs show with two preemptions at most (Musuvathi and Qadeer, PLDI 2007).
pub fn name(flags: &ExploreFlags, is_model: bool) -> StrategyName {
    flags.strategy.unwrap_or(if is_model { StrategyName::Dpor } else { StrategyName::Bounded })
}

/// As it is called.
pub fn word(name: StrategyName) -> &'static str {
    match name {
        StrategyName::Bounded => "bounded",
        StrategyName::Dpor => "dpor",
        StrategyName::Pct => "pct",
        StrategyName::Random => "random",
    }
}

/// The strategy itself.
pub fn new(flags: &ExploreFlags, name: StrategyName) -> Box<dyn Strategy> {
    let executions = flags.executions.unwrap_or(EXECUTIONS);
    match (name, flags.bound) {
        (StrategyName::Bounded, bound) => Box::new(Bounded::new(Some(bound.unwrap_or(BOUND)))),
        (StrategyName::Dpor, None) => Box::new(Dpor::new()),
        (StrategyName::Dpor, Some(bound)) => Box::new(Dpor::bounded(bound)),
        (StrategyName::Pct, _) => Box::new(Pct::new(flags.depth, flags.seed, executions)),
        (StrategyName::Random, _) => Box::new(RandomWalk::new(flags.seed, executions)),
    }
}

/// The tape to replay, if there is one.
pub fn tape(flags: &ExploreFlags) -> Result<Option<Vec<ThreadId>>, String> {
    let Some(text) = &flags.replay else { return Ok(None) };
    let Some(file) = text.strip_prefix('@') else {
        return tape::read(text).map(Some).map_err(|why| format!("--replay: {why}"));
    };
    let text = std::fs::read_to_string(file).map_err(|why| format!("--replay: {file}: {why}"))?;
    tape::read(&text).map(Some).map_err(|why| format!("--replay: {file}: {why}"))
}

/// How long `--minimize` may take.
const MINIMIZING: Duration = Duration::from_secs(30);

/// A tape with fewer preemptions on which the same goes wrong, and a word about it. `each` is the time of an execution.
pub fn minimized<S: Source>(
    source: &mut S,
    failing: &Failing,
    (verdict, steps): (&Conclusion, u32),
    each: Duration,
) -> Result<(Vec<ThreadId>, String), S::Error> {
    let same = |trace: &Trace, outcome: &Outcome| {
        Conclusion::of(trace.end, outcome, steps).as_ref() == Some(verdict)
    };
    let limit = MINIMIZING.as_nanos() / each.as_nanos().max(1);
    let limit = u64::try_from(limit).unwrap_or(u64::MAX).clamp(100, 1_000_000);
    source.until(Some(Instant::now() + MINIMIZING));
    let found = minimize(source, &failing.tape, same, limit);
    source.until(None);
    let Some(found) = found? else {
        return Ok((
            failing.tape.clone(),
            "minimizing failed: the tape doesn't do the same again".to_owned(),
        ));
    };
    let Minimized { tape, preemptions, proved, executions } = found;
    let plural = if preemptions == 1 { "" } else { "s" };
    let rest = match (preemptions, proved) {
        (0, _) => "",
        (_, true) => "; no schedule with fewer shows it",
        (_, false) => "; not all schedules with fewer were tried",
    };
    Ok((tape, format!("minimized to {preemptions} preemption{plural} in {executions} executions{rest}")))
}
