//! Methods as loop-free guarded code: what the solver is told about one call.
//!
//! A method is cut at the heads of the loops that ρ left in it. A *segment* runs from the beginning of the method, or from
//! such a head, to the next head or the end; what the variables hold at a head is unknown. So every access of an execution
//! belongs to some segment, and everything that a thread did before counts as its past.

use std::rc::Rc;

use super::term::Term;
use crate::code::{
    Access, AccessKind, ClassId, Expr, Label, LocalId, Method, Order, RecordId, Site, Statement, Update,
};

/// What a step does to memory, with all values known in terms of earlier steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// A load, or (`until`) a blocking one.
    Read { until: Option<Term> },
    /// A store of that value.
    Write { value: Term },
    /// A read-modify-write that writes that value (in terms of what this very step reads).
    Update { value: Term },
    /// A compare-and-swap.
    Cas { expected: Term, desired: Term, failure: Order, is_weak: bool, is_blocking: bool },
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
}

impl Step {
    /// Can it be a read: load, read-modify-write, compare-and-swap?
    pub fn reads(&self) -> bool {
        matches!(self.action, Action::Read { .. } | Action::Update { .. } | Action::Cas { .. })
    }

    /// Can it be a write?
    pub fn writes(&self) -> bool {
        matches!(self.action, Action::Write { .. } | Action::Update { .. } | Action::Cas { .. })
    }

    /// Is a write of this step a read-modify-write?
    pub fn updates(&self) -> bool {
        matches!(self.action, Action::Update { .. } | Action::Cas { .. })
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
            Action::Cas { desired, .. } => Some(desired),
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

/// Loop-free guarded code: one piece of one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Index of the method.
    pub method: usize,
    /// The loop at whose head it begins; none: at the method's beginning.
    pub head: Option<Site>,
    /// Memory operations in an order that program order respects.
    pub steps: Vec<Step>,
    /// Nodes in such an order; node 0 is where it begins.
    pub nodes: Vec<Node>,
    /// Nodes at which the segment has ended.
    pub ends: Vec<usize>,
    /// Values that depend on the way.
    pub merges: Vec<Merge>,
    /// Does the call go on with another segment, at the head of a loop?
    pub goes_on: bool,
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
}

/// All segments of a method.
pub fn segments(index: usize, method: &Method) -> Vec<Segment> {
    let graph = Graph::of(method);
    let mut starts = vec![(0, None)];
    starts.extend(graph.nodes.iter().enumerate().filter_map(|(at, node)| match node.kind {
        Kind::Head(site) => Some((at, Some(site))),
        _ => None,
    }));
    let reachable = graph.reachable();
    starts.retain(|(at, _)| reachable[*at]);
    starts
        .into_iter()
        .map(|(at, head)| Walk::new(&graph, method).segment(index, at, head))
        .filter(|s| !s.steps.is_empty())
        .collect()
}

enum Kind {
    Pass,
    Access(Access),
    /// The fence that an SC access begins with.
    FenceOf(Access),
    Assign(LocalId, Expr),
    Head(Site),
    End,
}

struct FlowNode {
    kind: Kind,
    /// Successors and the condition to go there.
    to: Vec<(usize, Expr)>,
}

/// The flow graph of a method.
struct Graph {
    nodes: Vec<FlowNode>,
}

impl Graph {
    fn of(method: &Method) -> Graph {
        let mut graph = Graph { nodes: Vec::new() };
        let start = graph.node(Kind::Pass);
        let last = graph.run(&method.body, Some(start), &mut Vec::new());
        let end = graph.node(Kind::End);
        graph.edge(last, end);
        graph
    }

    fn node(&mut self, kind: Kind) -> usize {
        self.nodes.push(FlowNode { kind, to: Vec::new() });
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
                Statement::Loop { body, site } => {
                    let head = self.node(Kind::Head(*site));
                    self.edge(at, head);
                    let exit = self.node(Kind::Pass);
                    loops.push((head, exit));
                    let end = self.run(body, Some(head), loops);
                    self.edge(end, head);
                    loops.pop();
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

    fn reachable(&self) -> Vec<bool> {
        let mut seen = vec![false; self.nodes.len()];
        let mut stack = vec![0];
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                stack.extend(self.nodes[at].to.iter().map(|(to, _)| *to));
            }
        }
        seen
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
    goes_on: bool,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Graph, method: &'a Method) -> Walk<'a> {
        Walk {
            graph,
            method,
            steps: Vec::new(),
            nodes: Vec::new(),
            merges: Vec::new(),
            ends: Vec::new(),
            goes_on: false,
        }
    }

    fn segment(mut self, index: usize, start: usize, head: Option<Site>) -> Segment {
        let order = self.topological(start);
        let entry: Vec<Term> = (0..self.method.locals.len())
            .map(|local| {
                let local = LocalId(local as u32);
                match (head, self.method.parameters.iter().position(|p| *p == local)) {
                    (None, Some(parameter)) => Term::Argument(parameter as u32),
                    _ => Term::Entry(local),
                }
            })
            .collect();
        let mut incoming: Vec<Vec<(usize, Term, Values)>> = vec![Vec::new(); self.graph.nodes.len()];
        for at in order {
            let here = self.nodes.len();
            let values = if at == start {
                self.nodes.push(Node::default());
                Rc::new(entry.clone())
            } else {
                let from = std::mem::take(&mut incoming[at]);
                self.nodes.push(Node { from: from.iter().map(|(p, c, _)| (*p, c.clone())).collect() });
                self.merged(&from)
            };
            if at != start && matches!(self.graph.nodes[at].kind, Kind::Head(_) | Kind::End) {
                self.ends.push(here);
                self.goes_on |= matches!(self.graph.nodes[at].kind, Kind::Head(_));
                continue;
            }
            let after = self.execute(at, here, values);
            for (to, condition) in &self.graph.nodes[at].to {
                let condition = evaluate(condition, &after);
                if *to == start {
                    // Back to the loop's head: the segment ends there.
                    self.nodes.push(Node { from: vec![(here, condition)] });
                    self.ends.push(self.nodes.len() - 1);
                    self.goes_on = true;
                } else {
                    incoming[*to].push((here, condition, after.clone()));
                }
            }
        }
        let Walk { steps, nodes, merges, ends, goes_on, .. } = self;
        Segment { method: index, head, steps, nodes, ends, merges, goes_on }
    }

    /// Nodes that are reached from `start` without passing another head (or `start` again), predecessors first.
    fn topological(&self, start: usize) -> Vec<usize> {
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
            if at == start || !matches!(self.graph.nodes[at].kind, Kind::Head(_)) {
                stack.extend(
                    self.graph.nodes[at].to.iter().filter(|(to, _)| *to != start).map(|(to, _)| (*to, false)),
                );
            }
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
