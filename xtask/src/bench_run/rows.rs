//! What was measured.

use crate::saved;
use serde_json::{Value, json};

/// A whole result.
pub type Measured = saved::Measured<Row>;

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

impl saved::Row for Row {
    fn to_json(&self) -> Value {
        let samples: serde_json::Map<String, Value> = self.samples.iter().map(entry).collect();
        let (_, group) = GROUPS[self.group as usize];
        json!({ "group": group, "program": self.name, "tools": samples })
    }

    fn from_json(line: &Value) -> Option<Row> {
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
        let samples = samples.collect::<Option<Vec<_>>>()?;
        Some(Row { group, name: line["program"].as_str()?.to_owned(), samples })
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
        saved::round_trip(&GROUPS.map(|(group, _)| row(group)));
    }
}
