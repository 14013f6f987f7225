//! What `seqcst explore` has to say besides the verdict.

use super::Report;
use serde::Serialize;

/// Executions, and the failing one among them.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explored {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// `bounded`, `dpor`, `pct` or `random`; none for a replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// Executions, redundant ones included.
    pub executions: u64,
    /// Those that differ in more than the order of independent steps.
    pub distinct: u64,
    /// Those that were stopped because all that could come had been seen.
    pub redundant: u64,
    /// Those in which an access can be stale.
    pub borderline: u64,
    /// Steps of all executions.
    pub steps: u64,
    /// Executions per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u64>,
    /// All schedules were tried.
    pub exhausted: bool,
    /// Executions that were given up before their ends: they had too many steps, or hung.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<u64>,
    /// Executions in which a thread that polled, or ran for very long, was held back until others had a turn: schedules in which it
    /// goes on instead were not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_back: Option<u64>,
    /// Executions by their number of preemptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bound>,
    /// All schedules with up to so many preemptions were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_bound: Option<u32>,
    /// What `pct` guarantees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<String>,
    /// Threads of the program, as far as seen.
    pub threads: usize,
    /// The failing execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<FailingExecution>,
}

/// Executions with a number of preemptions.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bound {
    /// The number of preemptions.
    pub preemptions: usize,
    /// Executions with so many.
    pub executions: u64,
}

/// An execution in which something was found.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailingExecution {
    /// Its number, from 1.
    pub execution: u64,
    /// The turns of threads that lead there.
    pub tape: String,
    /// What happened, in lines.
    pub message: Vec<String>,
    /// What the sanitizer reported.
    pub reports: Vec<Report>,
    /// All steps of a program's execution; those of finite-state programs are in the witness.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<ScheduledStep>,
    /// The sanitizer's reports as it printed them.
    #[serde(skip)]
    pub log: String,
}

/// One step of a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScheduledStep {
    /// Its number, from 1.
    pub step: usize,
    /// The thread, 0 for the main thread.
    pub thread: u32,
    /// `store x`
    pub what: String,
    /// `a.c:3:5 in f`, or empty.
    pub place: String,
    /// The turn was taken from a thread that could have gone on.
    pub preempts: bool,
}
