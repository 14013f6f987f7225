//! What one thread did with a location.

use super::{Site, Time};
use seqcst_model::Mode;

/// A point in a location's modification order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Moment {
    /// Writes so far.
    pub writes: u32,
    /// Among them, those that aren't RMWs.
    pub plain: u32,
}

/// An access that a thread made; at time 0: none.
#[derive(Clone, Copy, Debug)]
pub struct Did {
    /// The thread's local time.
    pub time: Time,
    /// Where in the program.
    pub site: Site,
    /// Its memory order.
    pub mode: Mode,
}

impl Default for Did {
    fn default() -> Did {
        Did { time: 0, site: 0, mode: Mode::NonAtomic }
    }
}

/// When a thread came to know which writes of the location, and what it did last.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// When the thread read or made the newest write it knows of; time 0: never.
    newest: (Time, Moment),
    /// The same for older writes: a ring, whose oldest entry is at `next` once it is full.
    older: Vec<(Time, Moment)>,
    next: u32,
    /// The write whose message the thread has acquired, plus one.
    pub acquired: u32,
    /// The last access.
    pub last: Did,
    /// The last write.
    pub wrote: Did,
}

impl Record {
    /// The newest write that the thread has read or made, and when.
    #[inline]
    pub fn newest(&self) -> (Time, Moment) {
        self.newest
    }

    /// All that is remembered, newest first.
    #[inline]
    pub fn moments(&self) -> impl Iterator<Item = (Time, Moment)> {
        let (late, early) = self.older.split_at(self.next as usize);
        std::iter::once(self.newest).chain(late.iter().rev().chain(early.iter().rev()).copied())
    }

    /// The thread reads or makes a newer write. Returns what has to be forgotten for it, to keep at most `history`.
    #[inline]
    pub fn remember(&mut self, time: Time, moment: Moment, history: usize) -> Option<Moment> {
        let old = std::mem::replace(&mut self.newest, (time, moment));
        if old.0 == 0 {
            return None;
        }
        if self.older.len() + 1 < history {
            self.older.push(old);
            return None;
        }
        let Some(oldest) = self.older.get_mut(self.next as usize) else { return Some(old.1) };
        let forgotten = std::mem::replace(oldest, old);
        self.next = (self.next + 1) % self.older.len() as u32;
        Some(forgotten.1)
    }

    /// Forgets what it knew of writes, not what it did.
    pub fn start_over(&mut self) {
        *self = Record { last: self.last, wrote: self.wrote, ..Record::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_in_order() {
        for history in 1..6 {
            let mut record = Record::default();
            for n in 1..20 {
                let forgotten = record.remember(n, Moment { writes: n, plain: 0 }, history);
                assert_eq!(forgotten.map(|m| m.writes), n.checked_sub(history as u32).filter(|&n| n > 0));
                let kept: Vec<_> = record.moments().map(|(time, _)| time).filter(|&time| time > 0).collect();
                let expected: Vec<_> = (1..=n).rev().take(history).collect();
                assert_eq!(kept, expected);
            }
        }
    }
}
