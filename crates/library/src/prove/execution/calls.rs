//! What a call does: control flow, data flow, and the events that come of it.

use super::{At, CODE, Execution, SC, event, executed, guard, reached, source};
use crate::prove::facts::Constraint;
use crate::prove::smt::{all, any, equal, implies, not};
use crate::prove::straight::Action;

impl Execution<'_> {
    pub(super) fn declare(&mut self, slot: usize) {
        let segment = self.segment(slot);
        let method = &self.world.library.methods[segment.method];
        let mut constant =
            |name: String, sort: &str| self.declarations.push(format!("(declare-const {name} {sort})"));
        for (name, sort) in [
            ("begin", "Int"),
            ("end", "Int"),
            ("session", "Int"),
            ("past", "Bool"),
            ("heard", "Bool"),
            ("complete", "Bool"),
        ] {
            constant(format!("{name}_{slot}"), sort);
        }
        (0..method.parameters.len()).for_each(|k| constant(format!("a_{slot}_{k}"), "Int"));
        (0..segment.entries.len()).for_each(|k| constant(format!("l_{slot}_{k}"), "Int"));
        (0..segment.gaps.len()).for_each(|k| constant(format!("gap_{slot}_{k}"), "Bool"));
        (0..segment.nodes.len()).for_each(|k| constant(guard(slot, k), "Bool"));
        (0..segment.merges.len()).for_each(|k| constant(format!("v_{slot}_{k}"), "Int"));
        for (k, step) in segment.steps.iter().enumerate() {
            let at = At { slot, step: k };
            constant(event(at), "Int");
            constant(executed(at), "Bool");
            if step.reads() {
                constant(format!("r_{slot}_{k}"), "Int");
                constant(source(at), "Int");
            }
            match step.action {
                Action::Cas { .. } => constant(format!("ok_{slot}_{k}"), "Bool"),
                Action::Allocate { .. } => constant(format!("n_{slot}_{k}"), "Int"),
                _ => {}
            }
        }
    }

    /// Control and data flow of a slot.
    pub(super) fn code(&mut self, slot: usize) {
        let segment = self.segment(slot);
        for (k, node) in segment.nodes.iter().enumerate().skip(1) {
            let ways = node
                .from
                .iter()
                .map(|(from, condition)| all([guard(slot, *from), condition.condition(slot)]));
            self.say(CODE, equal(&guard(slot, k), &any(ways)));
        }
        for (k, merge) in segment.merges.iter().enumerate() {
            for (from, condition, value) in &merge.ways {
                let way = all([guard(slot, *from), condition.condition(slot)]);
                self.say(CODE, implies(&way, &equal(&format!("v_{slot}_{k}"), &value.integer(slot))));
            }
        }
        for at in self.steps(slot) {
            let (step, x) = (self.step(at), executed(at));
            let read = format!("r_{slot}_{}", at.step);
            match &step.action {
                Action::Read { until: Some(until) } => self.say(CODE, implies(&x, &until.condition(slot))),
                Action::Cas { expected, is_weak, always, .. } => {
                    let (ok, fits) =
                        (format!("ok_{slot}_{}", at.step), equal(&read, &expected.integer(slot)));
                    self.say(CODE, implies(&ok, &fits));
                    if let Some(always) = always {
                        self.say(CODE, implies(&x, &if *always { ok.clone() } else { not(&ok) }));
                    }
                    if !is_weak && *always != Some(true) {
                        self.say(CODE, implies(&all([&fits, &x]), &ok));
                    }
                }
                _ => {}
            }
        }
    }

    /// Which events a slot has, and in which order.
    pub(super) fn events(&mut self, slot: usize) {
        let (begin, end) = (format!("begin_{slot}"), format!("end_{slot}"));
        let steps: Vec<At> = self.steps(slot).collect();
        self.say(SC, format!("(>= {begin} 0)"));
        self.say(SC, format!("(< {begin} {end})"));
        for (k, at) in steps.iter().copied().enumerate() {
            let (step, x, e) = (self.step(at), executed(at), event(at));
            if step.is_dead {
                self.say(CODE, not(&x));
                continue;
            }
            self.say(CODE, implies(&x, &reached(slot, step)));
            self.say(SC, implies(&x, &format!("(and (< {begin} {e}) (< {e} {end}) (<= {e} last))")));
            self.say(
                SC,
                implies(
                    &x,
                    &all([
                        format!("(= (slot {e}) {})", slot + 1),
                        format!("(= (session {e}) session_{slot})"),
                    ]),
                ),
            );
            for earlier in steps[..k].iter().copied() {
                let (before, reached) = (executed(earlier), reached(slot, self.step(earlier)));
                self.say(CODE, implies(&all([&x, &reached]), &before));
                self.say(SC, implies(&all([&x, &before]), &format!("(< {} {e})", event(earlier))));
            }
            if let (Some(class), Some(value)) = (step.class, step.written()) {
                let (base, index) = self.location(at);
                let what = all([
                    format!("(= (class {e}) {})", class.0),
                    equal(&format!("(base {e})"), &base),
                    equal(&format!("(index {e})"), &index),
                    equal(&format!("(value {e})"), &value.integer(slot)),
                    equal(&format!("(updates {e})"), if step.updates() { "true" } else { "false" }),
                    format!("(= (label {e}) {})", step.label.0),
                ]);
                self.say(SC, implies(&self.is_write(at), &what));
            }
        }
        let segment = self.segment(slot);
        let complete = format!("complete_{slot}");
        self.say(CODE, implies(&complete, &any(segment.ends.iter().map(|node| guard(slot, *node)))));
        for at in &steps {
            self.say(CODE, implies(&all([complete.clone(), reached(slot, self.step(*at))]), &executed(*at)));
        }
        // Whoever has not come to the end of a call makes no other one.
        self.say(SC, format!("(or {complete} (> {end} last))"));
        if let Some(group) = self.world.facts.threads[segment.method] {
            self.derive(Constraint::OneThread, format!("(= session_{slot} (- {}))", group + 1));
        }
    }
}
