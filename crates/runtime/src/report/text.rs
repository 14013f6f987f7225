//! A report as text, in the style of the other sanitizers.

use super::found::{Kind, Report, Shown};
use super::frames::{self, Frame};
use super::misuse::Misuse;
use super::words;
use crate::journal::{Edge, EventKind};
use core::fmt::Write;

/// What text depends on besides the report.
pub struct Style {
    /// Of this process.
    pub pid: u32,
    /// Files below it are shown relative to it.
    pub directory: String,
    /// All frames.
    pub verbose: bool,
    /// E.g. `RC20`.
    pub model: &'static str,
}

const RULE: &str = "==================\n";
const MOST_FRAMES: usize = 24;
const LONGEST_NAME: usize = 160;

/// The whole report.
pub fn render(report: &Report, style: &Style) -> String {
    let mut out = String::from(RULE);
    match report.kind {
        Kind::Race => race(&mut out, report, style),
        Kind::Stale | Kind::Wait => stale(&mut out, report, style),
        Kind::Misuse(misuse) => self::misuse(&mut out, report, misuse, style),
    }
    out.push_str(RULE);
    out
}

fn stale(out: &mut String, report: &Report, style: &Style) {
    let Style { pid, model, .. } = style;
    let access = &report.access;
    let kind = words::what(access.access.what);
    // What is wrong in the headline; what may happen; what about the other write.
    let (wrong, may, other) = match access.access.what {
        EventKind::Store => ("can take effect too early", "may precede an older write", "It can come before"),
        EventKind::Rmw => ("can be stale", "may act on an old value", "It can miss"),
        _ => ("can be stale", "may return an old value", "It can miss"),
    };
    let longer = if report.kind == Kind::Wait { ", which only makes a loop wait longer" } else { "" };
    let _ = writeln!(out, "WARNING: seqcst: this {kind} {wrong} under {model}{longer} (pid={pid})");
    let _ = writeln!(out, "  {} {may}:", describe(access, &words::atomic_access(&access.access)));
    stack(out, &access.stack, style);
    if let Some(swap) = &report.swap {
        wrapped(out, &words::swap(swap));
    }
    if let Some(missed) = &report.other {
        let what = words::atomic_access(&missed.access);
        let buffer = if *model == "TSO" { ", while it is still in the store buffer" } else { "" };
        let thread = words::thread(missed.access.thread);
        let _ = writeln!(out, "  {other} the {what} by {thread}{buffer}:");
        stack(out, &missed.stack, style);
    }
    if let Some(older) = &report.older
        && access.access.what != EventKind::Store
    {
        let (place, thread) = (older.place(), words::thread(older.access.thread));
        let _ = match older.stack.is_empty() {
            true => writeln!(out, "  and see the value that was there before."),
            false => writeln!(out, "  and see what {thread} wrote before that at {place}."),
        };
    }
    chain(out, report);
    if report.chain.is_empty() && report.other.is_some() {
        out.push_str(
            "  What forces the order under SC is no longer remembered (a larger history= may show it).\n",
        );
    }
    if !report.repair.is_empty() {
        wrapped(out, &format!("Repair to try: {}", report.repair));
    }
    summary(out, &format!("stale {kind}"), access);
}

fn race(out: &mut String, report: &Report, style: &Style) {
    let with = if report.freed { " with a free" } else { "" };
    let _ = writeln!(out, "WARNING: seqcst: data race{with} (pid={})", style.pid);
    let access = &report.access;
    let what = if report.freed { "free of memory".to_owned() } else { words::race_access(&access.access) };
    let _ = writeln!(out, "  {}:", describe(access, &what));
    stack(out, &access.stack, style);
    if let Some(earlier) = &report.other {
        let what = format!("earlier {}", words::race_access(&earlier.access));
        let _ = writeln!(out, "  {}:", describe(earlier, &what));
        stack(out, &earlier.stack, style);
    }
    let _ = writeln!(out, "  No happens-before under {} orders the two.", style.model);
    summary(out, &format!("data race{with}"), access);
}

fn misuse(out: &mut String, report: &Report, misuse: Misuse, style: &Style) {
    let title = misuse.title();
    let _ = writeln!(out, "WARNING: seqcst: {title} (pid={})", style.pid);
    let access = &report.access;
    let act = misuse.act(&access.access);
    let act = match misuse {
        Misuse::BadAlignment => format!("{act} by {}", words::thread(access.access.thread)),
        _ => describe(access, &act),
    };
    let _ = writeln!(out, "  {}:", words::capital(&act));
    stack(out, &access.stack, style);
    if let Some(other) = &report.other {
        let earlier = misuse.earlier();
        let _ = writeln!(out, "  {earlier} by {}:", words::thread(other.access.thread));
        stack(out, &other.stack, style);
    }
    if let Some(allocated) = &report.older {
        let inside = if misuse == Misuse::InvalidFree { "It lies in a block" } else { "The block was" };
        let _ = writeln!(out, "  {inside} allocated by {}:", words::thread(allocated.access.thread));
        stack(out, &allocated.stack, style);
    }
    summary(out, &title, access);
}

