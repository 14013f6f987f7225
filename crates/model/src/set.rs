//! Sets of events, as one machine word.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not, Sub};

/// The largest number of events a relation can talk about.
pub const MAX_EVENTS: usize = 64;

/// A set of events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Set(pub u64);

impl Set {
    /// No event.
    pub const EMPTY: Set = Set(0);

    /// The one event. Numbers from [`MAX_EVENTS`] on are in no set.
    pub fn one(event: usize) -> Set {
        Set(if event < MAX_EVENTS { 1 << event } else { 0 })
    }

    /// The events `0..n`.
    pub fn first(n: usize) -> Set {
        Set(if n < MAX_EVENTS { (1 << n) - 1 } else { !0 })
    }

    /// Whether the event is in the set.
    pub fn contains(self, event: usize) -> bool {
        !(self & Set::one(event)).is_empty()
    }

    /// Whether nothing is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many events are in the set.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The events, in increasing order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let event = rest.trailing_zeros() as usize;
            (rest != 0).then(|| {
                rest &= rest - 1;
                event
            })
        })
    }
}

impl FromIterator<usize> for Set {
    fn from_iter<I: IntoIterator<Item = usize>>(events: I) -> Set {
        events.into_iter().fold(Set::EMPTY, |set, event| set | Set::one(event))
    }
}

impl BitOr for Set {
    type Output = Set;
    fn bitor(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }
}

impl BitOrAssign for Set {
    fn bitor_assign(&mut self, other: Set) {
        self.0 |= other.0;
    }
}

impl BitAnd for Set {
    type Output = Set;
    fn bitand(self, other: Set) -> Set {
        Set(self.0 & other.0)
    }
}

impl Sub for Set {
    type Output = Set;
    fn sub(self, other: Set) -> Set {
        Set(self.0 & !other.0)
    }
}

impl Not for Set {
    type Output = Set;
    fn not(self) -> Set {
        Set(!self.0)
    }
}
