//! Integer types of C, and what arithmetic does at their bounds.

use std::fmt;

use super::Operator;

/// An integer type: what an object of it can hold. `_Bool` has one bit, and a pointer is a signed number of 64 bits (the
/// addresses of records that are there from the beginning are negative).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Integer {
    /// How many bits it has, 1 to 64.
    pub bits: u8,
    /// Two's complement?
    pub signed: bool,
}

impl Integer {
    /// `_Bool`.
    pub const BOOL: Integer = Integer { bits: 1, signed: false };
    /// `int`.
    pub const INT: Integer = Integer { bits: 32, signed: true };
    /// `long`, and addresses.
    pub const LONG: Integer = Integer { bits: 64, signed: true };

    /// How many different numbers there are.
    pub fn modulus(self) -> i128 {
        1 << self.bits
    }

    /// The least number.
    pub fn least(self) -> i128 {
        if self.signed { -(self.modulus() / 2) } else { 0 }
    }

    /// The greatest number.
    pub fn greatest(self) -> i128 {
        self.least() + self.modulus() - 1
    }

    /// Is this one of its numbers?
    pub fn contains(self, value: i128) -> bool {
        (self.least()..=self.greatest()).contains(&value)
    }

    /// The number that a value becomes when it is converted to this type: the one that differs by a multiple of
    /// [`modulus`](Integer::modulus).
    pub fn wrap(self, value: i128) -> i128 {
        let low = value.rem_euclid(self.modulus());
        if low > self.greatest() { low - self.modulus() } else { low }
    }

    /// `a op b`, wrapped around, whatever comes up in between.
    pub fn compute(self, op: Operator, a: i128, b: i128) -> Option<i128> {
        // The lowest 128 bits are enough to know the lowest 64.
        let value = match op {
            Operator::Mul => a.wrapping_mul(b),
            Operator::Shl => a.wrapping_shl(u32::try_from(b).ok().filter(|by| *by < 64)?),
            _ => op.compute(a, b)?,
        };
        Some(self.wrap(value))
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.bits {
            1 => f.write_str("bool"),
            bits => write!(f, "{}{bits}", if self.signed { "i" } else { "u" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        let byte = |signed| Integer { bits: 8, signed };
        assert_eq!((byte(true).least(), byte(true).greatest()), (-128, 127));
        assert_eq!((byte(false).least(), byte(false).greatest()), (0, 255));
        assert_eq!(Integer::LONG.least(), i128::from(i64::MIN));
        assert_eq!(Integer { bits: 64, signed: false }.greatest(), i128::from(u64::MAX));
    }

    #[test]
    fn wrapping_is_what_casts_do() {
        for value in [-70_000, -32_769, -129, -128, -1, 0, 1, 127, 128, 255, 256, 32_767, 40_000, 70_000] {
            let wide = i128::from(value);
            assert_eq!(Integer { bits: 8, signed: true }.wrap(wide), i128::from(value as i8));
            assert_eq!(Integer { bits: 8, signed: false }.wrap(wide), i128::from(value as u8));
            assert_eq!(Integer { bits: 16, signed: true }.wrap(wide), i128::from(value as i16));
            assert_eq!(Integer { bits: 32, signed: false }.wrap(wide), i128::from(value as u32));
            assert_eq!(Integer { bits: 64, signed: false }.wrap(wide), i128::from(value as u64));
        }
    }

    #[test]
    fn products_and_shifts_of_the_largest_numbers() {
        let (word, top) = (Integer { bits: 64, signed: false }, i128::from(u64::MAX));
        assert_eq!(word.compute(Operator::Mul, top, top), Some(1));
        assert_eq!(word.compute(Operator::Shl, top, 63), Some(1 << 63));
        assert_eq!(word.compute(Operator::Shl, top, 64), None);
        assert_eq!(word.compute(Operator::Sub, 0, 1), Some(top));
    }
}
