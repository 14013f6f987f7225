//! What an execution shows.

use seqcst_explore::{End, Failure, Found, Outcome, Summary};
use seqcst_report::Verdict;

/// A verdict, and for "gave up" the limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conclusion {
    /// In a word.
    pub verdict: Verdict,
    /// Which limit was reached.
    pub limit: Option<String>,
}

impl From<Verdict> for Conclusion {
    fn from(verdict: Verdict) -> Conclusion {
        Conclusion { verdict, limit: None }
    }
}

impl Conclusion {
    /// No answer.
    pub fn gave_up(limit: String) -> Conclusion {
        Conclusion { verdict: Verdict::GaveUp, limit: Some(limit) }
    }

    /// What an execution shows, if it shows something. What fails under SC comes first: nobody needs a memory model for it.
    pub fn of(end: End, outcome: &Outcome, steps: u32) -> Option<Conclusion> {
        // What comes after a misuse is a consequence of it, or may be.
        if outcome.found.iter().any(|found| matches!(found, Found::Misuse(..))) {
            return Some(Verdict::Misuse.into());
        }
        let verdict = match (&outcome.failure, end) {
            (Some(Failure::Assertion(_)), _) => Verdict::Assertion,
            (Some(Failure::Unmodelled(why)), _) => return Some(Conclusion::gave_up(why.clone())),
            (Some(Failure::Crash(_)), _) => Verdict::Crash,
            (Some(Failure::ExitCode(_)), _) => Verdict::ExitCode,
            (Some(Failure::Hang(why)), _) => {
                return Some(Conclusion::gave_up(format!("the program hangs: {why}")));
            }
            (None, End::Deadlock) => Verdict::Deadlock,
            (None, End::Livelock) => Verdict::Livelock,
            _ if outcome.found.iter().any(|found| matches!(found, Found::Stale(_))) => Verdict::NotRobust,
            _ if !outcome.found.is_empty() => Verdict::Race,
            (None, End::StepLimit) => {
                let limit = format!("an execution has more than {steps} steps (--steps)");
                return Some(Conclusion::gave_up(limit));
            }
            _ => return None,
        };
        Some(verdict.into())
    }

    /// When nothing was found. Only who has looked for stale accesses may call a program robust.
    pub fn without_finding(summary: &Summary, watched: bool, limit: impl Fn() -> String) -> Conclusion {
        match () {
            () if summary.progress.exhausted && watched => Verdict::Robust.into(),
            () if summary.stopped => Conclusion::gave_up(limit()),
            () => Verdict::NothingFound.into(),
        }
    }
}
