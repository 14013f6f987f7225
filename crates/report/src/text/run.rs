//! `seqcst run`

use super::TextOptions;
use crate::Answer;
use crate::answer::{Accessed, Ended, Report, Runs};
use crate::format::count;
use std::fmt::Write;

/// A few lines: what, where, in how many runs. Nothing if the sanitizer has said it all.
pub(super) fn render(answer: &Answer, runs: &Runs, options: TextOptions) -> String {
    let mut out = String::new();
    let failures = failures(runs);
    if !options.summary {
        for (ended, _) in failures {
            let _ = writeln!(out, "seqcst run: {} {}", answer.file, ending(&ended));
        }
        return out;
    }
    let (all, bad) = (runs.runs, runs.runs_with_reports);
    let _ = writeln!(
        out,
        "seqcst run: {} of {} in {:.1} s: {bad} with reports, {} without",
        count(all.into(), "run"),
        answer.file,
        answer.seconds,
        all - bad
    );
    for report in runs.errors() {
        let _ = writeln!(out, "  {:>4} {}", report.runs.unwrap_or(1), sentence(report));
    }
    let waits = runs.reports.len() - runs.errors().count();
    if waits > 0 {
        let places = count(waits as u64, "place");
        let _ = writeln!(out, "  and {places} that only wait longer (--option waits=report shows them)");
    }
    for (ended, times) in failures {
        let _ = writeln!(out, "  {} {}", count(times, "run"), ending(&ended));
    }
    out
}

/// `stale: load (relaxed) a.c:3 in f may miss store (relaxed) a.c:9 in g`
pub(crate) fn sentence(report: &Report) -> String {
    let (first, second) = (access(Some(&report.access)), access(report.other()));
    match report.kind.as_str() {
        "race" => format!("data race: {first} and {second}"),
        "misuse" => {
            let problem = report.problem.as_deref().unwrap_or("misuse");
            let earlier = report.other().map(|_| format!(", after {second}")).unwrap_or_default();
            format!("{problem}: {first}{earlier}")
        }
        _ => format!("stale: {first} may miss {second}"),
    }
}

fn access(access: Option<&Accessed>) -> String {
    let Some(access) = access else { return "an access at an unknown place".to_owned() };
    let frame = access.frame().cloned().unwrap_or_default();
    let file = frame.file.rsplit('/').next().unwrap_or_default();
    let near = if frame.near { "near " } else { "" };
    let place = match (file, frame.function.as_str()) {
        ("", "") => "at an unknown place".to_owned(),
        ("", function) => format!("in {function}"),
        (file, "") => format!("{near}{file}:{}", frame.line),
        (file, function) => format!("{near}{file}:{} in {function}", frame.line),
    };
    match access.what.as_str() {
        what @ ("load" | "store" | "read-modify-write" | "failed compare-and-swap") => {
            format!("{what} ({}) {place}", access.mode)
        }
        what => format!("{what} {place}"),
    }
}

/// How runs ended that did not end well, and how many did so.
fn failures(runs: &Runs) -> Vec<(Ended, u64)> {
    let mut kinds: Vec<(Ended, u64)> = Vec::new();
    for &ended in &runs.failures {
        match kinds.iter_mut().find(|(known, _)| Ended { run: ended.run, ..*known } == ended) {
            Some((_, times)) => *times += 1,
            None => kinds.push((ended, 1)),
        }
    }
    kinds
}

/// How a run ended, in words.
pub(crate) fn ending(ended: &Ended) -> String {
    match (ended.code, ended.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (_, Some(signal)) => format!("was ended by {}", signal_name(signal)),
        _ => "took too long and was stopped".to_owned(),
    }
}

/// `signal 11 (SIGSEGV)`
pub fn signal_name(signal: i32) -> String {
    let known = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (5, "SIGTRAP"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
    ];
    let name = known.iter().find(|(number, _)| *number == signal).map(|(_, name)| format!(" ({name})"));
    format!("signal {signal}{}", name.unwrap_or_default())
}
