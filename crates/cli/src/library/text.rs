//! An answer as text.

use super::answer::Answer;
use super::tried::Tried;
use crate::flags::LibraryFlags;
use seqcst_library::prove::{ClassResult, Failure};
use seqcst_report::explain;
use std::fmt::Write;

/// The answer.
pub fn show(answer: &Answer, flags: &LibraryFlags, color: bool) -> String {
    let mut out = String::new();
    head(&mut out, answer, color);
    if flags.explain {
        classes(&mut out, answer);
        loops(&mut out, answer);
        for assumption in &answer.outcome.assumptions {
            let _ = writeln!(out, "  assumed: {assumption}");
        }
    }
    if let Some(witness) = answer.finding.as_ref().and_then(|finding| explain(finding, color)) {
        out.push('\n');
        out.push_str(&witness);
    }
    if let Some(tried) = &answer.tried {
        confirmation(&mut out, tried, "by this client", color);
    }
    out
}

/// Text in a color.
pub fn paint(text: &str, code: &str, color: bool) -> String {
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// `1 class`, `2 classes`.
pub fn count(number: usize, word: &str) -> String {
    match (number, word.ends_with('s')) {
        (1, _) => format!("1 {word}"),
        (_, true) => format!("{number} {word}es"),
        _ => format!("{number} {word}s"),
    }
}

fn head(out: &mut String, answer: &Answer, color: bool) {
    let name = match &answer.loaded.mutant {
        Some((description, _)) => format!("{} [{description}]", answer.loaded.name),
        None => answer.loaded.name.clone(),
    };
    let outcome = &answer.outcome;
    let effort = format!(
        "{} of locations, {}, {}",
        count(outcome.classes.len(), "class"),
        count(outcome.questions, "question"),
        seconds(answer.proof_seconds)
    );
    let _ = match answer.verdict() {
        "robust" => {
            let notion = answer.loaded.notion();
            writeln!(out, "{}: {name} for every client ({notion}) — {effort}", paint("robust", "1;32", color))
        }
        "gave-up" => {
            let open: Vec<&str> = failed(answer).map(|class| answer.class(class.class)).collect();
            let why = answer.why_unknown().unwrap_or_default();
            writeln!(
                out,
                "{}: {name} — {}: {why}; {effort}",
                paint("gave up", "1;33", color),
                open.join(", ")
            )
        }
        _ => {
            let open: Vec<&str> = failed(answer).map(|class| answer.class(class.class)).collect();
            writeln!(
                out,
                "{}: {name} — no proof for {}; {effort}",
                paint("may be non-robust", "1;31", color),
                open.join(", ")
            )
        }
    };
}

/// `0.02 s`, as `check` prints it.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        ..0.01 => "under 0.01 s".to_owned(),
        _ => format!("{seconds:.2} s"),
    }
}

fn failed(answer: &Answer) -> impl Iterator<Item = &ClassResult> {
    answer.outcome.classes.iter().filter(|class| !matches!(class.failure, None | Some(Failure::Skipped)))
}

/// Which condition holds for which class, and what the proof needs.
fn classes(out: &mut String, answer: &Answer) {
    let rows: Vec<[String; 4]> = answer
        .outcome
        .classes
        .iter()
        .map(|class| {
            let conditions: Vec<String> = class.conditions.iter().map(ToString::to_string).collect();
            let conditions = match &class.failure {
                Some(Failure::Witness(_)) => "none".to_owned(),
                Some(Failure::Unknown { .. } | Failure::Skipped) => "unknown".to_owned(),
                None if conditions.is_empty() => "never written".to_owned(),
                None => conditions.join(", "),
            };
            let needs: Vec<&str> = class.used.iter().map(|constraint| constraint.name()).collect();
            let needs = if needs.is_empty() { "nothing".to_owned() } else { needs.join(", ") };
            let needs = if class.failure.is_some() { String::new() } else { needs };
            [answer.class(class.class).to_owned(), conditions, class.questions.to_string(), needs]
        })
        .collect();
    let header =
        ["class", "condition", "questions", "derived constraints that the proof needs"].map(str::to_owned);
    let width = |column: usize| {
        rows.iter().chain([&header]).map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2)];
    out.push('\n');
    for [class, condition, questions, needs] in std::iter::once(&header).chain(&rows) {
        let line = format!(
            "  {class:<0$}  {condition:<1$}  {questions:>2$}  {needs}",
            widths[0], widths[1], widths[2]
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out.push('\n');
}

/// What ρ did.
fn loops(out: &mut String, answer: &Answer) {
    let transformed = &answer.loaded.transformed;
    let place = |site: seqcst_library::code::Site| match site.file {
        0 => format!("line {}", site.line),
        _ => format!(
            "{}:{}",
            answer.loaded.library.files.get(site.file as usize).map_or("?", String::as_str),
            site.line
        ),
    };
    for change in &transformed.changes {
        let _ = writeln!(out, "  loop in {} ({}): {}", change.method, place(change.site), change.what);
    }
    for kept in &transformed.kept {
        let _ = writeln!(out, "  loop in {} ({}) stays: {}", kept.method, place(kept.site), kept.why);
    }
}

/// Whether a client confirms it.
pub fn confirmation(out: &mut String, tried: &Tried, by: &str, color: bool) {
    out.push('\n');
    match tried {
        Tried::Confirmed { threads, what, finding } => {
            let _ = writeln!(out, "  {} {by} ({what}):", paint("confirmed", "1;31", color));
            for (number, calls) in threads.iter().enumerate() {
                let _ = writeln!(out, "    thread {}: {}", number + 1, calls.join("; "));
            }
            if let Some(witness) = explain(finding, color) {
                out.push('\n');
                out.push_str(&witness);
            }
        }
        Tried::NotConfirmed { words } => {
            let _ = writeln!(out, "  not confirmed: {words}; this may be a false alarm");
        }
    }
}
