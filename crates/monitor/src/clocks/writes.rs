//! The newest writes of a location: where they were made, and their values.

use super::{Site, Slot, Time};
use seqcst_model::Mode;

/// One write of a location's recent history.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// Number in modification order.
    pub number: u32,
    /// The value written.
    pub value: u64,
    /// Part of a read-modify-write.
    pub rmw: bool,
    /// Its memory order.
    pub mode: Mode,
    /// By whom.
    pub slot: Slot,
    /// At which local time.
    pub time: Time,
    /// Where in the program.
    pub site: Site,
}

/// A ring of writes: number `n` is at `n` modulo its size.
#[derive(Debug)]
pub(super) struct Writes {
    ring: Vec<Write>,
    size: usize,
    /// The oldest number that is there.
    oldest: u32,
    /// The next number.
    next: u32,
}

impl Writes {
    /// The value that a location has before its first write is the write number 0.
    pub fn new(value: u64, size: usize) -> Writes {
        Writes { ring: vec![first(value)], size: size.max(1), oldest: 0, next: 1 }
    }

    /// The same as [`Writes::new`] with this value; keeps its memory.
    pub fn renew(&mut self, value: u64) {
        self.ring.clear();
        self.ring.push(first(value));
        (self.oldest, self.next) = (0, 1);
    }

    /// The last write has this number.
    #[inline]
    pub fn push(&mut self, write: Write) {
        let at = write.number as usize % self.size;
        if at < self.ring.len() {
            self.ring[at] = write;
        } else {
            self.ring.push(write);
        }
        self.next = write.number + 1;
        self.oldest = self.oldest.max(self.next.saturating_sub(self.ring.len() as u32));
    }

    /// The write of this number, if still there.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&Write> {
        if number < self.oldest || number >= self.next {
            return None;
        }
        self.ring.get(number as usize % self.size)
    }

    /// Numbers begin again at 1; of number 0 nothing is known.
    pub fn start_over(&mut self) {
        self.ring.truncate(1);
        (self.oldest, self.next) = (1, 1);
    }
}

fn first(value: u64) -> Write {
    Write { number: 0, value, rmw: false, mode: Mode::NonAtomic, slot: 0, time: 0, site: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_there() {
        for size in [1, 2, 3, 8, usize::MAX] {
            let mut writes = Writes::new(7, size);
            assert_eq!(writes.get(0).map(|w| w.value), Some(7));
            for round in 0..2 {
                for number in 1..30 {
                    writes.push(Write {
                        number,
                        value: 1,
                        rmw: false,
                        mode: Mode::Relaxed,
                        slot: 0,
                        time: 1,
                        site: 0,
                    });
                    for asked in 0..40 {
                        let age = number.checked_sub(asked).map(|age| age as usize);
                        let there = age.is_some_and(|age| age < size) && (round == 0 || asked > 0);
                        assert_eq!(writes.get(asked).map(|w| w.number), there.then_some(asked));
                    }
                }
                writes.start_over();
            }
        }
    }
}
