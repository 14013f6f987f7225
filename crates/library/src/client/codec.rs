//! Numbers of a library as the few values of a finite-state program.

use super::Unsupported;
use super::values::{ADDRESSES, ALLOCATIONS, STRIDE, Values, is_address, is_fixed};
use seqcst_program::MAX_VALUE;
use std::cell::Cell;

/// How numbers and addresses are written in a program.
pub struct Codec {
    /// Values are below.
    pub modulus: i64,
    /// Addresses are numbered: without arithmetic on them, any numbers will do.
    fixed: Option<Vec<i64>>,
    /// Are some numbers negative?
    pub has_negative: bool,
    /// A number for which there is no room: the program would be about another one.
    beyond: Cell<Option<i64>>,
}

impl Codec {
    /// The smallest that has room for all numbers of a client.
    pub fn new(values: &Values) -> Result<Codec, Unsupported> {
        let (low, mut high) = values.range;
        if values.records.keys().any(|(_, _, copy)| *copy > 0) {
            high = high.max(i64::from(ALLOCATIONS));
        }
        let records = values.is_zeroed.len() as i64;
        let mut fixed: Vec<i64> = Vec::new();
        let sets = values.memory.values().chain(values.before.values().flatten());
        let bases = values.memory.keys().map(|key| key.base);
        fixed.extend(sets.flatten().copied().chain(bases).filter(|v| is_fixed(*v)));
        fixed.sort_unstable_by_key(|v| -v);
        fixed.dedup();
        let is_dense = !values.address_arithmetic;
        let negative = low < 0 || !is_dense;
        let (low, high) = match is_dense {
            true => (low, high.max(records + fixed.len() as i64)),
            false => (
                low.min(values.lowest_address),
                high.max(STRIDE * (records + 1)).max(values.highest_address - ADDRESSES + STRIDE),
            ),
        };
        let modulus = match negative {
            true => i64::try_from((2 * (high.max(-low) + 1)).unsigned_abs().next_power_of_two())
                .unwrap_or(i64::MAX),
            false => high + 1,
        };
        if modulus > i64::from(MAX_VALUE) + 1 {
            return Err(Unsupported(format!(
                "values up to {modulus} are needed, at most {MAX_VALUE} are modelled"
            )));
        }
        let (modulus, fixed) = (modulus.max(2), is_dense.then_some(fixed));
        Ok(Codec { modulus, fixed, has_negative: negative, beyond: Cell::new(None) })
    }

    /// Was there room for all numbers that were written so far?
    pub fn finish(&self) -> Result<(), Unsupported> {
        match self.beyond.get() {
            Some(value) => Err(Unsupported(format!("the number {value} is out of bounds in this client"))),
            None => Ok(()),
        }
    }

    /// A number or address as it is written in the program.
    pub fn value(&self, value: i64) -> u32 {
        let (low, high) = match self.has_negative {
            true => (-(self.modulus / 2), self.modulus / 2),
            false => (0, self.modulus),
        };
        if !(low..high).contains(&self.number(value)) {
            self.beyond.set(Some(value));
        }
        self.word(value)
    }

    /// The same, for numbers that need no room.
    pub fn word(&self, value: i64) -> u32 {
        self.number(value).rem_euclid(self.modulus) as u32
    }

    fn number(&self, value: i64) -> i64 {
        match &self.fixed {
            Some(fixed) if is_address(value) => (value - ADDRESSES) / STRIDE + 1 + fixed.len() as i64,
            Some(fixed) if is_fixed(value) => {
                fixed.iter().position(|f| *f == value).map_or(value, |at| at as i64 + 1)
            }
            None if is_address(value) => value - ADDRESSES + STRIDE,
            _ => value,
        }
    }
}
