//! What was found, as text for people and as JSON.

use super::merge::{self, Found, Merged, Place};
use super::once::Ending;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write;

/// A few lines: what, where, in how many runs. Nothing if the runtime has said it all.
pub fn text(command: &[OsString], found: &Found, seconds: f64, repeated: bool) -> String {
    let mut text = String::new();
    let failures = failures(found);
    if !repeated {
        for failure in failures {
            let _ = writeln!(text, "seqcst run: {} {}", name(command), failure.trim_start_matches("1 run "));
        }
        return text;
    }
    let (runs, bad) = (found.runs, found.runs_with_errors);
    let good = runs - bad;
    let _ = writeln!(
        text,
        "seqcst run: {} of {} in {seconds:.1} s: {bad} with reports, {good} without",
        plural(runs as usize, "run"),
        name(command)
    );
    for merged in found.errors() {
        let _ = writeln!(text, "  {:>4} {}", merged.runs, line(merged));
    }
    let quiet = found.reports.iter().filter(|merged| !merge::is_error(&merged.report)).count();
    if quiet > 0 {
        let _ = writeln!(
            text,
            "  and {} that only wait longer (--option waits=report shows them)",
            plural(quiet, "place")
        );
    }
    for failure in failures {
        let _ = writeln!(text, "  {failure}");
    }
    text
}

/// `stale load a.c:3 in f may miss store a.c:9 in g`
pub fn line(merged: &Merged) -> String {
    let report = &merged.report;
    let access = |access: &Value| {
        let word = |name: &str| access[name].as_str().unwrap_or_default().to_owned();
        format!("{} ({}) {}", word("what"), word("mode"), show(&merge::place(access)))
    };
    let (first, second) = (access(&report["access"]), access(merge::other(report)));
    match report["kind"].as_str().unwrap_or_default() {
        "race" => format!("data race: {first} and {second}"),
        _ => format!("stale: {first} may miss {second}"),
    }
}

fn show(place: &Place) -> String {
    let file = place.file.rsplit('/').next().unwrap_or_default();
    match (file, place.function.as_str()) {
        ("", "") => "at an unknown place".to_owned(),
        ("", function) => format!("in {function}"),
        (file, "") => format!("{file}:{}", place.line),
        (file, function) => format!("{file}:{} in {function}", place.line),
    }
}

/// How runs ended that did not end well.
fn failures(found: &Found) -> Vec<String> {
    let mut kinds: Vec<(&Ending, usize)> = Vec::new();
    for (_, ending) in found.failures() {
        match kinds.iter_mut().find(|(known, _)| *known == ending) {
            Some((_, count)) => *count += 1,
            None => kinds.push((ending, 1)),
        }
    }
    kinds.iter().map(|(ending, count)| format!("{} {}", plural(*count, "run"), how(ending))).collect()
}

/// How a run ended, in words.
pub fn how(ending: &Ending) -> String {
    match ending {
        Ending::Code(code) => format!("ended with exit code {code}"),
        Ending::Signal(signal) => format!("was ended by {}", signal_name(*signal)),
        Ending::TimedOut => "took too long and was stopped".to_owned(),
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

fn name(command: &[OsString]) -> String {
    command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// One object, in one line.
pub fn json(command: &[OsString], found: &Found, seconds: f64) -> String {
    let verdict = match found.errors().next() {
        Some(_) if found.errors().any(|merged| merged.report["kind"] == "stale") => "not-robust",
        Some(_) => "race",
        None => "nothing-found",
    };
    let report = |merged: &Merged| {
        let mut report = merged.report.clone();
        report["runs"] = json!(merged.runs);
        report["count"] = json!(merged.count);
        report
    };
    let failure = |(number, ending): (u32, &Ending)| match ending {
        Ending::Code(code) => json!({"run": number, "code": code}),
        Ending::Signal(signal) => json!({"run": number, "signal": signal}),
        Ending::TimedOut => json!({"run": number, "timeout": true}),
    };
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let object = json!({
        "file": words.first(),
        "command": words,
        "model": found.model,
        "verdict": verdict,
        "runs": found.runs,
        "runs_with_reports": found.runs_with_errors,
        "seconds": seconds,
        "reports": found.reports.iter().map(report).collect::<Vec<_>>(),
        "failures": found.failures().map(failure).collect::<Vec<_>>(),
        "notes": found.notes,
    });
    format!("{object}\n")
}
