//! Benign waits: stale reads that only make a thread wait longer (`docs/theory.md`, "Benign waits at run time").
//!
//! A violation at a load is a longer wait and nothing else if every old value that it could read has been read by this
//! thread at this very instruction, from this address, before, and each time the thread came back to the instruction
//! and the address with nothing done in between but reading. So for each instruction, address and value the thread
//! remembers one of two things: *came back*, or, for good, *went on*. No such evidence in this run, no such verdict.
//!
//! Where a value leads may depend on what else the loop reads: `do { z = Z; y = Y; } while (!z && !y)`. So what was read
//! on the way back is part of the evidence: it must have been read again, with the same values.
//!
//! Compilers make two instructions of one load: the first test of a loop and the others. So it also counts if the next
//! read of the address was elsewhere, and that instruction comes from the same place in the source, which is for
//! reports to find out: here is only remembered where it was.
//!
//! What counts as doing something: stores, successful read-modify-writes, fences, synchronisation, and plain writes that
//! the compiler instruments. What it can't tell: effects that nobody sees, such as output, or plain writes in code without
//! instrumentation.

/// What a thread's loads have read and where that led. A small table: what doesn't fit counts as no evidence.
pub struct Waits {
    seen: Option<Box<[Seen; ENTRIES]>>,
    /// Loads that *went on*: a row per instruction, a bit per address and value, both hashed. Whoever shares a bit
    /// counts as one that went on.
    gone: [u64; ROWS],
    recent: [Recent; RECENT],
    /// By address, hashed: which of `recent` read it last.
    last: [u8; RECENT],
    /// Counts what the thread did besides reading.
    pub effects: u32,
    /// What was read after each of `recent`, and, last, when `effects` was this: sets of addresses and values, hashed.
    after: [u64; RECENT],
    since: (u32, u64),
}

const ENTRIES: usize = 256;
const RECENT: usize = 8;
const ROWS: usize = 256;
/// A set of more bits than this says nothing.
const CROWDED: u32 = 24;

/// An instruction and the address that it reads.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Where in the program.
    pub pc: usize,
    /// Where in memory.
    pub addr: usize,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    load: Load,
    value: u64,
    /// What was read on the way back.
    between: u64,
    /// The instruction that read the address next.
    back_at: usize,
}

/// The last value read at an instruction, and the effects so far at that moment.
#[derive(Clone, Copy, Default)]
struct Recent {
    load: Load,
    value: u64,
    effects: u32,
    /// The instruction that read the address next, with nothing done in between; 0: none yet.
    back_at: usize,
    /// What was read until then.
    between: u64,
}

impl Default for Waits {
    fn default() -> Waits {
        Waits {
            seen: None,
            gone: [0; ROWS],
            recent: [Recent::default(); RECENT],
            last: [0; RECENT],
            effects: 1,
            after: [0; RECENT],
            since: (0, 0),
        }
    }
}

impl Waits {
    /// `load` has read `value` (a load, or a compare-and-swap that failed).
    #[inline]
    pub fn read(&mut self, load: Load, value: u64) {
        let at = load.pc % RECENT;
        let last = &mut self.last[(load.addr >> 2) % RECENT];
        let other = &mut self.recent[usize::from(*last) % RECENT];
        if other.load.addr == load.addr && other.effects == self.effects && other.back_at == 0 {
            other.back_at = load.pc;
            other.between = self.after[usize::from(*last) % RECENT];
        }
        *last = at as u8;
        let now = Recent { load, value, effects: self.effects, back_at: 0, between: 0 };
        let mut before = std::mem::replace(&mut self.recent[at], now);
        if before.load == load && before.effects == now.effects {
            before.back_at = load.pc;
            before.between = self.after[at];
        }
        self.note(at, bits(load.addr, value));
        if before.back_at != 0 {
            self.came_back(before);
        } else {
            let (row, bit) = gone(before.load, before.value);
            self.gone[row] |= bit;
        }
    }

    /// The thread did something else than reading.
    #[inline]
    pub fn effect(&mut self) {
        self.effects = self.effects.wrapping_add(1);
    }

    /// The load at `at` has read this.
    #[inline]
    fn note(&mut self, at: usize, read: u64) {
        self.after.iter_mut().for_each(|after| *after |= read);
        self.after[at] = 0;
        let since = if self.since.0 == self.effects { self.since.1 } else { 0 };
        self.since = (self.effects, since | read);
    }

    /// Has the thread read the same on its way to `load` as on the way back from it in `entry`? On the first way into a
    /// loop it may have read more.
    fn same_way(&self, load: Load, entry: &Seen) -> bool {
        let last = &self.recent[load.pc % RECENT];
        if last.load == load && last.effects == self.effects {
            return self.after[load.pc % RECENT] == entry.between;
        }
        let since = if self.since.0 == self.effects { self.since.1 } else { 0 };
        entry.between == 0 || entry.between & !since == 0 && since.count_ones() <= CROWDED
    }

