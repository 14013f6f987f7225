//! All candidate graphs, by the definition: traces, then reads-from, then modification orders.
//!
//! \[Rocker19] Def. 4.3 and \[RoboCop24] §3.2: `rf` gives each read a write of the same location and value, other
//! than itself; `mo` orders the writes to each location, the initialisation first. Nothing else is asked, so
//! cycles of `po ∪ rf` are there too.
//!
//! Reads-from and modification order are chosen per location. [`Which::Coherent`] drops, location by
//! location, choices that are not SC per location: every model here forbids them (\[Fency21] §II.B; in RC20 the
//! first three axioms restricted to `po ⊆ hb` say it), and whether a cycle stays within one location does not
//! depend on the others.

use super::traces::Traces;
use super::{Candidate, TooBig};
use crate::graph::Graph;
use crate::{Loc, Outcome, Value};
use crate::{Relation, Set};
use std::ops::ControlFlow;

/// Which candidates are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    /// All of them.
    All,
    /// Those that are SC per location.
    Coherent,
}

pub(super) type Visit<'a> = &'a mut dyn FnMut(Candidate<'_>) -> ControlFlow<()>;

/// Visits the candidates.
pub(super) fn all(traces: &Traces, which: Which, limit: usize, visit: Visit<'_>) -> Result<(), TooBig> {
    let mut search = Search { traces, which, left: limit, visit, graph: Graph::new(&traces.initial) };
    match search.threads(0, true) {
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
    which: Which,
    left: usize,
    visit: Visit<'a>,
    /// The events chosen so far, with program order and dependencies.
    graph: Graph,
}

/// A way to fill in one location.
#[derive(Default)]
struct Choice {
    /// Pairs of a write and a read.
    rf: Vec<(usize, usize)>,
    /// The writes in modification order.
    mo: Vec<usize>,
}

impl Search<'_> {
    /// Chooses a trace, stopped anywhere, for each remaining thread.
    fn threads(&mut self, thread: usize, complete: bool) -> ControlFlow<Stop> {
        let traces = self.traces;
        let Some(tree) = traces.threads.get(thread) else { return self.locations(complete) };
        for way in &tree.starts {
            let base = self.graph.len();
            way.fences.iter().try_for_each(|&fence| self.push(fence))?;
            self.trace(thread, way.to, complete)?;
            self.take_back(base);
        }
        ControlFlow::Continue(())
    }

    fn trace(&mut self, thread: usize, at: usize, complete: bool) -> ControlFlow<Stop> {
        let traces = self.traces;
        let node = &traces.threads[thread].nodes[at];
        self.threads(thread + 1, complete && node.finished)?;
        for step in &node.steps {
            let base = self.graph.len();
            self.push(step.event)?;
            self.graph.add_dependencies(base, &step.on);
            step.way.fences.iter().try_for_each(|&fence| self.push(fence))?;
            self.trace(thread, step.way.to, complete)?;
            self.take_back(base);
        }
        ControlFlow::Continue(())
    }

    fn push(&mut self, event: crate::Event) -> ControlFlow<Stop> {
        match self.graph.push(event, None) {
            Some(_) => ControlFlow::Continue(()),
            None => ControlFlow::Break(Stop::TooBig),
        }
    }

    fn take_back(&mut self, to: usize) {
        while self.graph.len() > to {
            self.graph.pop();
        }
    }

    fn count(&mut self) -> ControlFlow<Stop> {
        if self.left == 0 {
            return ControlFlow::Break(Stop::TooBig);
        }
        self.left -= 1;
        ControlFlow::Continue(())
    }

    /// The traces are chosen: collects what each location can look like, then combines.
    fn locations(&mut self, complete: bool) -> ControlFlow<Stop> {
        self.count()?;
        let mut choices = Vec::with_capacity(self.traces.initial.len());
        for number in 0..self.traces.initial.len() {
            let accesses = self.graph.accesses(Loc(number as u8));
            let found = self.choices(accesses);
            if found.is_empty() {
                return ControlFlow::Continue(());
            }
            choices.push((accesses, found));
        }
        self.combine(&choices, complete)
    }

    fn combine(&mut self, choices: &[(Set, Vec<Choice>)], complete: bool) -> ControlFlow<Stop> {
        let Some(((accesses, first), rest)) = choices.split_first() else {
            self.count()?;
            let candidate = Candidate { graph: &self.graph, complete };
            return (self.visit)(candidate).map_break(|()| Stop::Enough);
        };
        for choice in first {
            choice.rf.iter().for_each(|&(write, read)| self.graph.rf.insert(write, read));
            put_in_order(&mut self.graph.mo, &choice.mo);
            self.combine(rest, complete)?;
            self.graph.rf.clear_to(*accesses);
            self.graph.mo.clear_to(*accesses);
        }
        ControlFlow::Continue(())
    }

    /// All ways to fill in the location with these accesses.
    fn choices(&self, accesses: Set) -> Vec<Choice> {
        let writes: Vec<usize> = (self.graph.writes() & accesses).iter().collect();
        let reads: Vec<usize> = (self.graph.reads() & accesses).iter().collect();
        let fits = |write: usize, read: usize| write != read && self.written(write) == self.read(read);
        if reads.iter().any(|&read| !writes.iter().any(|&write| fits(write, read))) {
            return Vec::new();
        }
        let Some((&initial, others)) = writes.split_first() else { return vec![Choice::default()] };
        let mut orders = Vec::new();
        self.orders(&mut vec![initial], others.iter().copied().collect(), &mut orders);
        let mut found = Vec::new();
        for mo in &orders {
            let mut sources = vec![Vec::with_capacity(reads.len())];
            for &read in &reads {
                let may_read = |write: &usize| fits(*write, read) && self.may_read(mo, *write, read);
                let longer = |rf: &Vec<(usize, usize)>| -> Vec<Vec<(usize, usize)>> {
                    mo.iter().copied().filter(may_read).map(|w| [&rf[..], &[(w, read)]].concat()).collect()
                };
                sources = sources.iter().flat_map(longer).collect();
            }
            sources.retain(|rf| self.which == Which::All || self.is_coherent(accesses, rf, mo));
            found.extend(sources.into_iter().map(|rf| Choice { rf, mo: mo.clone() }));
        }
        found
    }

    fn read(&self, event: usize) -> Option<Value> {
        self.graph.events[event].outcome.value_read()
    }

    fn written(&self, event: usize) -> Option<Value> {
        self.graph.events[event].outcome.value_written()
    }

    /// All orders of these writes that start like `order`. Coherent ones respect program order, and an RMW
    /// follows a write of the value it reads.
    fn orders(&self, order: &mut Vec<usize>, left: Set, found: &mut Vec<Vec<usize>>) {
        if left.is_empty() {
            found.push(order.clone());
        }
        for write in left.iter() {
            let coherent = || {
                let last = order.last().and_then(|&last| self.written(last));
                let earlier = left.iter().any(|other| self.graph.po.contains(other, write));
                !earlier && (self.read(write).is_none() || self.read(write) == last)
            };
            if self.which == Which::All || coherent() {
                order.push(write);
                self.orders(order, left - Set::one(write), found);
                order.pop();
            }
        }
    }

    /// A quick part of [`Self::is_coherent`]: an RMW reads from the write before it.
    fn may_read(&self, mo: &[usize], write: usize, read: usize) -> bool {
        let after = || mo.iter().position(|&w| w == write).and_then(|place| mo.get(place + 1));
        self.which == Which::All || self.written(read).is_none() || after() == Some(&read)
    }

    /// `po ∪ rf ∪ mo ∪ fr` has no cycle on this location.
    fn is_coherent(&self, accesses: Set, rf: &[(usize, usize)], mo: &[usize]) -> bool {
        let rank = |write: usize| mo.iter().position(|&w| w == write).unwrap_or(0);
        let source = |read: usize| rf.iter().find(|&&(_, r)| r == read).map_or(0, |&(write, _)| rank(write));
        // A write stands at 2·(its rank in mo), a read right after the write it reads from: `rf`, `mo`, `fr`
        // go up by definition (for an RMW: if no write is between), so there is no cycle iff `po` never goes
        // down.
        let height = |event: usize| match self.graph.events[event].outcome {
            Outcome::Read(_) => 2 * source(event) + 1,
            _ => 2 * rank(event),
        };
        let atomic = |event: usize| match self.graph.events[event].outcome {
            Outcome::Updated(..) => rank(event) == source(event) + 1,
            _ => true,
        };
        let up = |a: usize| (self.graph.po.after(a) & accesses).iter().all(|b| height(a) <= height(b));
        accesses.iter().all(|a| atomic(a) && up(a))
    }
}

fn put_in_order(mo: &mut Relation, order: &[usize]) {
    for (place, &write) in order.iter().enumerate() {
        mo.insert_all(write, order[place + 1..].iter().copied().collect());
    }
}
