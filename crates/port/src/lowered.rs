//! The program as both machines see it at once.
//!
//! An access is the same reads and writes on every machine; what stands around them differs. So there is one graph per
//! function, whose nodes are *events* (a read or a write, with the step that it is on either machine) and *fences* of one
//! machine or the other. Every place where a fence can be put is a *gate*: changes are looked up there and count for the
//! weaker machine only.

use crate::change::{AppliedChanges, Change};
use crate::machine::{Fence, Machine, Step};
use crate::mapping::{Features, old_steps, steps};
use crate::program::{CasOutcome, Edge, Function, NodeKind, Point, Program, Spot};

/// All functions of a program, for two machines.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The source machine.
    pub from: Machine,
    /// The target machine.
    pub to: Machine,
    /// The functions.
    pub threads: Vec<Thread>,
    /// The events of all functions.
    pub events: Vec<Event>,
}

/// A function's graph.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Where it begins.
    pub entry: usize,
    /// Whether several threads may run it at once.
    pub many: bool,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// What happens.
    pub op: Op,
    /// Where control may go.
    pub next: Vec<usize>,
}

/// What happens at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Nothing.
    Nothing,
    /// The way into an instruction, or along an edge: a place for fences.
    Gate(Gate),
    /// A fence on the source machine.
    From(Fence),
    /// A fence on the target machine.
    To(Fence),
    /// A read or write, an index into [`Lowered::events`].
    Event(usize),
}

/// A place for fences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gate {
    /// The point of the program that it stands for.
    pub point: Point,
    /// Where in the text; none if nothing can be put there.
    pub spot: Option<Spot>,
    /// What was put there.
    pub fences: Vec<Fence>,
}

/// A read or a write.
#[derive(Clone, Debug)]
pub struct Event {
    /// The function.
    pub thread: usize,
    /// The source node.
    pub source: usize,
    /// The source node's tag.
    pub tag: u32,
    /// Its node in [`Thread::nodes`].
    pub node: usize,
    /// The class of its address.
    pub location: usize,
    /// The step on the source machine.
    pub from: Step,
    /// The step on the target machine.
    pub to: Step,
}

impl Event {
    /// Whether it writes; otherwise it reads.
    pub fn is_write(&self) -> bool {
        matches!(self.from, Step::Write { .. })
    }
}

impl Lowered {
    /// The program for these machines, with these changes.
    pub fn new(
        program: &Program,
        (from, to): (Machine, Machine),
        features: Features,
        changes: &[Change],
    ) -> Lowered {
        let mut lowered = Lowered { from, to, threads: Vec::new(), events: Vec::new() };
        let applied = AppliedChanges::new(program, changes);
        for (number, function) in program.functions.iter().enumerate() {
            let mut ways_in = vec![0; function.nodes.len()];
            for edge in function.nodes.iter().flat_map(|node| &node.next) {
                ways_in.get_mut(edge.to).into_iter().for_each(|ways| *ways += 1);
            }
            let builder = Builder {
                program,
                number,
                function,
                features,
                applied: &applied,
                ways_in,
                heads: Vec::new(),
            };
            let thread = builder.build(&mut lowered);
            lowered.threads.push(thread);
        }
        lowered
    }
}

struct Builder<'a> {
    program: &'a Program,
    number: usize,
    function: &'a Function,
    features: Features,
    applied: &'a AppliedChanges,
    ways_in: Vec<usize>,
    /// The gate in front of every source node.
    heads: Vec<usize>,
}

