//! `cargo xtask bench models`: tests in process, beside loom and shuttle on the same tests (`corpus/rust-models`).

use crate::cargo::{build, root};
use crate::table::{Table, count, doing};
use crate::{Outcome, saved};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;

/// The tools whose answers are compared.
const TOOLS: [&str; 3] = ["seqcst", "loom", "shuttle"];
/// The tools whose speed is compared, picking at random on one test: only these two do.
const RANDOM: [&str; 2] = ["seqcst random", "shuttle"];
const SPEED_TEST: &str = "Dekker, SeqCst";

/// What came of one test with one tool.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    tool: String,
    test: String,
    variant: Variant,
    /// What the tool said; nothing: it found nothing.
    found: String,
    executions: u64,
    seconds: f64,
    cpu_seconds: f64,
}

/// Each test is there twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Variant {
    Right,
    /// With a bug.
    Wrong,
}

/// A whole result.
pub type Measured = saved::Measured<Row>;

/// Runs `bench models`.
pub fn run(options: &saved::Save) -> Outcome {
    doing("building …");
    let manifest = root().join("corpus/rust-models/Cargo.toml").display().to_string();
    let built = build(&["build", "--quiet", "--release", "--manifest-path", &manifest])?;
    let program = built.first().ok_or("cargo built nothing")?;
    let tests = output(&program.path, &[])?;
    let mut result = Measured::here(());
    for test in tests.lines() {
        for variant in ["right", "wrong"] {
            let tools = TOOLS.iter().chain(RANDOM.iter().filter(|tool| !TOOLS.contains(tool)));
            for tool in tools.filter(|tool| TOOLS.contains(tool) || (test, variant) == (SPEED_TEST, "right"))
            {
                doing(&format!("{test} ({variant}) with {tool} …"));
                let line = output(&program.path, &[tool, test, variant])?;
                let row = serde_json::from_str(&line).map_err(|_| format!("{tool}, {test}: `{line}`"));
                result.rows.push(row?);
            }
        }
    }
    doing("");
    println!("{}", result.report());
    result.save(options.save.as_deref())
}

fn output(program: &Path, args: &[&str]) -> Outcome<String> {
    let output = Command::new(program).args(args).output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Row {
    /// `found in 2`, `misses it`, …
    fn verdict(&self) -> String {
        let executions = count(self.executions);
        let time = milliseconds(self.seconds);
        match (self.variant, self.found.as_str()) {
            (_, gave_up) if gave_up.starts_with("gave up") => format!("**gives up** ({executions}, {time})"),
            (Variant::Wrong, "") => format!("**misses it** ({executions}, {time})"),
            (Variant::Wrong, _) => format!("finds it ({executions}, {time})"),
            (Variant::Right, "") => format!("fine ({executions}, {time})"),
            (Variant::Right, _) => format!("**false alarm** ({executions}, {time})"),
        }
    }
}

fn milliseconds(seconds: f64) -> String {
    let ms = seconds * 1e3;
    if ms < 10.0 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
}

impl Measured {
    fn row(&self, tool: &str, test: &str, variant: Variant) -> Option<&Row> {
        self.rows.iter().find(|row| (&*row.tool, &*row.test, row.variant) == (tool, test, variant))
    }

    /// Tables for documents.
    pub fn report(&self) -> String {
        let mut table = Table::new(
            &["test", "", "seqcst", "loom", "shuttle"],
            &["test", "", "seqcst", "loom", "shuttle"],
        );
        for row in self.rows.iter().filter(|row| row.tool == TOOLS[0]) {
            let variant = if row.variant == Variant::Wrong { "with a bug" } else { "correct" };
            let cell =
                |tool: &&str| self.row(tool, &row.test, row.variant).map_or_else(String::new, Row::verdict);
            table.row(
                [row.test.clone(), variant.to_owned()].into_iter().chain(TOOLS.iter().map(cell)).collect(),
            );
        }
        let speed = |tool: &&str| {
            let row = self.row(tool, SPEED_TEST, Variant::Right)?;
            let rate = (row.executions as f64 / row.cpu_seconds / 1000.0).round() as u64 * 1000;
            Some(format!("{} {}", count(rate), tool.split(' ').next()?))
        };
        let speeds: Vec<String> = RANDOM.iter().filter_map(speed).collect();
        format!(
            "{} In parentheses: executions, time.\n\n{}\nRandom executions of Dekker's per second of CPU time: {}.\n",
            self.origin(),
            table.markdown(),
            speeds.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        let row = |tool: &str, variant, found: &str| Row {
            tool: tool.to_owned(),
            test: SPEED_TEST.to_owned(),
            variant,
            found: found.to_owned(),
            executions: 1234,
            seconds: 0.5,
            cpu_seconds: 0.25,
        };
        let rows = vec![
            row("seqcst", Variant::Right, ""),
            row("seqcst", Variant::Wrong, "a race"),
            row("loom", Variant::Right, "both are in"),
        ];
        let result = saved::round_trip((), &rows);
        assert!(result.report().contains("| Dekker, SeqCst | with a bug | finds it (1,234, 500 ms) |  |  |"));
        assert!(result.report().contains("**false alarm**"));
    }
}
