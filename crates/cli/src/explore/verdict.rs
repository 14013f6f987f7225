//! What an exploration came to, in a word.

use crate::Status;
use seqcst_schedule::{End, Failure, Found, Outcome, Summary};

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All schedules were tried, and nothing was found.
    Robust,
    /// Nothing was found in the schedules that were to be tried.
    NothingFound,
    /// An access can be stale.
    NotRobust,
    /// A data race.
    Race,
    /// An assertion fails.
    Assertion,
    /// A signal ended the program.
    Crash,
    /// The program ended with an exit code other than 0.
    ExitCode,
    /// Threads wait for each other.
    Deadlock,
    /// Threads spin for ever.
    Livelock,
    /// A limit was reached first, or the program is at fault: which.
    GaveUp(String),
}

impl Verdict {
    /// What an execution shows, if it shows something. What fails under SC comes first: nobody needs a memory model for it.
    pub fn of(end: End, outcome: &Outcome, steps: u32) -> Option<Verdict> {
        Some(match (&outcome.failure, end) {
            (Some(Failure::Assertion(_)), _) => Verdict::Assertion,
            (Some(Failure::Crash(_)), _) => Verdict::Crash,
            (Some(Failure::ExitCode(_)), _) => Verdict::ExitCode,
            (Some(Failure::Hang(why)), _) => Verdict::GaveUp(format!("the program hangs: {why}")),
            (None, End::Deadlock) => Verdict::Deadlock,
            (None, End::Livelock) => Verdict::Livelock,
            _ if outcome.found.iter().any(|found| matches!(found, Found::Stale(_))) => Verdict::NotRobust,
            _ if !outcome.found.is_empty() => Verdict::Race,
            (None, End::StepLimit) => {
                Verdict::GaveUp(format!("an execution has more than {steps} steps (--steps)"))
            }
            _ => return None,
        })
    }

    /// When nothing was found.
    pub fn without_finding(summary: &Summary, limit: impl Fn() -> String) -> Verdict {
        match () {
            () if summary.progress.exhausted => Verdict::Robust,
            () if summary.stopped => Verdict::GaveUp(limit()),
            () => Verdict::NothingFound,
        }
    }

    /// For JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Robust => "robust",
            Verdict::NothingFound => "nothing-found",
            Verdict::NotRobust => "not-robust",
            Verdict::Race => "race",
            Verdict::Assertion => "assertion",
            Verdict::Crash => "crash",
            Verdict::ExitCode => "exit-code",
            Verdict::Deadlock => "deadlock",
            Verdict::Livelock => "livelock",
            Verdict::GaveUp(_) => "gave-up",
        }
    }

    /// A headline's first words.
    pub fn headline(&self) -> &'static str {
        match self {
            Verdict::Robust => "robust",
            Verdict::NothingFound => "nothing found",
            Verdict::NotRobust => "not robust",
            Verdict::Race => "data race",
            Verdict::Assertion => "assertion fails",
            Verdict::Crash => "crash",
            Verdict::ExitCode => "bad exit code",
            Verdict::Deadlock => "deadlock",
            Verdict::Livelock => "livelock",
            Verdict::GaveUp(_) => "gave up",
        }
    }

    /// For the exit code.
    pub fn status(&self) -> Status {
        match self {
            Verdict::Robust | Verdict::NothingFound => Status::Holds,
            Verdict::GaveUp(_) => Status::GaveUp,
            _ => Status::Violation,
        }
    }
}
