//! Methods as loop-free guarded code: what the solver is told about one call.
//!
//! A loop that ρ has left in a method is passed in two kinds of *segments*. The main segment is the method with, of every loop,
//! only the last iteration; before that there is a *gap*, in which the thread may have made other iterations, so that what
//! these assign is unknown. Every other iteration is a segment of its own, from the loop's head back to it. So every event
//! of an execution belongs to some segment. An access that only leads back to the head is in no last iteration, and one that
//! only leads out of the loop is in no other. The head of a loop that is never left is an end: the rest are other iterations.

use std::rc::Rc;

use super::term::Term;
use crate::code::{
    Access, AccessKind, ClassId, Expr, Label, LocalId, Method, Order, RecordId, Site, Statement, Update,
};

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
        failure: Order,
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
    pub order: Order,
    /// The node of the flow graph that it stands at.
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

/// A value that depends on the way that led here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merge {
    /// For each way: the node it comes from, the condition of the edge, the value.
    pub ways: Vec<(usize, Term, Term)>,
}

/// A node of the flow graph: reached from other nodes under conditions.
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
    /// The loop.
    pub of: LoopId,
    /// Steps that come before it.
    pub before: Vec<usize>,
    /// Steps that come after it.
    pub after: Vec<usize>,
}

/// Loop-free guarded code: one piece of one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Index of the method.
    pub method: usize,
    /// The loop of which it is an iteration but the last, with the loops around it (innermost first); empty: the main segment.
    pub iterates: Vec<LoopId>,
    /// Memory operations in an order that program order respects.
    pub steps: Vec<Step>,
    /// Nodes in such an order; node 0 is where it begins.
    pub nodes: Vec<Node>,
    /// Nodes at which the segment has ended.
    pub ends: Vec<usize>,
    /// Values that depend on the way.
    pub merges: Vec<Merge>,
    /// Variables whose values are unknown, at the beginning or behind a gap.
    pub entries: Vec<LocalId>,
    /// Where other iterations may have been.
    pub gaps: Vec<Gap>,
}

impl Segment {
    /// Does every way to node `to` lead through node `through`?
    pub fn dominates(&self, through: usize, to: usize) -> bool {
        let mut is_reached = vec![false; self.nodes.len()];
        is_reached[0] = through != 0;
        for at in 1..self.nodes.len() {
            is_reached[at] = at != through && self.nodes[at].from.iter().any(|(from, _)| is_reached[*from]);
        }
        !is_reached[to]
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

    /// Does every way from a node to an end of the segment lead through another one?
    pub fn must_pass(&self, from: usize, through: usize) -> bool {
        let mut is_reached = vec![false; self.nodes.len()];
        is_reached[from] = from != through;
        for at in from + 1..self.nodes.len() {
            is_reached[at] =
                at != through && self.nodes[at].from.iter().any(|(before, _)| is_reached[*before]);
        }
        !self.ends.iter().any(|end| is_reached[*end])
    }

    /// Is there a way from a node to another one?
    pub fn leads(&self, from: usize, to: usize) -> bool {
        let mut is_reached = vec![false; self.nodes.len()];
        is_reached[from] = true;
        for at in from + 1..self.nodes.len() {
            is_reached[at] = self.nodes[at].from.iter().any(|(before, _)| is_reached[*before]);
        }
        is_reached[to]
    }

    /// Is there a way from a node to an end of the segment, given how a compare-and-swap went?
    fn can_end(&self, from: usize, given: Option<(usize, bool)>) -> bool {
        let mut is_reached = vec![false; self.nodes.len()];
        is_reached[from] = true;
        for at in from + 1..self.nodes.len() {
            is_reached[at] = self.nodes[at].from.iter().any(|(before, condition)| {
                is_reached[*before] && given.is_none_or(|given| may_hold(condition, given) != Some(false))
            });
        }
        self.ends.iter().any(|end| is_reached[*end])
    }
}

/// All segments of a method.
pub fn segments(index: usize, method: &Method) -> Vec<Segment> {
    let graph = Graph::of(method);
    let heads = graph.nodes.iter().enumerate().filter_map(|(at, node)| match node.kind {
        Kind::Head(of) => Some((at, Some(of))),
        _ => None,
    });
    std::iter::once((0, None))
        .chain(heads)
        .map(|(at, iterates)| Walk::new(&graph, method).segment(index, at, iterates))
        .filter(|s| !s.steps.is_empty())
        .collect()
}

enum Kind {
    Pass,
    Access(Access),
    /// The fence that an SC access begins with.
    FenceOf(Access),
    Assign(LocalId, Expr),
    Head(LoopId),
    End,
}

struct FlowNode {
    kind: Kind,
    /// Loops around it, the innermost last; a head lies in its own loop.
    inside: Vec<LoopId>,
    /// Successors and the condition to go there.
    to: Vec<(usize, Expr)>,
}

/// The flow graph of a method.
struct Graph {
    nodes: Vec<FlowNode>,
    loops: usize,
    /// Loops around the node that comes next.
    inside: Vec<LoopId>,
}

impl Graph {
    fn of(method: &Method) -> Graph {
        let mut graph = Graph { nodes: Vec::new(), loops: 0, inside: Vec::new() };
        let start = graph.node(Kind::Pass);
        let last = graph.run(&method.body, Some(start), &mut Vec::new());
        let end = graph.node(Kind::End);
        graph.edge(last, end);
        graph
    }

