//! RC20: what makes the suspect known, and that nothing else does.

use super::symbols::*;
use super::{EventId, Execution, RC20};
use crate::prove::segments::Action;
use crate::solver::formula::{Formula, all, any};
use seqcst_c11::code::{ClassId, Mode};

impl Execution<'_> {
    /// Happens-before of RC20, as far as it starts at the suspect: `sw = [⊒rel];([F];po)?;rf⁺;(po;[F])?;[⊒acq]`.
    ///
    /// `published(w)`: whoever reads `w`, or an update that continues its release sequence, with acquire knows the suspect.
    pub(super) fn views(&mut self) {
        for at in self.all_steps() {
            let (step, x, e) = (self.step(at), executed(at), event(at));
            if let (Some(class), true) = (step.class, step.reads()) {
                let o = source(at);
                if !self.is_hb_only {
                    self.assert_formula(RC20, x.implies(o.equals(suspect()).implies(known(&e))));
                }
                if self.is_atomic(class) {
                    for (condition, order) in self.orders_of_reading(at) {
                        if order.is_acquire() {
                            let premise = all([&x, &condition, &published(&o)]);
                            self.assert_formula(RC20, premise.implies(known(&e)));
                        }
                    }
                    for fence in self.fences_around(at, false) {
                        let premise = all([self.is_po(at, fence), published(&o)]);
                        self.assert_formula(RC20, premise.implies(known(&event(fence))));
                    }
                }
            }
            // Initialisation of an atomic object makes nothing known, whatever fence comes before it.
            if let (Some(class), true) = (step.class, step.writes() && step.order != Mode::NonAtomic)
                && self.is_atomic(class)
            {
                let w = self.is_write(at);
                if step.order.is_release() {
                    self.assert_formula(RC20, w.implies(known(&e).implies(published(&e))));
                }
                for fence in self.fences_around(at, true) {
                    let premise = all([&w, &self.is_po(fence, at), &known(&event(fence))]);
                    self.assert_formula(RC20, premise.implies(published(&e)));
                }
                if step.updates() {
                    self.assert_formula(RC20, w.implies(published(&source(at)).implies(published(&e))));
                }
            }
            if step.is_fence() && step.order == Mode::SeqCst {
                self.assert_formula(RC20, x.implies(known(&e).implies(first_fence().le(&e))));
                self.assert_formula(RC20, x.implies(e.ge(first_fence()).implies(known(&e))));
            }
        }
    }

    /// Nothing is known without a cause: the rules of [`Execution::views`] read backwards.
    pub(super) fn causes(&mut self) {
        let relaxed_reads = self.context.segments.iter().flat_map(|s| &s.steps).any(|s| {
            let is_acquire = match &s.action {
                Action::Cas { failure, is_blocking: false, .. } => {
                    s.order.is_acquire() && failure.is_acquire()
                }
                _ => s.order.is_acquire(),
            };
            s.reads() && !is_acquire && s.class.is_some_and(|c| self.is_atomic(c))
        });
        for at in self.all_steps() {
            let (step, x, e, slot) = (self.step(at), executed(at), event(at), at.slot);
            let mut causes = vec![e.equals(suspect()), past(slot)];
            let earlier: Vec<EventId> = self.steps(slot).take(at.step).collect();
            let gaps =
                self.segment(slot).gaps.iter().enumerate().filter(|(_, gap)| gap.after.contains(&at.step));
            causes.extend(gaps.map(|(k, _)| gap(slot, k)));
            causes.extend(earlier.iter().map(|k| all([executed(*k), known(&event(*k))])));
            let is_atomic = step.class.is_some_and(|c| self.is_atomic(c));
            if step.reads() {
                if !self.is_hb_only {
                    causes.push(source(at).equals(suspect()));
                }
                for (condition, order) in self.orders_of_reading(at) {
                    if is_atomic && order.is_acquire() {
                        causes.push(all([condition, published(&source(at))]));
                    }
                }
            }
            if step.is_fence() && step.order.is_acquire() {
                if relaxed_reads {
                    // What an earlier call of the thread has read without acquire.
                    causes.push(heard(slot));
                }
                for read in &earlier {
                    let other = self.step(*read);
                    if other.reads() && other.class.is_some_and(|c| self.is_atomic(c)) {
                        causes.push(all([executed(*read), published(&source(*read))]));
                    }
                }
            }
            if step.is_fence() && step.order == Mode::SeqCst {
                causes.push(first_fence().lt(&e));
            }
            self.assert_formula(RC20, all([x, known(&e)]).implies(any(causes)));
            if step.writes() {
                let mut causes = vec![known(&e)];
                if step.updates() {
                    causes.push(published(&source(at)));
                }
                let premise = all([self.is_write(at), published(&e)]);
                self.assert_formula(RC20, premise.implies(any(causes)));
            }
        }
        for handle in self.handles.clone() {
            let (o, made) = (&handle.position, handle.is_made());
            self.assert_formula(RC20, made.implies(published(o).implies(any([known(o), updates(o)]))));
            if self.are_writes_fenced(handle.class) {
                // A write right behind an SC fence is known because that fence is, or because it is an update and goes on
                // with a release sequence of such writes; or the suspect is one of them.
                let m = suspect();
                let elsewhere = !all([
                    is_of_class(&m, handle.class),
                    base_of(&m).equals(&handle.base),
                    index_of(&m).equals(&handle.index),
                ]);
                let premise = all([made, elsewhere, any([known(o), published(o)])]);
                self.assert_formula(RC20, premise.implies(first_fence().lt(o)));
            }
        }
    }

    /// Does every write to a class stand right behind an SC fence?
    pub(super) fn are_writes_fenced(&self, class: ClassId) -> bool {
        self.context.segments.iter().all(|segment| {
            segment.steps.iter().enumerate().filter(|(_, s)| s.class == Some(class) && s.writes()).all(
                |(k, step)| {
                    k.checked_sub(1).map(|before| &segment.steps[before]).is_some_and(|fence| {
                        fence.is_fence()
                            && fence.order == Mode::SeqCst
                            && segment.dominates(fence.node, step.node)
                    })
                },
            )
        })
    }

    /// Conditions and orders under which a step reads.
    pub(super) fn orders_of_reading(&self, at: EventId) -> Vec<(Formula, Mode)> {
        let step = self.step(at);
        match &step.action {
            Action::Cas { failure, always: Some(false), .. } => vec![(true.into(), *failure)],
            Action::Cas { failure, always: None, .. } => {
                vec![(succeeded(at), step.order), (!succeeded(at), *failure)]
            }
            _ => vec![(true.into(), step.order)],
        }
    }

    /// Fences before (release) or after (acquire) an access, in its slot or another.
    pub(super) fn fences_around(&self, at: EventId, is_release: bool) -> Vec<EventId> {
        let fits = |order: Mode| if is_release { order.is_release() } else { order.is_acquire() };
        let is_beside =
            |f: &EventId| f.slot != at.slot || if is_release { f.step < at.step } else { f.step > at.step };
        let fences = self.all_steps().into_iter();
        fences.filter(|f| self.step(*f).is_fence() && fits(self.step(*f).order) && is_beside(f)).collect()
    }

    /// Both are executed, by one thread, the first one first.
    pub(super) fn is_po(&self, first: EventId, second: EventId) -> Formula {
        let both = all([executed(first), executed(second)]);
        if first.slot == second.slot {
            both
        } else {
            let (a, b) = (first.slot, second.slot);
            all([both, session(a).equals(session(b)), end(a).lt(begin(b))])
        }
    }
}
