//! Operators and their meaning on numbers: with [`Integer`](super::Integer) the one evaluator that reading, transforming, proving
//! and checking share.

/// Operators, with C's meaning on numbers without bounds. Comparisons and `Not` give 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they say what they are")]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    /// Remainder; of numbers that are not negative wherever it is used as an index.
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    /// `&&`, without effects on either side.
    Both,
    /// `||`, without effects on either side.
    Either,
}

impl Operator {
    /// The value of `a op b`; none where C leaves it undefined or it does not fit, so that no bit is ever dropped: types and
    /// their bounds are [`Integer`](super::Integer)'s. Negative numbers are shifted left as compilers do it, as a product.
    pub fn compute(self, a: i128, b: i128) -> Option<i128> {
        Some(match self {
            Operator::Add => a.checked_add(b)?,
            Operator::Sub => a.checked_sub(b)?,
            Operator::Mul => a.checked_mul(b)?,
            Operator::Div => a.checked_div(b)?,
            Operator::Rem => a.checked_rem(b)?,
            Operator::And => a & b,
            Operator::Or => a | b,
            Operator::Xor => a ^ b,
            // `checked_shl` looks at the number of bits only, and drops those that are shifted out.
            Operator::Shl => a.checked_mul(1 << u32::try_from(b).ok().filter(|by| *by < 64)?)?,
            Operator::Shr => a.checked_shr(u32::try_from(b).ok().filter(|by| *by < 64)?)?,
            Operator::Equal => (a == b).into(),
            Operator::NotEqual => (a != b).into(),
            Operator::Less => (a < b).into(),
            Operator::LessEqual => (a <= b).into(),
            Operator::Both => (a != 0 && b != 0).into(),
            Operator::Either => (a != 0 || b != 0).into(),
        })
    }

    /// Is the value 0 or 1?
    pub fn is_truth(self) -> bool {
        use Operator::{Both, Either, Equal, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessEqual | Both | Either)
    }
}

#[cfg(test)]
mod tests {
    use super::Operator;

    #[test]
    fn shifts_drop_no_bits() {
        assert_eq!(Operator::Shl.compute(1 << 64, 63), None);
        assert_eq!(Operator::Shl.compute(1, 63), Some(1 << 63));
        assert_eq!(Operator::Shl.compute(1, 64), None);
        assert_eq!(Operator::Shl.compute(-1, 63), Some(-(1 << 63)));
        assert_eq!(Operator::Shl.compute(1, -1), None);
        assert_eq!(Operator::Shr.compute(i64::MAX.into(), 63), Some(0));
        assert_eq!(Operator::Shr.compute(-5, 1), Some(-3));
        assert_eq!(Operator::Shr.compute(1, 64), None);
    }

    #[test]
    fn overflow_and_division_by_zero_have_no_value() {
        assert_eq!(Operator::Add.compute(i128::MAX, 1), None);
        assert_eq!(Operator::Sub.compute(i128::MIN, 1), None);
        assert_eq!(Operator::Mul.compute(i128::MAX, 2), None);
        assert_eq!(Operator::Div.compute(i128::MIN, -1), None);
        assert_eq!(Operator::Div.compute(1, 0), None);
        assert_eq!(Operator::Rem.compute(1, 0), None);
        assert_eq!(Operator::Rem.compute(-7, 4), Some(-3));
    }
}
