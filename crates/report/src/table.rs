//! The SC run as a table: one line per step, one column per thread, as litmus tests are written.
//!
//! With too many or too wide threads for a terminal the threads share one column and are named in another.

use crate::Effect;
use crate::format::{Style, cut, one_line};
use crate::view::View;
use crate::words;

/// Columns wider than this make a list of the table.
const MAX_WIDTH: usize = 112;
/// Longer statements are cut.
const MAX_STATEMENT: usize = 48;

/// A line of the table.
struct Line {
    step: String,
    thread: usize,
    statement: String,
    effect: String,
    line: usize,
    note: String,
    bad: bool,
}

/// `initially x = 0, y = 0`, if anything is known of it.
pub(crate) fn initially(view: &View) -> Option<String> {
    let mut all: Vec<(String, bool)> = Vec::new();
    for (i, row) in view.rows.iter().enumerate().filter(|(_, r)| r.thread.is_none()) {
        let event = &view.witness.events[row.event];
        let (Some(location), Some(Effect::Wrote(value))) = (&event.location, event.effect) else {
            continue;
        };
        if !event.hidden {
            all.push((format!("{} = {value}", one_line(location)), view.touched(i)));
        }
    }
    if all.len() > 8 {
        all.retain(|(_, touched)| *touched);
    }
    let all: Vec<String> = all.into_iter().map(|(text, _)| text).collect();
    (!all.is_empty()).then(|| format!("initially {}", all.join(", ")))
}

/// The table, each line indented by two spaces. `marks` are notes by row, e.g. `(2) latest write`.
pub(crate) fn table(view: &View, marks: &[(usize, String)], style: Style) -> String {
    let lines = lines(view, marks);
    let threads = view.active_threads();
    let statement_width = |t: Option<usize>| {
        let own = lines.iter().filter(|l| t.is_none_or(|t| l.thread == t));
        own.map(|l| width(&l.statement)).max().unwrap_or(0)
    };
    let effect_width = |t: Option<usize>| {
        let own = lines.iter().filter(|l| t.is_none_or(|t| l.thread == t));
        own.map(|l| width(&l.effect)).max().unwrap_or(0)
    };
    // (thread or all of them, header, width of statements, width of the cell)
    let mut columns: Vec<(Option<usize>, String, usize, usize)> = threads
        .iter()
        .map(|&t| {
            let (name, s, e) = (view.thread_name(t), statement_width(Some(t)), effect_width(Some(t)));
            let cell = (s + gap(e)).max(width(&name));
            (Some(t), name, s, cell)
        })
        .collect();
    let total: usize = columns.iter().map(|c| c.3 + 2).sum();
    let as_list = total > MAX_WIDTH;
    if as_list {
        let (s, e) = (statement_width(None), effect_width(None));
        columns = vec![(None, "statement".to_owned(), s, (s + gap(e)).max(9))];
    }
    let name_width = lines.iter().map(|l| width(&view.thread_name(l.thread))).max().unwrap_or(0).max(6);

    let mut out = String::new();
    let mut emit = |left: String, name: String, cells: Vec<String>, right: String, note: String| {
        let mut text = format!("  {left}");
        if as_list {
            text.push_str(&format!("  {name}"));
        }
        for cell in cells {
            text.push_str("  ");
            text.push_str(&cell);
        }
        text.push_str(&format!("  {right}"));
        if !note.is_empty() {
            text.push_str(&format!("  {note}"));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    let rule = |n: usize| style.dim(&"─".repeat(n));
    let headers = columns.iter().map(|c| style.bold(&pad(&c.1, c.3))).collect();
    emit(
        style.bold("step"),
        style.bold(&pad("thread", name_width)),
        headers,
        style.bold("line"),
        String::new(),
    );
    let rules = columns.iter().map(|c| rule(c.3)).collect();
    emit(rule(4), rule(name_width), rules, rule(4), String::new());
    for line in &lines {
        let step = format!("{:>4}", line.step);
        let step = if line.bad { style.bad(&step) } else { step };
        let cells = columns.iter().map(|(thread, _, statements, cell)| {
            if thread.is_some_and(|t| t != line.thread) {
                return " ".repeat(*cell);
            }
            let statement = pad(&line.statement, *statements);
            let room = cell.saturating_sub(*statements + 2);
            if room == 0 {
                return if line.bad { style.bad(&statement) } else { statement };
            }
            let effect = pad(&line.effect, room);
            if line.bad {
                style.bad(&format!("{statement}  {effect}"))
            } else {
                format!("{statement}  {}", style.dim(&effect))
            }
        });
        let number = if line.line > 0 { format!("{:>4}", line.line) } else { "    ".to_owned() };
        let note = if line.bad { style.bad(&line.note) } else { style.accent(&line.note) };
        let name = pad(&view.thread_name(line.thread), name_width);
        emit(step, name, cells.collect(), style.dim(&number), note);
    }
    out
}

fn lines(view: &View, marks: &[(usize, String)]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (i, row) in view.rows.iter().enumerate() {
        let Some(thread) = row.thread else { continue };
        let notes: Vec<&str> = marks.iter().filter(|(r, _)| *r == i).map(|(_, n)| n.as_str()).collect();
        let mut note = notes.join(", ");
        if let Some(stale) = words::stale(view).filter(|_| view.guilty(i)) {
            note.push_str(&format!(": SC {}", stale.sc));
        }
        lines.push(Line {
            step: row.step.to_string(),
            thread,
            statement: cut(&view.statement(i), MAX_STATEMENT),
            effect: view.effect(i),
            line: view.event(i).line,
            note,
            bad: view.guilty(i),
        });
    }
    if let Some(end) = &view.end {
        lines.push(Line {
            step: "✗".to_owned(),
            thread: end.thread,
            statement: cut(&one_line(end.text), MAX_STATEMENT),
            effect: String::new(),
            line: end.line,
            note: end.what.to_owned(),
            bad: true,
        });
    }
    lines
}

fn gap(effect: usize) -> usize {
    if effect == 0 { 0 } else { effect + 2 }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}
