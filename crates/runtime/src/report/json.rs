//! Reports as one JSON object, for `seqcst run` and other tools.
//!
//! `{"tool": "seqcst", "pid", "program", "model", "reports": […], "counts": {…}, "suppressed": […], "notes": […]}`.
//! A report has `kind` (`stale`, `race`, `misuse`, `benign-wait`), `error` (it was printed and counts), `origin` (`std`, if it lies
//! in Rust's own locks), `count`, `access`, and `missed` and perhaps `older`, `swap` (of a compare-and-swap: `expected`, `found`, the values
//! that it could have found in `old`, its order of `failure`), `chain` and `repair`, or for a race `earlier`
//! and `freed`, or for a misuse `problem` and perhaps `earlier` and `allocated`. An access has `thread` (0 is the main thread), `what`, `mode`, `addr`, `size`, `variable` if it is a global
//! one, `stack` from the inside out, and `headline`: which of its frames stands for the access.

use super::counts::Counts;
use super::found::{Fate, Kind, Report, Shown};
use super::frames::Frame;
use super::words;
use crate::suppress::Rule;
use core::fmt::Write;

/// All there is to tell about a process.
pub struct Process<'a> {
    /// Its number.
    pub pid: u32,
    /// Its executable.
    pub program: &'a str,
    /// `rc20` or `ra`.
    pub model: &'a str,
    /// Everything that was found.
    pub reports: &'a [Report],
    /// How often, report by report.
    pub occurrences: &'a [u64],
    /// In total.
    pub counts: &'a Counts,
    /// With what they kept back.
    pub rules: &'a [Rule],
    /// What couldn't be watched.
    pub notes: &'a [String],
}

/// One object, one line.
pub fn render(process: &Process<'_>) -> String {
    let mut json = Json(String::new());
    json.object(|json| {
        json.field("tool", |json| json.text("seqcst"));
        json.field("pid", |json| json.number(process.pid));
        json.field("program", |json| json.text(process.program));
        json.field("model", |json| json.text(process.model));
        let told = process.reports.iter().zip(process.occurrences);
        let told = told.filter(|(report, _)| !matches!(report.fate, Fate::Suppressed(_)));
        json.field("reports", |json| {
            json.list(told, |json, (report, &count)| self::report(json, report, count))
        });
        json.field("counts", |json| counts(json, process.counts));
        json.field("suppressed", |json| json.list(process.rules.iter(), rule));
        json.field("notes", |json| json.list(process.notes.iter(), |json, note| json.text(note)));
    });
    json.0.push('\n');
    json.0
}

fn report(json: &mut Json, report: &Report, count: u64) {
    json.object(|json| {
        let kind = match (report.kind, report.fate) {
            (Kind::Race, _) => "race",
            (Kind::Misuse(_), _) => "misuse",
            (_, Fate::StdLock) | (Kind::Wait, _) => "benign-wait",
            (Kind::Stale, _) => "stale",
        };
        json.field("kind", |json| json.text(kind));
        if let Kind::Misuse(misuse) = report.kind {
            json.field("problem", |json| json.text(&misuse.title()));
        }
        json.field("error", |json| json.flag(report.fate == Fate::Error));
        if report.fate == Fate::StdLock {
            json.field("origin", |json| json.text("std"));
        }
        json.field("count", |json| json.number(count));
        json.field("access", |json| access(json, &report.access));
        if let Some(other) = &report.other {
            let is_stale = matches!(report.kind, Kind::Stale | Kind::Wait);
            let name = if is_stale { "missed" } else { "earlier" };
            json.field(name, |json| access(json, other));
        }
        if let Some(older) = &report.older {
            let name = if matches!(report.kind, Kind::Misuse(_)) { "allocated" } else { "older" };
            json.field(name, |json| access(json, older));
        }
        if let Kind::Misuse(_) = report.kind {
            return;
        }
        if let Some(swap) = &report.swap {
            json.field("swap", |json| {
                json.object(|json| {
                    json.field("expected", |json| json.number(swap.expected));
                    json.field("found", |json| json.number(swap.found));
                    json.field("old", |json| json.list(swap.old.iter(), |json, &old| json.number(old)));
                    json.field("failure", |json| json.text(words::mode(swap.failure)));
                });
            });
        }
        if report.kind == Kind::Race {
            json.field("freed", |json| json.flag(report.freed));
            return;
        }
        json.field("chain", |json| {
            json.list(report.chain.iter(), |json, step| {
                json.object(|json| {
                    json.field("why", |json| json.text(words::edge(step.link.edge)));
                    json.field("thread", |json| json.number(step.link.thread));
                    json.field("what", |json| json.text(words::what(step.link.what)));
                    json.field("mode", |json| json.text(words::mode(step.link.mode)));
                    json.field("addr", |json| json.address(step.link.addr as u64));
                    json.field("size", |json| json.number(step.link.size));
                    json.optional("variable", step.variable.as_deref());
                    if let Some(found) = &step.frame {
                        json.field("frame", |json| frame(json, found));
                    }
                });
            });
        });
        json.field("repair", |json| json.text(&report.repair));
    });
}

