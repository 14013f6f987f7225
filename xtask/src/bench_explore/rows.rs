//! What was measured, as it is saved: one JSON object per line.

use crate::Outcome;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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

/// A whole result.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Measured {
    /// What machine it was, in words.
    pub machine: String,
    /// What was measured.
    pub commit: String,
    /// All lines.
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
            json!({ "group": row.group, "program": row.program, "how": row.how, "numbers": row.numbers })
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
        let word = |name: &str| line[name].as_str().map(str::to_owned);
        let numbers = line["numbers"].as_object()?;
        let numbers = numbers.iter().map(|(name, value)| Some((name.clone(), value.as_f64()?)));
        self.rows.push(Row {
            group: word("group")?,
            program: word("program")?,
            how: word("how")?,
            numbers: numbers.collect::<Option<_>>()?,
        });
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_can_be_read() {
        let rows = vec![Row::new("speed", "a", "b", &[("rate", 1.5)])];
        let measured = Measured { machine: "a machine".to_owned(), commit: "abc".to_owned(), rows };
        assert_eq!(Measured::from_lines(&measured.to_lines()), Ok(measured));
        assert_eq!(Measured::from_lines("{}\n"), Err(1));
    }
}
