//! What was measured, as it is saved: one JSON object per line.

use crate::Outcome;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// What one run took.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// Wall-clock time.
    pub seconds: f64,
    /// User and system time, all threads.
    pub cpu_seconds: f64,
    /// Peak resident memory, in bytes.
    pub memory: u64,
    /// Whether the tool reported something.
    pub found: bool,
}

impl Sample {
    /// Takes over what was less this time.
    pub fn keep_the_least(&mut self, again: &Sample) {
        self.seconds = self.seconds.min(again.seconds);
        self.cpu_seconds = self.cpu_seconds.min(again.cpu_seconds);
        self.memory = self.memory.min(again.memory);
        self.found |= again.found;
    }
}

/// What a program is measured for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// One of many of all shapes.
    Synthetic,
    /// Cost by number of locations.
    Locations,
    /// The client of a case study.
    Study,
}

const GROUPS: [(Group, &str); 3] =
    [(Group::Synthetic, "synthetic"), (Group::Locations, "locations"), (Group::Study, "study")];

/// One program with all tools.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// What it is measured for.
    pub group: Group,
    /// The program.
    pub name: String,
    /// By the tool's name.
    pub samples: Vec<(String, Sample)>,
}

impl Row {
    /// What it took with one tool.
    pub fn with(&self, tool: &str) -> Option<&Sample> {
        self.samples.iter().find(|(name, _)| name == tool).map(|(_, sample)| sample)
    }
}

/// A whole result.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Measured {
    /// What machine it was, in words.
    pub machine: String,
    /// What was measured.
    pub commit: String,
    /// All programs.
    pub rows: Vec<Row>,
}

/// Reads what `--save` wrote.
pub fn load(path: &Path) -> Outcome<Measured> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Measured::from_lines(&text)
        .map_err(|line| format!("{}:{line}: not a line of a saved benchmark", path.display()))
}

impl Measured {
    /// Writes it to a file.
    pub fn save(&self, path: &Path) -> Outcome {
        fs::write(path, self.to_lines()).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn to_lines(&self) -> String {
        let head = json!({ "machine": self.machine, "commit": self.commit });
        let rows = self.rows.iter().map(|row| {
            let samples: serde_json::Map<String, Value> = row.samples.iter().map(entry).collect();
            let (_, group) = GROUPS[row.group as usize];
            json!({ "group": group, "program": row.name, "tools": samples })
        });
        std::iter::once(head).chain(rows).map(|line| format!("{line}\n")).collect()
    }

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
        if let Some(machine) = line["machine"].as_str() {
            self.machine = machine.to_owned();
            self.commit = line["commit"].as_str()?.to_owned();
            return Some(());
        }
        let (group, _) = *GROUPS.iter().find(|(_, name)| line["group"] == *name)?;
        let samples = line["tools"].as_object()?.iter().map(|(tool, sample)| {
            let number = |key: &str| sample[key].as_f64();
            let sample = Sample {
                seconds: number("seconds")?,
                cpu_seconds: number("cpu_seconds")?,
                memory: sample["memory"].as_u64()?,
                found: sample["found"].as_bool()?,
            };
            Some((tool.clone(), sample))
        });
        let row = Row {
            group,
            name: line["program"].as_str()?.to_owned(),
            samples: samples.collect::<Option<Vec<_>>>()?,
        };
        self.rows.push(row);
        Some(())
    }
}

fn entry((tool, sample): &(String, Sample)) -> (String, Value) {
    let Sample { seconds, cpu_seconds, memory, found } = sample;
    let value = json!({ "seconds": seconds, "cpu_seconds": cpu_seconds, "memory": memory, "found": found });
    (tool.clone(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        let sample = Sample { seconds: 0.5, cpu_seconds: 0.75, memory: 1_000_000, found: true };
        let row =
            |group| Row { group, name: "a".to_owned(), samples: vec![("native".to_owned(), sample.clone())] };
        let measured = Measured {
            machine: "a machine".to_owned(),
            commit: "abc".to_owned(),
            rows: GROUPS.map(|(group, _)| row(group)).to_vec(),
        };
        assert_eq!(Measured::from_lines(&measured.to_lines()), Ok(measured));
        assert_eq!(Measured::from_lines("{}\n"), Err(1));
    }
}
