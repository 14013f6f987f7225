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
        marks.push(Mark { row, span: span.clone(), short: format!("({n}) {short}"), long: format!("({n}) {long}") });
    };
    let who = |row: usize| match view.rows[row].thread {
        Some(t) => format!("step {} in {}", view.rows[row].step, view.thread_name(t)),
        None => "initially".to_owned(),
    };
    match &view.witness.problem {
        Problem::Stale { access, latest, older, .. } => {
            let model = one_line(&view.finding.model);
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
            for (event, role) in [(*second, "races with (2)"), (*first, "races with (1)")] {
                let Some(row) = view.row(event) else { continue };
                add(Some(row), &view.event(row).span, "race", format!("{}: {role}", who(row)));
            }
        }
        Problem::Assertion { thread, span, .. } => {
            add(None, span, "fails", format!("fails in {}", view.thread_name(*thread)));
        }
        Problem::Deadlock { thread, span, .. } => {
            add(None, span, "stuck", format!("{} waits here for ever", view.thread_name(*thread)));
        }
    }
    marks
}

/// The source around the marks; empty if none of them stands in the source.
pub(crate) fn snippet(view: &View, marks: &[Mark], color: bool) -> String {
    let source = view.finding.source.as_str();
    let file = one_line(&view.finding.file);
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
    let Some((first, ..)) = places.first() else { return String::new() };
    let labels = places.iter().enumerate().map(|(i, (span, text, color))| {
        let order = i32::try_from(i).unwrap_or(0);
        Label::new((file.clone(), span.clone())).with_message(text).with_color(*color).with_order(order)
    });
    let kind = words::verdict(&view.finding.verdict);
    let report = Report::build(ReportKind::Custom(kind, Color::Red), (file.clone(), first.clone()))
        .with_config(Config::default().with_color(color).with_index_type(IndexType::Byte))
        .with_message(format!("{file} under {}", one_line(&view.finding.model)))
        .with_labels(labels)
        .finish();
    let mut out = Vec::new();
    if report.write((file.clone(), Source::from(source)), &mut out).is_err() {
        return String::new();
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The span within the source and on character boundaries; `None` if nothing is left of it.
fn inside(source: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let floor = |mut i: usize| {
        i = i.min(source.len());
        while !source.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let (start, end) = (floor(span.start), floor(span.end));
    (start < end).then_some(start..end)
}
