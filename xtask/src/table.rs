//! Aligned tables, readable numbers, and a line that says what is being done.

use std::io::IsTerminal;

/// Rows of cells under a header, aligned; columns named in `left` to the left, all others to the right.
pub struct Table {
    left: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(header: &[&str], left: &'static [&'static str]) -> Table {
        Table { left, rows: vec![header.iter().map(|cell| cell.to_string()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    fn is_left(&self, column: usize) -> bool {
        self.left.contains(&self.rows[0][column].as_str())
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let columns = self.rows[0].len();
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[column] - cell.chars().count());
                let gap = if column == 0 { "" } else { "  " };
                let (before, after) = if self.is_left(column) { ("", &*pad) } else { (&*pad, "") };
                line += &format!("{gap}{before}{cell}{after}");
            }
            out += &format!("{}\n", line.trim_end());
        }
        out
    }

    /// For a document.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = |column| if self.is_left(column) { "---" } else { "---:" };
        let mut out = line(self.rows[0].clone());
        out += &format!("|{}|\n", (0..self.rows[0].len()).map(rule).collect::<Vec<_>>().join("|"));
        self.rows[1..].iter().for_each(|row| out += &line(row.clone()));
        out
    }
}

/// `1,234,567`
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Seconds, with as many digits as mean something.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        ..0.01 => "< 0.01".to_owned(),
        ..10.0 => format!("{seconds:.2}"),
        _ => format!("{seconds:.1}"),
    }
}

/// Bytes as megabytes.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / 1e6)
}

/// Shows what is being done in one line of a terminal, in place of the line before; an empty one takes it away.
pub fn doing(what: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[2K{what}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["name", "states"], &["name"]);
        table.row(vec!["sb".to_owned(), count(1234567)]);
        assert_eq!(table.text(), "name     states\nsb    1,234,567\n");
        assert_eq!(table.markdown(), "| name | states |\n|---|---:|\n| sb | 1,234,567 |\n");
    }
}
