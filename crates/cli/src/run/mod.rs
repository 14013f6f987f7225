//! `seqcst run`: runs an instrumented program, several times if asked, and says what was found in all.
//!
//! * [`program`]: where the program is, and whether it was instrumented at all;
//! * [`once`]: one run, and the reports that came out of it;
//! * [`merge`]: reports of several runs, put together by their places in the source.

mod merge;
pub mod once;
pub mod program;

use crate::flags::{Format, RunFlags};
use crate::output::{self, Target};
use merge::Found;
use once::{Ending, Plan};
use seqcst_report::answer::Runs;
use seqcst_report::{Answer, Details, Status, TextOptions, Verdict, render, to_sarif};
use std::time::Instant;

/// Runs the program and prints what was found.
pub fn run(flags: &RunFlags) -> Status {
    match observe(flags) {
        Ok(status) => status,
        Err(message) => {
            output::write_stderr(&format!("seqcst run: error: {message}\n"));
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
        divert: flags.format != Format::Text && target.is_none(),
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
            output::write_stderr(&run.log);
        }
        if flags.until_found && found.runs.errors().next().is_some() {
            break;
        }
    }
    let file = flags.command[0].to_string_lossy().into_owned();
    found.runs.command = flags.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let verdict = verdict(&found.runs);
    let limit =
        (verdict == Verdict::GaveUp).then(|| "a run took too long and was stopped (--timeout)".to_owned());
    let answer = Answer::new(file, found.model, verdict, Details::Run(found.runs));
    let answer = Answer { limit, seconds: start.elapsed().as_secs_f64(), ..answer };
    print(flags, &answer, target)?;
    Ok(verdict.status())
}

/// A program that fails on its own violates what it promises, too.
fn verdict(runs: &Runs) -> Verdict {
    let failed = |what: fn(&seqcst_report::answer::Ended) -> bool| runs.failures.iter().any(what);
    match () {
        () if runs.errors().any(|report| report.kind == "misuse") => Verdict::Misuse,
        () if runs.errors().any(|report| report.kind == "stale") => Verdict::NotRobust,
        () if runs.errors().next().is_some() => Verdict::Race,
        () if failed(|ended| ended.signal.is_some()) => Verdict::Crash,
        () if failed(|ended| ended.code.is_some()) => Verdict::ExitCode,
        () if failed(|ended| ended.timeout) => Verdict::GaveUp,
        () => Verdict::NothingFound,
    }
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

fn print(flags: &RunFlags, answer: &Answer, target: Option<Target>) -> Result<(), String> {
    let summary = flags.runs > 1;
    let text = match flags.format {
        Format::Text => {
            render(answer, TextOptions { color: false, explain: false, pairs: usize::MAX, summary })
        }
        Format::Json => format!("{}\n", answer.to_json()),
        Format::Sarif => to_sarif(std::slice::from_ref(answer)),
    };
    match target {
        Some(target) => target.write(&text).map_err(|message| message.trim_end().to_owned()),
        None if flags.format == Format::Text => {
            output::write_stderr(&text);
            Ok(())
        }
        None => {
            output::write_stdout(&text);
            Ok(())
        }
    }
}
