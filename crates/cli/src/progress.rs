//! Progress: one line on a terminal's standard error, written again and again.

use crate::output;
use seqcst_explore::states::Progress;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

/// The line, or nothing where there is no terminal to show it.
pub struct Line {
    shown: Option<Mutex<Shown>>,
    file: String,
}

#[derive(Default)]
struct Shown {
    states: u64,
    elapsed: Duration,
    visible: bool,
}

impl Line {
    /// For the check of one file.
    pub fn new(file: &str) -> Line {
        let shows = std::io::stderr().is_terminal() && !output::is_dumb();
        Line { shown: shows.then(Mutex::default), file: file.to_owned() }
    }

    /// Shows how far the search is.
    pub fn update(&self, progress: Progress) {
        let Some(shown) = &self.shown else { return };
        let mut shown = shown.lock().unwrap_or_else(|e| e.into_inner());
        let passed = progress.elapsed.saturating_sub(shown.elapsed).as_secs_f64();
        // A new pass over the states starts from 0 again.
        let rate = progress.states.saturating_sub(shown.states) as f64 / passed.max(0.001);
        *shown = Shown { states: progress.states, elapsed: progress.elapsed, visible: true };
        let text = format!(
            "{}: {} states, {}/s, depth {}, {}, {} s",
            self.file,
            count(progress.states),
            count(rate as u64),
            count(progress.depth),
            size(progress.memory),
            progress.elapsed.as_secs()
        );
        output::complain(&format!("\r\x1b[2K{}", text.chars().take(100).collect::<String>()));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let visible = |shown: &Mutex<Shown>| shown.lock().unwrap_or_else(|e| e.into_inner()).visible;
        if self.shown.as_ref().is_some_and(visible) {
            output::complain("\r\x1b[2K");
        }
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

/// `1.2 GB`
pub fn size(bytes: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match units.iter().find(|(_, factor)| bytes >= *factor) {
        Some((unit, factor)) => format!("{:.1} {unit}", bytes as f64 / *factor as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(size(12), "12 B");
        assert_eq!(size(1_250_000_000), "1.2 GB");
    }
}
