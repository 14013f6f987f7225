//! What to draw: the boxes and wires of an execution graph, sized but not yet placed.

use crate::format::{cut, cut_middle, one_line, wrap};
use crate::view::View;
use crate::{Effect, Problem, Relation, words};

/// Advance of a character in the statement font (12 px monospace).
pub(super) const CHAR: f64 = 7.25;
/// Advance of a character in the small font (10.5 px monospace).
const SMALL_CHAR: f64 = 6.35;
/// Height of a line.
pub(super) const LINE: f64 = 16.0;
/// Space between a box's border and its text.
pub(super) const PAD: f64 = 9.0;
/// Statements are broken at this many characters,
const WRAP: usize = 34;
/// and cut after this many lines.
const MAX_LINES: usize = 3;

/// A box: an initial write, a step, or the statement at which the run ends badly.
pub(super) struct Node {
    /// Its column; `None` for an initial write.
    pub column: Option<usize>,
    /// Its step number, if it has one.
    pub step: Option<usize>,
    pub lines: Vec<Line>,
    pub look: Look,
    /// The whole text, shown when pointed at.
    pub tip: String,
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

/// A line of a box.
pub(super) struct Line {
    pub text: String,
    /// Its CSS class.
    pub class: &'static str,
    /// Shown at the right end: the line number in the source.
    pub right: String,
}

/// How a box looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Initial,
    Plain,
    Guilty,
}

/// What a wire stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Relation(Relation),
    /// No happens-before, where one is missing.
    Missing,
}

/// A wire between two boxes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
    pub cycle: bool,
}

/// Boxes in order of time, initial writes first; wires; thread names by column.
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    pub wires: Vec<Wire>,
    pub columns: Vec<String>,
}

/// The boxes and wires of a view.
pub(super) fn graph(view: &View) -> Graph {
    let threads = view.active_threads();
    let mut nodes = Vec::new();
    let mut node_of = vec![None; view.rows.len()];
    for (i, row) in view.rows.iter().enumerate() {
        if row.thread.is_some() || view.touched(i) {
            node_of[i] = Some(nodes.len());
            nodes.push(node(view, i, &threads));
        }
    }
    let mut wires: Vec<Wire> = Vec::new();
    let mut connect = |from: Option<usize>, to: Option<usize>, kind, cycle| {
        if let (Some(from), Some(to)) = (from, to) {
            wires.push(Wire { from, to, kind, cycle });
        }
    };
    for link in &view.links {
        connect(node_of[link.from], node_of[link.to], Kind::Relation(link.relation), link.cycle);
    }
    if let Some((from, to)) = view.unordered() {
        connect(node_of[from], node_of[to], Kind::Missing, false);
    }
    if let Some(end) = &view.end {
        let before = view.rows.iter().rposition(|r| r.thread == Some(end.thread)).and_then(|i| node_of[i]);
        connect(before, Some(nodes.len()), Kind::Relation(Relation::Po), false);
        let text = one_line(end.text);
        let mut lines = statement(&text, end.line);
        lines.push(Line { text: end.what.to_owned(), class: "bad", right: String::new() });
        let column = threads.binary_search(&end.thread).ok();
        nodes.push(sized(column, None, lines, Look::Guilty, format!("{text}: {}", end.what)));
    }
    Graph { nodes, wires, columns: threads.iter().map(|&t| cut(&view.thread_name(t), WRAP)).collect() }
}

fn node(view: &View, i: usize, threads: &[usize]) -> Node {
    let (row, event) = (&view.rows[i], view.event(i));
    let label = view.label(i);
    let Some(thread) = row.thread else {
        let text = match (&event.location, event.effect) {
            (Some(location), Some(Effect::Wrote(value))) if !event.hidden => {
                format!("init {} = {value}", one_line(location))
            }
            _ => label.clone(),
        };
        let line = Line { text: cut_middle(&text, WRAP), class: "dim", right: String::new() };
        return sized(None, None, vec![line], Look::Initial, format!("initially: {label}"));
    };
    let text = view.statement(i);
    let mut lines = statement(&text, event.line);
    if !label.is_empty() {
        lines.push(Line { text: cut_middle(&label, WRAP + 4), class: "dim", right: String::new() });
    }
    let guilty = view.guilty(i);
    if let Some(stale) = words::stale(view).filter(|_| guilty) {
        let model = cut(&view.witness.model.to_string(), 12);
        for (who, what, class) in [("SC", stale.sc, "good"), (model.as_str(), stale.weak, "bad")] {
            lines.push(Line { text: cut(&format!("{who}: {what}"), WRAP + 14), class, right: String::new() });
        }
    } else if guilty {
        let text = match view.witness.problem {
            Problem::Unproved { newest, .. } => format!("may miss {}", view.name(newest)),
            _ => "races".to_owned(),
        };
        lines.push(Line { text, class: "bad", right: String::new() });
    }
    let look = if guilty { Look::Guilty } else { Look::Plain };
    let tip = format!("step {}: {text} [{label}], line {}", row.step, event.line);
    sized(threads.binary_search(&thread).ok(), Some(row.step), lines, look, tip)
}

/// A statement in a few lines, with its line number at the right of the first one.
fn statement(text: &str, line: usize) -> Vec<Line> {
    let mut parts = wrap(text, WRAP);
    if parts.len() > MAX_LINES {
        parts.truncate(MAX_LINES);
        if let Some(last) = parts.last_mut() {
            *last = last.chars().take(WRAP - 1).chain(['…']).collect();
        }
    }
    let right = |i: usize| if i == 0 && line > 0 { format!(":{line}") } else { String::new() };
    parts.into_iter().enumerate().map(|(i, text)| Line { text, class: "code", right: right(i) }).collect()
}

fn sized(column: Option<usize>, step: Option<usize>, lines: Vec<Line>, look: Look, tip: String) -> Node {
    let width = |line: &Line| {
        let advance = if line.class == "code" { CHAR } else { SMALL_CHAR };
        let right = line.right.chars().count() as f64 * SMALL_CHAR;
        line.text.chars().count() as f64 * advance + if right > 0.0 { right + 14.0 } else { 0.0 }
    };
    let badge = if step.is_some() { 26.0 } else { 0.0 };
    let w = lines.iter().map(width).fold(30.0, f64::max) + 2.0 * PAD + badge;
    let h = lines.len().max(1) as f64 * LINE + if look == Look::Initial { 8.0 } else { 14.0 };
    Node { column, step, lines, look, tip, x: 0.0, y: 0.0, w, h }
}
