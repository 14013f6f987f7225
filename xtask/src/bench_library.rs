//! `cargo xtask bench library`: proofs of the libraries in `corpus/library`, and what is said about weakened copies of them.
//!
//! A copy that is called robust although the exhaustive checker finds a client that is not would be a wrong proof: then the
//! benchmark fails.

use crate::cargo::{root, seqcst};
use crate::table::{Table, doing, seconds};
use crate::{Outcome, saved};
use seqcst_testing::corpus::{Program, Verdict, programs};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "corpus/library";

/// For a question, a proof, and the search for a client.
const USUAL: [&str; 6] = ["--time-limit", "20", "--proof-limit", "120", "--try-time", "60"];
/// The same for weakened copies, of which there are many.
const MUTANTS: [&str; 6] = ["--time-limit", "20", "--proof-limit", "30", "--try-time", "20"];
/// With `--quick`.
const QUICK: [&str; 6] = ["--time-limit", "5", "--proof-limit", "20", "--try-time", "15"];

/// A library or a weakened copy of one, and what was said about it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    library: String,
    /// What is weaker; empty for the library itself.
    change: String,
    /// What the header says: `robust`, `not-robust`, `unproved`.
    expected: String,
    verdict: String,
    notion: String,
    /// `head: destination; next: source`.
    classes: String,
    questions: u64,
    seconds: f64,
    /// Does a client confirm that it is not robust? `None`: none was looked for.
    confirmed: Option<bool>,
}

/// A whole result.
pub type Measured = saved::Measured<Row>;

/// What to measure.
#[derive(clap::Args)]
pub struct Options {
    /// Give up early, and weaken only what is robust
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    save: saved::Save,
    /// Only libraries whose name contains this
    #[arg(default_value = "", hide_default_value = true)]
    filter: String,
}

/// Runs `bench library`.
pub fn run(options: &Options) -> Outcome {
    doing("building …");
    let tool = seqcst(true)?;
    let mut result = Measured::here(());
    for Program { name, header, .. } in
        programs("library", &["c"])?.iter().filter(|library| library.name.contains(&options.filter))
    {
        let expected = header.library.map_or("", Verdict::name);
        doing(&format!("{name} …"));
        let (own, weakened) = if options.quick { (QUICK, QUICK) } else { (USUAL, MUTANTS) };
        result.rows.extend(measure(&tool, name, expected, &own)?);
        // Where there is no proof to begin with, weaker copies take long and say little.
        if !options.quick || expected == "robust" {
            doing(&format!("{name}, weakened …"));
            result.rows.extend(measure(&tool, name, expected, &[&["--mutants"], &weakened[..]].concat())?);
        }
    }
    doing("");
    println!("{}", result.report());
    result.save(options.save.save.as_deref())?;
    let wrong: Vec<String> = result.rows.iter().filter(|row| row.is_wrong()).map(Row::name).collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("proved robust, but a client is not:\n  {}", wrong.join("\n  "))),
    }
}

/// All answers about a library.
fn measure(tool: &Path, name: &str, expected: &str, flags: &[&str]) -> Outcome<Vec<Row>> {
    let file = format!("{FOLDER}/{name}.c");
    let mut command = Command::new(tool);
    command.args(["library", "--format", "json"]).args(flags).arg(&file).current_dir(root());
    let output = command.output().map_err(|error| format!("seqcst: {error}"))?;
    if output.status.code() == Some(2) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let row = |line: &str| Row::of_answer(&serde_json::from_str(line).ok()?, name, expected);
    let rows: Vec<Row> = text.lines().filter_map(row).collect();
    if rows.len() == text.lines().count() {
        Ok(rows)
    } else {
        Err(format!("{file}: an answer that is no answer"))
    }
}

impl Row {
    fn of_answer(value: &Value, name: &str, expected: &str) -> Option<Row> {
        let class = |class: &Value| {
            let conditions: Vec<&str> =
                class["conditions"].as_array()?.iter().filter_map(Value::as_str).collect();
            let conditions = match (class["proved"].as_bool()?, conditions.is_empty()) {
                (false, _) => "none".to_owned(),
                (true, true) => "never written".to_owned(),
                (true, false) => conditions.join(", "),
            };
            Some(format!("`{}`: {conditions}", class["class"].as_str()?))
        };
        let classes = value["classes"].as_array()?.iter().map(class).collect::<Option<Vec<_>>>()?;
        Some(Row {
            library: name.to_owned(),
            change: value["mutant"]["change"].as_str().unwrap_or_default().to_owned(),
            expected: expected.to_owned(),
            verdict: value["verdict"].as_str()?.to_owned(),
            notion: value["notion"].as_str()?.to_owned(),
            classes: classes.join("; "),
            questions: value["questions"].as_u64()?,
            seconds: value["seconds"].as_f64()?,
            confirmed: value["client"]["confirmed"].as_bool(),
        })
    }

