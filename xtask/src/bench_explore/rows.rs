//! What was measured.

use crate::saved;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole result.
pub type Measured = saved::Measured<Row>;

/// One line of a table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Which table: `sober`, `search`, `pct`, `speed`.
    pub group: String,
    /// The program.
    pub program: String,
    /// The bound, the strategy, or what is counted.
    pub how: String,
    /// By name.
    pub numbers: BTreeMap<String, f64>,
}

impl Row {
    /// A line.
    pub fn new(group: &str, program: &str, how: &str, numbers: &[(&str, f64)]) -> Row {
        let numbers = numbers.iter().map(|(name, number)| (name.to_string(), *number)).collect();
        Row { group: group.to_owned(), program: program.to_owned(), how: how.to_owned(), numbers }
    }

    /// A number.
    pub fn get(&self, name: &str) -> f64 {
        self.numbers.get(name).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        saved::round_trip((), &[Row::new("speed", "a", "b", &[("rate", 1.5)])]);
    }
}
