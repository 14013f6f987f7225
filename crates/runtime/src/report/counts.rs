//! How much was found, and the lines that say so at exit.

use super::found::{Fate, Kind, Report};
use crate::suppress::Rule;
use core::fmt::Write;

/// Distinct reports by what became of them, and occurrences of the errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Robustness violations.
    pub violations: u64,
    /// Data races.
    pub races: u64,
    /// Misuses of memory and objects.
    pub misuses: u64,
    /// Benign waits.
    pub waits: u64,
    /// Inside of Rust's standard library.
    pub std_locks: u64,
    /// Kept back by suppressions.
    pub suppressed: u64,
    /// Occurrences of violations, races and misuses.
    pub occurrences: u64,
    /// Benign waits are errors: they were asked for.
    pub waits_are_errors: bool,
}

impl Counts {
    /// Counts reports, given their occurrences, and adds what the rules kept back to them.
    pub fn of(reports: &[Report], occurrences: &[u64], rules: &mut [Rule]) -> Counts {
        let mut counts = Counts::default();
        for rule in rules.iter_mut() {
            (rule.reports, rule.occurrences) = (0, 0);
        }
        for (report, &count) in reports.iter().zip(occurrences) {
            match (report.fate, report.kind) {
                (Fate::Suppressed(rule), _) => {
                    counts.suppressed += 1;
                    if let Some(rule) = rules.get_mut(rule) {
                        rule.reports += 1;
                        rule.occurrences += count;
                    }
                }
                (Fate::StdLock, _) => counts.std_locks += 1,
                (_, Kind::Stale) => counts.violations += 1,
                (_, Kind::Race) => counts.races += 1,
                (_, Kind::Misuse(_)) => counts.misuses += 1,
                (fate, Kind::Wait) => {
                    counts.waits += 1;
                    counts.waits_are_errors |= fate == Fate::Error;
                }
            }
            if report.fate == Fate::Error {
                counts.occurrences += count;
            }
        }
        counts
    }

    /// How many count as errors.
    pub fn errors(&self) -> u64 {
        self.violations + self.races + self.misuses + if self.waits_are_errors { self.waits } else { 0 }
    }

    /// `seqcst: 2 robustness violations, 1 data race (17 occurrences), ...`
    pub fn line(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let waits = plural(self.waits, "benign wait");
        let errors = [
            (self.violations, plural(self.violations, "robustness violation")),
            (self.races, plural(self.races, "data race")),
            (self.misuses, plural(self.misuses, "misuse")),
            (if self.waits_are_errors { self.waits } else { 0 }, waits.clone()),
        ];
        parts.extend(errors.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text));
        if let Some(last) = parts.last_mut() {
            let _ = write!(last, " ({})", plural(self.occurrences, "occurrence"));
        }
        let others = [
            (
                if self.waits_are_errors { 0 } else { self.waits },
                format!("{waits} (not shown; waits=report shows them)"),
            ),
            (self.std_locks, format!("{} in Rust's own locks (not shown)", self.std_locks)),
            (self.suppressed, format!("{} suppressed", self.suppressed)),
        ];
        parts.extend(others.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text));
        if parts.is_empty() {
            parts.push("nothing found".to_owned());
        }
        format!("seqcst: {}\n", parts.join(", "))
    }
}

/// `1 report`, `2 reports`
fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What became of the rules: what they kept back, and those that kept back nothing.
pub fn suppressions(rules: &[Rule]) -> String {
    let mut out = String::new();
    for rule in rules {
        let Rule { text, place, reports, occurrences, .. } = rule;
        let _ = match reports {
            0 => writeln!(out, "seqcst: warning: suppression {text} ({place}) matched nothing"),
            _ => {
                let (reports, occurrences) = (plural(*reports, "report"), plural(*occurrences, "occurrence"));
                writeln!(out, "seqcst: suppression {text} matched {reports} ({occurrences})")
            }
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let found =
            Counts { violations: 2, races: 1, misuses: 2, waits: 3, occurrences: 17, ..Counts::default() };
        let line = "seqcst: 2 robustness violations, 1 data race, 2 misuses (17 occurrences), \
                    3 benign waits (not shown; waits=report shows them)\n";
        assert_eq!(found.line(), line);
        let shown =
            Counts { waits: 1, occurrences: 1, waits_are_errors: true, std_locks: 4, ..Counts::default() };
        assert_eq!(shown.line(), "seqcst: 1 benign wait (1 occurrence), 4 in Rust's own locks (not shown)\n");
        assert_eq!((found.errors(), shown.errors(), Counts::default().errors()), (5, 1, 0));
        assert_eq!(Counts::default().line(), "seqcst: nothing found\n");
    }

    #[test]
    fn rules() {
        let mut rules = crate::suppress::parse("s", "race:f\nall:g").unwrap();
        (rules[0].reports, rules[0].occurrences) = (2, 30);
        let expected = "seqcst: suppression race:f matched 2 reports (30 occurrences)\n\
                        seqcst: warning: suppression all:g (s:2) matched nothing\n";
        assert_eq!(suppressions(&rules), expected);
    }
}
