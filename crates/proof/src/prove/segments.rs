//! Methods as loop-free guarded code: what the solver is told about one call.
//!
//! A loop that ρ has left in a method is passed in two kinds of *segments*. The main segment is the method with, of every loop,
//! only the last iteration; before that there is a *gap*, in which the thread may have made other iterations, so that what
//! these assign is unknown. Every other iteration is a segment of its own, from the loop's head back to it. So every event
//! of an execution belongs to some segment. An access that only leads back to the head is in no last iteration, and one that
//! only leads out of the loop is in no other. The head of a loop that is never left is an end: the rest are other iterations.
//!
//! * `graph`: the control-flow graph of a method, with its loops;
//! * `symbolic`: symbolic execution of its acyclic parts.

mod graph;
mod symbolic;

use super::term::Term;
use graph::{Graph, NodeKind};
use seqcst_c11::code::{ClassId, Label, LocalId, Method, Mode, RecordId, Site};
use symbolic::SymbolicExecution;

/// What a step does to memory, with all values known in terms of earlier steps.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the fields are those of code::AccessKind")]
pub enum Action {
    /// A load, or (`until`) a blocking one.
    Read { until: Option<Term> },
    /// A store of that value.
    Write { value: Term },
    /// A read-modify-write that writes that value (in terms of what this very step reads).
    Update { value: Term },
    /// A compare-and-swap. `is_blocking`: it waits until it can succeed. `always`: those that do not (or do) succeed are in
    /// other segments.
    Cas {
        expected: Term,
        desired: Term,
        failure: Mode,
        is_weak: bool,
        is_blocking: bool,
        always: Option<bool>,
    },
    /// A fence.
    Fence,
    /// A new record.
    Allocate { record: RecordId },
    /// A record is given back.
    Free,
}

/// A memory operation of a segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Which access of the library this is.
    pub label: Label,
    /// Where it is written.
    pub site: Site,
    /// What it does.
    pub action: Action,
    /// The class of locations, but for fences and allocations.
    pub class: Option<ClassId>,
    /// Address of the record (0 if the class has none).
    pub base: Term,
    /// Index of the cell (0 if the class has none).
    pub index: Term,
    /// Memory order (of success).
    pub order: Mode,
    /// The node that it belongs to.
    pub node: usize,
    /// From here no end of the segment can be reached, so it is never executed (but in another segment).
    pub is_dead: bool,
}

impl Step {
    /// Can it be a read: load, read-modify-write, compare-and-swap?
    pub fn reads(&self) -> bool {
        matches!(self.action, Action::Read { .. } | Action::Update { .. } | Action::Cas { .. })
    }

    /// Can it be a write?
    pub fn writes(&self) -> bool {
        match self.action {
            Action::Write { .. } | Action::Update { .. } => true,
            Action::Cas { always, .. } => always != Some(false),
            _ => false,
        }
    }

    /// Is a write of this step a read-modify-write?
    pub fn updates(&self) -> bool {
        matches!(self.action, Action::Update { .. } | Action::Cas { .. }) && self.writes()
    }

    /// Does it touch a location?
    pub fn is_access(&self) -> bool {
        self.class.is_some()
    }

    /// A fence of this or a stronger order?
    pub fn is_fence(&self) -> bool {
        self.action == Action::Fence
    }

    /// The value that it writes, in terms of the segment.
    pub fn written(&self) -> Option<&Term> {
        match &self.action {
            Action::Write { value } | Action::Update { value } => Some(value),
            Action::Cas { desired, .. } if self.writes() => Some(desired),
            _ => None,
        }
    }
}

/// A value at a join, which depends on the edge that control came by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phi {
    /// For each edge: the node it comes from, its condition, the value.
    pub incoming: Vec<(usize, Term, Term)>,
}

/// A node of the control-flow graph of a segment: reached from other nodes under conditions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    /// Predecessors, and what must hold there (not 0) to come from them.
    pub from: Vec<(usize, Term)>,
}

/// Index of a loop in its method.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LoopId(pub usize);

/// A point before the last iteration of a loop, where other iterations may have been.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The loop whose other iterations may lie here.
    pub of: LoopId,
    /// Steps that come before it.
    pub before: Vec<usize>,
    /// Steps that come after it.
    pub after: Vec<usize>,
}

