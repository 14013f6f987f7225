//! The accesses to look at, in the source, with numbered labels.

use crate::format::one_line;
use crate::view::View;
use crate::{Problem, words};
use ariadne::{Color, Config, IndexType, Label, Report, ReportKind, Source};
use std::ops::Range;

/// An access to point at.
pub(crate) struct Mark {
    /// Its row; `None` for a statement that has no event.
    pub row: Option<usize>,
    /// Where it stands.
    pub span: Range<usize>,
    /// For the source snippet: `(1) step 4 in t2: may read 0 …`.
    pub long: String,
    /// For the table: `(1) stale`.
    pub short: String,
}

/// The accesses to look at, numbered.
pub(crate) fn marks(view: &View) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut add = |row: Option<usize>, span: &Range<usize>, short: &str, long: String| {
        let n = marks.len() + 1;
        marks.push(Mark {
            row,
            span: span.clone(),
            short: format!("({n}) {short}"),
            long: format!("({n}) {long}"),
        });
    };
    let who = |row: usize| match view.rows[row].thread {
        Some(t) => format!("step {} in {}", view.rows[row].step, view.thread_name(t)),
        None => "initially".to_owned(),
    };
    match &view.witness.problem {
        Problem::Stale { access, latest, older, .. } => {
            let model = view.witness.model.to_string();
            if let (Some(row), Some(stale)) = (view.row(*access), words::stale(view)) {
                let long = format!("{}: SC {}, {model} {}", who(row), stale.sc, stale.weak);
                add(Some(row), &view.event(row).span, "stale", long);
            }
            for (event, role) in [(*latest, "latest write"), (*older, "older write")] {
                let Some(row) = view.row(event) else { continue };
                let long = format!("{}: the {role}, {}", who(row), view.label(row));
                add(Some(row), &view.event(row).span, role, long);
            }
        }
        Problem::Race { first, second } => {
            for (event, role) in [(*first, "races with (2)"), (*second, "races with (1)")] {
                let Some(row) = view.row(event) else { continue };
                let label = view.label(row);
                let label = if label.is_empty() { label } else { format!("{label}, ") };
                let long = format!("{}: {label}{role}", who(row));
                add(Some(row), &view.event(row).span, role, long);
            }
        }
        Problem::Unproved { newest, access, .. } => {
            for (event, role) in [(*access, "may miss (2)"), (*newest, "the newest write")] {
                let Some(row) = view.row(event) else { continue };
                let long = format!("{}: {role}", who(row));
                add(Some(row), &view.event(row).span, role, long);
            }
        }
        Problem::Assertion { thread, span, .. } => {
            add(None, span, "fails", format!("can fail in {}", view.thread_name(*thread)));
        }
        Problem::Deadlock { thread, span, .. } => {
            add(None, span, "stuck", format!("{} waits here for ever", view.thread_name(*thread)));
        }
    }
    marks
}

/// The source around the marks; empty if none of them stands in the source.
pub(crate) fn snippet(view: &View, marks: &[Mark], color: bool) -> String {
    let source = view.witness.source.as_str();
    let file = one_line(&view.witness.file);
    // Marks at the same place (a loop, a replicated thread) share a label.
    let mut places: Vec<(Range<usize>, String, Color)> = Vec::new();
    let colors = [Color::Red, Color::Cyan, Color::Yellow];
    for (i, mark) in marks.iter().enumerate() {
        let Some(span) = inside(source, &mark.span) else { continue };
        match places.iter_mut().find(|(known, ..)| *known == span) {
            Some((_, text, _)) => text.push_str(&format!("; {}", mark.long)),
            None => places.push((span, mark.long.clone(), colors[i.min(2)])),
        }
    }
    let Some((first, ..)) = places.first().cloned() else { return String::new() };
    // One excerpt, from top to bottom: the renderer starts a new one wherever labels are out of order.
    places.sort_by_key(|(span, ..)| (span.start, span.end));
    let labels = places.iter().map(|(span, text, color)| {
        Label::new((file.as_str(), span.clone())).with_message(text).with_color(*color)
    });
    let config = Config::default().with_color(color).with_index_type(IndexType::Char);
    let report =
        Report::build(ReportKind::Error, (file.as_str(), first)).with_config(config).with_labels(labels);
    let mut out = Vec::new();
    // A terminal should not obey the source.
    let printable = |c: char| if c.is_control() && !c.is_whitespace() { '\u{fffd}' } else { c };
    let source = Source::from(source.chars().map(printable).collect::<String>());
    if report.finish().write((file.as_str(), source), &mut out).is_err() {
        return String::new();
    }
    // Its first line is a headline; ours says more.
    let text = String::from_utf8_lossy(&out);
    text.lines().skip(1).map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The first line of the span, in characters instead of bytes; `None` if nothing of it is in the source.
fn inside(source: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let floor = |mut i: usize| {
        i = i.min(source.len());
        while !source.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let (start, end) = (floor(span.start), floor(span.end));
    let text = source.get(start..end)?;
    let start = source[..start].chars().count() + text.chars().take_while(|c| c.is_whitespace()).count();
    let text = text.trim_start();
    let line =
        text.split(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')).next()?.trim_end();
    (!line.is_empty()).then(|| start..start + line.chars().count())
}
