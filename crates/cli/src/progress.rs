//! Progress: one line on a terminal's standard error, written again and again.

use crate::output;
use seqcst_check::states::Progress;
use seqcst_report::format::{size, thousands};
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
            thousands(progress.states),
            thousands(rate as u64),
            thousands(progress.depth),
            size(progress.memory),
            progress.elapsed.as_secs()
        );
        output::write_stderr(&format!("\r\x1b[2K{}", text.chars().take(100).collect::<String>()));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let visible = |shown: &Mutex<Shown>| shown.lock().unwrap_or_else(|e| e.into_inner()).visible;
        if self.shown.as_ref().is_some_and(visible) {
            output::write_stderr("\r\x1b[2K");
        }
    }
}
