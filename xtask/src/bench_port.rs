//! `cargo xtask bench port`: fences for the programs of \[Fency21] Fig. 8 and 9 (`corpus/c/port`), beside the paper's figures.
//!
//! The programs are our own: where numbers of accesses differ from the paper's, numbers of fences can't be compared one by one.

use crate::cargo::{root, seqcst};
use crate::table::{Table, doing};
use crate::{Outcome, saved};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// From which machine to which, in the order of the tables.
const PAIRS: [(&str, &str); 6] =
    [("sc", "x86"), ("sc", "armv8"), ("x86", "armv8"), ("sc", "armv7"), ("x86", "armv7"), ("armv8", "armv7")];

/// A program and the paper's figures: accesses and fences that are there on x86, ARMv8 and ARMv7, fences inserted for each pair.
struct Published {
    program: &'static str,
    there: [(u64, u64); 3],
    inserted: [u64; 6],
}

const fn published(program: &'static str, there: [(u64, u64); 3], inserted: [u64; 6]) -> Published {
    Published { program, there, inserted }
}

/// \[Fency21], Fig. 8 and 9.
const PAPER: [Published; 10] = [
    published("barrier", [(6, 0), (6, 2), (6, 2)], [2, 2, 0, 2, 0, 0]),
    published("dekker-tso", [(20, 4), (20, 8), (20, 8)], [0, 4, 4, 6, 6, 6]),
    published("peterson-sc", [(14, 0), (14, 0), (14, 0)], [2, 11, 10, 12, 10, 8]),
    published("lamport-sc", [(17, 0), (17, 7), (17, 7)], [4, 9, 9, 10, 8, 5]),
    published("spinlock", [(14, 0), (18, 12), (18, 12)], [0, 4, 4, 0, 0, 0]),
    published("ticket-lock", [(12, 0), (14, 8), (14, 8)], [0, 2, 2, 0, 0, 0]),
    published("seqlock", [(7, 0), (9, 6), (9, 6)], [0, 2, 2, 2, 2, 2]),
    published("rcu-offline", [(33, 4), (35, 16), (36, 19)], [3, 17, 19, 17, 15, 10]),
    published("cilk-tso", [(22, 2), (33, 10), (33, 10)], [0, 7, 7, 6, 6, 6]),
    published("cilk-sc", [(22, 0), (33, 8), (33, 8)], [0, 8, 8, 7, 7, 7]),
];

/// What came of one program and pair.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    program: String,
    from: String,
    to: String,
    naive: u64,
    existing: u64,
    inserted: u64,
    /// Whether no cheaper choice would do.
    exact: bool,
    seconds: f64,
}

/// A whole result.
pub type Measured = saved::Measured<Row>;

/// Runs `bench port`.
pub fn run(options: &saved::Save) -> Outcome {
    doing("building …");
    let tool = seqcst(true)?;
    let mut result = Measured::here(());
    for Published { program, .. } in PAPER {
        doing(&format!("{program} …"));
        result.rows.extend(measure(&tool, program)?);
    }
    doing("");
    println!("{}", result.report());
    result.save(options.save.as_deref())
}

/// All six pairs for a program.
fn measure(tool: &Path, program: &str) -> Outcome<Vec<Row>> {
    let file = format!("corpus/c/port/{program}.c");
    let output = Command::new(tool).args(["port", "--format", "json", &file]).current_dir(root()).output();
    let output = output.map_err(|error| format!("seqcst: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let row = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(Row {
            program: program.to_owned(),
            from: value["from"].as_str()?.to_owned(),
            to: value["to"].as_str()?.to_owned(),
            naive: value["fences"]["naive"].as_u64()?,
            existing: value["fences"]["existing"].as_u64()?,
            inserted: value["fences"]["inserted"].as_u64()?,
            exact: value["exact"].as_bool()?,
            seconds: value["seconds"].as_f64()?,
        })
    };
    let rows: Vec<Row> = text.lines().filter_map(row).collect();
    if rows.len() == PAIRS.len() {
        return Ok(rows);
    }
    Err(format!("{file}: {} answers\n{}", rows.len(), String::from_utf8_lossy(&output.stderr)))
}

impl Measured {
    fn row(&self, program: &str, (from, to): (&str, &str)) -> Option<&Row> {
        let is =
            |row: &&Row| (row.program.as_str(), row.from.as_str(), row.to.as_str()) == (program, from, to);
        self.rows.iter().find(is)
    }

    /// Tables for documents: ours, and the paper's in parentheses.
    pub fn report(&self) -> String {
        let (mut there, mut inserted) = (
            Table::new(&["program", "x86", "ARMv8", "ARMv7"], &["program"]),
            Table::new(
                &["program", "SC–x86", "SC–ARMv8", "x86–ARMv8", "SC–ARMv7", "x86–ARMv7", "ARMv8–ARMv7"],
                &["program"],
            ),
        );
        for Published { program, there: published, inserted: fences } in &PAPER {
            // The last pair for each target.
            let targets = [PAIRS[0], PAIRS[2], PAIRS[5]].into_iter().zip(published);
            let cell = |(pair, (accesses, existing)): ((&str, &str), &(u64, u64))| {
                let row = self.row(program, pair);
                row.map_or_else(String::new, |row| {
                    format!("{}, {} ({accesses}, {existing})", row.naive, row.existing)
                })
            };
            there.row([(*program).to_owned()].into_iter().chain(targets.map(cell)).collect());
            let pairs = PAIRS.into_iter().zip(fences);
            let cell = |(pair, paper): ((&str, &str), &u64)| {
                let row = self.row(program, pair);
                row.map_or_else(String::new, |row| {
                    format!("{}{} ({paper})", row.inserted, if row.exact { "" } else { "+" })
                })
            };
            inserted.row([(*program).to_owned()].into_iter().chain(pairs.map(cell)).collect());
        }
        let slowest = self.rows.iter().map(|row| row.seconds).fold(0.0, f64::max);
        format!(
            "{} The slowest analysis, repair included, took {:.0} ms.\n\nAccesses (fences of the naive scheme), and \
             fences that are there:\n\n{}\nFences inserted, accesses made stronger included:\n\n{}",
            self.origin(),
            slowest * 1e3,
            there.markdown(),
            inserted.markdown()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        let row = |to: &str, inserted| Row {
            program: "barrier".to_owned(),
            from: "sc".to_owned(),
            to: to.to_owned(),
            naive: 6,
            existing: 0,
            inserted,
            exact: inserted < 3,
            seconds: 0.001,
        };
        let rows = vec![row("x86", 2), row("armv8", 3)];
        let result = saved::round_trip((), &rows);
        assert!(result.report().contains("| barrier | 6, 0 (6, 0) |"), "{}", result.report());
        assert!(result.report().contains("| barrier | 2 (2) | 3+ (2) |"), "{}", result.report());
    }
}
