//! What was measured.

use crate::measure::Usage;
use crate::saved;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole result.
pub type Measured = saved::Measured<Row>;

/// What a program took with one tool.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sample {
    #[serde(flatten)]
    pub usage: Usage,
    /// Whether the tool reported something.
    pub found: bool,
}

impl Sample {
    /// Takes over what was less this time.
    pub fn keep_the_least(&mut self, again: &Sample) {
        let (least, again_usage) = (&mut self.usage, &again.usage);
        least.seconds = least.seconds.min(again_usage.seconds);
        least.cpu_seconds = least.cpu_seconds.min(again_usage.cpu_seconds);
        least.memory = least.memory.min(again_usage.memory);
        self.found |= again.found;
    }
}

/// What a program is measured for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// One of many of all shapes.
    Synthetic,
    /// Cost by number of locations.
    Locations,
    /// The client of a case study.
    Study,
}

/// One program with all tools.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    pub group: Group,
    #[serde(rename = "program")]
    pub name: String,
    /// By the tool's name.
    #[serde(rename = "tools")]
    pub samples: BTreeMap<String, Sample>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        let usage = Usage { seconds: 0.5, cpu_seconds: 0.75, memory: 1_000_000 };
        let samples = BTreeMap::from([("native".to_owned(), Sample { usage, found: true })]);
        let row = |group| Row { group, name: "a".to_owned(), samples: samples.clone() };
        saved::round_trip((), &[Group::Synthetic, Group::Locations, Group::Study].map(row));
    }
}
