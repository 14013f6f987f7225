//! `cargo xtask bench library`: proofs of the libraries in `corpus/library`, and what is said about weakened copies of them.
//!
//! A copy that is called robust although the exhaustive checker finds a client that is not would be a wrong proof: then the
//! benchmark fails.

use crate::bench::{commit, machine};
use crate::cargo::{root, seqcst};
use crate::table::{Table, doing, seconds};
use crate::{Outcome, bad_usage};
use serde_json::{Value, json};
use std::fs;
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
#[derive(Clone, PartialEq, Debug)]
struct Row {
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
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Measured {
    machine: String,
    commit: String,
    rows: Vec<Row>,
}

/// Runs `bench library`.
pub fn run(args: &[&str]) -> Outcome {
    let (mut save_to, mut quick, mut filter) = (None, false, "");
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            "--save" => save_to = args.next().copied(),
            "--quick" => quick = true,
            name if !name.starts_with('-') => filter = name,
            _ => {
                return bad_usage(
                    "`bench library` takes `--quick`, `--save FILE` and a text to look for in names",
                );
            }
        }
    }
    doing("building …");
    let tool = seqcst(true)?;
    let mut result = Measured { machine: machine(), commit: commit(), rows: Vec::new() };
    for (name, expected) in libraries()?.into_iter().filter(|(name, _)| name.contains(filter)) {
        doing(&format!("{name} …"));
        let (own, weakened) = if quick { (QUICK, QUICK) } else { (USUAL, MUTANTS) };
        result.rows.extend(measure(&tool, &name, &expected, &own)?);
        // Where there is no proof to begin with, weaker copies take long and say little.
        if !quick || expected == "robust" {
            doing(&format!("{name}, weakened …"));
            result.rows.extend(measure(&tool, &name, &expected, &[&["--mutants"], &weakened[..]].concat())?);
        }
    }
    doing("");
    println!("{}", result.report());
    if let Some(file) = save_to {
        fs::write(file, result.to_lines()).map_err(|error| format!("{file}: {error}"))?;
    }
    let wrong: Vec<String> = result.rows.iter().filter(|row| row.is_wrong()).map(Row::name).collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("proved robust, but a client is not:\n  {}", wrong.join("\n  "))),
    }
}

/// Names of libraries, and what their headers say.
fn libraries() -> Outcome<Vec<(String, String)>> {
    let folder = root().join(FOLDER);
    let failed = |error: std::io::Error| format!("{FOLDER}: {error}");
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(".c") {
            let text = fs::read_to_string(folder.join(&name)).map_err(failed)?;
            let expected =
                text.lines().find_map(|line| line.strip_prefix("//@ verdict:")).unwrap_or_default();
            all.push((stem.to_owned(), expected.trim().to_owned()));
        }
    }
    all.sort();
    Ok(all)
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

/// Reads what `--save` wrote.
pub fn load(path: &Path) -> Outcome<Measured> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Measured::from_lines(&text).ok_or_else(|| format!("{}: not a saved benchmark", path.display()))
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

    fn to_json(&self) -> Value {
        let Row { library, change, expected, verdict, notion, classes, questions, seconds, confirmed } = self;
        json!({ "library": library, "change": change, "expected": expected, "verdict": verdict, "notion": notion,
            "classes": classes, "questions": questions, "seconds": seconds, "confirmed": confirmed })
    }

    fn from_json(value: &Value) -> Option<Row> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Row {
            library: text("library")?,
            change: text("change")?,
            expected: text("expected")?,
            verdict: text("verdict")?,
            notion: text("notion")?,
            classes: text("classes")?,
            questions: value["questions"].as_u64()?,
            seconds: value["seconds"].as_f64()?,
            confirmed: value["confirmed"].as_bool(),
        })
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
    fn to_lines(&self) -> String {
        let head = json!({ "machine": self.machine, "commit": self.commit });
        let lines = std::iter::once(head).chain(self.rows.iter().map(Row::to_json));
        lines.map(|line| format!("{line}\n")).collect()
    }

    fn from_lines(text: &str) -> Option<Measured> {
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).ok());
        let head = lines.next()??;
        let rows = lines.map(|line| Row::from_json(&line?)).collect::<Option<Vec<_>>>()?;
        let word = |name: &str| head[name].as_str().map(str::to_owned);
        Some(Measured { machine: word("machine")?, commit: word("commit")?, rows })
    }

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
            "{}, commit {}.\n\n{}\nWeakened copies, each with one access or fence one step weaker:\n\n{}\nOf {} alarms {open} ({share} %) are \
             not confirmed by a client with up to 3 threads of up to 2 calls. Copies that are called robust although such a client is \
             not: {wrong}.\n",
            self.machine,
            self.commit,
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
        let result = Measured { machine: "m".to_owned(), commit: "c".to_owned(), rows };
        assert_eq!(Measured::from_lines(&result.to_lines()), Some(result.clone()));
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
