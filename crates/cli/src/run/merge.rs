//! Reports of several runs, put together by their places in the source.

use super::once::{Ending, Run};
use seqcst_model::Model;
use seqcst_report::answer::{Accessed, Ended, Frame, Report, Runs};
use std::collections::HashMap;

/// Everything that was found.
#[derive(Default)]
pub struct Found {
    /// What there is to tell about it.
    pub runs: Runs,
    /// The memory model that the runtime used.
    pub model: Option<Model>,
    /// By the places of a report: its number, and the last run that made it.
    known: HashMap<(String, Frame, Frame), (usize, u32)>,
}

impl Found {
    /// Adds what a run brought; tells whether there was anything new in it.
    pub fn add(&mut self, number: u32, run: &Run) -> bool {
        self.runs.runs += 1;
        let mut news = false;
        let mut errors = 0;
        for document in &run.documents {
            self.model = Model::named(&document.model);
            for report in &document.reports {
                errors += usize::from(report.error);
                news |= self.report(number, report);
            }
            for note in &document.notes {
                if !self.runs.notes.contains(note) {
                    self.runs.notes.push(note.clone());
                    news = true;
                }
            }
        }
        self.runs.runs_with_reports += u32::from(errors > 0);
        // An exit code is the program's own only if nothing was found.
        if !matches!(run.ending, Ending::Code(code) if code == 0 || errors > 0) {
            self.runs.failures.push(ended(number, &run.ending));
        }
        news
    }

    fn report(&mut self, run: u32, report: &Report) -> bool {
        let place = |access: Option<&Accessed>| {
            let frame = access.and_then(Accessed::frame).cloned().unwrap_or_default();
            Frame { module: String::new(), offset: String::new(), inlined: false, ..frame }
        };
        let key = (report.kind.clone(), place(Some(&report.access)), place(report.other()));
        match self.known.get_mut(&key) {
            Some((at, last_run)) => {
                let known = &mut self.runs.reports[*at];
                known.runs = known.runs.map(|runs| runs + u32::from(*last_run != run));
                known.count += report.count;
                *last_run = run;
                false
            }
            None => {
                self.known.insert(key, (self.runs.reports.len(), run));
                self.runs.reports.push(Report { runs: Some(1), ..report.clone() });
                true
            }
        }
    }
}

fn ended(run: u32, ending: &Ending) -> Ended {
    match *ending {
        Ending::Code(code) => Ended { run, code: Some(code), ..Ended::default() },
        Ending::Signal(signal) => Ended { run, signal: Some(signal), ..Ended::default() },
        Ending::TimedOut => Ended { run, timeout: true, ..Ended::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::super::once::Document;
    use super::*;
    use serde_json::json;

    fn run(lines: &[u64], code: i32) -> Run {
        let access =
            |line: &u64| json!({"headline": 0, "stack": [{"file": "a.c", "line": line, "function": "f"}]});
        let report = |line: &u64| json!({"kind": "stale", "error": true, "count": 2, "access": access(line)});
        let reports: Vec<_> = lines.iter().map(report).collect();
        let document = json!({"tool": "seqcst", "model": "rc11", "reports": reports, "notes": []});
        let document: Document = serde_json::from_value(document).expect("a document");
        Run { ending: Ending::Code(code), documents: vec![document], log: String::new() }
    }

    #[test]
    fn the_same_places_are_the_same_report() {
        let mut found = Found::default();
        assert!(found.add(1, &run(&[3, 4], 66)));
        assert!(!found.add(2, &run(&[4], 66)));
        assert!(!found.add(3, &run(&[], 0)));
        let counts: Vec<_> = found.runs.reports.iter().map(|report| (report.runs, report.count)).collect();
        assert_eq!(counts, [(Some(1), 2), (Some(2), 4)]);
        assert_eq!((found.runs.runs, found.runs.runs_with_reports), (3, 2));
        assert!(found.runs.failures.is_empty());
    }

    #[test]
    fn a_failing_program_is_seen() {
        let mut found = Found::default();
        found.add(1, &run(&[], 101));
        assert_eq!(found.runs.failures, [ended(1, &Ending::Code(101))]);
    }
}
