//! SC: threads make one call after the other, and every read takes the newest value.

use super::symbols::*;
use super::{CODE, EventId, Execution, Handle, RC20, SC};
use crate::prove::facts::Constraint;
use crate::prove::segments::{Gap, LoopId};
use crate::solver::formula::{Formula, Int, all, any};
use seqcst_c11::code::{Class, Expr, Label, Operator};

impl Execution<'_> {
    /// Calls of one thread come one after the other (or, for iterations of a loop, in the gap before the last one), and what
    /// it knows stays known.
    pub(super) fn sessions(&mut self) {
        for i in 0..self.slots.len() {
            for k in i + 1..self.slots.len() {
                let same = all([guard(i, 0), guard(k, 0), session(i).equals(session(k))]);
                let mut orders = Vec::new();
                for (a, b) in [(i, k), (k, i)] {
                    orders.push(all([complete(a), end(a).lt(begin(b))]));
                    let (outer, inner) = (self.segment(a), self.segment(b));
                    for gap in outer
                        .gaps
                        .iter()
                        .filter(|g| outer.method == inner.method && inner.iteration_of.contains(&g.of))
                    {
                        let within = self.is_in_gap(a, gap, &begin(b), &end(b));
                        orders.push(all([within, complete(a).implies(end(b).lt(end(a)))]));
                    }
                }
                self.assert_formula(SC, same.implies(any(orders)));
                for (a, b) in [(i, k), (k, i)] {
                    let before = all([&same, &end(a).lt(begin(b))]);
                    self.assert_formula(RC20, all([before, past(a)]).implies(past(b)));
                    for at in self.steps(a) {
                        let (x, e) = (executed(at), event(at));
                        let premise = all([&same, &x, &known(&e), &e.lt(begin(b))]);
                        self.assert_formula(RC20, premise.implies(past(b)));
                        for later in self.steps(b).map(|at| (executed(at), event(at))) {
                            let premise = all([&same, &x, &later.0, &known(&e), &e.lt(&later.1)]);
                            self.assert_formula(RC20, premise.implies(known(&later.1)));
                        }
                    }
                }
            }
        }
        for slot in 0..self.slots.len() {
            let steps: Vec<EventId> = self.steps(slot).collect();
            for (k, at) in steps.iter().copied().enumerate() {
                let (x, e) = (executed(at), event(at));
                self.assert_formula(RC20, x.implies(known(&e).implies(suspect().le(&e))));
                self.assert_formula(RC20, x.implies(past(slot).implies(known(&e))));
                for earlier in &steps[..k] {
                    let premise = all([&x, &executed(*earlier), &known(&event(*earlier))]);
                    self.assert_formula(RC20, premise.implies(known(&e)));
                }
            }
            self.assert_formula(RC20, past(slot).implies(suspect().lt(begin(slot))));
        }
    }

    /// Do the positions from `first` to `last` lie in a gap of a slot?
    pub(super) fn is_in_gap(&self, slot: usize, gap: &Gap, first: &Int, last: &Int) -> Formula {
        let step = |step: &usize| EventId { slot, step: *step };
        let before = gap.before.iter().map(step).map(|at| executed(at).implies(event(at).lt(first)));
        let after = gap.after.iter().map(step).map(|at| executed(at).implies(last.lt(event(at))));
        all([begin(slot).lt(first)].into_iter().chain(before).chain(after))
    }

    /// Labels of writes that iterations of a loop make.
    pub(super) fn labels_in(&self, method: usize, of: LoopId) -> Vec<Label> {
        let iterations =
            self.context.segments.iter().filter(|s| s.method == method && s.iteration_of.contains(&of));
        iterations.flat_map(|s| &s.steps).filter(|s| s.writes() && !s.is_dead).map(|s| s.label).collect()
    }

    /// Every read takes the newest value under SC.
    pub(super) fn reads(&mut self) {
        for at in self.all_steps() {
            let step = self.step(at);
            let (Some(class), true) = (step.class, step.reads()) else {
                continue;
            };
            let (x, e, o) = (executed(at), event(at), source(at));
            let (base, index) = self.location(at);
            let what = all([
                o.lt(&e),
                value_of(&o).equals(read(at)),
                is_of_class(&o, class),
                base_of(&o).equals(&base),
                index_of(&o).equals(&index),
            ]);
            self.assert_formula(SC, x.implies(what));
            for handle in self.of_class(class) {
                let other = &handle.position;
                if *other == o || *other == e {
                    continue;
                }
                let same = [handle.base.equals(&base), handle.index.equals(&index)];
                let premise = all([&x, &handle.active, &same[0], &same[1], &other.lt(&e)]);
                self.assert_formula(SC, premise.implies(other.le(&o)));
            }
        }
    }

    /// What writes are that may have been made outside of the slots.
    pub(super) fn outside(&mut self) {
        for handle in self.handles.clone() {
            if handle.of.is_some() {
                continue;
            }
            let (o, active, class) = (&handle.position, &handle.active, handle.class);
            let made = handle.is_made();
            self.assert_formula(SC, made.implies(o.le(last())));
            for (premise, initial) in self.initial(&handle) {
                let is_initial = all([active, &o.le(Int::from(0)), &premise]);
                self.assert_formula(SC, is_initial.implies(value_of(o).equals(initial)));
            }
            let is_initial = all([active, &o.le(Int::from(0))]);
            self.assert_formula(SC, is_initial.implies(all([!updates(o), !known(o), !published(o)])));
            // The code that can have made it.
            let kinds = self.writers(class).into_iter().map(|step| {
                let label = has_label(o, step.label);
                let mut facts = vec![label, if step.updates() { updates(o) } else { !updates(o) }];
                if step.order.is_release() && self.is_atomic(class) {
                    facts.push(known(o).implies(published(o)));
                }
                all(facts)
            });
            let kinds = any(kinds);
            self.assert_formula(CODE, made.implies(kinds));
            if let Some(group) = self.context.facts.classes[class.0 as usize].writer_thread {
                self.derive(Constraint::OneThread, made.implies(session_of(o).equals(one_thread(group))));
            }
            self.assert_formula(RC20, made.implies(known(o).implies(suspect().le(o))));
            for slot in 0..self.slots.len() {
                let writes = self
                    .steps(slot)
                    .filter(|at| self.step(*at).class == Some(class) && self.step(*at).writes())
                    .map(|at| all([o.equals(event(at)), self.is_write(at)]));
                let writes = any(writes);
                let (is_there, is_its) = (guard(slot, 0), is_of_slot(o, slot));
                self.assert_formula(SC, all([&made, &is_there, &is_its]).implies(writes));
                let of_thread = all([&made, &is_there, &session_of(o).equals(session(slot))]);
                let segment = self.segment(slot);
                let gaps = segment.gaps.iter().map(|gap| {
                    let labels = self.labels_in(segment.method, gap.of).into_iter();
                    let is_there = any(labels.map(|label| has_label(o, label)));
                    all([is_there, self.is_in_gap(slot, gap, o, o)])
                });
                let after = all([complete(slot), o.gt(end(slot))]);
                let beside = any([is_its, o.lt(begin(slot)), after]);
                let around = any(std::iter::once(beside).chain(gaps));
                self.assert_formula(SC, of_thread.implies(around));
                let premise = all([&of_thread, &o.lt(begin(slot)), &known(o)]);
                self.assert_formula(RC20, premise.implies(past(slot)));
                let premise = all([&of_thread, &o.gt(begin(slot)), &past(slot)]);
                self.assert_formula(RC20, premise.implies(known(o)));
                for at in self.steps(slot) {
                    let (x, e) = (executed(at), event(at));
                    let premise = all([&of_thread, &x, &known(&e), &o.gt(&e)]);
                    self.assert_formula(RC20, premise.implies(known(o)));
                    let premise = all([&of_thread, &x, &known(o), &o.lt(&e)]);
                    self.assert_formula(RC20, premise.implies(known(&e)));
                }
            }
        }
        // Outside writes of one thread, among themselves.
        let outside: Vec<Handle> = self.handles.iter().filter(|h| h.of.is_none()).cloned().collect();
        for a in &outside {
            for b in &outside {
                if a.position != b.position {
                    let (p, q) = (&a.position, &b.position);
                    let premise = all([
                        &a.active,
                        &b.active,
                        &p.is_between(&Int::from(0), q),
                        &session_of(p).equals(session_of(q)),
                        &known(p),
                    ]);
                    self.assert_formula(RC20, premise.implies(known(q)));
                }
            }
        }
    }

    /// What a location holds at the beginning, under which condition.
    pub(super) fn initial(&self, handle: &Handle) -> Vec<(Formula, Int)> {
        let declared = &self.context.library.classes[handle.class.0 as usize];
        let initial = |argument: &Int| match &declared.initial_cell {
            Some(value) => initial_of_cell(value, argument),
            None => Some(Int::from(declared.initial)),
        };
        if declared.record.is_none() {
            return initial(&handle.index).into_iter().map(|value| (true.into(), value)).collect();
        }
        // Records that the setup made have negative addresses; others begin with 0 or with anything.
        let is_zeroed = self.context.facts.classes[handle.class.0 as usize].is_initial_known;
        let made = initial(&handle.base).map(|value| (handle.base.lt(Int::from(0)), value));
        let allocated = is_zeroed.then(|| (handle.base.gt(Int::from(0)), Int::from(0)));
        made.into_iter().chain(allocated).collect()
    }
}

/// The initial value of a cell, for a function of its index.
fn initial_of_cell(value: &Expr, index: &Int) -> Option<Int> {
    match value {
        Expr::Int(n) => Some(Int::from(*n)),
        Expr::Local(local) if *local == Class::INDEX => Some(index.clone()),
        Expr::Binary(op, a, b) => {
            let (a, b) = (initial_of_cell(a, index)?, initial_of_cell(b, index)?);
            match op {
                Operator::Add => Some(a + b),
                Operator::Sub => Some(a - b),
                Operator::Mul => Some(a * b),
                _ => None,
            }
        }
        _ => None,
    }
}
