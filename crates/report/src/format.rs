//! Small pieces of formatting: numbers, one-line strings, terminal styles.

/// A number with thousands separators: `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 state`, `1,234 states`, `2 classes`.
pub fn count(n: u64, noun: &str) -> String {
    let plural = match n {
        1 => "",
        _ if noun.ends_with(['s', 'h']) => "es",
        _ => "s",
    };
    format!("{} {noun}{plural}", thousands(n))
}

/// Rows of cells, indented, the columns two spaces apart; cells of a column are flush right where `right` says so.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]], indent: usize, right: [bool; N]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut out = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            let (before, after) = if right[column] { (pad.as_str(), "") } else { ("", pad.as_str()) };
            line += &format!("{before}{cell}{after}  ");
        }
        out += &format!("{}\n", line.trim_end());
    }
    out
}

/// `1.2 GB`
pub fn size(bytes: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match units.iter().find(|(_, factor)| bytes >= *factor) {
        Some((unit, factor)) => format!("{:.1} {unit}", bytes as f64 / *factor as f64),
        None => format!("{bytes} B"),
    }
}

/// A duration: `0.02 s`.
pub fn seconds(s: f64) -> String {
    if !s.is_finite() || s < 0.0 {
        "? s".to_owned()
    } else if s < 0.01 {
        "under 0.01 s".to_owned()
    } else if s < 100.0 {
        format!("{s:.2} s")
    } else {
        format!("{} s", thousands(s as u64))
    }
}

/// The text in one line: control characters and runs of white space become one space.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text cut to `width` characters, with an ellipsis if something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(width.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// The text cut to `width` characters in its middle: both ends matter in `W.rel some_location 1`.
pub(crate) fn cut_middle(text: &str, width: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= width {
        return text.to_owned();
    }
    let tail = width / 4;
    let head = width.saturating_sub(tail + 1);
    chars[..head].iter().chain(&['…']).chain(&chars[chars.len() - tail..]).collect()
}

/// The text in lines of at most `width` characters, broken at spaces where there are some.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line: Vec<char> = Vec::new();
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        if !line.is_empty() && line.len() + 1 + word.len() > width {
            lines.push(line.drain(..).collect());
        }
        if !line.is_empty() {
            line.push(' ');
        }
        while line.len() + word.len() > width {
            let rest = word.split_off(break_at(&word, width - line.len()));
            line.append(&mut word);
            lines.push(line.drain(..).collect());
            word = rest;
        }
        line.append(&mut word);
    }
    if !line.is_empty() {
        lines.push(line.into_iter().collect());
    }
    lines
}

/// Where to break a word that has room for `room` characters: after punctuation, if it has some in the second half.
fn break_at(word: &[char], room: usize) -> usize {
    let joined = |c: char| c.is_alphanumeric() || c == '_';
    (room / 2 + 1..=room).rev().find(|&i| i > 0 && !joined(word[i - 1])).unwrap_or(room)
}

/// Terminal styles, or none.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Whether to use colors at all.
    pub color: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    pub fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub fn warn(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    pub fn accent(self, text: &str) -> String {
        self.paint("1;36", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1000), "1,000");
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(count(1, "state"), "1 state");
        assert_eq!(count(1234, "state"), "1,234 states");
        assert_eq!(seconds(0.0), "under 0.01 s");
        assert_eq!(seconds(0.019), "0.02 s");
        assert_eq!(seconds(1234.5), "1,234 s");
        assert_eq!(seconds(f64::NAN), "? s");
        assert_eq!(count(2, "class"), "2 classes");
        assert_eq!(size(12), "12 B");
        assert_eq!(size(1_250_000_000), "1.2 GB");
    }

    #[test]
    fn lines() {
        assert_eq!(one_line("a\n\tb \x1b[1m"), "a b [1m");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut_middle("abcdefghijkl", 8), "abcde…kl");
        assert_eq!(wrap("aa bb cccccc", 5), ["aa bb", "ccccc", "c"]);
        assert_eq!(wrap("pointer.store(1)", 10), ["pointer.", "store(1)"]);
        assert!(wrap("", 0).is_empty());
    }
}
