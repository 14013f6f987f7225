//! `seqcst explore`

use super::{headline, witness};
use crate::answer::{Explored, FailingExecution, ScheduledStep};
use crate::format::{Style, columns, count, seconds, thousands};
use crate::{Answer, Witness};
use std::fmt::Write;

pub(super) fn render(answer: &Answer, explored: &Explored, style: Style) -> String {
    let model = answer.model.map(|model| format!(" under {model}")).unwrap_or_default();
    let limit = answer.limit.as_ref().map(|limit| format!(" — {limit}")).unwrap_or_default();
    let head = headline(answer.verdict, style);
    let mut out = format!("{head}: {}{model}{limit}\n", explored.command.join(" "));
    if let Some(found) = &explored.found {
        failing(&mut out, found, answer.witness.as_ref(), style);
    }
    effort(&mut out, answer, explored);
    let known: Vec<&str> = answer.proved.iter().chain(&answer.not_proved).map(String::as_str).collect();
    if !known.is_empty() {
        let _ = writeln!(out, "  {}", known.join("; "));
    }
    if let Some(replay) = &answer.replay {
        let _ = writeln!(out, "  replay: {}", style.bold(replay));
    }
    out
}

/// Executions, in how much time, and by preemptions.
fn effort(out: &mut String, answer: &Answer, explored: &Explored) {
    let Some(strategy) = &explored.strategy else { return };
    let Explored { executions, distinct, redundant, borderline, .. } = *explored;
    let _ = write!(out, "  {strategy}: {}, {} distinct", count(executions, "execution"), thousands(distinct));
    if redundant > 0 {
        let _ = write!(out, ", {} redundant", thousands(redundant));
    }
    if borderline > 0 {
        let _ = write!(out, ", {} with a possibly stale access", thousands(borderline));
    }
    // Shorter ones are too short for a rate to mean something.
    let rate = explored.rate.filter(|_| answer.seconds >= 1.0);
    let rate = rate.map_or(String::new(), |rate| format!(", {}/s", thousands(rate)));
    let _ = writeln!(out, "; {}{rate}", seconds(answer.seconds));
    if explored.bounds.len() > 1 {
        let bounds = explored.bounds.iter();
        let bounds: Vec<String> =
            bounds.map(|bound| format!("{}: {}", bound.preemptions, thousands(bound.executions))).collect();
        let _ = writeln!(out, "  by preemptions: {}", bounds.join(", "));
    }
}

fn failing(out: &mut String, found: &FailingExecution, execution: Option<&Witness>, style: Style) {
    if !found.log.is_empty() {
        let _ = writeln!(out, "{}", found.log.trim_end());
    }
    for line in &found.message {
        let _ = writeln!(out, "  {line}");
    }
    if let Some(execution) = execution {
        let _ = writeln!(out, "{}", witness::explain(execution, style));
    }
    let steps = &found.schedule;
    if !steps.is_empty() {
        let switches = steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count();
        let preemptions = steps.iter().filter(|step| step.preempts).count();
        let _ = writeln!(
            out,
            "\n  execution {}: {}, {}, {}\n\n{}",
            found.execution,
            count(steps.len() as u64, "step"),
            count(switches as u64, "switch"),
            count(preemptions as u64, "preemption"),
            schedule(steps)
        );
    }
}

/// Schedules with more steps than this are shown by their switches only, and of more switches the last ones.
const MOST: usize = 48;

/// The schedule as a table.
fn schedule(steps: &[ScheduledStep]) -> String {
    let rows: Vec<[String; 4]> = match steps.len() {
        ..=MOST => steps.iter().map(row).collect(),
        _ => steps.chunk_by(|a, b| a.thread == b.thread).map(summed_up).collect(),
    };
    let left_out = rows.len().saturating_sub(MOST);
    let before = if left_out > 0 { format!("    … {left_out} switches before\n") } else { String::new() };
    before + &columns(&rows[left_out..], 4, [true, false, false, false])
}

fn row(step: &ScheduledStep) -> [String; 4] {
    let mark = if step.preempts { "  ← preemption" } else { "" };
    [step.step.to_string(), thread(step.thread), step.what.clone(), format!("{}{mark}", step.place)]
}

/// A thread's steps in a row, in one row.
fn summed_up(run: &[ScheduledStep]) -> [String; 4] {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return Default::default() };
    if run.len() == 1 {
        return row(first);
    }
    let mark = if first.preempts { "  ← preemption" } else { "" };
    [
        format!("{}–{}", first.step, last.step),
        thread(first.thread),
        format!("{} … {}", first.what, last.what),
        format!("{} … {}{mark}", first.place, last.place),
    ]
}

/// `main`, `thread 2`
fn thread(thread: u32) -> String {
    if thread == 0 { "main".to_owned() } else { format!("thread {thread}") }
}
