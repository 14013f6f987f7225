//! Benign waits: stale reads that only make a thread wait longer (`DESIGN.md`, "Benign waits at run time").
//!
//! A violation at a load is a longer wait and nothing else if every old value that it could read has been read by this
//! thread at this very instruction, from this address, before, and each time the thread came back to the instruction
//! and the address with nothing done in between but reading. So for each instruction, address and value the thread
//! remembers one of two things: *came back*, or, for good, *went on*. No such evidence in this run, no such verdict.
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
    /// Counts what the thread did besides reading.
    pub effects: u32,
}

const ENTRIES: usize = 256;
const RECENT: usize = 8;
const ROWS: usize = 256;

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
}

/// The last value read at an instruction, and the effects so far at that moment.
#[derive(Clone, Copy, Default)]
struct Recent {
    load: Load,
    value: u64,
    effects: u32,
}

impl Default for Waits {
    fn default() -> Waits {
        Waits { seen: None, gone: [0; ROWS], recent: [Recent::default(); RECENT], effects: 1 }
    }
}

impl Waits {
    /// `load` has read `value` (a load, or a compare-and-swap that failed).
    #[inline]
    pub fn read(&mut self, load: Load, value: u64) {
        let now = Recent { load, value, effects: self.effects };
        let before = std::mem::replace(&mut self.recent[load.pc % RECENT], now);
        let came_back = before.load == load && before.effects == now.effects;
        if came_back {
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

    #[inline(never)]
    fn came_back(&mut self, before: Recent) {
        let seen = self.seen.get_or_insert_with(|| Box::new([Seen::default(); ENTRIES]));
        let entry = &mut seen[place(before.load, before.value)];
        *entry = Seen { load: before.load, value: before.value };
    }

    /// Did reading `value` by `load` always lead straight back?
    pub fn is_benign(&self, load: Load, value: u64) -> bool {
        let Some(seen) = &self.seen else { return false };
        let last = &self.recent[load.pc % RECENT];
        if last.load == load && last.value == value && last.effects != self.effects {
            return false; // it has just gone on
        }
        let entry = &seen[place(load, value)];
        let (row, bit) = gone(load, value);
        entry.load == load && entry.value == value && self.gone[row] & bit == 0
    }
}

#[inline]
fn gone(load: Load, value: u64) -> (usize, u64) {
    let mixed = (load.addr as u64 ^ value.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((load.pc >> 1 ^ load.pc >> 9) % ROWS, 1 << (mixed >> 58))
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
        assert!(waits.is_benign(LOAD, 0));
        assert!(!waits.is_benign(LOAD, 1));
        waits.read(LOAD, 0);
        waits.effect();
        waits.read(LOAD, 1);
        assert!(!waits.is_benign(LOAD, 0));
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
        assert!(waits.is_benign(LOAD, 0));
        assert!(!waits.is_benign(LOAD, 1));
    }
}
