//! Benchmarks as they are saved: one JSON object per line, the first about the machine, the others one row each.

use crate::Outcome;
use crate::bench::{commit, machine};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A row of a benchmark.
pub trait Row: Sized {
    /// As a line.
    fn to_json(&self) -> Value;

    /// From a line; none if it makes no sense.
    fn from_json(line: &Value) -> Option<Self>;
}

/// A whole result.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured<R> {
    /// What machine it was, in words.
    pub machine: String,
    /// What was measured.
    pub commit: String,
    /// All rows.
    pub rows: Vec<R>,
}

/// Reads what `--save` wrote.
pub fn load<R: Row>(path: &Path) -> Outcome<Measured<R>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Measured::from_lines(&text)
        .map_err(|line| format!("{}:{line}: not a line of a saved benchmark", path.display()))
}

impl<R: Row> Measured<R> {
    /// Nothing yet, here and now.
    pub fn here() -> Measured<R> {
        Measured { machine: machine(), commit: commit(), rows: Vec::new() }
    }

    /// Writes it to a file, if there is one.
    pub fn save(&self, file: Option<&str>) -> Outcome {
        let Some(file) = file else { return Ok(()) };
        fs::write(file, self.to_lines()).map_err(|error| format!("{file}: {error}"))
    }

    fn to_lines(&self) -> String {
        let head = json!({ "machine": self.machine, "commit": self.commit });
        let lines = std::iter::once(head).chain(self.rows.iter().map(R::to_json));
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// An error is the number of the line that makes no sense.
    fn from_lines(text: &str) -> Result<Measured<R>, usize> {
        let mut lines = text.lines().enumerate().map(|(number, line)| {
            serde_json::from_str::<Value>(line).map(|value| (number + 1, value)).map_err(|_| number + 1)
        });
        let (_, head) = lines.next().unwrap_or(Err(1))?;
        let word = |name: &str| head[name].as_str().map(str::to_owned).ok_or(1_usize);
        let rows = lines.map(|line| line.and_then(|(number, value)| R::from_json(&value).ok_or(number)));
        Ok(Measured {
            machine: word("machine")?,
            commit: word("commit")?,
            rows: rows.collect::<Result<_, _>>()?,
        })
    }
}

/// Writes rows and reads them again: they must be the same. For the tests of those who have rows.
#[cfg(test)]
pub fn round_trip<R: Row + Clone + PartialEq + std::fmt::Debug>(rows: &[R]) -> Measured<R> {
    let result = Measured { machine: "a machine".to_owned(), commit: "abc".to_owned(), rows: rows.to_vec() };
    assert_eq!(Measured::from_lines(&result.to_lines()).as_ref(), Ok(&result));
    assert_eq!(Measured::<R>::from_lines("{}\n"), Err(1));
    assert_eq!(Measured::<R>::from_lines(""), Err(1));
    let broken = result.to_lines() + "{}\n";
    assert_eq!(Measured::<R>::from_lines(&broken), Err(rows.len() + 2));
    result
}
