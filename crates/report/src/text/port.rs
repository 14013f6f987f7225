//! `seqcst port`

use super::headline;
use crate::answer::{Access, Note, Ported};
use crate::format::{Style, count};
use crate::{Answer, Verdict};
use std::collections::HashMap;
use std::fmt::Write;

pub(super) fn render(answer: &Answer, ported: &Ported, shown: usize, style: Style) -> String {
    let mut out = String::new();
    let mut sources = Sources::default();
    head(&mut out, answer, ported, style);
    for pair in ported.pairs.iter().take(shown) {
        let (first, second) = (&pair.first, &pair.second);
        let _ = writeln!(out, "\n  {} may be done after {}", described(first), described(second));
        sources.show(&mut out, first, "this one");
        sources.show(&mut out, second, "and then this one");
        let cycle: Vec<String> = pair.cycle.iter().map(short).collect();
        if !cycle.is_empty() {
            let _ = writeln!(out, "    observable through the cycle {}", cycle.join(" → "));
        }
    }
    let (all, listed) = (ported.pairs_total, ported.pairs.len().min(shown));
    if all > listed {
        let _ = writeln!(out, "\n  {} (--show {all} shows all)", count((all - listed) as u64, "more pair"));
    }
    if all > 0 {
        repair(&mut out, ported);
    }
    notes(&mut out, ported);
    for line in &ported.remarks {
        let _ = writeln!(out, "  {line}");
    }
    for file in &ported.written {
        let _ = writeln!(out, "  written: {file}");
    }
    out
}

fn head(out: &mut String, answer: &Answer, ported: &Ported, style: Style) {
    let verdict = headline(answer.verdict, style);
    let pairs = ported.pairs_total as u64;
    let verdict = match answer.verdict {
        Verdict::Robust => verdict,
        Verdict::GaveUp => format!("{verdict} {}", answer.limit.as_deref().unwrap_or_default()),
        _ => format!("{verdict}: {} of accesses may be reordered", count(pairs, "pair")),
    };
    let _ = writeln!(out, "{}: {} → {}: {verdict}", answer.file, ported.from, ported.to);
    if let Some(fences) = ported.fences {
        let functions = few(&ported.functions, 4);
        let _ = writeln!(
            out,
            "  threads: {functions}; {}; fences: naive {}, existing {}, inserted {}; {:.3} s",
            count(ported.accesses as u64, "access"),
            fences.naive,
            fences.existing,
            fences.inserted,
            answer.seconds
        );
    }
    if let [_, _, ..] = &ported.files[..] {
        let _ = writeln!(out, "  files: {}", few(&ported.files, 8));
    }
    for assumption in &answer.assumptions {
        let _ = writeln!(out, "  assumed: {}", assumption.words());
    }
}

/// Names; of more than so many, the first.
fn few(names: &[String], most: usize) -> String {
    match names.len() {
        many if many > most => format!("{}, … ({many})", names[..most - 1].join(", ")),
        _ => names.join(", "),
    }
}

/// What to do.
fn repair(out: &mut String, ported: &Ported) {
    if let Some(why) = &ported.no_repair {
        let _ = writeln!(out, "\n  no repair: {why}");
        return;
    }
    let how = if ported.exact { "" } else { ", found by a greedy search: perhaps not the fewest" };
    let _ = writeln!(out, "\n  repair ({}{how}):", count(ported.changes.len() as u64, "change"));
    for change in &ported.changes {
        let place = change.place.as_ref().map_or("somewhere".to_owned(), ToString::to_string);
        let _ = writeln!(out, "    {place}: {}", change.change);
    }
    if ported.pairs_left > 0 {
        let left = ported.pairs_left as u64;
        let remain = if left == 1 { "remains" } else { "remain" };
        let _ =
            writeln!(out, "    {} {remain} that no fence can order (inside of calls)", count(left, "pair"));
    }
}

/// What the answer may be wrong about, and what was treated conservatively.
fn notes(out: &mut String, ported: &Ported) {
    let (warnings, others): (Vec<&Note>, Vec<&Note>) = ported.notes.iter().partition(|note| note.warning);
    for (word, notes, shown) in [("warning", warnings, 20), ("note", others, 8)] {
        for note in notes.iter().take(shown) {
            let at = note.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
            let times = if note.times > 1 { format!(" ({} times)", note.times) } else { String::new() };
            let _ = writeln!(out, "  {word}: {}{at}{times}", note.note);
        }
        if notes.len() > shown {
            let _ = writeln!(out, "  {word}: {} more, see --format json", notes.len() - shown);
        }
    }
}

fn described(access: &Access) -> String {
    format!("the {} of {}", access.access, access.location)
}

fn short(access: &Access) -> String {
    let sign = if access.writes { "W" } else { "R" };
    let line = access.place.as_ref().map(|place| format!(" (line {})", place.line)).unwrap_or_default();
    format!("{sign} {}{line}", access.location)
}

/// Lines of sources, read once.
#[derive(Default)]
struct Sources {
    files: HashMap<String, Option<String>>,
}

impl Sources {
    fn show(&mut self, out: &mut String, access: &Access, what: &str) {
        let Some(place) = &access.place else {
            let _ = writeln!(out, "    in {}: {what}", access.function);
            return;
        };
        let read = || std::fs::read_to_string(&place.file).ok();
        let text = self.files.entry(place.file.clone()).or_insert_with(read);
        let line = text.as_ref().and_then(|text| text.lines().nth((place.line as usize).saturating_sub(1)));
        let line: String =
            line.unwrap_or_default().trim().chars().filter(|c| !c.is_control()).take(100).collect();
        let _ = writeln!(out, "    {place}: {what}");
        if !line.is_empty() {
            let _ = writeln!(out, "      {:>5} | {line}", place.line);
        }
    }
}
