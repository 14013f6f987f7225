//! The brute-force oracle: all execution graphs of a small loop-free program, filtered by a model's axioms.
//!
//! `robustness.rs` has the definition that monitors, explorers and repairs are tested against.
//!
//! Two enumerations stand side by side. [`graphs`] is the definition: all traces, all reads-from choices, all
//! modification orders (`candidates.rs`). [`consistent`] gives the graphs that a model allows; for models
//! that forbid cycles of `po ∪ rf` it builds them event by event (`grow.rs`) and goes on only from consistent
//! graphs. A test holds the two equal.
//!
//! Both leave out graphs in which a thread stopped right before a fence: the graph with that fence added is
//! consistent in exactly the same models, because nothing leads out of an event that is last in its thread
//! and writes nothing.

mod candidates;
mod grow;
mod robustness;
mod traces;

use crate::graph::Graph;
use crate::{Mode, Model, Program, Value};
pub use robustness::{Verdict, robust};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use traces::Traces;

/// The limit on examined graphs, or on the size of the graphs, was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooBig;

/// A graph on its way to a visitor.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// Whether every thread has run to its end.
    pub complete: bool,
}

/// What a finished run can be told apart by.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Observation {
    /// The values read by each thread, in program order.
    pub reads: Vec<Vec<Value>>,
    /// The last value of every location in modification order.
    pub memory: Vec<Value>,
}

/// Visits every candidate graph of the program, consistent or not, until the visitor breaks off. Stops with
/// [`TooBig`] after `limit` graphs.
pub fn graphs<P: Program>(
    program: &P,
    limit: usize,
    mut visit: impl FnMut(Candidate<'_>) -> ControlFlow<()>,
) -> Result<(), TooBig> {
    candidates::all(&Traces::of(program)?, candidates::Which::All, limit, &mut visit)
}

/// Visits every graph of the program that the model allows, until the visitor breaks off. Stops with
/// [`TooBig`] after looking at `limit` graphs.
pub fn consistent<P: Program>(
    program: &P,
    model: Model,
    limit: usize,
    mut visit: impl FnMut(Candidate<'_>) -> ControlFlow<()>,
) -> Result<(), TooBig> {
    let traces = Traces::of(program)?;
    if model.is_causal() {
        return grow::all(&traces, limit, &mut |candidate| {
            if !model.allows(candidate.graph) {
                return ControlFlow::Continue(grow::Decision::Leave);
            }
            visit(candidate)?;
            ControlFlow::Continue(grow::Decision::Extend)
        });
    }
    candidates::all(&traces, candidates::Which::Coherent, limit, &mut |candidate| {
        if model.allows(candidate.graph) { visit(candidate) } else { ControlFlow::Continue(()) }
    })
}

/// What the finished runs that the model allows can end in.
pub fn outcomes<P: Program>(
    program: &P,
    model: Model,
    limit: usize,
) -> Result<BTreeSet<Observation>, TooBig> {
    let mut found = BTreeSet::new();
    consistent(program, model, limit, |Candidate { graph, complete }| {
        if complete {
            found.insert(observation(graph, program.threads(), program.initial().len()));
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// What a graph shows: the values read by its threads and the final memory.
pub fn observation(graph: &Graph, threads: usize, locations: usize) -> Observation {
    let mut reads = vec![Vec::new(); threads];
    let mut order: Vec<_> = graph.events.iter().collect();
    order.sort_by_key(|event| event.index);
    for event in order {
        let thread = event.thread.and_then(|thread| reads.get_mut(thread));
        if let (Some(values), Some(value)) = (thread, event.outcome.value_read()) {
            values.push(value);
        }
    }
    let mut memory = vec![0; locations];
    for (number, event) in graph.events.iter().enumerate() {
        if let (Some(loc), Some(value)) = (event.loc, event.outcome.value_written())
            && graph.mo.after(number).is_empty()
            && loc.index() < locations
        {
            memory[loc.index()] = value;
        }
    }
    Observation { reads, memory }
}

/// A consistent graph with a data race, if there is one: two accesses of different threads to one location,
/// at least one of them a write, at least one of them non-atomic, not ordered by the model's happens-before
/// (RC20's, or RA's).
pub fn races<P: Program>(program: &P, model: Model, limit: usize) -> Result<Option<Graph>, TooBig> {
    let mut racy = None;
    consistent(program, model, limit, |Candidate { graph, .. }| {
        if race(graph, model).is_none() {
            return ControlFlow::Continue(());
        }
        racy = Some(graph.clone());
        ControlFlow::Break(())
    })?;
    Ok(racy)
}

/// Two events of the graph that race, see [`races`].
pub fn race(graph: &Graph, model: Model) -> Option<(usize, usize)> {
    let non_atomic = graph.with_mode(Mode::NonAtomic);
    if non_atomic.is_empty() {
        return None;
    }
    let hb = model.happens_before(graph);
    let writes = graph.writes();
    non_atomic.iter().find_map(|a| {
        let event = &graph.events[a];
        let same_place = event.loc.map(|loc| graph.accesses(loc)).unwrap_or_default();
        let others = graph.set(|e| e.thread.is_some() && e.thread != event.thread) & same_place;
        let conflicting = if writes.contains(a) { others } else { others & writes };
        conflicting.iter().find(|&b| !hb.contains(a, b) && !hb.contains(b, a)).map(|b| (a, b))
    })
}
