//! Sets of events, as machine words.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not, Sub};

/// The largest number of events that a relation of the usual width can talk about.
pub const MAX_EVENTS: usize = Set::<1>::MAX;

/// A set of events, in `W` words. One is enough for all that is enumerated; witnesses of long runs take more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Set<const W: usize = 1>(pub [u64; W]);

impl<const W: usize> Set<W> {
    /// The number of events that can be told apart.
    pub const MAX: usize = 64 * W;

    /// No event.
    pub const EMPTY: Set<W> = Set([0; W]);

    /// The one event. Numbers from [`Set::MAX`] on are in no set.
    pub fn one(event: usize) -> Set<W> {
        let mut set = Set::EMPTY;
        set.insert(event);
        set
    }

    /// The events `0..n`.
    pub fn first(n: usize) -> Set<W> {
        Set(std::array::from_fn(|word| match n.saturating_sub(64 * word) {
            here @ ..64 => (1 << here) - 1,
            _ => !0,
        }))
    }

    /// Adds an event. Numbers from [`Set::MAX`] on are in no set.
    pub fn insert(&mut self, event: usize) {
        if event < Self::MAX {
            self.0[event / 64] |= 1 << (event % 64);
        }
    }

    /// Takes an event away.
    pub fn remove(&mut self, event: usize) {
        if event < Self::MAX {
            self.0[event / 64] &= !(1 << (event % 64));
        }
    }

    /// Whether the event is in the set.
    pub fn contains(self, event: usize) -> bool {
        event < Self::MAX && self.0[event / 64] >> (event % 64) & 1 == 1
    }

    /// Whether nothing is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == [0; W]
    }

    /// How many events are in the set.
    pub fn len(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The events, in increasing order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let (mut words, mut word) = (self.0, 0);
        std::iter::from_fn(move || {
            while word < W {
                let rest = words[word];
                if rest != 0 {
                    words[word] = rest & (rest - 1);
                    return Some(64 * word + rest.trailing_zeros() as usize);
                }
                word += 1;
            }
            None
        })
    }

    fn zip(self, other: Set<W>, f: impl Fn(u64, u64) -> u64) -> Set<W> {
        Set(std::array::from_fn(|word| f(self.0[word], other.0[word])))
    }
}

impl<const W: usize> Default for Set<W> {
    fn default() -> Set<W> {
        Set::EMPTY
    }
}

impl<const W: usize> FromIterator<usize> for Set<W> {
    fn from_iter<I: IntoIterator<Item = usize>>(events: I) -> Set<W> {
        let mut set = Set::EMPTY;
        events.into_iter().for_each(|event| set.insert(event));
        set
    }
}

impl<const W: usize> BitOr for Set<W> {
    type Output = Set<W>;
    fn bitor(self, other: Set<W>) -> Set<W> {
        self.zip(other, |a, b| a | b)
    }
}

impl<const W: usize> BitOrAssign for Set<W> {
    fn bitor_assign(&mut self, other: Set<W>) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }
}

impl<const W: usize> BitAnd for Set<W> {
    type Output = Set<W>;
    fn bitand(self, other: Set<W>) -> Set<W> {
        self.zip(other, |a, b| a & b)
    }
}

impl<const W: usize> Sub for Set<W> {
    type Output = Set<W>;
    fn sub(self, other: Set<W>) -> Set<W> {
        self.zip(other, |a, b| a & !b)
    }
}

impl<const W: usize> Not for Set<W> {
    type Output = Set<W>;
    fn not(self) -> Set<W> {
        Set(self.0.map(|word| !word))
    }
}
