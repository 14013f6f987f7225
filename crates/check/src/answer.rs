//! A program to an answer: the search, and a witness that the plain definitions confirm.

use crate::robustness::{Plan, decide};
use crate::states::{self, Found, Limit, Limits, Progress, Violation};
use crate::witness::witness;
use seqcst_program::line_column;
use seqcst_program::semantics::Machine;
use seqcst_report::format::{size, thousands};
use seqcst_report::{Answer, Checked, Details, Verdict};
use std::time::Instant;

/// The text that a program was written in.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file's name, for users.
    pub file: &'a str,
    /// What is in it.
    pub text: &'a str,
}

/// Decides whether a program, lowered for a memory model, is robust, free of races and of failing assertions.
pub fn check(machine: &Machine, source: Source, plan: &Plan, report: &(dyn Fn(Progress) + Sync)) -> Answer {
    let start = Instant::now();
    let searched = decide(machine, plan, report);
    conclude(machine, source, &searched, &plan.search.limits, start)
}

/// The answer that follows from a search that began at `start`.
pub fn conclude(
    machine: &Machine,
    source: Source,
    searched: &states::Answer,
    limits: &Limits,
    start: Instant,
) -> Answer {
    let model = machine.code().model;
    let checked = Checked {
        states: searched.progress.states,
        transitions: searched.transitions,
        threads: machine.code().threads.len(),
    };
    let mut answer = Answer::new(source.file, Some(model), Verdict::Robust, Details::Check(checked));
    let overflow = searched.found.as_ref().and_then(|found| overflow(machine, source, found));
    let found = searched.found.as_ref().filter(|_| overflow.is_none());
    match found.map(|found| (found, witness(machine, source, model, found))) {
        None if overflow.is_some() => answer.limit = overflow,
        None => answer.limit = searched.limit.map(|limit| gave_up(limit, limits, &searched.progress)),
        Some((_, Err(unconfirmed))) => answer.limit = Some(unconfirmed.to_string()),
        Some((found, Ok(witness))) => {
            answer.verdict = verdict(&found.violation);
            answer.witness = Some(witness);
        }
    }
    if answer.limit.is_some() {
        answer.verdict = Verdict::GaveUp;
    }
    answer.seconds = start.elapsed().as_secs_f64();
    answer
}

/// Says that a value leaves its range, and where, if that is what a run shows.
pub fn overflow(machine: &Machine, source: Source, found: &Found) -> Option<String> {
    let Violation::Failed { thread } = found.violation else { return None };
    let site = (*states::replay(machine, found).ok()?.failed.get(thread)?)?;
    let why = machine.code().why_unmodelled(site)?;
    let place = machine.code().sites.get(site as usize)?;
    let (line, column) = line_column(source.text.as_bytes(), place.span.start);
    Some(format!("at {}:{line}:{column} {why}", source.file))
}

/// What a violation is called.
pub fn verdict(violation: &Violation) -> Verdict {
    match violation {
        Violation::Stale { .. } => Verdict::NotRobust,
        Violation::Race { .. } | Violation::Clash { .. } => Verdict::Race,
        Violation::Failed { .. } => Verdict::Assertion,
        Violation::Stuck { .. } => Verdict::Deadlock,
    }
}

/// Which limit was reached, and how far the search got.
fn gave_up(limit: Limit, limits: &Limits, progress: &Progress) -> String {
    let limit = match limit {
        Limit::States => format!("limit of {} states", thousands(limits.states.unwrap_or_default())),
        Limit::Time => format!("limit of {} s", limits.time.unwrap_or_default().as_secs_f64()),
        Limit::Memory => format!("limit of {} of memory", size(limits.memory.unwrap_or_default())),
    };
    format!(
        "{limit} reached at depth {}, {} states of the last level not looked at yet, {} of memory in use",
        thousands(progress.depth),
        thousands(progress.waiting),
        size(progress.memory)
    )
}