/// Loop-free guarded code: one piece of one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Index of the method in the library.
    pub method: usize,
    /// The loop of which it is an iteration but the last, with the loops around it (innermost first); empty: the main segment.
    pub iteration_of: Vec<LoopId>,
    /// Memory operations in an order that program order respects.
    pub steps: Vec<Step>,
    /// Nodes in such an order; node 0 is where it begins.
    pub nodes: Vec<Node>,
    /// Nodes at which the segment has ended.
    pub ends: Vec<usize>,
    /// Values that joins choose between.
    pub phis: Vec<Phi>,
    /// Variables whose values are unknown, at the beginning or behind a gap.
    pub entries: Vec<LocalId>,
    /// Where other iterations may have been.
    pub gaps: Vec<Gap>,
    /// Is there a number that may wrap around?
    pub wraps: bool,
}

impl Segment {
    /// Is there a number that may wrap around?
    fn has_wraps(&self) -> bool {
        let mut found = false;
        let mut look = |term: &Term| found |= matches!(term, Term::Wrap(..));
        for step in &self.steps {
            let parts = [&step.base, &step.index].into_iter().chain(step.written());
            parts.for_each(|term| term.visit(&mut look));
            match &step.action {
                Action::Read { until: Some(condition) } => condition.visit(&mut look),
                Action::Cas { expected, .. } => expected.visit(&mut look),
                _ => {}
            }
        }
        for (_, condition) in self.nodes.iter().flat_map(|node| &node.from) {
            condition.visit(&mut look);
        }
        for (_, condition, value) in self.phis.iter().flat_map(|phi| &phi.incoming) {
            condition.visit(&mut look);
            value.visit(&mut look);
        }
        found
    }

    /// Does every path to node `to` pass node `dominator`?
    pub fn dominates(&self, dominator: usize, to: usize) -> bool {
        !self.reachable(0, Some(dominator), |_| true)[to]
    }

    /// Between two steps of a call, does it write to no location of a class?
    pub fn is_untouched(&self, class: ClassId, from: usize, to: usize) -> bool {
        // A compare-and-swap that fails here may have succeeded in another iteration.
        let may_write = |k: usize| {
            let step = &self.steps[k];
            step.class == Some(class) && !matches!(step.action, Action::Read { .. })
        };
        let is_iterated = self.gaps.iter().any(|gap| gap.before.contains(&from) && gap.after.contains(&to));
        !(from + 1..to).any(may_write)
            && (!is_iterated || (0..self.steps.len()).all(|k| k == to || !may_write(k)))
    }

    /// Does every path from a node to an end of the segment pass node `post_dominator`?
    pub fn post_dominated_by(&self, from: usize, post_dominator: usize) -> bool {
        let is_reached = self.reachable(from, Some(post_dominator), |_| true);
        !self.ends.iter().any(|end| is_reached[*end])
    }

    /// Is there a path from a node to another one?
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        self.reachable(from, None, |_| true)[to]
    }

    /// Is there a path from a node to an end of the segment by edges whose conditions may hold?
    fn can_end(&self, from: usize, may_hold: impl Fn(&Term) -> bool) -> bool {
        let is_reached = self.reachable(from, None, may_hold);
        self.ends.iter().any(|end| is_reached[*end])
    }

    /// Nodes on paths from a node that avoid another one and take edges with such conditions only.
    fn reachable(&self, from: usize, avoided: Option<usize>, takes: impl Fn(&Term) -> bool) -> Vec<bool> {
        let mut is_reached = vec![false; self.nodes.len()];
        is_reached[from] = avoided != Some(from);
        // Nodes are in topological order.
        for at in from + 1..self.nodes.len() {
            is_reached[at] = avoided != Some(at)
                && self.nodes[at].from.iter().any(|(before, edge)| is_reached[*before] && takes(edge));
        }
        is_reached
    }
}

/// All segments of a method.
pub fn segments(index: usize, method: &Method) -> Vec<Segment> {
    let graph = Graph::of(method);
    let heads = graph.nodes.iter().enumerate().filter_map(|(at, node)| match node.kind {
        NodeKind::Head(of) => Some((at, Some(of))),
        _ => None,
    });
    std::iter::once((0, None))
        .chain(heads)
        .map(|(at, iteration_of)| SymbolicExecution::new(&graph, method).segment(index, at, iteration_of))
        .filter(|s| !s.steps.is_empty())
        .collect()
}
