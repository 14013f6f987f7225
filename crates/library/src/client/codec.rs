//! Numbers of a library as the few values of a finite-state program.

use super::Unsupported;
use super::values::{ADDRESSES, ALLOCATIONS, STRIDE, Values, is_fixed};
use seqcst_program::MAX_VALUE;

/// How numbers and addresses are written in a program.
pub struct Codec {
    /// Values are below.
    pub modulus: i64,
    /// Addresses are numbered: without arithmetic on them, any numbers will do.
    fixed: Option<Vec<i64>>,
    /// Are some numbers negative?
    pub has_negative: bool,
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
            false => (low.min(values.lowest_address), high.max(STRIDE * (records + 1))),
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
        Ok(Codec { modulus: modulus.max(2), fixed: is_dense.then_some(fixed), has_negative: negative })
    }

    /// A number or address as it is written in the program.
    pub fn value(&self, value: i64) -> u32 {
        let number = match &self.fixed {
            Some(fixed) if value >= ADDRESSES => (value - ADDRESSES) / STRIDE + 1 + fixed.len() as i64,
            Some(fixed) if is_fixed(value) => {
                fixed.iter().position(|f| *f == value).map_or(value, |at| at as i64 + 1)
            }
            None if value >= ADDRESSES / 2 => value - ADDRESSES + STRIDE,
            _ => value,
        };
        number.rem_euclid(self.modulus) as u32
    }
}