    /// Is there a way from a node to the end of the method?
    fn can_return(&self, from: usize) -> bool {
        let mut is_seen = vec![false; self.nodes.len()];
        let mut stack = vec![from];
        while let Some(at) = stack.pop() {
            if matches!(self.nodes[at].kind, Kind::End) {
                return true;
            }
            if !std::mem::replace(&mut is_seen[at], true) {
                stack.extend(self.nodes[at].to.iter().map(|(to, _)| *to));
            }
        }
        false
    }

    fn node(&mut self, kind: Kind) -> usize {
        self.nodes.push(FlowNode { kind, inside: self.inside.clone(), to: Vec::new() });
        self.nodes.len() - 1
    }

    fn edge(&mut self, from: Option<usize>, to: usize) {
        self.edge_if(from, to, Expr::Int(1));
    }

    fn edge_if(&mut self, from: Option<usize>, to: usize, condition: Expr) {
        if let Some(from) = from {
            self.nodes[from].to.push((to, condition));
        }
    }

    fn then(&mut self, at: Option<usize>, kind: Kind) -> Option<usize> {
        let next = self.node(kind);
        self.edge(at, next);
        at.map(|_| next)
    }

    /// `loops`: heads and exits, the innermost last.
    fn run(
        &mut self,
        code: &[Statement],
        mut at: Option<usize>,
        loops: &mut Vec<(usize, usize)>,
    ) -> Option<usize> {
        for statement in code {
            at?;
            match statement {
                Statement::Access(access) => {
                    if is_sc_access(access) {
                        at = self.then(at, Kind::FenceOf(access.clone()));
                    }
                    at = self.then(at, Kind::Access(access.clone()));
                }
                Statement::Assign { to, value } => at = self.then(at, Kind::Assign(*to, value.clone())),
                Statement::Assume(condition) => {
                    let next = self.node(Kind::Pass);
                    self.edge_if(at, next, condition.clone());
                    at = Some(next);
                }
                Statement::If { condition, then, otherwise } => {
                    let (yes, no) = (self.node(Kind::Pass), self.node(Kind::Pass));
                    self.edge_if(at, yes, condition.clone());
                    self.edge_if(at, no, Expr::Not(Box::new(condition.clone())));
                    let ends = [self.run(then, Some(yes), loops), self.run(otherwise, Some(no), loops)];
                    let join = self.node(Kind::Pass);
                    for end in ends {
                        self.edge(end, join);
                    }
                    at = ends.iter().any(Option::is_some).then_some(join);
                }
                Statement::Loop { body, .. } => {
                    let exit = self.node(Kind::Pass);
                    let of = LoopId(self.loops);
                    self.loops += 1;
                    self.inside.push(of);
                    let head = self.node(Kind::Head(of));
                    self.edge(at, head);
                    loops.push((head, exit));
                    let end = self.run(body, Some(head), loops);
                    self.edge(end, head);
                    loops.pop();
                    self.inside.pop();
                    at = Some(exit);
                }
                Statement::Break(level) => {
                    let (_, exit) = loops[loops.len() - 1 - *level as usize];
                    self.edge(at, exit);
                    at = None;
                }
                Statement::Continue(level) => {
                    let (head, _) = loops[loops.len() - 1 - *level as usize];
                    self.edge(at, head);
                    at = None;
                }
                Statement::Return(_) => {
                    let end = self.node(Kind::End);
                    self.edge(at, end);
                    at = None;
                }
            }
        }
        at
    }

