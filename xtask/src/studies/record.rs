//! Results of studies, and their tables.

use super::reports::Found;
use crate::table::{Table, doing, seconds};
use crate::{Outcome, saved};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One study, or one known bug.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Row {
    Study(Study),
    Bug(BugFound),
}

/// A whole result.
pub type Measured = saved::Measured<Row>;

/// A library that was looked at.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Study {
    /// What it is called here.
    #[serde(rename = "study")]
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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BugFound {
    /// The library and its version.
    #[serde(rename = "bug")]
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

impl Row {
    /// What it is about, by which a newer result replaces an older one.
    fn key(&self) -> (bool, &str) {
        match self {
            Row::Study(study) => (false, &study.name),
            Row::Bug(bug) => (true, &bug.library),
        }
    }

    /// Prints it in one line.
    pub fn announce(&self) {
        doing("");
        match self {
            Row::Study(Study { name, what, seconds: time, found, .. }) => println!(
                "{name:<16} {what}, {} stale, {} races, {} benign waits, {} s",
                found.count("stale"),
                found.count("race"),
                found.count("benign"),
                seconds(*time)
            ),
            Row::Bug(BugFound { library, met, runs, .. }) => {
                println!("{library}: {}, run {runs}", met.as_deref().unwrap_or("not pointed at"));
            }
        }
    }
}

impl Measured {
    /// Writes it to a file. What is in the file and not here stays: studies may be run one by one.
    pub fn merge_into(&self, file: Option<&Path>) -> Outcome {
        let mut all = self.clone();
        if let Some(file) = file.filter(|file| file.is_file()) {
            all.rows = saved::load::<Row, ()>(file)?.rows;
            for row in &self.rows {
                match all.rows.iter_mut().find(|old| old.key() == row.key()) {
                    Some(old) => *old = row.clone(),
                    None => all.rows.push(row.clone()),
                }
            }
            // Bugs last.
            all.rows.sort_by_key(|row| row.key().0);
        }
        all.save(file)
    }

    /// Everything, for a document or a terminal.
    pub fn report(&self) -> String {
        let (mut found, mut known) = (Vec::new(), Vec::new());
        for row in &self.rows {
            match row {
                Row::Study(study) => found.push(study),
                Row::Bug(bug) => known.push(bug),
            }
        }
        let mut out = self.origin() + "\n";
        if !found.is_empty() {
            out += &format!("\n{}", studies(&found).markdown());
        }
        if !known.is_empty() {
            out += &format!("\n{}", bugs(&known).markdown());
        }
        out
    }
}

fn studies(studies: &[&Study]) -> Table {
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

fn bugs(bugs: &[&BugFound]) -> Table {
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
        let found = serde_json::from_str(r#"[["stale load", "a", "b", 3]]"#);
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
        saved::round_trip((), &[Row::Study(study), Row::Bug(bug)]);
    }
}
