//! A witness as a reader wants to see it: one row per statement.
//!
//! Engines execute an SC fence as three events, and an SC access as an SC fence and the access. Here the events of one
//! statement are one [`Row`], rows are numbered afresh, and edges run between rows. Everything that points outside of
//! the witness is dropped here, so renderers need no checks.

use crate::format::one_line;
use crate::{Edge, Effect, Event, Problem, Relation, Witness};
use seqcst_model::Mode;
use std::collections::BTreeSet;

/// A witness by rows.
pub(crate) struct View<'a> {
    pub witness: &'a Witness,
    /// Initial writes first, then the run in order.
    pub rows: Vec<Row>,
    /// By event: its row.
    pub row_of: Vec<usize>,
    /// The edges worth showing.
    pub links: Vec<Link>,
    /// What happens after the run: an assertion that fails or a statement that never returns.
    pub end: Option<End<'a>>,
}

/// A statement of the run, or an initial write.
#[derive(Debug)]
pub(crate) struct Row {
    /// The event that stands for it.
    pub event: usize,
    /// Its thread; `None` for an initial write.
    pub thread: Option<usize>,
    /// Its number, from 1; 0 for an initial write.
    pub step: usize,
    /// All of its events, in order.
    events: Vec<usize>,
}

/// An edge between rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub from: usize,
    pub to: usize,
    pub relation: Relation,
    /// Whether it is part of the cycle that SC forbids.
    pub cycle: bool,
}

/// The statement at which a run ends badly without an event.
pub(crate) struct End<'a> {
    pub thread: usize,
    pub text: &'a str,
    pub line: usize,
    /// `fails` or `stuck`.
    pub what: &'static str,
}

impl<'a> View<'a> {
    /// The view of a witness.
    pub fn new(witness: &'a Witness) -> View<'a> {
        let (rows, row_of) = rows(&witness.events);
        let end = match &witness.problem {
            Problem::Assertion { thread, text, line, .. } => {
                Some(End { thread: *thread, text, line: *line, what: "fails" })
            }
            Problem::Deadlock { thread, text, line, .. } => {
                Some(End { thread: *thread, text, line: *line, what: "stuck" })
            }
            _ => None,
        };
        let mut view = View { witness, rows, row_of, links: Vec::new(), end };
        view.links = view.make_links();
        view
    }

    fn make_links(&self) -> Vec<Link> {
        let cycle: &[Edge] = match &self.witness.problem {
            Problem::Stale { cycle, path, .. } => {
                if cycle.is_empty() {
                    path
                } else {
                    cycle
                }
            }
            _ => &[],
        };
        let mut links: Vec<Link> = Vec::new();
        for (edge, in_cycle) in
            cycle.iter().map(|e| (e, true)).chain(self.witness.edges.iter().map(|e| (e, false)))
        {
            let (Some(from), Some(to)) = (self.row(edge.from), self.row(edge.to)) else { continue };
            let behind_a_fence = self.hidden(edge.from) || self.hidden(edge.to);
            let known = links.iter().any(|l| (l.from, l.to, l.relation) == (from, to, edge.relation));
            if from == to || known || (behind_a_fence && edge.relation != Relation::Po && !in_cycle) {
                continue;
            }
            links.push(Link { from, to, relation: edge.relation, cycle: in_cycle });
        }
        links
    }

    /// The row of an event.
    pub fn row(&self, event: usize) -> Option<usize> {
        self.row_of.get(event).copied()
    }

    /// The event that stands for a row.
    pub fn event(&self, row: usize) -> &'a Event {
        &self.witness.events[self.rows[row].event]
    }

    fn hidden(&self, event: usize) -> bool {
        self.witness.events.get(event).is_some_and(|e| e.hidden)
    }

    /// A thread's name.
    pub fn thread_name(&self, thread: usize) -> String {
        match self.witness.threads.get(thread) {
            Some(name) if !name.trim().is_empty() => one_line(name),
            _ => format!("thread {thread}"),
        }
    }

