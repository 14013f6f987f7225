//! `cargo xtask bench check`: states, seconds and memory of every algorithm of the corpus, with and without reductions.
//!
//! Counts come first: they do not depend on the machine (as long as nothing is found and no limit is reached; several
//! workers may find a violation after a few states more or less).

use crate::cargo::{root, seqcst};
use crate::corpus::{Program, programs};
use crate::measure::{Numbers, best_of};
use crate::original::{self, Published};
use crate::table::{Table, count, doing, megabytes, seconds};
use crate::{Outcome, bad_usage};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MODELS: [&str; 3] = ["ra", "rc20", "tso"];
const NO_REDUCTIONS: [&str; 3] = ["--no-symmetry", "--no-abstraction", "--no-por"];

/// When to give up, for runs with and without reductions.
struct Limits {
    reduced: [&'static str; 4],
    full: [&'static str; 4],
    /// The latter in words.
    words: &'static str,
}

const USUAL: Limits = Limits {
    reduced: ["--timeout", "10m", "--max-states", "400000000"],
    full: ["--timeout", "60", "--max-states", "50000000"],
    words: "Runs without reductions give up after 60 s or 50 million states.",
};
const QUICK: Limits = Limits {
    reduced: ["--timeout", "2m", "--max-states", "50000000"],
    full: ["--timeout", "5", "--max-states", "2000000"],
    words: "Runs without reductions give up after 5 s or 2 million states.",
};

/// A line of the result, as saved.
pub struct Row {
    /// The program.
    pub program: String,
    /// The model.
    pub model: String,
    /// With reductions.
    pub reduced: Numbers,
    /// Without.
    pub full: Numbers,
}

/// A result, as saved: one JSON object per line.
#[derive(Default)]
pub struct Measured {
    /// What machine it was, in words.
    pub machine: String,
    /// What was measured.
    pub commit: String,
    /// When runs without reductions gave up, in words.
    pub limits: String,
    /// The algorithms of the corpus.
    pub rows: Vec<Row>,
    /// Programs published with the original tool.
    pub published: Vec<Published>,
    /// All of the paper's programs together, in words.
    pub together: Option<String>,
}

/// Reads what `--save` wrote.
pub fn load(path: &Path) -> Outcome<Measured> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Measured::from_lines(&text)
        .map_err(|line| format!("{}:{line}: not a line of a saved benchmark", path.display()))
}

impl Measured {
    /// An error is the number of the line that makes no sense.
    fn from_lines(text: &str) -> Result<Measured, usize> {
        let mut measured = Measured::default();
        for (number, line) in text.lines().enumerate() {
            let value: Option<Value> = serde_json::from_str(line).ok();
            value.and_then(|value| measured.add(&value)).ok_or(number + 1)?;
        }
        Ok(measured)
    }

    fn add(&mut self, line: &Value) -> Option<()> {
        let text = |key: &str| line[key].as_str().map(str::to_owned);
        if let Some(machine) = text("machine") {
            self.machine = machine;
            self.commit = text("commit")?;
            self.limits = text("limits")?;
            self.together = text("together");
        } else if let Some(file) = text("published") {
            let numbers = Numbers::from_json(&line["numbers"])?;
            self.published.push(Published { file, model: text("model")?, numbers });
        } else {
            let numbers = |key: &str| Numbers::from_json(&line[key]);
            let (reduced, full) = (numbers("reduced")?, numbers("full")?);
            self.rows.push(Row { program: text("program")?, model: text("model")?, reduced, full });
        }
        Some(())
    }

