//! Sets of SC events, and what travels with happens-before.

use crate::clocks::{Clock, Slot, Time};

/// A set of SC events, closed downwards in the partial SC order: the SC events of a thread are ordered, so a clock
/// stands for them.
#[derive(Clone, Default, Debug)]
pub struct Cover {
    /// The SC events.
    pub events: Clock,
    /// What happens before the SC fences among them.
    pub before_fences: Clock,
}

impl Cover {
    pub const fn new() -> Cover {
        Cover { events: Clock::new(), before_fences: Clock::new() }
    }

    pub fn clear(&mut self) {
        self.events.clear();
        self.before_fences.clear();
    }

    #[inline]
    pub fn join(&mut self, other: &Cover) {
        self.events.join_rare(&other.events);
        self.before_fences.join_rare(&other.before_fences);
    }

    #[inline]
    pub fn copy(&mut self, other: &Cover) {
        self.events.copy_rare(&other.events);
        self.before_fences.copy_rare(&other.before_fences);
    }

    pub fn covers(&self, other: &Cover) -> bool {
        self.events.covers(&other.events) && self.before_fences.covers(&other.before_fences)
    }

    /// Whether it is empty.
    #[inline]
    pub fn is_nothing(&self) -> bool {
        self.events.is_nothing() && self.before_fences.is_nothing()
    }

    /// An SC event of the thread is in the set.
    pub fn add(&mut self, slot: Slot, time: Time) {
        self.events.raise(slot, time);
    }
}

/// What is known by happens-before, and goes wherever that goes.
#[derive(Clone, Default, Debug)]
pub struct Known {
    /// SC fences that happen before this.
    pub(super) fences: Cover,
    /// What an SC fence here comes after.
    pub(super) at_fence: Cover,
    /// SC events followed, elsewhere in their thread, by something that happens before this.
    pub(super) elsewhere: Cover,
}

impl Known {
    /// Knows of nothing any more; keeps its memory.
    pub fn clear(&mut self) {
        self.fences.clear();
        self.at_fence.clear();
        self.elsewhere.clear();
    }

    #[inline]
    pub(super) fn join(&mut self, other: &Known) {
        self.fences.join(&other.fences);
        self.at_fence.join(&other.at_fence);
        self.elsewhere.join(&other.elsewhere);
    }

    #[inline]
    pub(super) fn copy(&mut self, other: &Known) {
        self.fences.copy(&other.fences);
        self.at_fence.copy(&other.at_fence);
        self.elsewhere.copy(&other.elsewhere);
    }

    pub(super) fn covers(&self, other: &Known) -> bool {
        self.fences.covers(&other.fences)
            && self.at_fence.covers(&other.at_fence)
            && self.elsewhere.covers(&other.elsewhere)
    }

    /// Whether it knows of any SC event.
    pub(super) fn is_nothing(&self) -> bool {
        self.elsewhere.is_nothing() && self.fences.is_nothing() && self.at_fence.is_nothing()
    }
}