    /// The threads that take part, in order.
    pub fn active_threads(&self) -> Vec<usize> {
        let run = self.rows.iter().filter_map(|r| r.thread);
        run.chain(self.end.as_ref().map(|e| e.thread)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The statement of a row as the user wrote it, in one line.
    pub fn statement(&self, row: usize) -> String {
        let event = self.event(row);
        let text = one_line(&event.text);
        if !text.is_empty() {
            // A fence that belongs to an SC access but was executed apart from it.
            let apart = event.hidden && self.split_access(row);
            return if apart { format!("SC fence of {text}") } else { text };
        }
        self.label(row)
    }

    fn split_access(&self, row: usize) -> bool {
        let (event, thread) = (self.event(row), self.rows[row].thread);
        let next = self.rows[row + 1..].iter().find(|r| r.thread == thread);
        next.is_some_and(|r| {
            let other = &self.witness.events[r.event];
            !other.hidden && same_statement(event, other)
        })
    }

    /// What a row did, e.g. `R.acq x 1`.
    pub fn label(&self, row: usize) -> String {
        let event = self.event(row);
        if event.hidden { "F.sc".to_owned() } else { one_line(&event.label()) }
    }

    /// What a row read and wrote, compactly: `R 0`, `W 1`, `U 0→1`; empty for a fence.
    pub fn effect(&self, row: usize) -> String {
        if self.event(row).hidden {
            return String::new();
        }
        match self.event(row).effect {
            Some(Effect::Updated(old, new)) => format!("U {old}→{new}"),
            Some(Effect::Read(value)) => format!("R {value}"),
            Some(Effect::Wrote(value)) => format!("W {value}"),
            Some(Effect::Fenced) | None => String::new(),
        }
    }

    /// How to speak of an event: `step 3`, `the initial write`.
    pub fn name(&self, event: usize) -> String {
        match self.row(event) {
            Some(row) if self.rows[row].thread.is_some() => format!("step {}", self.rows[row].step),
            Some(_) => "the initial write".to_owned(),
            None => "an unknown write".to_owned(),
        }
    }

    /// Whether some edge worth showing, or the problem itself, touches the row.
    pub fn touched(&self, row: usize) -> bool {
        self.links.iter().any(|l| l.from == row || l.to == row)
            || matches!(self.witness.problem, Problem::Stale { latest, older, .. }
                if self.row(latest) == Some(row) || self.row(older) == Some(row))
    }

    /// A dashed line: the two rows that no happens-before orders.
    pub fn unordered(&self) -> Option<(usize, usize)> {
        let (from, to) = match self.witness.problem {
            Problem::Stale { latest, access, .. } => (latest, access),
            Problem::Race { first, second } => (first, second),
            Problem::Unproved { newest, access, .. } => (newest, access),
            _ => return None,
        };
        let (from, to) = (self.row(from)?, self.row(to)?);
        (from != to).then_some((from, to))
    }

    /// Whether the row is the access to point at: the stale one, or one of two that race.
    pub fn guilty(&self, row: usize) -> bool {
        match self.witness.problem {
            Problem::Stale { access, .. } => self.row(access) == Some(row),
            Problem::Race { first, second } => self.row(first) == Some(row) || self.row(second) == Some(row),
            Problem::Unproved { access, .. } => self.row(access) == Some(row),
            _ => false,
        }
    }
}

fn same_statement(a: &Event, b: &Event) -> bool {
    a.thread == b.thread && a.span == b.span && a.text == b.text
}

/// What kind of event it is, operands aside: the hidden events of one fence are of different kinds.
fn kind(event: &Event) -> (Option<std::mem::Discriminant<Effect>>, Option<Mode>) {
    (event.effect.as_ref().map(std::mem::discriminant), event.mode)
}

/// Groups events into rows: the hidden events of one fence together, at the place of its update; an SC access together
/// with its fence if no other thread moved in between, or if the fence comes after it.
fn rows(events: &[Event]) -> (Vec<Row>, Vec<usize>) {
    let mut rows: Vec<Row> = Vec::new();
    for (i, event) in events.iter().enumerate() {
        let last = match event.thread {
            Some(_) => rows.iter_mut().rev().find(|r| r.thread == event.thread),
            None => None,
        };
        let joins = last.filter(|row| {
            let standing = &events[row.event];
            let room = if event.hidden {
                !row.events.iter().any(|&e| kind(&events[e]) == kind(event))
            } else {
                events[row.event + 1..i].iter().all(|e| e.thread == event.thread)
            };
            // On x86 an SC store is a store and a fence after it.
            let trailing = event.hidden && event.is_fence() && event.mode == Some(Mode::SeqCst);
            (standing.hidden || trailing) && same_statement(standing, event) && room
        });
        match joins {
            Some(row) => {
                row.events.push(i);
                if !event.hidden || events[row.event].is_fence() {
                    row.event = i;
                }
            }
            None => rows.push(Row { event: i, thread: event.thread, step: 0, events: vec![i] }),
        }
    }
    rows.sort_by_key(|r| (r.thread.is_some(), r.event));
    let mut row_of = vec![0; events.len()];
    let mut step = 0;
    for (i, row) in rows.iter_mut().enumerate() {
        if row.thread.is_some() {
            step += 1;
            row.step = step;
        }
        for &e in &row.events {
            row_of[e] = i;
        }
    }
    (rows, row_of)
}

#[cfg(test)]
mod tests;
