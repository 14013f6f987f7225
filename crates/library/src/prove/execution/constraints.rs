//! The derived constraints, for the slots and handles of a partial execution.

use super::{At, Execution, SC, event, executed, source};
use crate::code::ClassId;
use crate::prove::exclusive;
use crate::prove::facts::Constraint;
use crate::prove::smt::{all, any, equal, implies, not};
use crate::prove::straight::Action;
use crate::prove::term::number;

impl Execution<'_> {
    /// The derived constraints, for the slots and handles that are there.
    pub(super) fn derived(&mut self) {
        self.fresh_records();
        self.exclusion();
        self.confirmed_reads();
        self.exclusive_writes();
        for (k, facts) in self.world.facts.classes.iter().enumerate() {
            let class = ClassId(k as u32);
            let handles = self.of_class(class);
            for handle in &handles {
                let made = all([handle.active.clone(), format!("(> {} 0)", handle.position)]);
                let declared = &self.world.library.classes[k];
                if facts.counter.is_some() && declared.record.is_none() && declared.cells.is_none() {
                    let at_least = format!("(>= (value {}) {})", handle.position, number(declared.initial));
                    self.derive(Constraint::Counter, implies(&handle.active, &at_least));
                }
                if facts.is_updates_only {
                    self.derive(
                        Constraint::UpdatesOnly,
                        implies(&made, &format!("(updates {})", handle.position)),
                    );
                }
            }
            for (k, a) in handles.iter().enumerate() {
                for b in &handles[k + 1..] {
                    let (p, q) = (&a.position, &b.position);
                    let same = all([
                        a.active.clone(),
                        b.active.clone(),
                        equal(&a.base, &b.base),
                        equal(&a.index, &b.index),
                    ]);
                    // One location has one initial write.
                    let initial = all([same.clone(), format!("(<= {p} 0)"), format!("(<= {q} 0)")]);
                    self.say(SC, implies(&initial, &equal(p, q)));
                    let made = all([same.clone(), format!("(> {p} 0)"), format!("(> {q} 0)")]);
                    if facts.is_own_field {
                        self.derive(
                            Constraint::OwnField,
                            implies(&made, &format!("(= (slot {p}) (slot {q}))")),
                        );
                    }
                    if facts.has_distinct_indices {
                        self.derive(Constraint::DistinctIndices, implies(&made, &equal(p, q)));
                    }
                    if facts.counter.is_some() {
                        let grows = format!(
                            "(and (=> (< {p} {q}) (< (value {p}) (value {q}))) (=> (< {q} {p}) (< (value {q}) (value {p}))))"
                        );
                        self.derive(Constraint::Counter, implies(&same, &grows));
                    }
                    if facts.is_handed_on {
                        for (p, q) in [(p, q), (q, p)] {
                            let chain =
                                all([made.clone(), format!("(< {p} {q})"), format!("(published {p})")]);
                            let known = format!("(and (known {q}) (published {q}))");
                            self.derive(Constraint::ExclusiveWrite, implies(&chain, &known));
                        }
                    }
                    if facts.is_updates_only {
                        for (p, q) in [(p, q), (q, p)] {
                            let chain =
                                all([made.clone(), format!("(< {p} {q})"), format!("(published {p})")]);
                            self.derive(
                                Constraint::UpdatesOnly,
                                implies(&chain, &format!("(published {q})")),
                            );
                        }
                    }
                }
            }
        }
        self.bounds();
    }

    /// The address of an allocated record is nowhere before its call has written it somewhere.
    pub(super) fn fresh_records(&mut self) {
        if !self.world.facts.are_records_fresh {
            return;
        }
        let allocations: Vec<At> = self
            .all_steps()
            .into_iter()
            .filter(|at| matches!(self.step(*at).action, Action::Allocate { .. }))
            .collect();
        let address = |at: At| format!("n_{}_{}", at.slot, at.step);
        for (k, at) in allocations.iter().copied().enumerate() {
            let (x, n) = (executed(at), address(at));
            self.derive(Constraint::FreshRecords, implies(&x, &format!("(> {n} 0)")));
            for other in &allocations[k + 1..] {
                let both = all([x.clone(), executed(*other)]);
                self.derive(Constraint::FreshRecords, implies(&both, &not(&equal(&n, &address(*other)))));
            }
            // Writes of the call that make it known, not later than a given position.
            let published = |execution: &Execution, position: &str, strictly: bool| {
                let writes = execution.steps(at.slot).filter_map(|w| {
                    let step = execution.step(w);
                    let holds = step
                        .class
                        .is_some_and(|c| execution.world.facts.classes[c.0 as usize].holds_addresses);
                    let value = step.written().filter(|_| holds)?;
                    let early = if strictly { "<" } else { "<=" };
                    Some(all([
                        execution.is_write(w),
                        equal(&value.integer(at.slot), &n),
                        format!("({early} {} {position})", event(w)),
                    ]))
                });
                any(writes.collect::<Vec<_>>())
            };
            for handle in self.handles.clone() {
                let (o, facts) = (&handle.position, &self.world.facts.classes[handle.class.0 as usize]);
                if facts.holds_addresses {
                    let premise = all([x.clone(), handle.active.clone(), equal(&format!("(value {o})"), &n)]);
                    let conclusion = published(self, o, false);
                    self.derive(Constraint::FreshRecords, implies(&premise, &conclusion));
                }
                if self.world.library.classes[handle.class.0 as usize].record.is_some() {
                    let is_other = not(&format!("(= (slot {o}) {})", at.slot + 1));
                    let premise = all([
                        x.clone(),
                        handle.active.clone(),
                        format!("(> {o} 0)"),
                        equal(&handle.base, &n),
                        is_other.clone(),
                    ]);
                    let conclusion = published(self, o, true);
                    self.derive(Constraint::FreshRecords, implies(&premise, &conclusion));
                    if facts.is_own_field {
                        self.derive(Constraint::OwnField, not(&premise));
                    }
                }
            }
        }
    }

    /// Critical sections exclude each other.
    pub(super) fn exclusion(&mut self) {
        let Some(section) = self.world.facts.section else {
            return;
        };
        let declared = if self.world.library.contract.points.is_empty() {
            Constraint::Exclusion
        } else {
            Constraint::Point
        };
        let find = |execution: &Execution, slot: usize, label| {
            execution
                .steps(slot)
                .find(|at| execution.step(*at).label == label && execution.step(*at).is_access())
        };
        let sections: Vec<(At, At)> = (0..self.slots.len())
            .filter_map(|slot| Some((find(self, slot, section.enter)?, find(self, slot, section.leave)?)))
            .collect();
        for (k, (enter, leave)) in sections.iter().copied().enumerate() {
            for (enter2, leave2) in sections[k + 1..].iter().copied() {
                let both = all([executed(enter), executed(enter2)]);
                let first = all([executed(leave), format!("(< {} {})", event(leave), event(enter2))]);
                let second = all([executed(leave2), format!("(< {} {})", event(leave2), event(enter))]);
                self.derive(declared, implies(&both, &any([first, second])));
            }
            for handle in self.handles.clone() {
                if !self.world.facts.classes[handle.class.0 as usize].is_protected || handle.of.is_some() {
                    continue;
                }
                let o = &handle.position;
                let is_other = not(&format!("(= (slot {o}) {})", enter.slot + 1));
                let premise = all([
                    executed(enter),
                    handle.active.clone(),
                    format!("(> {o} {})", event(enter)),
                    is_other,
                ]);
                let after = all([executed(leave), format!("(> {o} {})", event(leave))]);
                self.derive(declared, implies(&premise, &after));
            }
        }
    }

    /// Nobody writes between the read that a store builds on and the store.
    pub(super) fn exclusive_writes(&mut self) {
        for at in self.all_steps() {
            let step = self.step(at);
            let Some(class) = step.class.filter(|c| self.world.facts.classes[c.0 as usize].is_exclusive)
            else {
                continue;
            };
            let base = exclusive::base(self.segment(at.slot), at.step);
            let Some(read) = base.filter(|read| step.writes() && *read != at.step) else {
                continue;
            };
            let (base, index) = self.location(at);
            let from = source(At { slot: at.slot, step: read });
            for handle in self.of_class(class) {
                let there = all([handle.active, equal(&handle.base, &base), equal(&handle.index, &index)]);
                let premise = all([self.is_write(at), there.clone()]);
                let outside = format!("(or (<= {0} {from}) (>= {0} {1}))", handle.position, event(at));
                self.derive(Constraint::ExclusiveWrite, implies(&premise, &outside));
                if let Some(step) = exclusive::commitment(self.segment(at.slot), read, at.step) {
                    let is_bound = executed(At { slot: at.slot, step });
                    let premise = all([is_bound, not(&executed(at)), there.clone()]);
                    let before = format!("(<= {} {from})", handle.position);
                    self.derive(Constraint::ExclusiveWrite, implies(&premise, &before));
                }
            }
        }
    }

    /// Nobody writes between a read and the compare-and-swap that confirms it.
    pub(super) fn confirmed_reads(&mut self) {
        for at in self.all_steps() {
            let Some(step) = self.world.facts.confirms(self.segment(at.slot), at.step) else {
                continue;
            };
            let Some(class) = self.step(at).class else {
                continue;
            };
            let (base, index) = self.location(at);
            let update = At { slot: at.slot, step };
            for handle in self.of_class(class) {
                let premise = all([
                    executed(at),
                    not(&executed(update)),
                    handle.active,
                    equal(&handle.base, &base),
                    equal(&handle.index, &index),
                ]);
                let formula = implies(&premise, &format!("(<= {} {})", handle.position, source(at)));
                self.derive(Constraint::ConfirmedRead, formula);
            }
        }
    }

    /// One counter does not overtake another.
    pub(super) fn bounds(&mut self) {
        for bound in self.world.facts.bounds.clone() {
            let moments = |execution: &Execution, class: ClassId| -> Vec<(String, String, String)> {
                let steps =
                    execution.all_steps().into_iter().filter(|at| execution.step(*at).class == Some(class));
                steps
                    .flat_map(|at| {
                        let (step, e) = (execution.step(at), event(at));
                        let read = step
                            .reads()
                            .then(|| (executed(at), e.clone(), format!("r_{}_{}", at.slot, at.step)));
                        let write = step
                            .writes()
                            .then(|| (execution.is_write(at), e.clone(), format!("(value {e})")));
                        read.into_iter().chain(write)
                    })
                    .collect()
            };
            let (small, large) = (moments(self, bound.lesser), moments(self, bound.greater));
            for (x, p, v) in &small {
                for (y, q, u) in &large {
                    let premise = all([x.clone(), y.clone(), format!("(<= {p} {q})")]);
                    let limit = format!("(<= {v} (+ {u} {}))", number(bound.slack));
                    self.derive(Constraint::Bound, implies(&premise, &limit));
                }
            }
        }
    }
}
