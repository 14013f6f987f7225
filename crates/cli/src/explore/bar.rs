//! How far an exploration is: one line on a terminal's standard error, written again and again.

use crate::output;
use seqcst_explore::{Progress, Summary};
use seqcst_report::format::thousands as count;
use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// The line, or nothing where there is no terminal to show it.
pub struct Bar {
    name: String,
    shows: bool,
    shown: Cell<Option<Instant>>,
}

/// The time between two lines.
const PAUSE: Duration = Duration::from_millis(200);

impl Bar {
    /// For the exploration of one program.
    pub fn new(name: &str) -> Bar {
        let shows = std::io::stderr().is_terminal() && !output::is_dumb();
        Bar { name: name.to_owned(), shows, shown: Cell::new(None) }
    }

    /// Shows how far it is, unless that was shown a moment ago.
    pub fn update(&self, summary: &Summary, progress: impl FnOnce() -> Progress) {
        if !self.shows || self.shown.get().is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        self.shown.set(Some(Instant::now()));
        let text = line(&self.name, summary, &progress());
        output::write_stderr(&format!("\r\x1b[2K{}", text.chars().take(110).collect::<String>()));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.shown.get().is_some() {
            output::write_stderr("\r\x1b[2K");
        }
    }
}

fn line(name: &str, summary: &Summary, progress: &Progress) -> String {
    let seconds = summary.time.as_secs_f64();
    let rate = summary.executions as f64 / seconds.max(0.001);
    let mut text = format!("{name}: {} executions, {}/s", count(summary.executions), count(rate as u64));
    if summary.borderline > 0 {
        text += &format!(", {} borderline", count(summary.borderline));
    }
    if let Some(bound) = progress.by_preemptions.len().checked_sub(1) {
        text += &format!(", {bound} preemptions");
    }
    if let Some(part) = progress.part.filter(|part| *part > 0.0 && *part <= 1.0) {
        let left = seconds / part * (1.0 - part);
        text += &format!(", {:.0} %, about {} left", part * 100.0, duration(left));
    }
    format!("{text}, {seconds:.0} s")
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{seconds:.0} s"),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        ..=360_000.0 => format!("{:.0} h", seconds / 3600.0),
        _ => "days".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated() {
        let summary = Summary { executions: 500, time: Duration::from_secs(10), ..Summary::default() };
        let progress = Progress { part: Some(0.25), by_preemptions: vec![1, 499], ..Progress::default() };
        assert_eq!(
            line("p", &summary, &progress),
            "p: 500 executions, 50/s, 1 preemptions, 25 %, about 30 s left, 10 s"
        );
        assert_eq!((duration(200.0), duration(7200.0)), ("3 min".to_owned(), "2 h".to_owned()));
    }
}
