//! `seqcst explore`: a program under many schedules.
//!
//! * [`strategies`]: which schedules, as the flags say;
//! * [`program`]: an instrumented program. It is a process ([`process`]) with shared memory ([`shared`], [`decode`]); its addresses become lines of its source ([`places`]);
//! * [`model`]: a finite-state program;
//! * [`verdict`], [`answer`]: what it came to, with the failing [`schedule`]; [`bar`]: how far it is.

mod answer;
mod bar;
mod decode;
mod model;
mod places;
mod process;
mod program;
mod schedule;
mod shared;
mod strategies;
mod verdict;

use crate::flags::{ExploreFlags, StrategyName};
use crate::output::{self, Printer};
use process::ProcessError;
use seqcst_explore::{Limits, Summary, ThreadId, Trace, tape};
use seqcst_model::Model;
use seqcst_report::Status;
use seqcst_report::format::thousands;
use std::path::Path;

/// Why there is no answer.
pub enum Stop {
    /// The input or the command line is at fault.
    BadInput(String),
    /// The program is.
    GaveUp(String),
    /// It was said already.
    Said(Status),
}

impl From<ProcessError> for Stop {
    fn from(trouble: ProcessError) -> Stop {
        match trouble {
            ProcessError::Refused(why) => Stop::BadInput(why),
            ProcessError::Lost(why) => Stop::GaveUp(why),
        }
    }
}

/// Explores and prints the answer.
pub fn run(flags: &ExploreFlags) -> Status {
    let explored = match is_model(flags) {
        true => model::run(flags),
        false => program::run(flags),
    };
    let stop = |why: &str, status: Status| {
        output::write_stderr(&format!("seqcst explore: error: {why}\n"));
        status
    };
    match explored {
        Ok(answer) => {
            let status = answer.verdict.status();
            let mut printer = Printer::new(&flags.print);
            printer.print(answer);
            printer.finish();
            status
        }
        Err(Stop::BadInput(why)) => stop(&why, Status::BadInput),
        Err(Stop::GaveUp(why)) => stop(&why, Status::GaveUp),
        Err(Stop::Said(status)) => status,
    }
}

/// Finite-state programs are known by their names.
fn is_model(flags: &ExploreFlags) -> bool {
    let extension = flags.command.first().and_then(|name| Path::new(name).extension());
    extension.is_some_and(|extension| extension == "tpl" || extension == "litmus")
}

/// When to stop.
fn limits(flags: &ExploreFlags, strategy: StrategyName) -> Limits {
    let endless = matches!(strategy, StrategyName::Pct | StrategyName::Random);
    let unless_told = if endless { strategies::EXECUTIONS } else { u64::MAX };
    Limits {
        executions: flags.executions.unwrap_or(unless_told),
        time: flags.timeout,
        keep_going: flags.keep_going,
        given_up: if endless { u64::MAX } else { strategies::GIVEN_UP },
        distinct: true,
    }
}

/// Are stale accesses looked for?
fn watches(flags: &ExploreFlags) -> bool {
    !flags.no_monitor && flags.model != Model::Sc
}

/// Which limit was reached.
fn limit(flags: &ExploreFlags, summary: &Summary) -> String {
    match flags.executions {
        Some(most) if summary.executions >= most => format!("limit of {} executions", thousands(most)),
        _ => time_is_up(flags),
    }
}

fn time_is_up(flags: &ExploreFlags) -> String {
    format!("limit of {} s", flags.timeout.as_secs_f64())
}

/// Why a tape can't be played.
fn does_not_fit(tape: &[ThreadId], trace: &Trace) -> String {
    let at = trace.steps.len();
    let thread = tape.get(at).map_or(String::new(), |thread| tape::show(&[*thread]));
    format!("the tape doesn't fit the program: step {} can't be {thread}", at + 1)
}

/// The command that executes this schedule again.
fn replay_command(flags: &ExploreFlags, tape: &[ThreadId]) -> String {
    let mut words = vec!["seqcst".to_owned(), "explore".to_owned()];
    if flags.model != Model::default() {
        words.extend(["--model".to_owned(), flags.model.name().to_owned()]);
    }
    if flags.no_monitor {
        words.push("--no-monitor".to_owned());
    }
    if flags.no_races {
        words.push("--no-races".to_owned());
    }
    for option in &flags.options {
        words.extend(["--option".to_owned(), quoted(option)]);
    }
    if flags.steps != strategies::STEPS {
        words.extend(["--steps".to_owned(), flags.steps.to_string()]);
    }
    words.extend(["--replay".to_owned(), quoted(&tape::show(tape))]);
    words.extend(flags.command.iter().map(|word| quoted(&word.to_string_lossy())));
    words.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match word {
        word if !word.is_empty() && word.chars().all(plain) => word.to_owned(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
