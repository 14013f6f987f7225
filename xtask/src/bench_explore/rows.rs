//! What was measured.

use crate::saved;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A whole result.
pub type Measured = saved::Measured<Row>;

/// One line of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Which table: `sober`, `search`, `speed`.
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

impl saved::Row for Row {
    fn to_json(&self) -> Value {
        json!({ "group": self.group, "program": self.program, "how": self.how, "numbers": self.numbers })
    }

    fn from_json(line: &Value) -> Option<Row> {
        let word = |name: &str| line[name].as_str().map(str::to_owned);
        let numbers = line["numbers"].as_object()?;
        let numbers = numbers.iter().map(|(name, value)| Some((name.clone(), value.as_f64()?)));
        Some(Row {
            group: word("group")?,
            program: word("program")?,
            how: word("how")?,
            numbers: numbers.collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        saved::round_trip(&[Row::new("speed", "a", "b", &[("rate", 1.5)])]);
    }
}
