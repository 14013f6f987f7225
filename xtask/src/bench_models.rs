//! `cargo xtask bench models`: tests in process, beside loom and shuttle on the same tests (`corpus/rust-models`).

use crate::cargo::{build, root};
use crate::saved::{self, Row as _};
use crate::table::{Table, count, doing};
use crate::{Outcome, bad_usage};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The tools whose answers are compared.
const TOOLS: [&str; 3] = ["seqcst", "loom", "shuttle"];
/// The tools whose speed is compared, drawing lots on one test: only these two do.
const RANDOM: [&str; 2] = ["seqcst random", "shuttle"];
const SPEED_TEST: &str = "Dekker, SeqCst";

/// What came of one test with one tool.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    tool: String,
    test: String,
    /// There is a bug.
    wrong: bool,
    /// What the tool said; nothing: it found nothing.
    found: String,
    executions: u64,
    seconds: f64,
    cpu_seconds: f64,
}

/// A whole result.
pub type Measured = saved::Measured<Row>;

/// Runs `bench models`.
pub fn run(args: &[&str]) -> Outcome {
    let save_to = match args {
        [] => None,
        ["--save", file] => Some(*file),
        _ => return bad_usage("`bench models` takes nothing but `--save FILE`"),
    };
    doing("building …");
    let manifest = root().join("corpus/rust-models/Cargo.toml").display().to_string();
    let built = build(&["build", "--quiet", "--release", "--manifest-path", &manifest])?;
    let program = built.first().ok_or("cargo built nothing")?;
    let tests = output(&program.path, &[])?;
    let mut result = Measured::here();
    for test in tests.lines() {
        for variant in ["right", "wrong"] {
            let tools = TOOLS.iter().chain(RANDOM.iter().filter(|tool| !TOOLS.contains(tool)));
            for tool in tools.filter(|tool| TOOLS.contains(tool) || (test, variant) == (SPEED_TEST, "right"))
            {
                doing(&format!("{test} ({variant}) with {tool} …"));
                let line = output(&program.path, &[tool, test, variant])?;
                let row = serde_json::from_str(&line).ok().and_then(|value| Row::from_json(&value));
                result.rows.push(row.ok_or_else(|| format!("{tool}, {test}: `{line}`"))?);
            }
        }
    }
    doing("");
    println!("{}", result.report());
    result.save(save_to)
}

fn output(program: &Path, args: &[&str]) -> Outcome<String> {
    let output = Command::new(program).args(args).output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads what `--save` wrote.
pub fn load(path: &Path) -> Outcome<Measured> {
    saved::load(path)
}

impl saved::Row for Row {
    fn from_json(value: &Value) -> Option<Row> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Row {
            tool: text("tool")?,
            test: text("test")?,
            wrong: text("variant")? == "wrong",
            found: text("found")?,
            executions: value["executions"].as_u64()?,
            seconds: value["seconds"].as_f64()?,
            cpu_seconds: value["cpu_seconds"].as_f64()?,
        })
    }

    fn to_json(&self) -> Value {
        let Row { tool, test, wrong, found, executions, seconds, cpu_seconds } = self;
        let variant = if *wrong { "wrong" } else { "right" };
        json!({ "tool": tool, "test": test, "variant": variant, "found": found, "executions": executions, "seconds": seconds,
            "cpu_seconds": cpu_seconds })
    }
}

impl Row {
    /// `found in 2`, `misses it`, …
    fn verdict(&self) -> String {
        let executions = count(self.executions);
        let time = milliseconds(self.seconds);
        match (self.wrong, self.found.as_str()) {
            (_, gave_up) if gave_up.starts_with("gave up") => format!("**gives up** ({executions}, {time})"),
            (true, "") => format!("**misses it** ({executions}, {time})"),
            (true, _) => format!("finds it ({executions}, {time})"),
            (false, "") => format!("fine ({executions}, {time})"),
            (false, _) => format!("**false alarm** ({executions}, {time})"),
        }
    }
}

fn milliseconds(seconds: f64) -> String {
    let ms = seconds * 1e3;
    if ms < 10.0 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
}

impl Measured {
    fn row(&self, tool: &str, test: &str, wrong: bool) -> Option<&Row> {
        self.rows.iter().find(|row| (row.tool.as_str(), row.test.as_str(), row.wrong) == (tool, test, wrong))
    }

    /// Tables for documents.
    pub fn report(&self) -> String {
        let mut table = Table::new(
            &["test", "", "seqcst", "loom", "shuttle"],
            &["test", "", "seqcst", "loom", "shuttle"],
        );
        for row in self.rows.iter().filter(|row| row.tool == TOOLS[0]) {
            let variant = if row.wrong { "with a bug" } else { "correct" };
            let cell =
                |tool: &&str| self.row(tool, &row.test, row.wrong).map_or_else(String::new, Row::verdict);
            table.row(
                [row.test.clone(), variant.to_owned()].into_iter().chain(TOOLS.iter().map(cell)).collect(),
            );
        }
        let speed = |tool: &&str| {
            let row = self.row(tool, SPEED_TEST, false)?;
            let rate = (row.executions as f64 / row.cpu_seconds / 1000.0).round() as u64 * 1000;
            Some(format!("{} {}", count(rate), tool.split(' ').next()?))
        };
        let speeds: Vec<String> = RANDOM.iter().filter_map(speed).collect();
        format!(
            "{}, commit {}. In parentheses: executions, time.\n\n{}\nRandom executions of Dekker's per second of CPU time: {}.\n",
            self.machine,
            self.commit,
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
        let row = |tool: &str, wrong, found: &str| Row {
            tool: tool.to_owned(),
            test: SPEED_TEST.to_owned(),
            wrong,
            found: found.to_owned(),
            executions: 1234,
            seconds: 0.5,
            cpu_seconds: 0.25,
        };
        let rows =
            vec![row("seqcst", false, ""), row("seqcst", true, "a race"), row("loom", false, "both are in")];
        let result = saved::round_trip(&rows);
        assert!(result.report().contains("| Dekker, SeqCst | with a bug | finds it (1,234, 500 ms) |  |  |"));
        assert!(result.report().contains("**false alarm**"));
    }
}
