//! Reports of several runs, put together by their places in the source.

use super::once::{Ending, Run};
use serde_json::Value;
use std::collections::HashMap;

/// Everything that was found.
#[derive(Default)]
pub struct Found {
    /// Runs so far.
    pub runs: u32,
    /// Runs with at least one report that counts as an error.
    pub runs_with_errors: u32,
    /// Distinct reports, in the order in which they were first seen.
    pub reports: Vec<Merged>,
    /// Things that the runtime could not watch, each once.
    pub notes: Vec<String>,
    /// The memory model that the runtime used.
    pub model: String,
    index: HashMap<(String, Place, Place), usize>,
    failures: Vec<(u32, Ending)>,
}

/// One report, and how often it was made.
pub struct Merged {
    /// The first of them, as the runtime wrote it.
    pub report: Value,
    /// Runs that made it.
    pub runs: u32,
    /// Occurrences in all.
    pub count: u64,
    last_run: u32,
}

/// A place in the source, as far as known.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u64,
    /// The column, from 1; 0 if unknown.
    pub column: u64,
    /// The function.
    pub function: String,
}

impl Found {
    /// Adds what a run brought; tells whether there was anything new in it.
    pub fn add(&mut self, number: u32, run: &Run) -> bool {
        self.runs += 1;
        let mut news = false;
        let mut errors = 0;
        for document in &run.documents {
            self.model = document["model"].as_str().unwrap_or_default().to_owned();
            for report in document["reports"].as_array().into_iter().flatten() {
                errors += usize::from(is_error(report));
                news |= self.report(number, report);
            }
            for note in document["notes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !self.notes.iter().any(|known| known == note) {
                    self.notes.push(note.to_owned());
                    news = true;
                }
            }
        }
        self.runs_with_errors += u32::from(errors > 0);
        // An exit code is the program's own only if nothing was found.
        if !matches!(run.ending, Ending::Code(code) if code == 0 || errors > 0) {
            self.failures.push((number, run.ending.clone()));
        }
        news
    }

    fn report(&mut self, run: u32, report: &Value) -> bool {
        let text = |name: &str| report[name].as_str().unwrap_or_default().to_owned();
        let count = report["count"].as_u64().unwrap_or(1);
        let key = (text("kind"), place(&report["access"]), place(other(report)));
        match self.index.get(&key) {
            Some(&at) => {
                let merged = &mut self.reports[at];
                merged.runs += u32::from(merged.last_run != run);
                merged.last_run = run;
                merged.count += count;
                false
            }
            None => {
                self.index.insert(key, self.reports.len());
                self.reports.push(Merged { report: report.clone(), runs: 1, count, last_run: run });
                true
            }
        }
    }

    /// The reports that count as errors.
    pub fn errors(&self) -> impl Iterator<Item = &Merged> {
        self.reports.iter().filter(|merged| is_error(&merged.report))
    }

    /// Runs that failed on their own, with their numbers, from 1.
    pub fn failures(&self) -> impl Iterator<Item = (u32, &Ending)> {
        self.failures.iter().map(|(number, ending)| (*number, ending))
    }
}

/// Whether a report is more than a remark.
pub fn is_error(report: &Value) -> bool {
    report["error"].as_bool().unwrap_or(true)
}

/// The second access of a report: the write that can be missed, or the one that came first in a race.
pub fn other(report: &Value) -> &Value {
    if report["missed"].is_object() { &report["missed"] } else { &report["earlier"] }
}

/// Where an access is: the frame that stands for it.
pub fn place(access: &Value) -> Place {
    let at = access["headline"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or_default();
    frame(&access["stack"][at])
}

/// Where a frame is.
pub fn frame(frame: &Value) -> Place {
    let text = |name: &str| frame[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| frame[name].as_u64().unwrap_or_default();
    Place { file: text("file"), line: number("line"), column: number("column"), function: text("function") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(lines: &[u64], code: i32) -> Run {
        let access =
            |line: &u64| json!({"headline": 0, "stack": [{"file": "a.c", "line": line, "function": "f"}]});
        let report = |line: &u64| json!({"kind": "stale", "error": true, "count": 2, "access": access(line)});
        let reports: Vec<Value> = lines.iter().map(report).collect();
        let documents = vec![json!({"tool": "seqcst", "model": "rc20", "reports": reports, "notes": []})];
        Run { ending: Ending::Code(code), documents, log: String::new() }
    }

    #[test]
    fn the_same_places_are_the_same_report() {
        let mut found = Found::default();
        assert!(found.add(1, &run(&[3, 4], 66)));
        assert!(!found.add(2, &run(&[4], 66)));
        assert!(!found.add(3, &run(&[], 0)));
        let counts: Vec<_> = found.reports.iter().map(|merged| (merged.runs, merged.count)).collect();
        assert_eq!(counts, [(1, 2), (2, 4)]);
        assert_eq!((found.runs, found.runs_with_errors), (3, 2));
        assert_eq!(found.failures().count(), 0);
    }

    #[test]
    fn a_failing_program_is_seen() {
        let mut found = Found::default();
        found.add(1, &run(&[], 101));
        assert_eq!(found.failures().next(), Some((1, &Ending::Code(101))));
    }
}
