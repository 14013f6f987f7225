//! `cargo xtask bench check`: states, seconds and memory of every algorithm of the corpus, with and without reductions.
//!
//! Counts come first: they do not depend on the machine (as long as nothing is found and no limit is reached; several
//! workers may find a violation after a few states more or less).

use crate::cargo::seqcst;
use crate::measure::{Numbers, best_of};
use crate::original::{self, Published};
use crate::table::{Table, count, doing, megabytes, seconds};
use crate::{Outcome, saved};
use seqcst_testing::corpus::{Program, programs};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

const MODELS: [&str; 4] = ["ra", "rc11", "rc20", "tso"];
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

/// A row of the result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Row {
    /// An algorithm of the corpus.
    Own(Reduction),
    /// A program published with the original tool.
    Published(Published),
}

/// What the reductions save on one program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reduction {
    program: String,
    model: String,
    /// With reductions.
    reduced: Numbers,
    /// Without.
    full: Numbers,
}

/// What is said of all rows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Notes {
    /// When runs without reductions gave up, in words.
    pub limits: String,
    /// All of the paper's programs together, in words.
    pub together: Option<String>,
}

/// A whole result.
pub type Measured = saved::Measured<Row, Notes>;

impl Measured {
    fn own(&self) -> impl Iterator<Item = &Reduction> {
        self.rows.iter().filter_map(|row| if let Row::Own(row) = row { Some(row) } else { None })
    }

    fn published(&self) -> Vec<&Published> {
        self.rows
            .iter()
            .filter_map(|row| if let Row::Published(row) = row { Some(row) } else { None })
            .collect()
    }

    /// The algorithms of the corpus.
    pub fn table(&self) -> Table {
        table(self.own())
    }

    /// The original tool beside ours; none if the published programs were not measured.
    pub fn comparison(&self) -> Option<Table> {
        let published = self.published();
        (!published.is_empty()).then(|| original::comparison(&published))
    }
}

/// A copy of the tool that no build replaces while it is being measured.
fn apart(tool: &Path) -> Outcome<PathBuf> {
    let copy = tool.with_file_name("seqcst-bench");
    fs::copy(tool, &copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    Ok(copy)
}

/// What to measure.
#[derive(clap::Args)]
pub struct Options {
    /// Give up early
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    save: saved::Save,
    /// Say what is different from a result saved before
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Measure the programs published with Rocker, too: its folders `pldi19` and `popl21` are here
    #[arg(long, value_name = "FOLDER")]
    published: Option<PathBuf>,
    /// Only programs whose name contains this
    #[arg(default_value = "", hide_default_value = true)]
    filter: String,
}

/// Runs `bench check`.
pub fn run(options: &Options) -> Outcome {
    let limits = if options.quick { &QUICK } else { &USUAL };
    let before: Option<Measured> = options.compare.as_deref().map(saved::load).transpose()?;
    let tool = apart(&seqcst(true)?)?;
    let mut result = Measured::here(Notes { limits: limits.words.to_owned(), together: None });
    for program in programs("algorithms", &["tpl", "litmus"])?
        .iter()
        .filter(|program| program.name.contains(&options.filter))
    {
        for model in MODELS {
            doing(&format!("{} under {model} …", program.name));
            result.rows.push(Row::Own(row(&tool, program, model, limits)?));
        }
    }
    if let Some(folder) = &options.published {
        let published = original::measure_each(&tool, folder, &limits.reduced)?;
        result.rows.extend(published.into_iter().map(Row::Published));
        result.notes.together = Some(original::measure_together(&tool, folder)?);
    }
    doing("");
    println!("{} (commit {})\n\n{}", result.machine, result.commit, result.table().text());
    if let Some(comparison) = result.comparison() {
        println!("{}", comparison.text());
    }
    result.notes.together.iter().for_each(|words| println!("{words}"));
    if let Some(before) = before {
        println!("\n{}", changes(&before, &result));
    }
    result.save(options.save.save.as_deref())
}

fn row(tool: &Path, program: &Program, model: &str, limits: &Limits) -> Outcome<Reduction> {
    let numbers = |limits: &[&str], more: &[&str]| {
        let flags: &[&str] = if program.header.deadlock { &["--deadlock"] } else { &[] };
        best_of(tool, &program.path, model, &[flags, limits, more].concat())
    };
    let reduced = numbers(&limits.reduced, &[])?;
    let full = numbers(&limits.full, &NO_REDUCTIONS)?;
    let expected = program.header.verdict(model).map_or("nothing", |verdict| verdict.name());
    for found in [&reduced, &full] {
        if !found.gave_up() && found.verdict != expected {
            return Err(format!(
                "{} under {model}: expected {expected}, got {}",
                program.name, found.verdict
            ));
        }
    }
    Ok(Reduction { program: program.name.clone(), model: model.to_owned(), reduced, full })
}

fn table<'a>(rows: impl Iterator<Item = &'a Reduction>) -> Table {
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
    for Reduction { program, model, reduced, full } in rows {
        let stopped = |number: String| if full.gave_up() { format!("gave up at {number}") } else { number };
        table.row(vec![
            program.clone(),
            model.clone(),
            reduced.verdict.clone(),
            count(reduced.states),
            count(reduced.transitions),
            seconds(reduced.usage.seconds),
            megabytes(reduced.usage.memory),
            stopped(count(full.states)),
            seconds(full.usage.seconds),
            megabytes(full.usage.memory),
            ratio(full, reduced, full.states as f64 / reduced.states.max(1) as f64),
            ratio(full, reduced, full.usage.seconds.max(0.01) / reduced.usage.seconds.max(0.01)),
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
fn changes(before: &Measured, now: &Measured) -> String {
    let mut out = String::new();
    for row in now.own() {
        let same = |old: &&Reduction| old.program == row.program && old.model == row.model;
        let Some(old) = before.own().find(same) else { continue };
        let (was, is) = (&old.reduced, &row.reduced);
        let (old_time, new_time) = (was.usage.seconds, is.usage.seconds);
        let slower = new_time > 0.1 && new_time > 1.25 * old_time;
        let faster = old_time > 0.1 && old_time > 1.25 * new_time;
        if was.states != is.states || was.verdict != is.verdict || slower || faster {
            out += &format!(
                "{} under {}: {} → {}, {} → {} states, {} → {} s\n",
                row.program,
                row.model,
                was.verdict,
                is.verdict,
                count(was.states),
                count(is.states),
                seconds(old_time),
                seconds(new_time)
            );
        }
    }
    if out.is_empty() { "as before\n".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Usage;

    #[test]
    fn what_is_saved_can_be_read() {
        let numbers = |verdict: &str, states| Numbers {
            verdict: verdict.to_owned(),
            states,
            transitions: 7,
            usage: Usage { seconds: 0.25, cpu_seconds: 0.5, memory: 4_000_000 },
        };
        let (program, model) = ("rcu".to_owned(), "ra".to_owned());
        let (reduced, full) = (numbers("robust", 10), numbers("gave-up", 1000));
        let published =
            Published { file: "a/b.tpl".to_owned(), model: model.clone(), numbers: reduced.clone() };
        let rows = [Row::Own(Reduction { program, model, reduced, full }), Row::Published(published)];
        let notes = Notes { limits: "none".to_owned(), together: Some("all".to_owned()) };
        let measured = saved::round_trip(notes, &rows);
        assert!(measured.table().text().contains("> 100.0×"));
        assert_eq!(changes(&measured, &measured), "as before\n");
    }
}
