//! Symbolic execution of segments: the values of variables in terms of what earlier steps read.

use std::rc::Rc;

use super::graph::{Graph, NodeKind};
use super::{Action, Gap, LoopId, Node, Phi, Segment, Step};
use crate::prove::term::Term;
use seqcst_c11::code::{Access, AccessKind, Expr, Integer, LocalId, Method, Mode, Operator, Place, Update};

/// Values of all variables.
type Values = Rc<Vec<Term>>;

/// Symbolic execution of an acyclic part of a control-flow graph, which makes a segment of it.
pub struct SymbolicExecution<'a> {
    graph: &'a Graph,
    method: &'a Method,
    steps: Vec<Step>,
    nodes: Vec<Node>,
    phis: Vec<Phi>,
    ends: Vec<usize>,
    entries: Vec<LocalId>,
    /// Loops and the nodes of their gaps.
    gaps: Vec<(LoopId, usize)>,
}

impl<'a> SymbolicExecution<'a> {
    pub fn new(graph: &'a Graph, method: &'a Method) -> SymbolicExecution<'a> {
        let (steps, nodes, phis) = (Vec::new(), Vec::new(), Vec::new());
        SymbolicExecution {
            graph,
            method,
            steps,
            nodes,
            phis,
            ends: Vec::new(),
            entries: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// A value of which nothing is known.
    fn entry(&mut self, local: LocalId) -> Term {
        self.entries.push(local);
        Term::Entry(self.entries.len() - 1)
    }

    pub fn segment(mut self, index: usize, start: usize, iteration_of: Option<LoopId>) -> Segment {
        let order = self.topological(start, iteration_of);
        let mut entry = Vec::new();
        for local in (0..self.method.locals.len()).map(|local| LocalId(local as u32)) {
            entry.push(match (iteration_of, self.method.parameters.iter().position(|p| *p == local)) {
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
                NodeKind::End => {
                    self.ends.push(here);
                    continue;
                }
                NodeKind::Head(of) if at != start => {
                    self.gaps.push((of, here));
                    if iteration_of.is_none() && !self.graph.can_return(at) {
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
                if iteration_of.is_some() && *to == start {
                    self.nodes.push(Node { from: vec![(here, condition)] });
                    self.ends.push(self.nodes.len() - 1);
                } else if self.goes_to(at, *to, iteration_of) {
                    incoming[*to].push((here, condition, after.clone()));
                }
            }
        }
        let inside = &self.graph.nodes[start].inside;
        let iteration_of =
            if iteration_of.is_some() { inside.iter().rev().copied().collect() } else { Vec::new() };
        self.finish(index, iteration_of)
    }

    /// Is an edge part of the segment: no back edge, and not out of the loop of which this is an iteration?
    fn goes_to(&self, from: usize, to: usize, iteration_of: Option<LoopId>) -> bool {
        let target = &self.graph.nodes[to];
        let is_back =
            matches!(target.kind, NodeKind::Head(of) if self.graph.nodes[from].inside.contains(&of));
        let is_out = iteration_of
            .is_some_and(|of| !target.inside.contains(&of) || matches!(target.kind, NodeKind::End));
        !is_back && !is_out
    }

    /// Leaves out what doesn't lead to an end, and finds gaps.
    fn finish(self, method: usize, iteration_of: Vec<LoopId>) -> Segment {
        let SymbolicExecution { steps, nodes, phis, ends, entries, gaps, .. } = self;
        let mut segment = Segment {
            method,
            iteration_of,
            steps,
            nodes,
            ends,
            phis,
            entries,
            gaps: Vec::new(),
            wraps: false,
        };
        segment.wraps = segment.has_wraps();
        let fates: Vec<[bool; 2]> = (0..segment.steps.len())
            .map(|k| {
                [false, true].map(|succeeds| {
                    segment
                        .can_end(segment.steps[k].node, |edge| may_hold(edge, (k, succeeds)) != Some(false))
                })
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
        let is_dead: Vec<bool> = segment.steps.iter().map(|s| !segment.can_end(s.node, |_| true)).collect();
        for (step, is_dead) in segment.steps.iter_mut().zip(is_dead) {
            step.is_dead = is_dead;
        }
        segment.gaps = gaps
            .into_iter()
            .map(|(of, node)| {
                let numbers = 0..segment.steps.len();
                let before =
                    numbers.clone().filter(|k| segment.reaches(segment.steps[*k].node, node)).collect();
                let after = numbers.filter(|k| segment.reaches(node, segment.steps[*k].node)).collect();
                Gap { of, before, after }
            })
            .collect();
        segment
    }

    /// Nodes of the segment that begins at `start`, predecessors first.
    fn topological(&self, start: usize, iteration_of: Option<LoopId>) -> Vec<usize> {
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
                .filter(|(to, _)| self.goes_to(at, *to, iteration_of) && *to != start);
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
                let incoming = from
                    .iter()
                    .map(|(node, condition, values)| (*node, condition.clone(), values[local].clone()));
                self.phis.push(Phi { incoming: incoming.collect() });
                Term::Phi(self.phis.len() - 1)
            })
            .collect();
        Rc::new(values)
    }

    fn execute(&mut self, at: usize, node: usize, values: Values) -> Values {
        match &self.graph.nodes[at].kind {
            NodeKind::Pass | NodeKind::Head(_) | NodeKind::End => values,
            NodeKind::Assign(to, value) => {
                let value = evaluate(value, &values);
                changed(values, *to, value)
            }
            NodeKind::FenceOf(access) => {
                self.push(access, node, Action::Fence, None, Mode::SeqCst, &values);
                values
            }
            NodeKind::Access(access) => self.access(access, node, values),
        }
    }

    fn push(
        &mut self,
        access: &Access,
        node: usize,
        action: Action,
        place: Option<&Place>,
        order: Mode,
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
            AccessKind::Rmw { to, place, update, integer, operand, order } => {
                let value = updated(*update, *integer, Term::Read(step), evaluate(operand, &values));
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
                if *order != Mode::Relaxed {
                    self.push(access, node, Action::Fence, None, *order, &values);
                }
                values
            }
            AccessKind::Allocate { to, record, .. } => {
                self.push(access, node, Action::Allocate { record: *record }, None, Mode::Relaxed, &values);
                changed(values, *to, Term::Address(step))
            }
            AccessKind::Free { .. } => {
                self.push(access, node, Action::Free, None, Mode::Relaxed, &values);
                values
            }
        }
    }
}

/// The truth of a condition, given how a compare-and-swap went; none if that doesn't decide it.
fn may_hold(condition: &Term, given: (usize, bool)) -> Option<bool> {
    use Operator::{Both, Either, Equal, NotEqual};
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

fn updated(update: Update, integer: Integer, found: Term, operand: Term) -> Term {
    let value = |operator| Term::Binary(operator, Box::new(found), Box::new(operand.clone()));
    match update {
        Update::Exchange => operand,
        // Bits of two numbers of a type are one of that type.
        Update::And => value(Operator::And),
        Update::Or => value(Operator::Or),
        Update::Xor => value(Operator::Xor),
        Update::Add => Term::Wrap(integer, Box::new(value(Operator::Add))),
        Update::Sub => Term::Wrap(integer, Box::new(value(Operator::Sub))),
    }
}

fn evaluate(expr: &Expr, values: &[Term]) -> Term {
    match expr {
        Expr::Int(n) => Term::Int(*n),
        Expr::Local(local) => values[local.0 as usize].clone(),
        Expr::Not(e) => match evaluate(e, values) {
            Term::Int(n) => Term::Int((n == 0).into()),
            Term::Not(t) if is_boolean(&t) => *t,
            t => Term::Not(Box::new(t)),
        },
        Expr::Wrap(to, e) => match evaluate(e, values) {
            Term::Int(n) => Term::Int(to.wrap(n)),
            Term::Binary(op, a, b) => match (&*a, &*b) {
                (Term::Int(a), Term::Int(b)) if to.compute(op, *a, *b).is_some() => {
                    Term::Int(to.compute(op, *a, *b).unwrap_or_default())
                }
                _ => Term::Wrap(*to, Box::new(Term::Binary(op, a, b))),
            },
            t => Term::Wrap(*to, Box::new(t)),
        },
        Expr::Binary(op, a, b) => {
            let (a, b) = (evaluate(a, values), evaluate(b, values));
            folded(*op, &a, &b).unwrap_or_else(|| Term::Binary(*op, Box::new(a), Box::new(b)))
        }
    }
}

fn is_boolean(term: &Term) -> bool {
    use Operator::{Both, Either, Equal, Less, LessEqual, NotEqual};
    match term {
        Term::Not(_) | Term::Succeeded(_) => true,
        Term::Binary(op, ..) => matches!(op, Both | Either | Equal | Less | LessEqual | NotEqual),
        _ => false,
    }
}

fn folded(op: Operator, a: &Term, b: &Term) -> Option<Term> {
    match (a, b) {
        (Term::Int(a), Term::Int(b)) => op.compute(*a, *b).map(Term::Int),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_that_overflows_is_no_constant() {
        let shift = |by| Expr::Binary(Operator::Shl, Box::new(Expr::Int(4)), Box::new(Expr::Int(by)));
        assert_eq!(evaluate(&shift(2), &[]), Term::Int(16));
        assert_eq!(evaluate(&shift(62), &[]), Term::Int(1 << 64));
        let much = Expr::Binary(Operator::Shl, Box::new(shift(62)), Box::new(Expr::Int(63)));
        assert!(matches!(evaluate(&much, &[]), Term::Binary(Operator::Shl, ..)));
        let word = Integer { bits: 64, signed: false };
        assert_eq!(evaluate(&Expr::Wrap(word, Box::new(much)), &[]), Term::Int(0));
    }
}
