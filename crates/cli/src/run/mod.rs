//! `seqcst run`: runs an instrumented program, several times if asked, and says what was found in all.
//!
//! * [`program`]: where the program is, and whether it was instrumented at all;
//! * [`once`]: one run, and the reports that came out of it;
//! * [`merge`]: reports of several runs, put together by their places in the source;
//! * [`answer`]: what was found, as text, JSON or SARIF ([`sarif`]).

pub mod answer;
pub mod merge;
pub mod once;
pub mod program;
mod sarif;

use crate::Status;
use crate::flags::{RunFlags, RunFormat};
use crate::output::{self, Target};
use merge::Found;
use once::{Ending, Plan};
use std::time::Instant;

/// Runs the program and prints what was found.
pub fn run(flags: &RunFlags) -> Status {
    match observe(flags) {
        Ok(status) => status,
        Err(message) => {
            output::complain(&format!("seqcst run: error: {message}\n"));
            Status::BadInput
        }
    }
}

fn observe(flags: &RunFlags) -> Result<Status, String> {
    let (name, args) = flags.command.split_first().ok_or("no program is named")?;
    let target = flags.output.as_deref().map(Target::new).transpose();
    let target = target.map_err(|message| message.trim_end().to_owned())?;
    let program = program::find(name)?;
    if !flags.children {
        let children = "If it only starts programs that were, say --children.";
        program::check(&program).map_err(|why| format!("{why} {children}"))?;
    }
    let start = Instant::now();
    let plan = Plan {
        program,
        args: args.to_vec(),
        options: once::options(&flags.options)?,
        timeout: flags.timeout,
        quiet: flags.quiet,
        // Answers have standard output for themselves.
        divert: flags.format != RunFormat::Text && target.is_none(),
        repeated: flags.runs > 1,
    };
    let mut found = Found::default();
    for number in 1..=flags.runs {
        let run = once::run(&plan)?;
        if run.documents.is_empty() && matches!(run.ending, Ending::Code(_)) {
            return Err(nothing_watched(flags, &run.ending));
        }
        let news = found.add(number, &run);
        if news {
            output::complain(&run.log);
        }
        if flags.until_found && found.errors().next().is_some() {
            break;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    print(flags, &found, seconds, target)?;
    Ok(status(&found))
}

fn nothing_watched(flags: &RunFlags, ending: &Ending) -> String {
    let name = flags.command[0].to_string_lossy();
    match ending {
        Ending::Code(2) => format!("{name} ended with exit code 2 and no report: see what it said above"),
        _ if flags.children => {
            format!("no program that {name} started was built with seqcst cc or cargo seqcst")
        }
        _ => format!("{name} left no report: it ended in a way that seqcst can't see"),
    }
}

fn print(flags: &RunFlags, found: &Found, seconds: f64, target: Option<Target>) -> Result<(), String> {
    let command = &flags.command;
    let text = match flags.format {
        RunFormat::Text => answer::text(command, found, seconds, flags.runs > 1),
        RunFormat::Json => answer::json(command, found, seconds),
        RunFormat::Sarif => sarif::render(command, found),
    };
    match target {
        Some(target) => target.write(&text).map_err(|message| message.trim_end().to_owned()),
        None if flags.format == RunFormat::Text => {
            output::complain(&text);
            Ok(())
        }
        None => {
            output::answer(&text);
            Ok(())
        }
    }
}

/// A program that fails on its own violates what it promises, too.
fn status(found: &Found) -> Status {
    let timed_out = |ending: &Ending| matches!(ending, Ending::TimedOut);
    if found.errors().next().is_some() || found.failures().any(|(_, ending)| !timed_out(ending)) {
        Status::Violation
    } else if found.failures().any(|(_, ending)| timed_out(ending)) {
        Status::GaveUp
    } else {
        Status::Holds
    }
}