    #[inline(never)]
    fn came_back(&mut self, before: Recent) {
        let Recent { load, value, back_at, between, .. } = before;
        let seen = self.seen.get_or_insert_with(|| Box::new([Seen::default(); ENTRIES]));
        let entry = &mut seen[place(load, value)];
        if entry.load == load && entry.value == value && entry.back_at != back_at {
            let (row, bit) = gone(load, value);
            self.gone[row] |= bit; // now here, now there
        }
        *entry = Seen { load, value, between, back_at };
    }

    /// The instruction to which reading `value` by `load` has always led, with nothing done in between.
    pub fn back_at(&self, load: Load, value: u64) -> Option<usize> {
        let (row, bit) = gone(load, value);
        if self.gone[row] & bit != 0 {
            return None;
        }
        let fits = |entry: &&Seen| entry.load == load && entry.value == value;
        let noted = self.seen.as_ref().map(|seen| &seen[place(load, value)]).filter(fits);
        // The last time isn't noted yet.
        let last = &self.recent[load.pc % RECENT];
        if last.load != load || last.value != value || last.effects == self.effects {
            return noted.filter(|entry| self.same_way(load, entry)).map(|entry| entry.back_at);
        }
        let Recent { back_at, between, .. } = *last;
        let entry = Seen { load, value, between, back_at };
        let same = noted.is_none_or(|noted| noted.back_at == back_at) && self.same_way(load, &entry);
        (back_at != 0 && same).then_some(back_at)
    }
}

#[inline]
fn gone(load: Load, value: u64) -> (usize, u64) {
    let mixed = (load.addr as u64 ^ value.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((load.pc >> 1 ^ load.pc >> 9) % ROWS, 1 << (mixed >> 58))
}

/// Two of 64 bits for an address and what was read there.
#[inline]
fn bits(addr: usize, value: u64) -> u64 {
    let mixed = (addr as u64 ^ value.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1 << (mixed >> 58) | 1 << (mixed >> 52 & 63)
}

fn place(load: Load, value: u64) -> usize {
    let mixed = (load.pc as u64 ^ (load.addr as u64).rotate_left(20) ^ value.rotate_left(40))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as usize % ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load { pc: 0x10, addr: 0x20 };

    #[test]
    fn a_spin_loop_is_benign_until_it_goes_on() {
        let mut waits = Waits::default();
        for _ in 0..3 {
            waits.read(LOAD, 0);
        }
        assert_eq!(waits.back_at(LOAD, 0), Some(0x10));
        assert_eq!(waits.back_at(LOAD, 1), None);
        waits.read(LOAD, 0);
        waits.effect();
        waits.read(LOAD, 1);
        assert_eq!(waits.back_at(LOAD, 0), None);
    }

    #[test]
    fn an_exit_value_is_not() {
        let mut waits = Waits::default();
        for value in [0, 0, 1] {
            waits.read(LOAD, value);
        }
        waits.effect();
        waits.read(LOAD, 0);
        waits.read(LOAD, 0);
        assert_eq!(waits.back_at(LOAD, 0), Some(0x10));
        assert_eq!(waits.back_at(LOAD, 1), None);
    }

    #[test]
    fn the_last_time_counts() {
        let mut waits = Waits::default();
        let first = Load { pc: 0x31, ..LOAD };
        for (load, value) in [(first, 0), (LOAD, 0), (LOAD, 1)] {
            waits.read(load, value);
        }
        waits.effect();
        assert_eq!(waits.back_at(first, 0), Some(0x10));
        assert_eq!(waits.back_at(LOAD, 1), None);
    }

    #[test]
    fn a_loop_whose_first_test_is_a_copy() {
        let mut waits = Waits::default();
        let first = Load { pc: 0x31, ..LOAD };
        for _round in 0..2 {
            for (load, value) in [(first, 0), (LOAD, 0), (LOAD, 0), (LOAD, 1)] {
                waits.read(load, value);
            }
            waits.effect();
        }
        assert_eq!(waits.back_at(first, 0), Some(0x10));
        waits.read(first, 0);
        assert_eq!(waits.back_at(LOAD, 0), Some(0x10));
        waits.read(LOAD, 1);
        waits.effect();
        assert_eq!(waits.back_at(first, 1), None);
        assert_eq!(waits.back_at(LOAD, 1), None);
    }

    #[test]
    fn other_values_may_lead_elsewhere() {
        let mut waits = Waits::default();
        let other = Load { pc: 0x13, addr: 0x28 };
        for _round in 0..3 {
            for _ in 0..3 {
                waits.read(other, 0);
                waits.read(LOAD, 0);
            }
            waits.read(other, 0);
            assert_eq!(waits.back_at(LOAD, 0), Some(0x10));
            waits.read(other, 1);
            assert_eq!(waits.back_at(LOAD, 0), None);
            waits.read(LOAD, 1);
            waits.effect();
            waits.read(other, 1);
            assert_eq!(waits.back_at(LOAD, 0), None);
            waits.read(LOAD, 1);
            waits.effect();
        }
    }
}