fn access(json: &mut Json, shown: &Shown) {
    let access = &shown.access;
    json.object(|json| {
        json.field("thread", |json| json.number(access.thread));
        json.field("what", |json| json.text(words::what(access.what)));
        json.field("mode", |json| json.text(access.mode.map_or("plain", words::mode)));
        json.field("addr", |json| json.address(access.addr as u64));
        json.field("size", |json| json.number(access.size));
        json.optional("variable", shown.variable.as_deref());
        let at = shown
            .headline()
            .and_then(|found| shown.stack.iter().position(|frame| std::ptr::eq(frame, found)));
        json.field("headline", |json| json.number(at.unwrap_or(0) as u64));
        json.field("stack", |json| json.list(shown.stack.iter(), frame));
    });
}

fn frame(json: &mut Json, frame: &Frame) {
    json.object(|json| {
        json.field("function", |json| json.text(&frame.function));
        json.field("file", |json| json.text(&frame.file));
        json.field("line", |json| json.number(frame.line));
        json.field("column", |json| json.number(frame.column));
        json.field("module", |json| json.text(&frame.module));
        json.field("offset", |json| json.address(frame.offset));
        json.field("inlined", |json| json.flag(frame.inlined));
        if frame.near {
            json.field("near", |json| json.flag(true));
        }
    });
}

fn counts(json: &mut Json, counts: &Counts) {
    json.object(|json| {
        json.field("violations", |json| json.number(counts.violations));
        json.field("races", |json| json.number(counts.races));
        json.field("misuses", |json| json.number(counts.misuses));
        json.field("benign_waits", |json| json.number(counts.waits));
        json.field("std_internal", |json| json.number(counts.std_locks));
        json.field("suppressed", |json| json.number(counts.suppressed));
        json.field("occurrences", |json| json.number(counts.occurrences));
    });
}

fn rule(json: &mut Json, rule: &Rule) {
    json.object(|json| {
        json.field("rule", |json| json.text(&rule.text));
        json.field("place", |json| json.text(&rule.place));
        json.field("reports", |json| json.number(rule.reports));
        json.field("occurrences", |json| json.number(rule.occurrences));
    });
}

/// Writes JSON.
struct Json(String);

impl Json {
    fn separate(&mut self) {
        if !self.0.ends_with(['{', '[', ':']) && !self.0.is_empty() {
            self.0.push(',');
        }
    }

    fn object(&mut self, fields: impl FnOnce(&mut Json)) {
        self.0.push('{');
        fields(self);
        self.0.push('}');
    }

    fn field(&mut self, name: &str, value: impl FnOnce(&mut Json)) {
        self.separate();
        self.text(name);
        self.0.push(':');
        value(self);
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.field(name, |json| json.text(value));
        }
    }

    fn list<T>(&mut self, items: impl Iterator<Item = T>, mut item: impl FnMut(&mut Json, T)) {
        self.0.push('[');
        for value in items {
            self.separate();
            item(self, value);
        }
        self.0.push(']');
    }

    fn text(&mut self, text: &str) {
        self.0.push('"');
        for letter in text.chars() {
            match letter {
                '"' | '\\' => self.0.extend(['\\', letter]),
                '\n' => self.0.push_str("\\n"),
                control if control < ' ' => drop(write!(self.0, "\\u{:04x}", control as u32)),
                other => self.0.push(other),
            }
        }
        self.0.push('"');
    }

    fn number(&mut self, number: impl Into<u64>) {
        let _ = write!(self.0, "{}", number.into());
    }

    fn address(&mut self, address: u64) {
        let _ = write!(self.0, "\"{address:#x}\"");
    }

    fn flag(&mut self, flag: bool) {
        self.0.push_str(if flag { "true" } else { "false" });
    }
}

#[cfg(test)]
mod tests;
