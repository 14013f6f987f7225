//! Graphs built one event at a time, for models that forbid cycles of `po ∪ rf`.
//!
//! The fast form of [`super::candidates`]. Every consistent graph of such a model can be taken apart by
//! removing an event that is last in its thread and read by nobody, and what is left is consistent: each
//! axiom says that a relation has no cycle, and the relations of the smaller graph are contained in those of
//! the larger (\[Rocker19] Lemma A.18). So adding events in every possible way, and going on only from
//! consistent graphs, reaches them all.
//!
//! Of all orders in which the events of a graph can be added, one is canonical: always the lowest thread that
//! can go on. Only that one is followed, so every graph is seen once.

use super::traces::{Step, Traces, Way};
use super::{Candidate, TooBig};
use crate::graph::Graph;
use std::ops::ControlFlow;

/// What to do after a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    /// Go on adding events.
    Extend,
    /// Nothing larger is of interest.
    Leave,
}

pub(super) type Visit<'a> = &'a mut dyn FnMut(Candidate<'_>) -> ControlFlow<(), Decision>;

/// Visits the graphs.
pub(super) fn all(traces: &Traces, limit: usize, visit: Visit<'_>) -> Result<(), TooBig> {
    let mut search =
        Search { traces, left: limit, visit, graph: Graph::new(&traces.initial), at: Vec::new(), base: 0 };
    match search.start() {
        ControlFlow::Break(Stop::TooBig) => Err(TooBig),
        _ => Ok(()),
    }
}

enum Stop {
    Enough,
    TooBig,
}

struct Search<'a> {
    traces: &'a Traces,
    left: usize,
    visit: Visit<'a>,
    graph: Graph,
    /// Where each thread stands.
    at: Vec<usize>,
    /// How many events there are before any thread makes an access.
    base: usize,
}

impl Search<'_> {
    /// Chooses how the remaining threads start.
    fn start(&mut self) -> ControlFlow<Stop> {
        let traces = self.traces;
        let Some(tree) = traces.threads.get(self.at.len()) else {
            self.base = self.graph.len();
            return self.look();
        };
        for way in &tree.starts {
            self.follow(way)?;
            self.at.push(way.to);
            self.start()?;
            self.at.pop();
            self.take_back(way.fences.len());
        }
        ControlFlow::Continue(())
    }

    fn follow(&mut self, way: &Way) -> ControlFlow<Stop> {
        for &fence in &way.fences {
            if self.graph.push(fence, None).is_none() {
                return ControlFlow::Break(Stop::TooBig);
            }
        }
        ControlFlow::Continue(())
    }

    fn take_back(&mut self, events: usize) {
        for _ in 0..events {
            self.graph.pop();
        }
    }

    /// Shows the graph to the visitor and goes on from it.
    fn look(&mut self) -> ControlFlow<Stop> {
        if self.left == 0 {
            return ControlFlow::Break(Stop::TooBig);
        }
        self.left -= 1;
        let finished = |(tree, &at): (&super::traces::Tree, &usize)| tree.nodes[at].finished;
        let complete = self.traces.threads.iter().zip(&self.at).all(finished);
        match (self.visit)(Candidate { graph: &self.graph, complete }) {
            ControlFlow::Break(()) => ControlFlow::Break(Stop::Enough),
            ControlFlow::Continue(Decision::Leave) => ControlFlow::Continue(()),
            ControlFlow::Continue(Decision::Extend) => self.extend(),
        }
    }

    fn extend(&mut self) -> ControlFlow<Stop> {
        let traces = self.traces;
        for (thread, tree) in traces.threads.iter().enumerate() {
            let at = self.at[thread];
            for step in &tree.nodes[at].steps {
                for write in 0..self.graph.len() {
                    if self.fits(step, write) && self.is_next(thread, step, write) {
                        self.add(thread, step, write)?;
                        self.at[thread] = at;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn add(&mut self, thread: usize, step: &Step, write: usize) -> ControlFlow<Stop> {
        let Some(new) = self.graph.push(step.event, Some(write)) else {
            return ControlFlow::Break(Stop::TooBig);
        };
        self.graph.add_dependencies(new, &step.on);
        self.follow(&step.way)?;
        self.at[thread] = step.way.to;
        self.look()?;
        self.take_back(1 + step.way.fences.len());
        ControlFlow::Continue(())
    }

    /// Whether `write` can be the predecessor write of the step: `w ∈ W_x`, of the value read (\[Rocker19] Def.
    /// 4.5).
    fn fits(&self, step: &Step, write: usize) -> bool {
        let written = self.graph.events[write].outcome.value_written();
        let read = step.event.outcome.value_read();
        self.graph.events[write].loc == step.event.loc
            && written.is_some()
            && (read.is_none() || read == written)
    }

    /// Whether the canonical order adds the step now: everything added since it became possible (since its
    /// predecessor in the thread, and the write it reads from) belongs to lower threads. Fences come with the
    /// access before them.
    fn is_next(&self, thread: usize, step: &Step, write: usize) -> bool {
        let reads = step.event.is_read();
        let since = self.graph.events.iter().enumerate().skip(self.base).rev();
        since
            .filter(|(_, event)| !event.is_fence())
            .take_while(|(number, event)| event.thread != Some(thread) && !(reads && *number == write))
            .all(|(_, event)| event.thread < Some(thread))
    }
}
