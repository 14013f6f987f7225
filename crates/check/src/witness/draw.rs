//! An execution graph, written down for a report.

use crate::answer::Source;
use seqcst_model::{Event, Graph, Mode, Model, Outcome, Value};
use seqcst_program::code::{Code, Instr};
use seqcst_program::line_column;
use seqcst_report::{Edge, Effect, Event as Shown, Problem, Relation, Witness};
use std::ops::Range;

/// What it takes to write events down.
pub struct Draw<'a> {
    /// The program.
    pub code: &'a Code,
    /// Its text.
    pub source: Source<'a>,
    /// The memory model.
    pub model: Model,
}

impl Draw<'_> {
    /// The execution and what is wrong with it.
    pub fn witness<const W: usize>(&self, graph: &Graph<W>, problem: Problem) -> Witness {
        let mut step = 0;
        let events = graph.events.iter().map(|event| {
            step += usize::from(event.thread.is_some());
            self.event(event, step)
        });
        Witness {
            file: self.source.file.to_owned(),
            source: self.source.text.to_owned(),
            model: self.model,
            threads: self.code.threads.iter().map(|thread| thread.name.clone()).collect(),
            is_partial: false,
            events: events.collect(),
            edges: edges(graph),
            problem,
        }
    }

    /// What the user wrote at a site, in one line.
    pub fn text(&self, site: u32) -> &str {
        self.code.sites.get(site as usize).map_or("", |site| site.text.as_str())
    }

    /// Where a site stands in the source: bytes, line and column.
    pub fn place(&self, site: u32) -> (Range<usize>, usize, usize) {
        let Some(site) = self.code.sites.get(site as usize) else { return (0..0, 0, 0) };
        let (line, column) = line_column(self.source.text.as_bytes(), site.span.start);
        (site.span.clone(), line, column)
    }

    fn event(&self, event: &Event, step: usize) -> Shown {
        let location = event.loc.and_then(|x| self.code.locations.get(x.index()));
        let hidden = match location {
            Some(location) => location.hidden,
            None => event.thread.is_some_and(|thread| self.is_part(thread, event.site)),
        };
        let (span, line, column) = if event.thread.is_some() { self.place(event.site) } else { (0..0, 0, 0) };
        Shown {
            thread: event.thread,
            step: if event.thread.is_some() { step } else { 0 },
            effect: Some(self.effect(event.outcome)),
            mode: self.mode(event),
            location: location.map(|location| location.name.clone()),
            text: if event.thread.is_some() { self.text(event.site).to_owned() } else { String::new() },
            span,
            line,
            column,
            hidden,
        }
    }

    /// What came of an action, with values as the user writes them.
    fn effect(&self, outcome: Outcome) -> Effect {
        let show = |value: Value| self.code.values.show(value);
        match outcome {
            Outcome::Read(value) => Effect::Read(show(value)),
            Outcome::Wrote(value) => Effect::Wrote(show(value)),
            Outcome::Updated(old, new) => Effect::Updated(show(old), show(new)),
            Outcome::Fenced => Effect::Fenced,
        }
    }

    /// Whether a fence at this site is a part of something else: the site has accesses, too.
    fn is_part(&self, thread: usize, site: u32) -> bool {
        use seqcst_program::code::AccessKind::Fence;
        let instrs = self.code.threads.get(thread).map_or(&[][..], |thread| &thread.instrs);
        let mut accesses = instrs.iter().filter_map(|instr| match instr {
            Instr::Access(access) if access.site == site => Some(access),
            _ => None,
        });
        accesses.any(|access| access.kind != Fence)
    }

    /// The order to show: none for initial writes, and none in models without orders, except for fences.
    fn mode(&self, event: &Event) -> Option<Mode> {
        let no_modes = matches!(self.model, Model::Sc | Model::Tso) && event.mode != Mode::NonAtomic;
        let shown = event.thread.is_some() && (event.outcome == Outcome::Fenced || !no_modes);
        shown.then_some(event.mode)
    }
}

/// The edges between neighbours: what follows from them by transitivity is left out.
fn edges<const W: usize>(graph: &Graph<W>) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut add = |from, to, relation| edges.push(Edge { from, to, relation });
    for (to, event) in graph.events.iter().enumerate() {
        let before = |other: &Event| other.thread.is_some() && other.thread == event.thread;
        if let Some(from) = graph.events[..to].iter().rposition(before) {
            add(from, to, Relation::Po);
        }
    }
    for (from, to) in graph.rf.pairs() {
        add(from, to, Relation::Rf);
    }
    let next = |write: usize| graph.mo.after(write).iter().max_by_key(|&later| graph.mo.after(later).len());
    for write in graph.writes().iter() {
        if let Some(later) = next(write) {
            add(write, later, Relation::Mo);
        }
    }
    for (write, read) in graph.rf.pairs() {
        // The next write after what an update read is the update itself.
        if let Some(later) = next(write).filter(|&later| later != read) {
            add(read, later, Relation::Fr);
        }
    }
    edges
}
