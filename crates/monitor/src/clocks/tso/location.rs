//! What a location remembers under TSO: its writes by number, and the clocks it hands on.

use crate::clocks::writes::Writes;
use crate::clocks::{Clock, Did, Slot, Time, Write};

/// A location, since its first access.
///
/// Writes are numbered in coherence order; the value it had before is number 0 and known to everybody.
#[derive(Debug)]
pub struct Location {
    last: u32,
    pub(super) writer: (Slot, Time),
    pub(super) sc: Passed,
    pub(super) ghb: Passed,
    writes: Writes,
}

/// What comes before accesses to a location, in one of the two orders.
#[derive(Default, Debug)]
pub(super) struct Passed {
    /// Before or at the last write: who reads it comes after this (`mc1` of Fig. 3).
    pub write: Clock,
    /// Before or at any access: who writes next comes after this (`mc2`).
    pub access: Clock,
}

impl Location {
    /// A location with this value, of which `history` writes are remembered.
    pub fn new(value: u64, history: usize) -> Location {
        Location {
            last: 0,
            writer: (0, 0),
            sc: Passed::default(),
            ghb: Passed::default(),
            writes: Writes::new(value, history),
        }
    }

    /// The same as a new location with this value; keeps its memory.
    pub fn renew(&mut self, value: u64) {
        (self.last, self.writer) = (0, (0, 0));
        for passed in [&mut self.sc, &mut self.ghb] {
            passed.write.clear();
            passed.access.clear();
        }
        self.writes.renew(value);
    }

    /// The number of the last write.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// The write of this number, if still remembered.
    pub fn write(&self, number: u32) -> Option<&Write> {
        self.writes.get(number)
    }

    /// All writes that are remembered, newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Write> {
        (0..=self.last).rev().map_while(|number| self.write(number))
    }

    #[inline]
    pub(super) fn note_write(&mut self, slot: Slot, did: Did, rmw: bool, value: u64) {
        if self.last == u32::MAX - 1 {
            // Numbers are used up: forget who wrote what, which can only miss.
            self.last = 0;
            self.writes.start_over();
        }
        self.last += 1;
        let Did { time, site, mode } = did;
        self.writer = (slot, time);
        self.writes.push(Write { number: self.last, value, rmw, mode, slot, time, site });
    }
}

impl Passed {
    /// Somebody who knows this has written.
    #[inline]
    pub fn wrote(&mut self, knows: &Clock) {
        self.write.copy(knows);
        self.access.copy(knows);
    }
}
