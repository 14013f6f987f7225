//! The derived constraints, for the slots and handles of a partial execution.

use super::symbols::*;
use super::{EventId, Execution, SC};
use crate::prove::exclusive;
use crate::prove::facts::{Bound, Constraint};
use crate::prove::segments::Action;
use crate::solver::formula::{Formula, Int, all, any};
use seqcst_c11::code::ClassId;

impl Execution<'_> {
    /// The derived constraints, for the slots and handles that are there.
    pub(super) fn derived(&mut self) {
        self.fresh_records();
        self.exclusion();
        self.confirmed_reads();
        self.exclusive_writes();
        for (k, facts) in self.context.facts.classes.iter().enumerate() {
            let class = ClassId(k as u32);
            let handles = self.of_class(class);
            for handle in &handles {
                let declared = &self.context.library.classes[k];
                if facts.counter.is_some() && declared.record.is_none() && declared.cells.is_none() {
                    let at_least = value_of(&handle.position).ge(Int::from(declared.initial));
                    self.derive(Constraint::Counter, handle.active.implies(at_least));
                }
                if facts.is_updates_only {
                    let is_update = updates(&handle.position);
                    self.derive(Constraint::UpdatesOnly, handle.is_made().implies(is_update));
                }
            }
            for (k, a) in handles.iter().enumerate() {
                for b in &handles[k + 1..] {
                    let (p, q) = (&a.position, &b.position);
                    let zero = Int::from(0);
                    let same =
                        all([&a.active, &b.active, &a.base.equals(&b.base), &a.index.equals(&b.index)]);
                    // One location has one initial write.
                    let initial = all([&same, &p.le(&zero), &q.le(&zero)]);
                    self.assert_formula(SC, initial.implies(p.equals(q)));
                    let made = all([&same, &p.gt(&zero), &q.gt(&zero)]);
                    if facts.is_own_field {
                        self.derive(Constraint::OwnField, made.implies(slot_of(p).equals(slot_of(q))));
                    }
                    if facts.has_distinct_indices {
                        self.derive(Constraint::DistinctIndices, made.implies(p.equals(q)));
                    }
                    if facts.counter.is_some() {
                        let grows = |p, q| Int::lt(p, q).implies(value_of(p).lt(value_of(q)));
                        self.derive(Constraint::Counter, same.implies(all([grows(p, q), grows(q, p)])));
                    }
                    for (p, q) in [(p, q), (q, p)] {
                        let chain = all([&made, &p.lt(q), &published(p)]);
                        if facts.is_handed_on {
                            let known = all([known(q), published(q)]);
                            self.derive(Constraint::ExclusiveWrite, chain.implies(known));
                        }
                        if facts.is_updates_only {
                            self.derive(Constraint::UpdatesOnly, chain.implies(published(q)));
                        }
                    }
                }
            }
        }
        self.bounds();
    }

    /// The address of an allocated record is nowhere before its call has written it somewhere.
    pub(super) fn fresh_records(&mut self) {
        if !self.context.facts.are_records_fresh {
            return;
        }
        let allocations: Vec<EventId> = self
            .all_steps()
            .into_iter()
            .filter(|at| matches!(self.step(*at).action, Action::Allocate { .. }))
            .collect();
        for (k, at) in allocations.iter().copied().enumerate() {
            let (x, n) = (executed(at), address(at));
            self.derive(Constraint::FreshRecords, x.implies(n.gt(Int::from(0))));
            for other in &allocations[k + 1..] {
                let both = all([&x, &executed(*other)]);
                self.derive(Constraint::FreshRecords, both.implies(!n.equals(address(*other))));
            }
            // Writes of the call that make it known, early enough.
            let is_published = |execution: &Execution, is_early: &dyn Fn(&Int) -> Formula| {
                let writes = execution.steps(at.slot).filter_map(|w| {
                    let step = execution.step(w);
                    let holds = step
                        .class
                        .is_some_and(|c| execution.context.facts.classes[c.0 as usize].holds_addresses);
                    let value = step.written().filter(|_| holds)?.integer(at.slot);
                    Some(all([execution.is_write(w), value.equals(&n), is_early(&event(w))]))
                });
                any(writes)
            };
            for handle in self.handles.clone() {
                let (o, facts) = (&handle.position, &self.context.facts.classes[handle.class.0 as usize]);
                if facts.holds_addresses {
                    let premise = all([&x, &handle.active, &value_of(o).equals(&n)]);
                    let conclusion = is_published(self, &|w| w.le(o));
                    self.derive(Constraint::FreshRecords, premise.implies(conclusion));
                }
                if self.context.library.classes[handle.class.0 as usize].record.is_some() {
                    let is_other = !is_of_slot(o, at.slot);
                    let premise =
                        all([&x, &handle.active, &o.gt(Int::from(0)), &handle.base.equals(&n), &is_other]);
                    let conclusion = is_published(self, &|w| w.lt(o));
                    self.derive(Constraint::FreshRecords, premise.implies(conclusion));
                    if facts.is_own_field {
                        self.derive(Constraint::OwnField, !premise);
                    }
                }
            }
        }
    }

    /// Critical sections exclude each other.
    pub(super) fn exclusion(&mut self) {
        let Some(section) = self.context.facts.section else {
            return;
        };
        let declared = if self.context.library.contract.points.is_empty() {
            Constraint::Exclusion
        } else {
            Constraint::Point
        };
        let find = |execution: &Execution, slot: usize, label| {
            execution
                .steps(slot)
                .find(|at| execution.step(*at).label == label && execution.step(*at).is_access())
        };
        let sections: Vec<(EventId, EventId)> = (0..self.slots.len())
            .filter_map(|slot| Some((find(self, slot, section.enter)?, find(self, slot, section.leave)?)))
            .collect();
        for (k, (enter, leave)) in sections.iter().copied().enumerate() {
            for (enter2, leave2) in sections[k + 1..].iter().copied() {
                let both = all([executed(enter), executed(enter2)]);
                let first = all([executed(leave), event(leave).lt(event(enter2))]);
                let second = all([executed(leave2), event(leave2).lt(event(enter))]);
                self.derive(declared, both.implies(any([first, second])));
            }
            for handle in self.handles.clone() {
                if !self.context.facts.classes[handle.class.0 as usize].is_protected || handle.of.is_some() {
                    continue;
                }
                let o = &handle.position;
                let is_other = !is_of_slot(o, enter.slot);
                let premise = all([&executed(enter), &handle.active, &o.gt(event(enter)), &is_other]);
                let after = all([executed(leave), o.gt(event(leave))]);
                self.derive(declared, premise.implies(after));
            }
        }
    }

    /// Nobody writes between the read that a store builds on and the store.
    pub(super) fn exclusive_writes(&mut self) {
        for at in self.all_steps() {
            let step = self.step(at);
            let Some(class) = step.class.filter(|c| self.context.facts.classes[c.0 as usize].is_exclusive)
            else {
                continue;
            };
            let base = exclusive::base(self.segment(at.slot), at.step);
            let Some(read) = base.filter(|read| step.writes() && *read != at.step) else {
                continue;
            };
            let location = self.location(at);
            let from = source(EventId { slot: at.slot, step: read });
            for handle in self.of_class(class) {
                let (o, there) = (&handle.position, handle.is_at(&location));
                let premise = all([&self.is_write(at), &there]);
                let outside = any([o.le(&from), o.ge(event(at))]);
                self.derive(Constraint::ExclusiveWrite, premise.implies(outside));
                if let Some(step) = exclusive::commitment(self.segment(at.slot), read, at.step) {
                    let is_bound = executed(EventId { slot: at.slot, step });
                    let premise = all([&is_bound, &!executed(at), &there]);
                    self.derive(Constraint::ExclusiveWrite, premise.implies(o.le(&from)));
                }
            }
        }
    }

    /// Nobody writes between a read and the compare-and-swap that confirms it.
    pub(super) fn confirmed_reads(&mut self) {
        for at in self.all_steps() {
            let Some(step) = self.context.facts.confirms(self.segment(at.slot), at.step) else {
                continue;
            };
            let Some(class) = self.step(at).class else {
                continue;
            };
            let (base, index) = self.location(at);
            let update = EventId { slot: at.slot, step };
            for handle in self.of_class(class) {
                let premise = all([
                    executed(at),
                    !executed(update),
                    handle.active,
                    handle.base.equals(&base),
                    handle.index.equals(&index),
                ]);
                self.derive(Constraint::ConfirmedRead, premise.implies(handle.position.le(source(at))));
            }
        }
    }

    /// One counter does not overtake another.
    fn bounds(&mut self) {
        for bound in &self.context.facts.bounds {
            for formula in self.within(bound, &self.all_steps()) {
                self.derive(Constraint::Bound, formula);
            }
        }
    }

    /// A bound at the moments of some steps: what was read of the lesser counter at a moment is at most what is read of the
    /// greater one then or later, plus the slack.
    pub fn within(&self, bound: &Bound, steps: &[EventId]) -> Vec<Formula> {
        let (small, large) = (self.moments(bound.lesser, steps), self.moments(bound.greater, steps));
        let pairs = small.iter().flat_map(|lesser| large.iter().map(move |greater| (lesser, greater)));
        pairs
            .map(|((x, p, v), (y, q, u))| {
                all([x, y, &p.le(q)]).implies(v.le(u.clone() + Int::from(bound.slack)))
            })
            .collect()
    }

    /// Accesses of a class among some steps: when each is one, its position, and the value that it reads or writes.
    pub fn moments(&self, class: ClassId, steps: &[EventId]) -> Vec<(Formula, Int, Int)> {
        let steps = steps.iter().copied().filter(|at| self.step(*at).class == Some(class));
        steps
            .flat_map(|at| {
                let (step, e) = (self.step(at), event(at));
                let read = step.reads().then(|| (executed(at), e.clone(), read(at)));
                let write = step.writes().then(|| (self.is_write(at), e.clone(), value_of(&e)));
                read.into_iter().chain(write)
            })
            .collect()
    }
}
