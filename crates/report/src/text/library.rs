//! `seqcst library`

use super::{headline, witness};
use crate::answer::{Class, ClientWitness, Composed, Loop, Program, Proof, TriedClient};
use crate::format::{Style, columns, count, seconds};
use crate::{Answer, Verdict};
use std::fmt::Write;

/// A library for every client.
pub(super) fn proof(answer: &Answer, proof: &Proof, explain: bool, style: Style) -> String {
    let mut out = String::new();
    let name = match &proof.mutant {
        Some(mutant) => format!("{} [{}]", answer.file, mutant.change),
        None => answer.file.clone(),
    };
    let effort = format!(
        "{} of locations, {}, {}",
        count(proof.classes.len() as u64, "class"),
        count(proof.questions as u64, "question"),
        seconds(answer.seconds)
    );
    let open = || {
        let failed = proof.classes.iter().filter(|class| !class.proved && !class.skipped);
        failed.map(|class| class.class.as_str()).collect::<Vec<_>>().join(", ")
    };
    let head = headline(answer.verdict, style);
    let _ = match answer.verdict {
        Verdict::Robust => {
            let clients = match proof.objects.as_str() {
                "global" => "for every client of its global state",
                "one" => "for every client of one object",
                _ => "for every client of any number of objects",
            };
            writeln!(out, "{head}: {name} {clients} ({}) — {effort}", proof.notion)
        }
        Verdict::GaveUp => {
            let why = answer.limit.as_deref().unwrap_or_default();
            writeln!(out, "{head}: {name} — {}: {why}; {effort}", open())
        }
        _ => writeln!(out, "{head}: {name} — no proof for {}; {effort}", open()),
    };
    if explain {
        classes(&mut out, &proof.classes);
        for it in &proof.loops {
            let _ = writeln!(out, "  loop in {} ({}): {}", it.method, place(answer, it), it.change);
        }
        for it in &proof.kept_loops {
            let _ = writeln!(out, "  loop in {} ({}) stays: {}", it.method, place(answer, it), it.change);
        }
        assumptions(&mut out, answer);
    }
    if let Some(found) = &answer.witness {
        out.push('\n');
        out.push_str(&witness::explain(found, style));
    }
    if let Some(client) = &proof.client {
        let otherwise = match answer.verdict {
            Verdict::GaveUp => "no client shows that it is not robust",
            Verdict::Robust => "no client contradicts the proof",
            _ => NOT_CONFIRMED,
        };
        confirmation(&mut out, client, "by this client", otherwise, style);
    }
    if let (Some(tried), Verdict::Robust) = (&proof.two_objects, answer.verdict) {
        two_objects(&mut out, tried, explain, style);
    }
    out
}

/// What is known of several objects, where the proof is about one.
fn two_objects(out: &mut String, tried: &TriedClient, explain: bool, style: Style) {
    match &tried.client {
        Some(client) => {
            let _ = writeln!(
                out,
                "  {} of several objects: this client of two ({})",
                style.bad("not"),
                client.shows
            );
            threads(out, client);
            if explain {
                execution(out, client, style);
            }
        }
        None if explain => {
            let why = tried.why.as_deref().unwrap_or_default();
            let _ = writeln!(
                out,
                "  of several objects nothing is proved, nor that it is not robust: of two, {why}"
            );
        }
        None => {}
    }
}

/// Lines of the library itself have no file in front.
fn place(answer: &Answer, it: &Loop) -> String {
    match it.place.file == answer.file {
        true => format!("line {}", it.place.line),
        false => format!("{}:{}", it.place.file, it.place.line),
    }
}

fn assumptions(out: &mut String, answer: &Answer) {
    for assumption in &answer.assumptions {
        let _ = writeln!(out, "  assumed: {}", assumption.words());
    }
}

/// Which condition holds for which class, and what the proof needs.
fn classes(out: &mut String, classes: &[Class]) {
    let row = |class: &Class| {
        let conditions = match class.proved {
            false if class.refuted => "none".to_owned(),
            false => "unknown".to_owned(),
            true if class.conditions.is_empty() => "never written".to_owned(),
            true => class.conditions.join(", "),
        };
        let needs = match class.proved {
            false => String::new(),
            true if class.constraints.is_empty() => "nothing".to_owned(),
            true => class.constraints.join(", "),
        };
        [class.class.clone(), conditions, class.questions.to_string(), needs]
    };
    let header = ["class", "condition", "questions", "derived constraints that the proof needs"];
    let rows: Vec<[String; 4]> =
        std::iter::once(header.map(str::to_owned)).chain(classes.iter().map(row)).collect();
    let _ = write!(out, "\n{}\n", columns(&rows, 2, [false, false, true, false]));
}

