//! Distances in bytes, some of them known only up to a stride.

/// A distance in bytes: exactly `at`, or `at` plus some multiple of `every`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Offset {
    /// The fixed part.
    pub at: i64,
    /// 0: nothing else; 1: nothing is known.
    pub every: u64,
}

impl Offset {
    /// No distance.
    pub const ZERO: Offset = Offset { at: 0, every: 0 };
    /// Any distance.
    pub const ANY: Offset = Offset { at: 0, every: 1 };

    /// One distance after the other.
    pub fn plus(self, other: Offset) -> Offset {
        match self.at.checked_add(other.at) {
            Some(at) => Offset { at, every: gcd(self.every, other.every) }.tidy(),
            None => Offset::ANY,
        }
    }

    /// One of the two.
    pub fn or(self, other: Offset) -> Offset {
        let apart = self.at.abs_diff(other.at);
        Offset { at: self.at, every: gcd(gcd(self.every, other.every), apart) }.tidy()
    }

    fn tidy(self) -> Offset {
        match self.every {
            0 => self,
            every => Offset { at: self.at.rem_euclid(every.min(i64::MAX as u64) as i64), every },
        }
    }

    /// Whether `size` bytes here and `other_size` bytes there can overlap, both from the same place.
    pub fn overlaps(self, size: u64, other: Offset, other_size: u64) -> bool {
        let every = i128::from(gcd(self.every, other.every));
        let apart = i128::from(other.at) - i128::from(self.at);
        match every {
            0 => apart < i128::from(size) && -apart < i128::from(other_size),
            _ => {
                let apart = apart.rem_euclid(every);
                apart < i128::from(size) || every - apart < i128::from(other_size)
            }
        }
    }
}

/// The greatest common divisor; 0 divides nothing but is divided by all.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets() {
        let exact = |at| Offset { at, every: 0 };
        let stride = |at, every| Offset { at, every };
        assert!(exact(0).overlaps(4, exact(0), 4));
        assert!(!exact(0).overlaps(4, exact(4), 4));
        assert!(exact(0).overlaps(8, exact(4), 4));
        assert!(exact(4).overlaps(4, exact(0), 8));
        assert!(!stride(0, 16).overlaps(8, stride(8, 16), 8));
        assert!(stride(0, 16).overlaps(8, stride(8, 24), 8));
        assert!(stride(0, 16).overlaps(8, exact(32), 8));
        assert!(!stride(0, 16).overlaps(8, exact(40), 8));
        assert!(Offset::ANY.overlaps(1, exact(40), 8));
        assert_eq!(exact(8).or(exact(24)), stride(8, 16));
        assert_eq!(exact(8).plus(stride(12, 16)), stride(4, 16));
    }
}
