//! Results of benchmarks and studies as they are saved: one JSON object per line, the first about the machine, the others one
//! row each.

use crate::Outcome;
use crate::cargo::root;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `--save`, which every benchmark has.
#[derive(clap::Args)]
pub struct Save {
    /// Keep the result for the documents, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

/// A whole result: where it was measured, and its rows. `Notes` are what only one benchmark says of all rows together.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Measured<R, Notes = ()> {
    /// Processor and number of cores.
    pub machine: String,
    /// The commit that was measured.
    pub commit: String,
    #[serde(flatten)]
    pub notes: Notes,
    #[serde(skip, default = "Vec::new")]
    pub rows: Vec<R>,
}

/// Reads what [`Measured::save`] wrote.
pub fn load<R: DeserializeOwned, Notes: DeserializeOwned>(path: &Path) -> Outcome<Measured<R, Notes>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Measured::from_lines(&text)
        .map_err(|line| format!("{}:{line}: not a line of a saved result", path.display()))
}

impl<R, Notes> Measured<R, Notes> {
    /// No rows yet, on this machine, of the commit that is checked out.
    pub fn here(notes: Notes) -> Measured<R, Notes> {
        Measured { machine: machine(), commit: commit(), notes, rows: Vec::new() }
    }

    /// How every report begins.
    pub fn origin(&self) -> String {
        format!("{}, commit {}.", self.machine, self.commit)
    }
}

impl<R: Serialize, Notes: Serialize> Measured<R, Notes> {
    /// Writes it to a file, if there is one.
    pub fn save(&self, file: Option<&Path>) -> Outcome {
        let Some(file) = file else { return Ok(()) };
        let text = self.to_lines().map_err(|error| error.to_string())?;
        fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
    }

    fn to_lines(&self) -> serde_json::Result<String> {
        let head = serde_json::to_value(self);
        let rows = self.rows.iter().map(serde_json::to_value);
        std::iter::once(head).chain(rows).map(|line| Ok(format!("{}\n", line?))).collect()
    }
}

impl<R: DeserializeOwned, Notes: DeserializeOwned> Measured<R, Notes> {
    /// An error is the number of the line that makes no sense.
    fn from_lines(text: &str) -> Result<Measured<R, Notes>, usize> {
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let mut measured: Measured<R, Notes> = serde_json::from_str(head).map_err(|_| 1_usize)?;
        for (number, line) in lines.enumerate() {
            measured.rows.push(serde_json::from_str(line).map_err(|_| number + 2)?);
        }
        Ok(measured)
    }
}

fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores", name.map_or("unknown processor", |(_, name)| name.trim()))
}

/// The commit that is checked out, and whether there is more.
fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(root()).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed =
        git(&["status", "--porcelain", "--untracked-files=no", "--", "crates"]).is_none_or(|s| !s.is_empty());
    let commit = git(&["rev-parse", "--short", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    format!("{commit}{}", if changed { " with changes" } else { "" })
}

/// Writes rows and reads them again: they must be the same. For the tests of those who have rows.
#[cfg(test)]
pub fn round_trip<R, Notes>(notes: Notes, rows: &[R]) -> Measured<R, Notes>
where
    R: Serialize + DeserializeOwned + Clone + PartialEq + std::fmt::Debug,
    Notes: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    type Read<R, Notes> = Result<Measured<R, Notes>, usize>;
    let result =
        Measured { machine: "a machine".to_owned(), commit: "abc".to_owned(), notes, rows: rows.to_vec() };
    let lines = result.to_lines().expect("rows are plain data");
    let read = |text: &str| -> Read<R, Notes> { Measured::from_lines(text) };
    assert_eq!(read(&lines).as_ref(), Ok(&result));
    assert_eq!(read("{}\n"), Err(1));
    assert_eq!(read(""), Err(1));
    assert_eq!(read(&(lines + "{}\n")), Err(rows.len() + 2));
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Every saved result in the documents is read as its benchmark reads it, and written again without a field lost.
    fn unchanged<R: Serialize + DeserializeOwned, Notes: Serialize + DeserializeOwned>(name: &str) {
        let text = fs::read_to_string(root().join("docs").join(name)).expect("a saved result");
        let result = Measured::<R, Notes>::from_lines(&text);
        let written = result.unwrap_or_else(|line| panic!("{name}:{line}")).to_lines().expect("plain data");
        let value = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
        for (before, after) in text.lines().zip(written.lines()) {
            assert_eq!(value(before), value(after), "{name}");
        }
        assert_eq!(text.lines().count(), written.lines().count(), "{name}");
    }

    #[test]
    fn saved_results_are_still_readable() {
        unchanged::<crate::bench::Row, crate::bench::Notes>("bench-check.jsonl");
        unchanged::<crate::bench_run::Row, ()>("bench-run.jsonl");
        unchanged::<crate::bench_explore::Row, ()>("bench-explore.jsonl");
        unchanged::<crate::bench_models::Row, ()>("bench-models.jsonl");
        unchanged::<crate::bench_library::Row, ()>("bench-library.jsonl");
        unchanged::<crate::bench_port::Row, ()>("bench-port.jsonl");
        unchanged::<crate::studies::Row, ()>("case-studies.jsonl");
        unchanged::<crate::soak::Done, ()>("soak.jsonl");
    }
}
