//! Results of studies: saved as one JSON object per line, shown as tables.

use super::reports::Found;
use crate::Outcome;
use crate::table::{Table, doing, seconds};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A library that was looked at.
#[derive(Clone, PartialEq, Debug)]
pub struct Study {
    /// What it is called here.
    pub name: String,
    /// The library and its version.
    pub library: String,
    /// What was run.
    pub what: String,
    /// Wall-clock time of all runs.
    pub seconds: f64,
    /// What was found.
    pub found: Found,
}

/// A known bug that was looked for.
#[derive(Clone, PartialEq, Debug)]
pub struct BugFound {
    /// The library and its version.
    pub library: String,
    /// The version that does not have it.
    pub fixed: Option<String>,
    /// The access that was pointed at, if it was.
    pub met: Option<String>,
    /// After how many runs.
    pub runs: usize,
    /// Whether the version without the bug is reported on, too.
    pub still: Option<bool>,
}

/// A whole result.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Record {
    /// What machine it was, in words.
    pub machine: String,
    /// What was measured.
    pub commit: String,
    /// Libraries.
    pub studies: Vec<Study>,
    /// Known bugs.
    pub bugs: Vec<BugFound>,
}

/// Reads what `--save` wrote.
pub fn load(path: &Path) -> Outcome<Record> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Record::from_lines(&text)
        .map_err(|line| format!("{}:{line}: not a line of saved studies", path.display()))
}

impl Record {
    /// Adds a study, and says so.
    pub fn add_study(&mut self, study: Study) {
        doing("");
        let found = |class: &str| study.found.count(class);
        let numbers =
            format!("{} stale, {} races, {} benign waits", found("stale"), found("race"), found("benign"));
        println!("{:<16} {}, {numbers}, {} s", study.name, study.what, seconds(study.seconds));
        self.studies.push(study);
    }

    /// Adds a bug, and says so.
    pub fn add_bug(&mut self, bug: BugFound) {
        doing("");
        let what = bug.met.clone().unwrap_or_else(|| "not pointed at".to_owned());
        println!("{}: {what}, run {}", bug.library, bug.runs);
        self.bugs.push(bug);
    }

    /// Writes it to a file. What is in the file and not here stays: studies may be run one by one.
    pub fn save(&self, path: &Path) -> Outcome {
        let mut all = if path.is_file() { load(path)? } else { Record::default() };
        (all.machine, all.commit) = (self.machine.clone(), self.commit.clone());
        for study in &self.studies {
            match all.studies.iter_mut().find(|old| old.name == study.name) {
                Some(old) => *old = study.clone(),
                None => all.studies.push(study.clone()),
            }
        }
        for bug in &self.bugs {
            match all.bugs.iter_mut().find(|old| old.library == bug.library) {
                Some(old) => *old = bug.clone(),
                None => all.bugs.push(bug.clone()),
            }
        }
        fs::write(path, all.to_lines()).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn to_lines(&self) -> String {
        let mut lines = vec![json!({ "machine": self.machine, "commit": self.commit })];
        lines.extend(self.studies.iter().map(|study| {
            let Study { name, library, what, seconds, found } = study;
            json!({ "study": name, "library": library, "what": what, "seconds": seconds, "found": found.to_json() })
        }));
        lines.extend(self.bugs.iter().map(|bug| {
            let BugFound { library, fixed, met, runs, still } = bug;
            json!({ "bug": library, "fixed": fixed, "met": met, "runs": runs, "still": still })
        }));
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// An error is the number of the line that makes no sense.
    fn from_lines(text: &str) -> Result<Record, usize> {
        let mut record = Record::default();
        for (number, line) in text.lines().enumerate() {
            let value: Option<Value> = serde_json::from_str(line).ok();
            value.and_then(|value| record.read(&value)).ok_or(number + 1)?;
        }
        Ok(record)
    }

    fn read(&mut self, line: &Value) -> Option<()> {
        let text = |key: &str| line[key].as_str().map(str::to_owned);
        if let Some(machine) = text("machine") {
            self.machine = machine;
            self.commit = text("commit")?;
        } else if let Some(name) = text("study") {
            let (library, what) = (text("library")?, text("what")?);
            let (seconds, found) = (line["seconds"].as_f64()?, Found::from_json(&line["found"])?);
            self.studies.push(Study { name, library, what, seconds, found });
        } else {
            let (library, fixed, met) = (text("bug")?, text("fixed"), text("met"));
            let (runs, still) = (line["runs"].as_u64()? as usize, line["still"].as_bool());
            self.bugs.push(BugFound { library, fixed, met, runs, still });
        }
        Some(())
    }
}

/// Everything, for a document or a terminal.
pub fn tables(record: &Record) -> String {
    let mut out = format!("{}, commit {}.\n", record.machine, record.commit);
    if !record.studies.is_empty() {
        out += &format!("\n{}", studies(&record.studies).markdown());
    }
    if !record.bugs.is_empty() {
        out += &format!("\n{}", bugs(&record.bugs).markdown());
    }
    out
}

fn studies(studies: &[Study]) -> Table {
    let header = [
        "study",
        "library",
        "what ran",
        "stale loads",
        "stale stores",
        "stale updates",
        "races",
        "benign waits",
        "s",
    ];
    let mut table = Table::new(&header, &["study", "library", "what ran"]);
    for study in studies {
        let mut cells = vec![study.name.clone(), study.library.clone(), study.what.clone()];
        let classes = ["stale load", "stale store", "stale update", "race", "benign wait"];
        cells.extend(classes.map(|class| study.found.count(class).to_string()));
        cells.push(seconds(study.seconds));
        table.row(cells);
    }
    table
}

fn bugs(bugs: &[BugFound]) -> Table {
    let header = ["library", "pointed at", "run", "fixed in", "reports there"];
    let mut table = Table::new(&header, &["library", "pointed at", "fixed in", "reports there"]);
    for bug in bugs {
        table.row(vec![
            bug.library.clone(),
            bug.met.clone().unwrap_or_else(|| "no".to_owned()),
            bug.runs.to_string(),
            bug.fixed.clone().unwrap_or_else(|| "–".to_owned()),
            bug.still.map_or("–", |still| if still { "others" } else { "none" }).to_owned(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        let found = Found::from_json(&json!([["stale load", "a", "b", 3]]));
        let study = Study {
            name: "a".to_owned(),
            library: "b".to_owned(),
            what: "c".to_owned(),
            seconds: 1.5,
            found: found.expect("a pair"),
        };
        let bug = BugFound {
            library: "d".to_owned(),
            fixed: Some("e".to_owned()),
            met: None,
            runs: 3,
            still: Some(true),
        };
        let record =
            Record { machine: "m".to_owned(), commit: "n".to_owned(), studies: vec![study], bugs: vec![bug] };
        assert_eq!(Record::from_lines(&record.to_lines()), Ok(record));
        assert_eq!(Record::from_lines("{}\n"), Err(1));
    }
}