    /// Variables that a loop assigns.
    fn assigned(&self, of: LoopId) -> Vec<LocalId> {
        let mut found = Vec::new();
        for node in self.nodes.iter().filter(|n| n.inside.contains(&of)) {
            match &node.kind {
                Kind::Assign(to, _) => found.push(*to),
                Kind::Access(access) => match &access.kind {
                    AccessKind::Load { to, .. }
                    | AccessKind::Wait { to, .. }
                    | AccessKind::Allocate { to, .. } => {
                        found.push(*to);
                    }
                    AccessKind::Rmw { to, .. } => found.extend(*to),
                    AccessKind::Cas { succeeded, found: value, .. } => {
                        found.extend(*succeeded);
                        found.extend(*value);
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn is_sc_access(access: &Access) -> bool {
    match &access.kind {
        AccessKind::Load { order, .. }
        | AccessKind::Wait { order, .. }
        | AccessKind::Store { order, .. }
        | AccessKind::Rmw { order, .. } => *order == Order::SeqCst,
        AccessKind::Cas { success, failure, .. } => *success == Order::SeqCst && *failure == Order::SeqCst,
        _ => false,
    }
}

/// Values of all variables.
type Values = Rc<Vec<Term>>;

/// Symbolic execution of a segment.
struct Walk<'a> {
    graph: &'a Graph,
    method: &'a Method,
    steps: Vec<Step>,
    nodes: Vec<Node>,
    merges: Vec<Merge>,
    ends: Vec<usize>,
    entries: Vec<LocalId>,
    /// Loops and the nodes of their gaps.
    gaps: Vec<(LoopId, usize)>,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Graph, method: &'a Method) -> Walk<'a> {
        let (steps, nodes, merges) = (Vec::new(), Vec::new(), Vec::new());
        Walk { graph, method, steps, nodes, merges, ends: Vec::new(), entries: Vec::new(), gaps: Vec::new() }
    }

    /// A value of which nothing is known.
    fn entry(&mut self, local: LocalId) -> Term {
        self.entries.push(local);
        Term::Entry(self.entries.len() - 1)
    }

    fn segment(mut self, index: usize, start: usize, iterates: Option<LoopId>) -> Segment {
        let order = self.topological(start, iterates);
        let mut entry = Vec::new();
        for local in (0..self.method.locals.len()).map(|local| LocalId(local as u32)) {
            entry.push(match (iterates, self.method.parameters.iter().position(|p| *p == local)) {
                (None, Some(parameter)) => Term::Argument(parameter as u32),
                _ => self.entry(local),
            });
        }
        let mut incoming: Vec<Vec<(usize, Term, Values)>> = vec![Vec::new(); self.graph.nodes.len()];
        for at in order {
            let here = self.nodes.len();
            let mut values = if at == start {
                self.nodes.push(Node::default());
                Rc::new(entry.clone())
            } else {
                let from = std::mem::take(&mut incoming[at]);
                self.nodes.push(Node { from: from.iter().map(|(p, c, _)| (*p, c.clone())).collect() });
                self.merged(&from)
            };
            match self.graph.nodes[at].kind {
                Kind::End => {
                    self.ends.push(here);
                    continue;
                }
                Kind::Head(of) if at != start => {
                    self.gaps.push((of, here));
                    if iterates.is_none() && !self.graph.can_return(at) {
                        self.ends.push(here);
                    }
                    for local in self.graph.assigned(of) {
                        let unknown = self.entry(local);
                        values = changed(values, local, unknown);
                    }
                }
                _ => {}
            }
            let after = self.execute(at, here, values);
            for (to, condition) in &self.graph.nodes[at].to {
                let condition = evaluate(condition, &after);
                if iterates.is_some() && *to == start {
                    self.nodes.push(Node { from: vec![(here, condition)] });
                    self.ends.push(self.nodes.len() - 1);
                } else if self.goes_to(at, *to, iterates) {
                    incoming[*to].push((here, condition, after.clone()));
                }
            }
        }
        let inside = &self.graph.nodes[start].inside;
        let iterates = if iterates.is_some() { inside.iter().rev().copied().collect() } else { Vec::new() };
        self.finish(index, iterates)
    }

    /// Is an edge part of the segment: no way back to a head, and not out of the loop of which this is an iteration?
    fn goes_to(&self, from: usize, to: usize, iterates: Option<LoopId>) -> bool {
        let target = &self.graph.nodes[to];
        let is_back = matches!(target.kind, Kind::Head(of) if self.graph.nodes[from].inside.contains(&of));
        let is_out =
            iterates.is_some_and(|of| !target.inside.contains(&of) || matches!(target.kind, Kind::End));
        !is_back && !is_out
    }

    /// Leaves out what doesn't lead to an end, and finds gaps.
    fn finish(self, method: usize, iterates: Vec<LoopId>) -> Segment {
        let Walk { steps, nodes, merges, ends, entries, gaps, .. } = self;
        let mut segment = Segment { method, iterates, steps, nodes, ends, merges, entries, gaps: Vec::new() };
        let fates: Vec<[bool; 2]> = (0..segment.steps.len())
            .map(|k| {
                [false, true].map(|succeeds| segment.can_end(segment.steps[k].node, Some((k, succeeds))))
            })
            .collect();
        for (step, [failing, succeeding]) in segment.steps.iter_mut().zip(fates) {
            if let Action::Cas { always, is_blocking, .. } = &mut step.action {
                *always = match (failing, succeeding) {
                    _ if *is_blocking => Some(true),
                    (false, true) => Some(true),
                    (true, false) => Some(false),
                    _ => None,
                };
            }
        }
        let is_dead: Vec<bool> = segment.steps.iter().map(|s| !segment.can_end(s.node, None)).collect();
        for (step, is_dead) in segment.steps.iter_mut().zip(is_dead) {
            step.is_dead = is_dead;
        }
        segment.gaps = gaps
            .into_iter()
            .map(|(of, node)| {
                let numbers = 0..segment.steps.len();
                let before =
                    numbers.clone().filter(|k| segment.leads(segment.steps[*k].node, node)).collect();
                let after = numbers.filter(|k| segment.leads(node, segment.steps[*k].node)).collect();
                Gap { of, before, after }
            })
            .collect();
        segment
    }

    /// Nodes of the segment that begins at `start`, predecessors first.
    fn topological(&self, start: usize, iterates: Option<LoopId>) -> Vec<usize> {
        let (mut seen, mut order) = (vec![false; self.graph.nodes.len()], Vec::new());
        // The second component: are all successors done?
        let mut stack = vec![(start, false)];
        while let Some((at, is_left)) = stack.pop() {
            if is_left {
                order.push(at);
                continue;
            }
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            stack.push((at, true));
            let next = self.graph.nodes[at]
                .to
                .iter()
                .filter(|(to, _)| self.goes_to(at, *to, iterates) && *to != start);
            stack.extend(next.map(|(to, _)| (*to, false)));
        }
        order.reverse();
        order
    }

    fn merged(&mut self, from: &[(usize, Term, Values)]) -> Values {
        let Some(((_, _, first), rest)) = from.split_first() else {
            return Rc::new(Vec::new());
        };
        if rest.iter().all(|(_, _, values)| Rc::ptr_eq(values, first) || values == first) {
            return first.clone();
        }
        let values = (0..first.len())
            .map(|local| {
                if rest.iter().all(|(_, _, values)| values[local] == first[local]) {
                    return first[local].clone();
                }
                let ways = from
                    .iter()
                    .map(|(node, condition, values)| (*node, condition.clone(), values[local].clone()));
                self.merges.push(Merge { ways: ways.collect() });
                Term::Merged(self.merges.len() - 1)
            })
            .collect();
        Rc::new(values)
    }

    fn execute(&mut self, at: usize, node: usize, values: Values) -> Values {
        match &self.graph.nodes[at].kind {
            Kind::Pass | Kind::Head(_) | Kind::End => values,
            Kind::Assign(to, value) => {
                let value = evaluate(value, &values);
                changed(values, *to, value)
            }
            Kind::FenceOf(access) => {
                self.push(access, node, Action::Fence, None, Order::SeqCst, &values);
                values
            }
            Kind::Access(access) => self.access(access, node, values),
        }
    }

    fn push(
        &mut self,
        access: &Access,
        node: usize,
        action: Action,
        place: Option<&crate::code::Place>,
        order: Order,
        values: &Values,
    ) {
        let part = |e: Option<&Expr>| e.map_or(Term::Int(0), |e| evaluate(e, values));
        self.steps.push(Step {
            label: access.label,
            site: access.site,
            action,
            class: place.map(|p| p.class),
            base: part(place.and_then(|p| p.base.as_ref())),
            index: part(place.and_then(|p| p.index.as_ref())),
            order,
            node,
            is_dead: false,
        });
    }

    fn access(&mut self, access: &Access, node: usize, values: Values) -> Values {
        let step = self.steps.len();
        match &access.kind {
            AccessKind::Load { to, place, order } => {
                self.push(access, node, Action::Read { until: None }, Some(place), *order, &values);
                changed(values, *to, Term::Read(step))
            }
            AccessKind::Wait { to, place, until, order } => {
                let after = changed(values.clone(), *to, Term::Read(step));
                let until = Some(evaluate(until, &after));
                self.push(access, node, Action::Read { until }, Some(place), *order, &values);
                after
            }
            AccessKind::Store { place, value, order } => {
                let value = evaluate(value, &values);
                self.push(access, node, Action::Write { value }, Some(place), *order, &values);
                values
            }
            AccessKind::Rmw { to, place, update, operand, order } => {
                let value = updated(*update, Term::Read(step), evaluate(operand, &values));
                self.push(access, node, Action::Update { value }, Some(place), *order, &values);
                match to {
                    Some(to) => changed(values, *to, Term::Read(step)),
                    None => values,
                }
            }
            AccessKind::Cas {
                succeeded,
                found,
                place,
                expected,
                desired,
                success,
                failure,
                is_weak,
                is_blocking,
            } => {
                let action = Action::Cas {
                    expected: evaluate(expected, &values),
                    desired: evaluate(desired, &values),
                    failure: *failure,
                    is_weak: *is_weak,
                    is_blocking: *is_blocking,
                    always: is_blocking.then_some(true),
                };
                self.push(access, node, action, Some(place), *success, &values);
                let mut values = values;
                if let Some(found) = found {
                    values = changed(values, *found, Term::Read(step));
                }
                if let Some(succeeded) = succeeded {
                    let value = if *is_blocking { Term::Int(1) } else { Term::Succeeded(step) };
                    values = changed(values, *succeeded, value);
                }
                values
            }
            AccessKind::Fence { order } => {
                if *order != Order::Relaxed {
                    self.push(access, node, Action::Fence, None, *order, &values);
                }
                values
            }
            AccessKind::Allocate { to, record, .. } => {
                self.push(access, node, Action::Allocate { record: *record }, None, Order::Relaxed, &values);
                changed(values, *to, Term::Address(step))
            }
            AccessKind::Free { .. } => {
                self.push(access, node, Action::Free, None, Order::Relaxed, &values);
                values
            }
        }
    }
}

/// The truth of a condition, given how a compare-and-swap went; none if that doesn't decide it.
fn may_hold(condition: &Term, given: (usize, bool)) -> Option<bool> {
    use crate::code::Operator::{Both, Either, Equal, NotEqual};
    match condition {
        Term::Int(n) => Some(*n != 0),
        Term::Succeeded(step) if *step == given.0 => Some(given.1),
        Term::Not(t) => may_hold(t, given).map(|holds| !holds),
        Term::Binary(Both, a, b) => match (may_hold(a, given), may_hold(b, given)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Term::Binary(Either, a, b) => match (may_hold(a, given), may_hold(b, given)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        Term::Binary(op @ (Equal | NotEqual), a, b) if is_boolean(a) => match **b {
            Term::Int(n @ (0 | 1)) => may_hold(a, given).map(|holds| (holds == (n == 1)) == (*op == Equal)),
            _ => None,
        },
        _ => None,
    }
}

fn changed(mut values: Values, to: LocalId, value: Term) -> Values {
    Rc::make_mut(&mut values)[to.0 as usize] = value;
    values
}

fn updated(update: Update, found: Term, operand: Term) -> Term {
    use crate::code::Operator;
    let operator = match update {
        Update::Exchange => return operand,
        Update::Add => Operator::Add,
        Update::Sub => Operator::Sub,
        Update::And => Operator::And,
        Update::Or => Operator::Or,
        Update::Xor => Operator::Xor,
    };
    Term::Binary(operator, Box::new(found), Box::new(operand))
}

fn evaluate(expr: &Expr, values: &[Term]) -> Term {
    match expr {
        Expr::Int(n) => Term::Int(*n),
        Expr::Local(local) => values[local.0 as usize].clone(),
        Expr::Not(e) => match evaluate(e, values) {
            Term::Int(n) => Term::Int(i64::from(n == 0)),
            Term::Not(t) if is_boolean(&t) => *t,
            t => Term::Not(Box::new(t)),
        },
        Expr::Binary(op, a, b) => {
            let (a, b) = (evaluate(a, values), evaluate(b, values));
            folded(*op, &a, &b).unwrap_or_else(|| Term::Binary(*op, Box::new(a), Box::new(b)))
        }
    }
}

fn is_boolean(term: &Term) -> bool {
    use crate::code::Operator::{Both, Either, Equal, Less, LessEqual, NotEqual};
    match term {
        Term::Not(_) | Term::Succeeded(_) => true,
        Term::Binary(op, ..) => matches!(op, Both | Either | Equal | Less | LessEqual | NotEqual),
        _ => false,
    }
}

fn folded(op: crate::code::Operator, a: &Term, b: &Term) -> Option<Term> {
    use crate::code::Operator::{Add, And, Both, Either, Equal, Less, LessEqual, Mul, NotEqual, Shl, Sub};
    let (Term::Int(x), Term::Int(y)) = (a, b) else {
        return None;
    };
    Some(Term::Int(match op {
        Add => x.checked_add(*y)?,
        Sub => x.checked_sub(*y)?,
        Mul => x.checked_mul(*y)?,
        And => x & y,
        Shl => x.checked_shl(u32::try_from(*y).ok()?)?,
        Equal => i64::from(x == y),
        NotEqual => i64::from(x != y),
        Less => i64::from(x < y),
        LessEqual => i64::from(x <= y),
        Both => i64::from(*x != 0 && *y != 0),
        Either => i64::from(*x != 0 || *y != 0),
        _ => return None,
    }))
}
