//! What a call does: control flow, data flow, and the events that come of it.

use super::symbols::*;
use super::{CODE, EventId, Execution, SC};
use crate::prove::facts::Constraint;
use crate::prove::segments::Action;
use crate::prove::term::Term;
use crate::solver::formula::{Int, all, any};
use seqcst_c11::code::Integer;

impl Execution<'_> {
    pub(super) fn declare(&mut self, slot: usize) {
        let segment = self.segment(slot);
        let method = &self.context.library.methods[segment.method];
        let declarations = &mut self.declarations;
        declarations.extend([begin(slot), end(slot), session(slot)].map(|it| it.declaration()));
        declarations.extend([past(slot), heard(slot), complete(slot)].map(|it| it.declaration()));
        declarations.extend((0..method.parameters.len()).map(|k| argument(slot, k as u32).declaration()));
        declarations.extend((0..segment.entries.len()).map(|k| entry(slot, k).declaration()));
        declarations.extend((0..segment.gaps.len()).map(|k| gap(slot, k).declaration()));
        declarations.extend((0..segment.nodes.len()).map(|k| guard(slot, k).declaration()));
        declarations.extend((0..segment.phis.len()).map(|k| phi(slot, k).declaration()));
        for (k, step) in segment.steps.iter().enumerate() {
            let at = EventId { slot, step: k };
            declarations.extend([event(at).declaration(), executed(at).declaration()]);
            if step.reads() {
                declarations.extend([read(at).declaration(), source(at).declaration()]);
            }
            match step.action {
                Action::Cas { .. } => declarations.push(succeeded(at).declaration()),
                Action::Allocate { .. } => declarations.push(address(at).declaration()),
                _ => {}
            }
        }
    }

    /// Control and data flow of a slot.
    pub(super) fn code(&mut self, slot: usize) {
        let segment = self.segment(slot);
        let is_taken = |from: usize, condition: &Term| all([guard(slot, from), condition.condition(slot)]);
        for (k, node) in segment.nodes.iter().enumerate().skip(1) {
            let edges = any(node.from.iter().map(|(from, condition)| is_taken(*from, condition)));
            self.assert_formula(CODE, guard(slot, k).iff(&edges));
        }
        for (k, choice) in segment.phis.iter().enumerate() {
            for (from, condition, value) in &choice.incoming {
                let is_chosen = phi(slot, k).equals(value.integer(slot));
                self.assert_formula(CODE, is_taken(*from, condition).implies(is_chosen));
            }
        }
        for at in self.steps(slot) {
            let (step, x) = (self.step(at), executed(at));
            match &step.action {
                Action::Read { until: Some(until) } => {
                    self.assert_formula(CODE, x.implies(until.condition(slot)));
                }
                Action::Cas { expected, is_weak, always, .. } => {
                    let (ok, fits) = (succeeded(at), read(at).equals(expected.integer(slot)));
                    self.assert_formula(CODE, ok.implies(&fits));
                    if let Some(always) = always {
                        self.assert_formula(CODE, x.implies(if *always { ok.clone() } else { !&ok }));
                    }
                    if !is_weak && *always != Some(true) {
                        self.assert_formula(CODE, all([fits, x]).implies(ok));
                    }
                }
                _ => {}
            }
        }
    }

    /// What fits into the numbers of a slot: each is one of its type, and no counter is above its ceiling. Where nothing wraps
    /// around, what is read is bounded only if the type is small.
    pub(super) fn room(&mut self, slot: usize) {
        let segment = self.segment(slot);
        let within = |number: &Int, of: Integer, ceiling: Option<i128>| {
            let greatest = ceiling.unwrap_or(i128::MAX).min(of.greatest());
            all([number.ge(Int::from(of.least())), number.le(Int::from(greatest))])
        };
        let method = &self.context.library.methods[segment.method];
        let parameters = method.parameters.iter().enumerate();
        let arguments = parameters.map(|(k, local)| (argument(slot, k as u32), *local));
        let entries = segment.entries.iter().enumerate().map(|(k, local)| (entry(slot, k), *local));
        for (number, local) in arguments.chain(entries) {
            self.assert_formula(CODE, within(&number, method.locals[local.0 as usize].integer, None));
        }
        for at in self.steps(slot) {
            let step = self.step(at);
            let Some(class) = step.class else { continue };
            let integer = self.context.library.classes[class.0 as usize].integer;
            if !segment.wraps && integer.bits >= 32 {
                continue;
            }
            let ceiling = self.context.facts.classes[class.0 as usize].ceiling;
            if step.reads() {
                self.assert_formula(CODE, executed(at).implies(within(&read(at), integer, ceiling)));
            }
            if let (Some(value), Some(_)) = (step.written(), ceiling) {
                let fits = within(&value.integer(slot), integer, ceiling);
                self.assert_formula(CODE, self.is_write(at).implies(fits));
            }
        }
    }

    /// Which events a slot has, and in which order.
    pub(super) fn events(&mut self, slot: usize) {
        let (begin, end) = (begin(slot), end(slot));
        let steps: Vec<EventId> = self.steps(slot).collect();
        self.assert_formula(SC, begin.ge(Int::from(0)));
        self.assert_formula(SC, begin.lt(&end));
        for (k, at) in steps.iter().copied().enumerate() {
            let (step, x, e) = (self.step(at), executed(at), event(at));
            if step.is_dead {
                self.assert_formula(CODE, !x);
                continue;
            }
            self.assert_formula(CODE, x.implies(reached(slot, step)));
            self.assert_formula(SC, x.implies(all([begin.lt(&e), e.lt(&end), e.le(last())])));
            let owner = [is_of_slot(&e, slot), session_of(&e).equals(session(slot))];
            self.assert_formula(SC, x.implies(all(owner)));
            for earlier in steps[..k].iter().copied() {
                let (before, reached) = (executed(earlier), reached(slot, self.step(earlier)));
                self.assert_formula(CODE, all([&x, &reached]).implies(&before));
                self.assert_formula(SC, all([&x, &before]).implies(event(earlier).lt(&e)));
            }
            if let (Some(class), Some(value)) = (step.class, step.written()) {
                let (base, index) = self.location(at);
                let what = all([
                    is_of_class(&e, class),
                    base_of(&e).equals(base),
                    index_of(&e).equals(index),
                    value_of(&e).equals(value.integer(slot)),
                    updates(&e).iff(&step.updates().into()),
                    has_label(&e, step.label),
                ]);
                self.assert_formula(SC, self.is_write(at).implies(what));
            }
        }
        let segment = self.segment(slot);
        let complete = complete(slot);
        let ends = any(segment.ends.iter().map(|node| guard(slot, *node)));
        self.assert_formula(CODE, complete.implies(ends));
        for at in &steps {
            let is_passed = all([&complete, &reached(slot, self.step(*at))]);
            self.assert_formula(CODE, is_passed.implies(executed(*at)));
        }
        // Whoever has not come to the end of a call makes no other one.
        self.assert_formula(SC, any([complete, end.gt(last())]));
        if let Some(group) = self.context.facts.threads[segment.method] {
            self.derive(Constraint::OneThread, session(slot).equals(one_thread(group)));
        }
    }
}