const NOT_CONFIRMED: &str = "not confirmed";

/// Whether a client confirms it; `otherwise` is said if none does.
fn confirmation(out: &mut String, tried: &TriedClient, by: &str, otherwise: &str, style: Style) {
    out.push('\n');
    if let Some(client) = &tried.client {
        let _ = writeln!(out, "  {} {by} ({}):", style.bad("confirmed"), client.shows);
        threads(out, client);
        execution(out, client, style);
    } else {
        let why = tried.why.as_deref().unwrap_or_default();
        let alarm = if otherwise == NOT_CONFIRMED { "; this may be a false alarm" } else { "" };
        let _ = writeln!(out, "  {otherwise}: {why}{alarm}");
    }
}

/// The calls of a client.
fn threads(out: &mut String, client: &ClientWitness) {
    for (number, calls) in client.threads.iter().enumerate() {
        let _ = writeln!(out, "    thread {}: {}", number + 1, calls.join("; "));
    }
}

/// What a client does, and the program that this speaks of.
fn execution(out: &mut String, client: &ClientWitness, style: Style) {
    if let Some(found) = &client.witness {
        out.push('\n');
        out.push_str(&witness::explain(found, style));
    }
    let Program { file, text } = &client.program;
    let _ = writeln!(out, "\n  the client as a program for `seqcst check`, {file}:");
    for (number, line) in text.lines().enumerate() {
        let _ = writeln!(out, "{}", format!("    {:>4} | {line}", number + 1).trim_end());
    }
}

/// A client of several libraries.
pub(super) fn composed(answer: &Answer, composed: &Composed, style: Style) -> String {
    let mut out = String::new();
    let calls = count(composed.calls as u64, "call");
    let effort = format!("{calls}, {}", count(composed.fences as u64, "SC fence"));
    let reason = match (composed.missing.len(), composed.all_proved) {
        (0, true) if !composed.broken.is_empty() => {
            " — no fence is missing, but a promise may be broken".to_owned()
        }
        (0, true) => " with these libraries — ".to_owned(),
        (0, false) => " — no fence is missing, but not all of its libraries are proved robust".to_owned(),
        (missing, _) => format!(
            " — {} of calls to different libraries with no SC fence in between",
            count(missing as u64, "pair")
        ),
    };
    let (head, threads) = (headline(answer.verdict, style), composed.threads.join(", "));
    let apart = if reason.ends_with("— ") { "" } else { "; " };
    let _ = writeln!(out, "{head}: {}{reason}{apart}threads: {threads}; {effort}", answer.file);
    for gap in &composed.missing {
        let (earlier, later) = (&gap.earlier, &gap.later);
        let _ = writeln!(
            out,
            "\n  `{}` ({}), then `{}` ({})",
            earlier.call, earlier.library, later.call, later.library
        );
        let words = "and then this one: a fence is missing in front of it";
        for (call, words) in [(earlier, "this call"), (later, words)] {
            let _ = writeln!(out, "    {}: {words}, in {}", call.place, call.function);
            if let Some(line) = &call.text {
                let _ = writeln!(out, "      {:>5} | {line}", call.place.line);
            }
        }
        if gap.path.len() > 2 {
            let _ = writeln!(out, "    by lines {}", shortened(&gap.path).join(" → "));
        }
    }
    for promise in &composed.broken {
        let _ = writeln!(out, "\n  {promise}");
    }
    if let Some(client) = &composed.client {
        let by = "by this client of the same libraries, with no fences between such calls";
        confirmation(&mut out, client, by, NOT_CONFIRMED, style);
    }
    if let Some(inserted) = composed.inserted {
        let fences = count(inserted as u64, "fence");
        let result = match composed.repaired {
            Some(true) => "and is robust",
            _ => "and is not known to be robust",
        };
        let _ = writeln!(out, "\n  {fences} put in; what came out was checked again, {result}");
        for left in composed.left.iter().flatten() {
            let call = &left.call;
            let _ = writeln!(out, "  {}: no fence in front of `{}`: {}", call.place, call.call, left.why);
        }
    }
    if !composed.missing.is_empty() {
        out.push('\n');
    }
    assumptions(&mut out, answer);
    out
}

/// The beginning and the end of a long path.
fn shortened(lines: &[u32]) -> Vec<String> {
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    match lines.len() {
        0..=10 => lines,
        many => [&lines[..5], &["…".to_owned()], &lines[many - 4..]].concat(),
    }
}