impl Builder<'_> {
    fn build(mut self, lowered: &mut Lowered) -> Thread {
        let mut thread = Thread { many: self.function.many, ..Thread::default() };
        for node in 0..self.function.nodes.len() {
            let gate = self.gate(Point::Before { function: self.number, node });
            self.heads.push(push(&mut thread, gate));
        }
        for node in 0..self.function.nodes.len() {
            self.node(lowered, &mut thread, node);
        }
        thread.entry = self.heads.get(self.function.entry).copied().unwrap_or(0);
        thread
    }

    fn gate(&self, point: Point) -> Op {
        let spot = self.program.spot(point);
        Op::Gate(Gate { point, spot, fences: self.applied.fences(spot).to_vec() })
    }

    /// Whether an edge needs a gate of its own: elsewhere, before one of its ends is the same.
    fn is_critical(&self, from: usize, edge: &Edge) -> bool {
        let ways_in = self.ways_in.get(edge.to).copied().unwrap_or(0);
        self.function.nodes[from].next.len() > 1 && ways_in > 1
    }

    fn node(&self, lowered: &mut Lowered, thread: &mut Thread, number: usize) {
        let node = &self.function.nodes[number];
        let from = old_steps(lowered.from, self.features, &node.kind);
        let to = steps(lowered.to, self.features, &node.kind);
        let success = self.chain(lowered, thread, number, &from.success, &to.success);
        let retried = to.retried.as_ref().map(|to| self.chain(lowered, thread, number, &from.success, to));
        let failure = match (&from.failure, &to.failure) {
            (Some(from), Some(to)) => Some(self.chain(lowered, thread, number, from, to)),
            _ => None,
        };
        for (edge, target) in node.next.iter().enumerate() {
            let Some(&head) = self.heads.get(target.to) else { continue };
            let mut gate = head;
            if self.is_critical(number, target) {
                let point = Point::On { function: self.number, from: number, edge };
                gate = push(thread, self.gate(point));
                thread.nodes[gate].next.push(head);
            }
            if target.when != CasOutcome::Failure {
                thread.nodes[success].next.push(gate);
                if let Some(retried) = retried {
                    thread.nodes[retried].next.push(gate);
                }
            }
            if let Some(failure) = failure.filter(|_| target.when != CasOutcome::Success) {
                thread.nodes[failure].next.push(gate);
            }
        }
    }

    /// Puts the steps of both machines behind the node's gate; gives the last node.
    ///
    /// Both lists have the same reads and writes in the same order: that is what one access is on every machine.
    fn chain(
        &self,
        lowered: &mut Lowered,
        thread: &mut Thread,
        source: usize,
        from: &[Step],
        to: &[Step],
    ) -> usize {
        let mut last = self.heads[source];
        let mut add = |thread: &mut Thread, op: Op| {
            let new = push(thread, op);
            thread.nodes[last].next.push(new);
            last = new;
        };
        let location = match &self.function.nodes[source].kind {
            NodeKind::Access(access) => access.location,
            NodeKind::Opaque { location, .. } => *location,
            _ => 0,
        };
        let mut from = from.iter();
        for &step in to {
            if let Step::Fence(fence) = step {
                add(thread, Op::To(fence));
                continue;
            }
            let mut from_step = step;
            for &other in from.by_ref() {
                match other {
                    Step::Fence(fence) => add(thread, Op::From(fence)),
                    access => {
                        from_step = access;
                        break;
                    }
                }
            }
            let event = Event {
                thread: self.number,
                source,
                tag: self.function.nodes[source].tag,
                node: thread.nodes.len(),
                location,
                from: from_step,
                to: self.applied.strengthened(self.function.nodes[source].tag, step),
            };
            lowered.events.push(event);
            add(thread, Op::Event(lowered.events.len() - 1));
        }
        for &other in from {
            if let Step::Fence(fence) = other {
                add(thread, Op::From(fence));
            }
        }
        last_or_own(thread, last, self.heads[source])
    }
}

fn push(thread: &mut Thread, op: Op) -> usize {
    thread.nodes.push(Node { op, next: Vec::new() });
    thread.nodes.len() - 1
}

/// A chain of no steps still needs a node of its own: what leaves it is not what leaves the gate on the other outcome.
fn last_or_own(thread: &mut Thread, last: usize, gate: usize) -> usize {
    if last != gate {
        return last;
    }
    let own = push(thread, Op::Nothing);
    thread.nodes[gate].next.push(own);
    own
}
