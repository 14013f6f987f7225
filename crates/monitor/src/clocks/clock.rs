//! Vector clocks: for each thread, up to which of its local times something is known.

use super::{Slot, Time};

/// A function from threads to times; threads beyond its end are at 0.
#[derive(Clone, Default, Debug)]
pub struct Clock {
    times: Vec<Time>,
}

impl Clock {
    /// Knows nothing.
    pub const fn new() -> Clock {
        Clock { times: Vec::new() }
    }

    /// Up to when `slot`'s events are known.
    #[inline]
    pub fn get(&self, slot: Slot) -> Time {
        self.times.get(usize::from(slot)).copied().unwrap_or(0)
    }

    /// Sets one component, which only grows.
    #[inline]
    pub fn raise(&mut self, slot: Slot, time: Time) {
        let at = usize::from(slot);
        if at >= self.times.len() {
            self.grow(at + 1);
        }
        let known = &mut self.times[at];
        *known = time.max(*known);
    }

    /// Learns all that `other` knows; true if that was news.
    #[inline]
    pub fn join(&mut self, other: &Clock) -> bool {
        if self.times.len() < other.times.len() {
            self.grow(other.times.len());
        }
        let mut news = 0;
        for (mine, &theirs) in self.times.iter_mut().zip(&other.times) {
            let joined = (*mine).max(theirs);
            news |= joined ^ *mine;
            *mine = joined;
        }
        news != 0
    }

    /// Knows what `other` knows, and nothing else.
    #[inline]
    pub fn copy(&mut self, other: &Clock) {
        if self.times.len() < other.times.len() {
            self.grow(other.times.len());
        }
        let (known, rest) = self.times.split_at_mut(other.times.len());
        known.copy_from_slice(&other.times);
        rest.fill(0);
    }

    /// Knows all that `other` knows.
    pub fn covers(&self, other: &Clock) -> bool {
        other.times.iter().enumerate().all(|(at, &time)| self.times.get(at).copied().unwrap_or(0) >= time)
    }

    /// Room for `threads`, a little generously: programs start threads in groups.
    #[cold]
    fn grow(&mut self, threads: usize) {
        let room = threads.next_multiple_of(8);
        self.times.reserve_exact(room - self.times.len());
        self.times.resize(room, 0);
    }
}