    fn name(&self) -> String {
        format!("{}: {}", self.library, self.change)
    }

    fn is_wrong(&self) -> bool {
        self.verdict == "robust" && self.confirmed == Some(true)
    }

    /// The answer in the words of the tables.
    fn words(&self) -> &'static str {
        match (self.verdict.as_str(), self.confirmed) {
            ("robust", _) => "robust",
            ("may-be-non-robust", Some(true)) => "refuted and confirmed",
            ("may-be-non-robust", _) => "may be non-robust",
            _ => "gave up",
        }
    }
}

impl Measured {
    /// Tables for documents: the libraries, and their weakened copies.
    pub fn report(&self) -> String {
        let (own, mutants): (Vec<&Row>, Vec<&Row>) = self.rows.iter().partition(|row| row.change.is_empty());
        let mut proofs = Table::new(
            &["library", "answer", "notion", "condition for each class of locations", "questions", "seconds"],
            &["library", "answer", "notion", "condition for each class of locations"],
        );
        for row in &own {
            let notion = if row.verdict == "robust" { row.notion.clone() } else { String::new() };
            let cells = [row.library.clone(), row.words().to_owned(), notion, row.classes.clone()];
            proofs.row(cells.into_iter().chain([row.questions.to_string(), seconds(row.seconds)]).collect());
        }
        const WORDS: [&str; 4] = ["robust", "refuted and confirmed", "may be non-robust", "gave up"];
        let mut table = Table::new(
            &["library", "copies", "robust", "refuted and confirmed", "may be non-robust", "gave up"],
            &["library"],
        );
        let counts = |rows: &[&Row]| WORDS.map(|word| rows.iter().filter(|row| row.words() == word).count());
        let mut names: Vec<&str> = mutants.iter().map(|row| row.library.as_str()).collect();
        names.dedup();
        for name in names {
            let rows: Vec<&Row> = mutants.iter().copied().filter(|row| row.library == name).collect();
            let cells = counts(&rows).map(|count| count.to_string());
            table.row([name.to_owned(), rows.len().to_string()].into_iter().chain(cells).collect());
        }
        let all = counts(&mutants);
        let cells = all.map(|count| count.to_string());
        table.row(["all".to_owned(), mutants.len().to_string()].into_iter().chain(cells).collect());
        let (confirmed, open) = (all[1], all[2]);
        let share = (100 * open).checked_div(confirmed + open).unwrap_or(0);
        let wrong = mutants.iter().filter(|row| row.is_wrong()).count();
        format!(
            "{}\n\n{}\nWeakened copies, each with one access or fence one step weaker:\n\n{}\nOf {} alarms {open} ({share} %) are \
             not confirmed by a client with up to 3 threads of up to 2 calls. Copies that are called robust although such a client is \
             not: {wrong}.\n",
            self.origin(),
            proofs.markdown(),
            table.markdown(),
            confirmed + open
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        let row = |change: &str, verdict: &str, confirmed| Row {
            library: "stack".to_owned(),
            change: change.to_owned(),
            expected: "robust".to_owned(),
            verdict: verdict.to_owned(),
            notion: "induced-subgraph".to_owned(),
            classes: "`head`: destination".to_owned(),
            questions: 7,
            seconds: 0.5,
            confirmed,
        };
        let rows = vec![
            row("", "robust", None),
            row("push: release → relaxed", "may-be-non-robust", Some(true)),
            row("pop: acquire → relaxed", "may-be-non-robust", Some(false)),
        ];
        let result = saved::round_trip((), &rows);
        let report = result.report();
        assert!(
            report.contains("| stack | robust | induced-subgraph | `head`: destination | 7 | 0.50 |"),
            "{report}"
        );
        assert!(report.contains("| all | 2 | 0 | 1 | 1 | 0 |"), "{report}");
        assert!(
            report.contains("Of 2 alarms 1 (50 %)")
                && report.contains("robust although such a client is not: 0"),
            "{report}"
        );
        assert!(row("x", "robust", Some(true)).is_wrong());
    }
}