    fn save(&self, path: &Path) -> Outcome {
        fs::write(path, self.to_lines()).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn to_lines(&self) -> String {
        let Measured { machine, commit, limits, together, .. } = self;
        let head = json!({ "machine": machine, "commit": commit, "limits": limits, "together": together });
        let mut lines = vec![head];
        lines.extend(self.rows.iter().map(|Row { program, model, reduced, full }| {
            let (reduced, full) = (reduced.to_json(), full.to_json());
            json!({ "program": program, "model": model, "reduced": reduced, "full": full })
        }));
        lines.extend(self.published.iter().map(|Published { file, model, numbers }| {
            json!({ "published": file, "model": model, "numbers": numbers.to_json() })
        }));
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// Processor and number of cores.
pub fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores", name.map_or("unknown processor", |(_, name)| name.trim()))
}

/// The commit that is checked out, and whether there is more.
pub fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(root()).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed =
        git(&["status", "--porcelain", "--untracked-files=no", "--", "crates"]).is_none_or(|s| !s.is_empty());
    let commit = git(&["rev-parse", "--short", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    format!("{commit}{}", if changed { " with changes" } else { "" })
}

/// A copy of the tool that no build replaces while it is being measured.
fn apart(tool: &Path) -> Outcome<PathBuf> {
    let copy = tool.with_file_name("seqcst-bench");
    fs::copy(tool, &copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    Ok(copy)
}

/// Runs `bench check`.
pub fn run(args: &[&str]) -> Outcome {
    let Some((&"check", args)) = args.split_first() else {
        return bad_usage("`bench` takes the command to measure: check or run");
    };
    let (mut limits, mut save_to, mut compare_to, mut filter) = (&USUAL, None, None, "");
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        match arg {
            "--quick" => limits = &QUICK,
            "--save" => save_to = Some(args.next().ok_or("`--save` needs a file")?),
            "--compare" => compare_to = Some(args.next().ok_or("`--compare` needs a file")?),
            text if !text.starts_with('-') && filter.is_empty() => filter = text,
            other => return bad_usage(&format!("`bench check` does not know `{other}`")),
        }
    }
    let before = compare_to.map(|file| load(Path::new(file))).transpose()?;
    let tool = apart(&seqcst(true)?)?;
    let mut result = Measured {
        machine: machine(),
        commit: commit(),
        limits: limits.words.to_owned(),
        ..Measured::default()
    };
    for program in programs("algorithms")?.iter().filter(|program| program.name.contains(filter)) {
        for model in MODELS {
            doing(&format!("{} under {model} …", program.name));
            result.rows.push(row(&tool, program, model, limits)?);
        }
    }
    if filter.is_empty() {
        result.published = original::measure_each(&tool, &limits.reduced)?;
        result.together = original::measure_together(&tool)?;
    }
    doing("");
    println!("{} (commit {})\n\n{}", result.machine, result.commit, table(&result.rows).text());
    if !result.published.is_empty() {
        println!("{}", original::comparison(&result.published).text());
    }
    result.together.iter().for_each(|words| println!("{words}"));
    if let Some(before) = before {
        println!("\n{}", changes(&before.rows, &result.rows));
    }
    save_to.map_or(Ok(()), |file| result.save(Path::new(file)))
}

fn row(tool: &Path, program: &Program, model: &str, limits: &Limits) -> Outcome<Row> {
    let numbers = |limits: &[&str], more: &[&str]| {
        let flags: Vec<&str> = program.flags.iter().map(String::as_str).collect();
        best_of(tool, &program.path, model, &[&flags[..], limits, more].concat())
    };
    let reduced = numbers(&limits.reduced, &[])?;
    let full = numbers(&limits.full, &NO_REDUCTIONS)?;
    let expected = program.expected.iter().find(|(name, _)| name == model).map(|(_, verdict)| verdict);
    for found in [&reduced, &full] {
        if !found.gave_up() && Some(&found.verdict) != expected {
            let expected = expected.map_or("nothing", |verdict| verdict);
            return Err(format!(
                "{} under {model}: expected {expected}, got {}",
                program.name, found.verdict
            ));
        }
    }
    Ok(Row { program: program.name.clone(), model: model.to_owned(), reduced, full })
}

/// The result as a table.
pub fn table(rows: &[Row]) -> Table {
    let header = [
        "program",
        "model",
        "verdict",
        "states",
        "transitions",
        "seconds",
        "MB",
        "unreduced: states",
        "seconds ",
        "MB ",
        "fewer states",
        "faster",
    ];
    let mut table = Table::new(&header, &["program", "model", "verdict"]);
    for Row { program, model, reduced, full } in rows {
        let stopped = |number: String| if full.gave_up() { format!("gave up at {number}") } else { number };
        table.row(vec![
            program.clone(),
            model.clone(),
            reduced.verdict.clone(),
            count(reduced.states),
            count(reduced.transitions),
            seconds(reduced.seconds),
            megabytes(reduced.memory),
            stopped(count(full.states)),
            seconds(full.seconds),
            megabytes(full.memory),
            ratio(full, reduced, full.states as f64 / reduced.states.max(1) as f64),
            ratio(full, reduced, full.seconds.max(0.01) / reduced.seconds.max(0.01)),
        ]);
    }
    table
}

/// A ratio: a lower bound if only the larger search gave up, nothing if the smaller one did.
fn ratio(full: &Numbers, reduced: &Numbers, ratio: f64) -> String {
    let at_least = if full.gave_up() { "> " } else { "" };
    if reduced.gave_up() { "–".to_owned() } else { format!("{at_least}{ratio:.1}×") }
}

/// What is different from an earlier result.
fn changes(before: &[Row], now: &[Row]) -> String {
    let mut out = String::new();
    for row in now {
        let same = |old: &&Row| old.program == row.program && old.model == row.model;
        let Some(old) = before.iter().find(same) else { continue };
        let (was, is) = (&old.reduced, &row.reduced);
        let slower = is.seconds > 0.1 && is.seconds > 1.25 * was.seconds;
        let faster = was.seconds > 0.1 && was.seconds > 1.25 * is.seconds;
        if was.states != is.states || was.verdict != is.verdict || slower || faster {
            out += &format!(
                "{} under {}: {} → {}, {} → {} states, {} → {} s\n",
                row.program,
                row.model,
                was.verdict,
                is.verdict,
                count(was.states),
                count(is.states),
                seconds(was.seconds),
                seconds(is.seconds)
            );
        }
    }
    if out.is_empty() { "as before\n".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        let numbers = |verdict: &str, states| Numbers {
            verdict: verdict.to_owned(),
            states,
            transitions: 7,
            seconds: 0.25,
            cpu_seconds: 0.5,
            memory: 4_000_000,
        };
        let (program, model) = ("rcu".to_owned(), "ra".to_owned());
        let (reduced, full) = (numbers("robust", 10), numbers("gave-up", 1000));
        let published =
            Published { file: "a/b.tpl".to_owned(), model: model.clone(), numbers: reduced.clone() };
        let measured = Measured {
            machine: "a machine".to_owned(),
            commit: "abc".to_owned(),
            limits: "none".to_owned(),
            rows: vec![Row { program, model, reduced, full }],
            published: vec![published],
            together: Some("all".to_owned()),
        };
        let lines = measured.to_lines();
        assert_eq!(Measured::from_lines(&lines).map(|again| again.to_lines()), Ok(lines));
        assert_eq!(Measured::from_lines("{}\n").err(), Some(1));
        assert!(table(&measured.rows).text().contains("> 100.0×"));
        assert_eq!(changes(&measured.rows, &measured.rows), "as before\n");
    }
}
