//! SC: threads make one call after the other, and every read takes the newest value.

use super::{At, CODE, Execution, Handle, RC20, SC, event, executed, guard, source};
use crate::code::{Class, Expr, Operator};
use crate::prove::facts::Constraint;
use crate::prove::smt::{all, any, equal, implies};
use crate::prove::straight::{Gap, LoopId};
use crate::prove::term::number;

impl Execution<'_> {
    /// Calls of one thread come one after the other (or, for iterations of a loop, in the gap before the last one), and what
    /// it knows stays known.
    pub(super) fn sessions(&mut self) {
        for i in 0..self.slots.len() {
            for k in i + 1..self.slots.len() {
                let same = format!("(and {} {} (= session_{i} session_{k}))", guard(i, 0), guard(k, 0));
                let mut orders = Vec::new();
                for (a, b) in [(i, k), (k, i)] {
                    orders.push(format!("(and complete_{a} (< end_{a} begin_{b}))"));
                    let (outer, inner) = (self.segment(a), self.segment(b));
                    for gap in outer
                        .gaps
                        .iter()
                        .filter(|g| outer.method == inner.method && inner.iterates.contains(&g.of))
                    {
                        let within = self.is_in_gap(a, gap, &format!("begin_{b}"), &format!("end_{b}"));
                        orders.push(all([within, format!("(=> complete_{a} (< end_{b} end_{a}))")]));
                    }
                }
                self.say(SC, implies(&same, &any(orders)));
                for (a, b) in [(i, k), (k, i)] {
                    let before = format!("(and {same} (< end_{a} begin_{b}))");
                    self.say(
                        RC20,
                        implies(&all([before.clone(), format!("past_{a}")]), &format!("past_{b}")),
                    );
                    for at in self.steps(a) {
                        let (e, knows) = (event(at), format!("(known {})", event(at)));
                        let premise =
                            all([same.clone(), executed(at), knows.clone(), format!("(< {e} begin_{b})")]);
                        self.say(RC20, implies(&premise, &format!("past_{b}")));
                        for later in self.steps(b) {
                            let order = format!("(< {e} {})", event(later));
                            let premise =
                                all([same.clone(), executed(at), executed(later), knows.clone(), order]);
                            self.say(RC20, implies(&premise, &format!("(known {})", event(later))));
                        }
                    }
                }
            }
        }
        for slot in 0..self.slots.len() {
            let steps: Vec<At> = self.steps(slot).collect();
            for (k, at) in steps.iter().copied().enumerate() {
                let (x, e) = (executed(at), event(at));
                self.say(RC20, implies(&x, &format!("(=> (known {e}) (<= suspect {e}))")));
                self.say(RC20, implies(&x, &format!("(=> past_{slot} (known {e}))")));
                for earlier in &steps[..k] {
                    let premise =
                        all([x.clone(), executed(*earlier), format!("(known {})", event(*earlier))]);
                    self.say(RC20, implies(&premise, &format!("(known {e})")));
                }
            }
            self.say(RC20, implies(&format!("past_{slot}"), &format!("(< suspect begin_{slot})")));
        }
    }

    /// Do the positions from `first` to `last` lie in a gap of a slot?
    pub(super) fn is_in_gap(&self, slot: usize, gap: &Gap, first: &str, last: &str) -> String {
        let step = |step: &usize| At { slot, step: *step };
        let before = gap
            .before
            .iter()
            .map(step)
            .map(|at| implies(&executed(at), &format!("(< {} {first})", event(at))));
        let after =
            gap.after.iter().map(step).map(|at| implies(&executed(at), &format!("(< {last} {})", event(at))));
        all([format!("(< begin_{slot} {first})")].into_iter().chain(before).chain(after))
    }

    /// Labels of writes that iterations of a loop make.
    pub(super) fn labels_in(&self, method: usize, of: LoopId) -> Vec<u32> {
        let iterations =
            self.world.segments.iter().filter(|s| s.method == method && s.iterates.contains(&of));
        iterations.flat_map(|s| &s.steps).filter(|s| s.writes() && !s.is_dead).map(|s| s.label.0).collect()
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
                format!("(< {o} {e})"),
                format!("(= (value {o}) r_{}_{})", at.slot, at.step),
                format!("(= (class {o}) {})", class.0),
                equal(&format!("(base {o})"), &base),
                equal(&format!("(index {o})"), &index),
            ]);
            self.say(SC, implies(&x, &what));
            for handle in self.of_class(class) {
                if handle.position == o || handle.position == e {
                    continue;
                }
                let premise = all([
                    x.clone(),
                    handle.active.clone(),
                    equal(&handle.base, &base),
                    equal(&handle.index, &index),
                    format!("(< {} {e})", handle.position),
                ]);
                self.say(SC, implies(&premise, &format!("(<= {} {o})", handle.position)));
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
            let made = all([active.clone(), format!("(> {o} 0)")]);
            self.say(SC, implies(&made, &format!("(<= {o} last)")));
            for (premise, initial) in self.initial(&handle) {
                let is_initial = all([active.clone(), format!("(<= {o} 0)"), premise]);
                self.say(SC, implies(&is_initial, &equal(&format!("(value {o})"), &initial)));
            }
            let is_initial = all([active.clone(), format!("(<= {o} 0)")]);
            self.say(
                SC,
                implies(
                    &is_initial,
                    &format!("(and (not (updates {o})) (not (known {o})) (not (published {o})))"),
                ),
            );
            // The code that can have made it.
            let kinds = self.writers(class).into_iter().map(|step| {
                let mut facts = vec![
                    format!("(= (label {o}) {})", step.label.0),
                    if step.updates() { format!("(updates {o})") } else { format!("(not (updates {o}))") },
                ];
                if step.order.is_release() && self.is_atomic(class) {
                    facts.push(format!("(=> (known {o}) (published {o}))"));
                }
                all(facts)
            });
            let kinds = any(kinds.collect::<Vec<_>>());
            self.say(CODE, implies(&made, &kinds));
            if let Some(group) = self.world.facts.classes[class.0 as usize].writer_thread {
                self.derive(
                    Constraint::OneThread,
                    implies(&made, &format!("(= (session {o}) (- {}))", group + 1)),
                );
            }
            self.say(RC20, implies(&made, &format!("(=> (known {o}) (<= suspect {o}))")));
            for slot in 0..self.slots.len() {
                let writes: Vec<String> = self
                    .steps(slot)
                    .filter(|at| self.step(*at).class == Some(class) && self.step(*at).writes())
                    .map(|at| all([equal(o, &event(at)), self.is_write(at)]))
                    .collect();
                let (is_there, is_its) = (guard(slot, 0), format!("(= (slot {o}) {})", slot + 1));
                let premise = all([made.clone(), is_there.clone(), is_its.clone()]);
                self.say(SC, implies(&premise, &any(writes)));
                let of_thread = all([made.clone(), is_there, format!("(= (session {o}) session_{slot})")]);
                let segment = self.segment(slot);
                let gaps = segment.gaps.iter().map(|gap| {
                    let labels = self.labels_in(segment.method, gap.of);
                    let is_there = any(labels.into_iter().map(|l| format!("(= (label {o}) {l})")));
                    all([is_there, self.is_in_gap(slot, gap, o, o)])
                });
                let beside =
                    format!("(or {is_its} (< {o} begin_{slot}) (and complete_{slot} (> {o} end_{slot})))");
                let around = any(std::iter::once(beside).chain(gaps));
                self.say(SC, implies(&of_thread, &around));
                let premise =
                    all([of_thread.clone(), format!("(< {o} begin_{slot})"), format!("(known {o})")]);
                self.say(RC20, implies(&premise, &format!("past_{slot}")));
                let premise =
                    all([of_thread.clone(), format!("(> {o} begin_{slot})"), format!("past_{slot}")]);
                self.say(RC20, implies(&premise, &format!("(known {o})")));
                for at in self.steps(slot) {
                    let e = event(at);
                    let premise = all([
                        of_thread.clone(),
                        executed(at),
                        format!("(known {e})"),
                        format!("(> {o} {e})"),
                    ]);
                    self.say(RC20, implies(&premise, &format!("(known {o})")));
                    let before = format!("(< {o} {e})");
                    let premise = all([of_thread.clone(), executed(at), format!("(known {o})"), before]);
                    self.say(RC20, implies(&premise, &format!("(known {e})")));
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
                        a.active.clone(),
                        b.active.clone(),
                        format!("(< 0 {p} {q})"),
                        format!("(= (session {p}) (session {q}))"),
                        format!("(known {p})"),
                    ]);
                    self.say(RC20, implies(&premise, &format!("(known {q})")));
                }
            }
        }
    }

    /// What a location holds at the beginning, under which condition.
    pub(super) fn initial(&self, handle: &Handle) -> Vec<(String, String)> {
        let declared = &self.world.library.classes[handle.class.0 as usize];
        let plain = number(declared.initial);
        if declared.record.is_none() {
            let value = match &declared.initial_cell {
                Some(value) => initial_of_cell(value, &handle.index),
                None => Some(plain),
            };
            return value.into_iter().map(|value| ("true".to_owned(), value)).collect();
        }
        // Records that the setup made have negative addresses; others begin with 0 or with anything.
        let made = match &declared.initial_cell {
            Some(value) => initial_of_cell(value, &handle.base),
            None => Some(plain),
        };
        let is_zeroed = self.world.facts.classes[handle.class.0 as usize].is_initial_known;
        let made = made.map(|value| (format!("(< {} 0)", handle.base), value));
        let allocated = is_zeroed.then(|| (format!("(> {} 0)", handle.base), "0".to_owned()));
        made.into_iter().chain(allocated).collect()
    }
}

/// The initial value of a cell, for a function of its index.
fn initial_of_cell(value: &Expr, index: &str) -> Option<String> {
    match value {
        Expr::Int(n) => Some(number(*n)),
        Expr::Local(local) if *local == Class::INDEX => Some(index.to_owned()),
        Expr::Binary(op @ (Operator::Add | Operator::Sub | Operator::Mul), a, b) => {
            let name = match op {
                Operator::Add => "+",
                Operator::Sub => "-",
                _ => "*",
            };
            Some(format!("({name} {} {})", initial_of_cell(a, index)?, initial_of_cell(b, index)?))
        }
        _ => None,
    }
}