/// `Load of 4 bytes (relaxed) at 0x1234 (flag) by thread 2`
fn describe(shown: &Shown, what: &str) -> String {
    let variable = shown.variable.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    let thread = words::thread(shown.access.thread);
    format!("{} at {:#x}{variable} by {thread}", words::capital(what), shown.access.addr)
}

fn stack(out: &mut String, all: &[Frame], style: &Style) {
    let some = if style.verbose { all } else { frames::shown(all) };
    for (number, frame) in some.iter().take(MOST_FRAMES).enumerate() {
        let _ = writeln!(out, "    #{number} {}", line(frame, &style.directory));
    }
    if some.is_empty() {
        out.push_str("    (where is not known)\n");
    }
    if some.len() > MOST_FRAMES {
        let _ = writeln!(out, "    ... and {} more", some.len() - MOST_FRAMES);
    }
}

/// `function file:line:column (module+0x1234)`
fn line(frame: &Frame, directory: &str) -> String {
    let mut line = shortened(if frame.function.is_empty() { "??" } else { &frame.function }, LONGEST_NAME);
    if !frame.file.is_empty() {
        let near = if frame.near { " near" } else { "" };
        let _ = write!(line, "{near} {}", frame.short_file(directory));
        for number in [frame.line, frame.column].into_iter().take_while(|&number| number != 0) {
            let _ = write!(line, ":{number}");
        }
    }
    let _ = write!(line, " ({})", frame.module_place());
    line
}

fn shortened(name: &str, most: usize) -> String {
    let letters = name.chars().count();
    if letters <= most {
        return name.to_owned();
    }
    let head: String = name.chars().take(most / 2 - 2).collect();
    let tail: String = name.chars().skip(letters - (most - most / 2 - 2)).collect();
    format!("{head}...{tail}")
}

/// The chain as a table, the stale access as its last row.
fn chain(out: &mut String, report: &Report) {
    if report.chain.is_empty() {
        return;
    }
    const WIDEST: usize = 26;
    let location = |variable: &Option<String>, addr: usize, what: EventKind| match (variable, what) {
        (_, EventKind::Fence) => String::new(),
        (_, EventKind::Spawn | EventKind::Begin | EventKind::End | EventKind::Join) => {
            words::thread(addr as u32)
        }
        (Some(name), _) => shortened(name, WIDEST),
        (None, _) => format!("{addr:#x}"),
    };
    let row =
        |thread: u32, what: EventKind, mode: Option<&str>, location: String, place: String, why: &str| {
            let thread = if thread == 0 { "main".to_owned() } else { format!("thread {thread}") };
            let access = format!("{} {}", words::short_what(what), mode.unwrap_or_default());
            [thread, access.trim_end().to_owned(), location, shortened(&place, WIDEST), why.to_owned()]
        };
    // A store doesn't miss another, it can come before it.
    let (first_why, last_why) = match report.access.access.what {
        EventKind::Store => ("the older write", "program order, but can come first"),
        _ => (words::edge(Edge::Start), "program order, but not bound to see it"),
    };
    let mut rows: Vec<[String; 5]> = Vec::new();
    for step in &report.chain {
        let link = &step.link;
        let place = location(&step.variable, link.addr, link.what);
        rows.push(row(
            link.thread,
            link.what,
            Some(words::mode(link.mode)),
            place,
            step.exact_place(),
            if link.edge == Edge::Start { first_why } else { words::edge(link.edge) },
        ));
    }
    let last = &report.access;
    let (thread, what, mode) = (last.access.thread, last.access.what, last.access.mode.map(words::mode));
    let place = location(&last.variable, last.access.addr, what);
    rows.push(row(thread, what, mode, place, last.exact_place(), last_why));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    out.push_str("  Under SC the order is forced:\n");
    for [thread, access, location, place, why] in &rows {
        let [a, b, c, d] = widths;
        let _ = writeln!(out, "    {thread:a$}  {access:b$}  {location:c$}  {place:d$}  {why}");
    }
}

/// Breaks a sentence into lines of at most 100 columns.
fn wrapped(out: &mut String, sentence: &str) {
    let mut column = 0;
    for word in sentence.split(' ') {
        if column > 0 && column + 1 + word.chars().count() > 100 {
            out.push('\n');
            column = 0;
        }
        out.push_str(match column {
            0 if out.ends_with('\n') && !sentence.starts_with(word) => "    ",
            0 => "  ",
            _ => " ",
        });
        column += if column == 0 { 4 } else { 1 } + word.chars().count();
        out.push_str(word);
    }
    out.push('\n');
}

fn summary(out: &mut String, what: &str, access: &Shown) {
    let function = access.headline().map(|frame| shortened(&frame.function, LONGEST_NAME));
    let within =
        function.filter(|name| !name.is_empty()).map(|name| format!(" in {name}")).unwrap_or_default();
    let _ = writeln!(out, "SUMMARY: seqcst: {what} {}{within}", access.place());
}

#[cfg(test)]
mod tests;
