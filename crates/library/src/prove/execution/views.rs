//! RC20: what makes the suspect known, and that nothing else does.

use super::{At, Execution, RC20, event, executed, source};
use crate::code::{ClassId, Order};
use crate::prove::smt::{all, any, equal, implies, not};
use crate::prove::straight::Action;

impl Execution<'_> {
    /// Happens-before of RC20, as far as it starts at the suspect: `sw = [⊒rel];([F];po)?;rf⁺;(po;[F])?;[⊒acq]`.
    ///
    /// `published(w)`: whoever reads `w`, or an update that continues its release sequence, with acquire knows the suspect.
    pub(super) fn views(&mut self) {
        let steps = self.all_steps();
        for at in steps.iter().copied() {
            let (step, x, e) = (self.step(at), executed(at), event(at));
            if let (Some(class), true) = (step.class, step.reads()) {
                let o = source(at);
                if !self.is_hb_only {
                    self.say(RC20, implies(&x, &format!("(=> (= {o} suspect) (known {e}))")));
                }
                if self.is_atomic(class) {
                    for (condition, order) in self.orders_of_reading(at) {
                        if order.is_acquire() {
                            let premise = all([x.clone(), condition, format!("(published {o})")]);
                            self.say(RC20, implies(&premise, &format!("(known {e})")));
                        }
                    }
                    for fence in self.fences_around(at, false) {
                        let premise = all([self.is_po(at, fence), format!("(published {o})")]);
                        self.say(RC20, implies(&premise, &format!("(known {})", event(fence))));
                    }
                }
            }
            if let (Some(class), true) = (step.class, step.writes())
                && self.is_atomic(class)
            {
                let w = self.is_write(at);
                if step.order.is_release() {
                    self.say(RC20, implies(&w, &format!("(=> (known {e}) (published {e}))")));
                }
                for fence in self.fences_around(at, true) {
                    let premise =
                        all([w.clone(), self.is_po(fence, at), format!("(known {})", event(fence))]);
                    self.say(RC20, implies(&premise, &format!("(published {e})")));
                }
                if step.updates() {
                    self.say(RC20, implies(&w, &format!("(=> (published {}) (published {e}))", source(at))));
                }
            }
            if step.is_fence() && step.order == Order::SeqCst {
                self.say(RC20, implies(&x, &format!("(=> (known {e}) (<= first_fence {e}))")));
                self.say(RC20, implies(&x, &format!("(=> (>= {e} first_fence) (known {e}))")));
            }
        }
    }

    /// Nothing is known without a cause: the rules of [`Execution::views`] read backwards.
    pub(super) fn causes(&mut self) {
        let relaxed_reads = self.world.segments.iter().flat_map(|s| &s.steps).any(|s| {
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
            let mut causes = vec![equal(&e, "suspect"), format!("past_{slot}")];
            let earlier: Vec<At> = self.steps(slot).take(at.step).collect();
            let gaps =
                self.segment(slot).gaps.iter().enumerate().filter(|(_, gap)| gap.after.contains(&at.step));
            causes.extend(gaps.map(|(k, _)| format!("gap_{slot}_{k}")));
            causes.extend(earlier.iter().map(|k| all([executed(*k), format!("(known {})", event(*k))])));
            let is_atomic = step.class.is_some_and(|c| self.is_atomic(c));
            if step.reads() {
                if !self.is_hb_only {
                    causes.push(equal(&source(at), "suspect"));
                }
                for (condition, order) in self.orders_of_reading(at) {
                    if is_atomic && order.is_acquire() {
                        causes.push(all([condition, format!("(published {})", source(at))]));
                    }
                }
            }
            if step.is_fence() && step.order.is_acquire() {
                if relaxed_reads {
                    // What an earlier call of the thread has read without acquire.
                    causes.push(format!("heard_{slot}"));
                }
                for read in &earlier {
                    let other = self.step(*read);
                    if other.reads() && other.class.is_some_and(|c| self.is_atomic(c)) {
                        causes.push(all([executed(*read), format!("(published {})", source(*read))]));
                    }
                }
            }
            if step.is_fence() && step.order == Order::SeqCst {
                causes.push(format!("(< first_fence {e})"));
            }
            self.say(RC20, implies(&all([x, format!("(known {e})")]), &any(causes)));
            if step.writes() {
                let mut causes = vec![format!("(known {e})")];
                if step.updates() {
                    causes.push(format!("(published {})", source(at)));
                }
                let premise = all([self.is_write(at), format!("(published {e})")]);
                self.say(RC20, implies(&premise, &any(causes)));
            }
        }
        for handle in self.handles.clone() {
            let o = &handle.position;
            let made = all([handle.active.clone(), format!("(> {o} 0)")]);
            let cause = format!("(=> (published {o}) (or (known {o}) (updates {o})))");
            self.say(RC20, implies(&made, &cause));
            if self.are_writes_fenced(handle.class) {
                // A write right behind an SC fence is known because that fence is, or because it is an update and goes on
                // with a release sequence of such writes; or the suspect is one of them.
                let elsewhere = format!(
                    "(not (and (= (class suspect) {}) (= (base suspect) {}) (= (index suspect) {})))",
                    handle.class.0, handle.base, handle.index
                );
                let premise = all([made, elsewhere, format!("(or (known {o}) (published {o}))")]);
                self.say(RC20, implies(&premise, &format!("(< first_fence {o})")));
            }
        }
    }

    /// Does every write to a class stand right behind an SC fence?
    pub(super) fn are_writes_fenced(&self, class: ClassId) -> bool {
        self.world.segments.iter().all(|segment| {
            segment.steps.iter().enumerate().filter(|(_, s)| s.class == Some(class) && s.writes()).all(
                |(k, step)| {
                    k.checked_sub(1).map(|before| &segment.steps[before]).is_some_and(|fence| {
                        fence.is_fence()
                            && fence.order == Order::SeqCst
                            && segment.dominates(fence.node, step.node)
                    })
                },
            )
        })
    }

    /// Conditions and orders under which a step reads.
    pub(super) fn orders_of_reading(&self, at: At) -> Vec<(String, Order)> {
        let step = self.step(at);
        match &step.action {
            Action::Cas { failure, always: Some(false), .. } => vec![("true".to_owned(), *failure)],
            Action::Cas { failure, always: None, .. } => {
                let ok = format!("ok_{}_{}", at.slot, at.step);
                vec![(ok.clone(), step.order), (not(&ok), *failure)]
            }
            _ => vec![("true".to_owned(), step.order)],
        }
    }

    /// Fences before (release) or after (acquire) an access, in its slot or another.
    pub(super) fn fences_around(&self, at: At, is_release: bool) -> Vec<At> {
        let fits = |order: Order| if is_release { order.is_release() } else { order.is_acquire() };
        let is_beside =
            |f: &At| f.slot != at.slot || if is_release { f.step < at.step } else { f.step > at.step };
        let fences = self.all_steps().into_iter();
        fences.filter(|f| self.step(*f).is_fence() && fits(self.step(*f).order) && is_beside(f)).collect()
    }

    /// Both are executed, by one thread, the first one first.
    pub(super) fn is_po(&self, first: At, second: At) -> String {
        let both = all([executed(first), executed(second)]);
        if first.slot == second.slot {
            both
        } else {
            let (a, b) = (first.slot, second.slot);
            all([both, format!("(= session_{a} session_{b})"), format!("(< end_{a} begin_{b})")])
        }
    }
}
