//! The steps of an execution, one column per thread.

use super::{place, who};
use crate::rt::site::Site;
use crate::rt::source::Closure;
use seqcst_explore::{Kind, ThreadId, Trace};
use std::fmt::Write;

/// So many steps are shown, the last ones.
const SHOWN: usize = 40;

/// Shows the steps, up to the one at which something was found.
pub fn steps(text: &mut String, source: &Closure<'_>, trace: &Trace, found: Option<u32>) {
    let turns: Vec<u32> = (0..)
        .zip(&trace.steps)
        .filter(|(at, step)| step.is_turn() && found.is_none_or(|found| *at <= found))
        .map(|(at, _)| at)
        .collect();
    // Who does the same again and again is shown once.
    let same = |a: &u32, b: &u32| {
        let (one, two) = (&trace.steps[*a as usize], &trace.steps[*b as usize]);
        one.thread == two.thread
            && one.site == two.site
            && words(source, trace, *a) == words(source, trace, *b)
    };
    let runs: Vec<&[u32]> = turns.chunk_by(same).collect();
    let shown = &runs[runs.len().saturating_sub(SHOWN)..];
    match shown.len() < runs.len() {
        true => {
            let _ = writeln!(text, "\nthe last of {} steps:", turns.len());
        }
        false => *text += "\nthe execution, step by step:\n",
    }
    let times = |run: &[u32]| if run.len() == 1 { String::new() } else { format!("  ({} times)", run.len()) };
    let repeats: Vec<String> = shown.iter().map(|run| times(run)).collect();
    let shown: Vec<u32> = shown.iter().map(|run| run[0]).collect();
    let mut threads: Vec<ThreadId> = shown.iter().map(|&at| trace.steps[at as usize].thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let cell = |at: u32, thread: ThreadId| {
        if trace.steps[at as usize].thread == thread { words(source, trace, at) } else { String::new() }
    };
    let width = |&thread: &ThreadId| {
        let widest = shown.iter().map(|&at| cell(at, thread).chars().count()).max().unwrap_or(0);
        widest.max(who(source, thread).chars().count())
    };
    let widths: Vec<usize> = threads.iter().map(width).collect();
    let mut row = |number: String, cells: Vec<String>, place: String| {
        let _ = write!(text, "  {number:>4}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(text, "  {cell:<width$}");
        }
        let _ = write!(text, "  {place}");
        let kept = text.trim_end().len();
        text.truncate(kept);
        text.push('\n');
    };
    row(String::new(), threads.iter().map(|&thread| who(source, thread)).collect(), String::new());
    for (&at, times) in shown.iter().zip(repeats) {
        let site = trace.steps[at as usize].site as Site;
        let here = if found == Some(at) { "  ← here".to_owned() } else { times };
        let place = if site == 0 { here } else { short(site) + &here };
        row((at + 1).to_string(), threads.iter().map(|&thread| cell(at, thread)).collect(), place);
    }
}

/// `file:line:column`, without directories.
pub fn short(site: Site) -> String {
    let place = place(site);
    place.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

/// What a step did.
pub fn words(source: &Closure<'_>, trace: &Trace, at: u32) -> String {
    if let Some(note) = source.notes().iter().find(|note| note.step == at) {
        return note.text.clone();
    }
    match trace.steps[at as usize].op.kind {
        Kind::Begin => "begin".to_owned(),
        Kind::End => "end".to_owned(),
        kind => format!("{kind:?}").to_lowercase(),
    }
}
