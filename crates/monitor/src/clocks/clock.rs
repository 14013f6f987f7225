//! Vector clocks: for each thread, up to which of its local times something is known.

use super::{Slot, Time};

/// Eight threads at a time: few programs have more, and then each operation is a few instructions.
type Block = [Time; BLOCK];
const BLOCK: usize = 8;

/// A function from threads to times; threads beyond its end are at 0.
#[derive(Clone, Default, Debug)]
pub struct Clock {
    blocks: Vec<Block>,
}

impl Clock {
    /// Knows nothing.
    pub const fn new() -> Clock {
        Clock { blocks: Vec::new() }
    }

    /// Knows nothing any more; keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.blocks.fill([0; BLOCK]);
    }

    /// Whether it knows nothing.
    #[inline]
    pub fn is_nothing(&self) -> bool {
        self.blocks.is_empty() || self.blocks.iter().all(|block| *block == [0; BLOCK])
    }

    /// As [`Clock::join`], for clocks that mostly have never known anything.
    #[inline(always)]
    pub(super) fn join_rare(&mut self, other: &Clock) {
        if !other.blocks.is_empty() {
            self.join(other);
        }
    }

    /// As [`Clock::copy`], for clocks that mostly have never known anything.
    #[inline(always)]
    pub(super) fn copy_rare(&mut self, other: &Clock) {
        if !(other.blocks.is_empty() && self.blocks.is_empty()) {
            self.copy(other);
        }
    }

    /// Up to when `slot`'s events are known.
    #[inline(always)]
    pub fn get(&self, slot: Slot) -> Time {
        let slot = usize::from(slot);
        self.blocks.get(slot / BLOCK).map_or(0, |block| block[slot % BLOCK])
    }

    /// Sets one component, which only grows.
    #[inline(always)]
    pub fn raise(&mut self, slot: Slot, time: Time) {
        let slot = usize::from(slot);
        if slot / BLOCK >= self.blocks.len() {
            self.grow(slot / BLOCK + 1);
        }
        let known = &mut self.blocks[slot / BLOCK][slot % BLOCK];
        *known = time.max(*known);
    }

    /// Learns all that `other` knows; true if that was news.
    #[inline]
    pub fn join(&mut self, other: &Clock) -> bool {
        if let ([mine], [theirs]) = (&mut self.blocks[..], &other.blocks[..]) {
            return join(mine, theirs);
        }
        self.join_many(other)
    }

    fn join_many(&mut self, other: &Clock) -> bool {
        if self.blocks.len() < other.blocks.len() {
            self.grow(other.blocks.len());
        }
        let pairs = self.blocks.iter_mut().zip(&other.blocks);
        pairs.fold(false, |news, (mine, theirs)| join(mine, theirs) | news)
    }

    /// Knows what `other` knows, and nothing else.
    #[inline]
    pub fn copy(&mut self, other: &Clock) {
        if let ([mine], [theirs]) = (&mut self.blocks[..], &other.blocks[..]) {
            *mine = *theirs;
        } else {
            self.copy_many(other);
        }
    }

    fn copy_many(&mut self, other: &Clock) {
        if self.blocks.len() < other.blocks.len() {
            self.grow(other.blocks.len());
        }
        let (known, rest) = self.blocks.split_at_mut(other.blocks.len());
        known.copy_from_slice(&other.blocks);
        rest.fill([0; BLOCK]);
    }

    /// Knows all that `other` knows.
    #[inline]
    pub fn covers(&self, other: &Clock) -> bool {
        let mut mine = self.blocks.iter();
        other.blocks.iter().all(|theirs| {
            let mine = mine.next().unwrap_or(&[0; BLOCK]);
            mine.iter().zip(theirs).all(|(mine, theirs)| mine >= theirs)
        })
    }

    #[cold]
    fn grow(&mut self, blocks: usize) {
        self.blocks.reserve_exact(blocks - self.blocks.len());
        self.blocks.resize(blocks, [0; BLOCK]);
    }
}

#[inline(always)]
fn join(mine: &mut Block, theirs: &Block) -> bool {
    let mut news = 0;
    for (mine, &theirs) in mine.iter_mut().zip(theirs) {
        let joined = (*mine).max(theirs);
        news |= joined ^ *mine;
        *mine = joined;
    }
    news != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(times: &[(Slot, Time)]) -> Clock {
        let mut clock = Clock::new();
        times.iter().for_each(|&(slot, time)| clock.raise(slot, time));
        clock
    }

    #[test]
    fn clocks_of_any_size_join_and_compare() {
        let clocks =
            [clock(&[]), clock(&[(0, 3), (7, 1)]), clock(&[(1, 2), (9, 5)]), clock(&[(30, 1), (9, 7)])];
        for a in &clocks {
            for b in &clocks {
                let mut joined = a.clone();
                assert_eq!(joined.join(b), !a.covers(b));
                let mut copied = a.clone();
                copied.copy(b);
                for slot in 0..40 {
                    assert_eq!(joined.get(slot), a.get(slot).max(b.get(slot)));
                    assert_eq!(copied.get(slot), b.get(slot));
                }
                assert!(joined.covers(a) && joined.covers(b) && b.covers(&copied) && copied.covers(b));
                assert!(!joined.join(a));
            }
        }
    }
}
