//! Does a program do the same when it is given the same turns?

use crate::{End, Kind, Step, ThreadId, Trace};

/// Where two executions with the same tape are not the same: the program looks at more than the schedule (time, random
/// numbers, addresses), or something else than the program has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// Which step, from 0.
    pub step: u32,
    /// Whose turn it was.
    pub thread: ThreadId,
    /// What it did before.
    pub expected: Option<Step>,
    /// What it did now; none if it could not run, or had ended.
    pub came: Option<Step>,
}

/// Compares two executions as far as their tapes are the same. An empty one is none.
pub(crate) fn compare(before: &Trace, now: &Trace) -> Option<Divergence> {
    if before.steps.is_empty() {
        return None;
    }
    let differ = |at: usize| {
        let (expected, came) = (before.steps.get(at).copied(), now.steps.get(at).copied());
        let thread = came.or(expected).map_or(0, |step| step.thread);
        Some(Divergence { step: at as u32, thread, expected, came })
    };
    for (at, (old, new)) in before.steps.iter().zip(&now.steps).enumerate() {
        if old.thread != new.thread {
            return None;
        }
        if old.op == new.op && old.site == new.site {
            continue;
        }
        // What a step does depends on the choice that follows it.
        let many = |trace: &Trace, at: usize| {
            let choice = trace.steps.get(at).filter(|step| step.op.kind == Kind::Choose);
            choice.map(|step| step.op.objects)
        };
        let chose = |at| many(before, at).zip(many(now, at));
        let differently = |at| chose(at).is_some_and(|(old, new)| old[0] != new[0] && old[1] == new[1]);
        if differently(at) || differently(at + 1) {
            return None;
        }
        return differ(at);
    }
    // One is the beginning of the other: only who was stopped from outside may stop there.
    let (shorter, longer) = if before.steps.len() < now.steps.len() { (before, now) } else { (now, before) };
    let stopped = matches!(shorter.end, End::Redundant | End::Diverged | End::StepLimit);
    if shorter.steps.len() == longer.steps.len() || stopped { None } else { differ(shorter.steps.len()) }
}
