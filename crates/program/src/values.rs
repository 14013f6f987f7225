//! Which values a program has, and what its expressions give.
//!
//! A program that says nothing else counts from 0 and wraps around after the largest value, as TPL's always have. One with
//! `min_value`, and every litmus test, has *exact* numbers: negative ones are stored as in two's complement and compare as
//! what they are, and nothing wraps. An expression that C leaves undefined, or for whose value there is no room, has no
//! value; a thread that comes to it ends the search without an answer ([`crate::code::Instr::Fits`]).

use crate::code::{Binary, Expr, Unary};
use seqcst_model::Value;
use std::fmt;

/// The values of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Values {
    min: i64,
    max: i64,
    exact: bool,
}

impl Values {
    /// 0 to a largest value, after which 0 comes again.
    pub fn wrapping(max: u32) -> Values {
        Values { min: 0, max: i64::from(max), exact: false }
    }

    /// From a smallest value, at most 0, to a largest one, with nothing outside.
    pub fn exact(min: i64, max: u32) -> Values {
        Values { min: min.min(0), max: i64::from(max), exact: true }
    }

    /// Whether values never wrap around.
    pub fn is_exact(self) -> bool {
        self.exact
    }

    /// How many values there are: they are stored as `0..modulus`.
    pub fn modulus(self) -> Value {
        (self.max - self.min + 1) as Value
    }

    /// Whether it is a value.
    pub fn contains(self, number: i64) -> bool {
        (self.min..=self.max).contains(&number)
    }

    /// The number that a stored value is.
    pub fn show(self, value: Value) -> i64 {
        let value = i64::from(value);
        if value > self.max { value - i64::from(self.modulus()) } else { value }
    }

    /// How a number is stored.
    pub fn store(self, number: i64) -> Value {
        number.rem_euclid(i64::from(self.modulus())) as Value
    }

    /// What an expression gives, as it is stored; where it has no value, any.
    pub fn eval(self, expr: &Expr, regs: &[Value]) -> Value {
        match (expr, self.exact) {
            (Expr::Const(value), _) => *value,
            (Expr::Reg(reg), _) => regs[usize::from(*reg)],
            (_, true) => self.store(self.value(expr, regs).unwrap_or(0)),
            (_, false) => wrapped(expr, regs, u64::from(self.modulus())) as Value,
        }
    }

    /// What an addition adds. It may be the opposite of a value that has none: 1 in place of −1 where all are positive.
    pub fn addend(self, expr: &Expr, regs: &[Value]) -> Value {
        match expr {
            Expr::Unary(Unary::Neg, operand) => (self.modulus() - self.eval(operand, regs)) % self.modulus(),
            other => self.eval(other, regs),
        }
    }

    /// Whether an expression has a value.
    pub fn fits(self, expr: &Expr, regs: &[Value]) -> bool {
        !self.exact || self.value(expr, regs).is_some()
    }

    /// The value that an expression has in C, if it and all of its parts are within the range.
    fn value(self, expr: &Expr, regs: &[Value]) -> Option<i64> {
        let value = match expr {
            Expr::Const(value) => self.show(*value),
            Expr::Reg(reg) => self.show(regs[usize::from(*reg)]),
            Expr::Unary(operator, operand) => {
                let operand = self.value(operand, regs)?;
                match operator {
                    Unary::Not => i64::from(operand == 0),
                    Unary::Neg => -operand,
                    Unary::BitNot => !operand,
                }
            }
            Expr::Binary(operator, left, right) => {
                let left = self.value(left, regs)?;
                match (operator, left) {
                    // What is not evaluated needs no value.
                    (Binary::And, 0) => return Some(0),
                    (Binary::Or, left) if left != 0 => return Some(1),
                    _ => exactly(*operator, left, self.value(right, regs)?)?,
                }
            }
        };
        Some(value).filter(|&value| self.contains(value))
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {}", self.min, self.max)
    }
}

/// C's operators on numbers of less than 32 bits, in 64 bits, where C defines them.
fn exactly(operator: Binary, a: i64, b: i64) -> Option<i64> {
    let is_width = (0..32).contains(&b);
    Some(match operator {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a.checked_div(b)?,
        Binary::Rem => a.checked_rem(b)?,
        Binary::Lt => i64::from(a < b),
        Binary::Le => i64::from(a <= b),
        Binary::Gt => i64::from(a > b),
        Binary::Ge => i64::from(a >= b),
        Binary::Eq => i64::from(a == b),
        Binary::Ne => i64::from(a != b),
        Binary::And => i64::from(a != 0 && b != 0),
        Binary::Or => i64::from(a != 0 || b != 0),
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::Shl if is_width && a >= 0 => a << b,
        Binary::Shr if is_width => a >> b,
        Binary::Shl | Binary::Shr => return None,
    })
}

/// TPL's operators on numbers from 0 on: all results are reduced modulo `modulus`, and dividing by 0 gives 0.
fn wrapped(expr: &Expr, regs: &[Value], modulus: u64) -> u64 {
    let value = match expr {
        Expr::Const(value) => u64::from(*value),
        Expr::Reg(reg) => return u64::from(regs[usize::from(*reg)]),
        Expr::Unary(operator, operand) => {
            let operand = wrapped(operand, regs, modulus);
            match operator {
                Unary::Not => u64::from(operand == 0),
                Unary::Neg => modulus - operand,
                Unary::BitNot => modulus - 1 - operand,
            }
        }
        Expr::Binary(operator, a, b) => {
            let (a, b) = (wrapped(a, regs, modulus), wrapped(b, regs, modulus));
            match operator {
                Binary::Add => a + b,
                Binary::Sub => a + modulus - b,
                Binary::Mul => a * b,
                Binary::Div => a.checked_div(b).unwrap_or(0),
                Binary::Rem => a.checked_rem(b).unwrap_or(0),
                Binary::Lt => u64::from(a < b),
                Binary::Le => u64::from(a <= b),
                Binary::Gt => u64::from(a > b),
                Binary::Ge => u64::from(a >= b),
                Binary::Eq => u64::from(a == b),
                Binary::Ne => u64::from(a != b),
                Binary::And => u64::from(a != 0 && b != 0),
                Binary::Or => u64::from(a != 0 || b != 0),
                Binary::BitAnd => a & b,
                Binary::BitOr => a | b,
                Binary::BitXor => a ^ b,
                Binary::Shl => a.checked_shl(b as u32).unwrap_or(0),
                Binary::Shr => a.checked_shr(b as u32).unwrap_or(0),
            }
        }
    };
    value % modulus
}

#[cfg(test)]
mod tests {
    use super::*;
    use Binary::{Add, And, BitAnd, BitOr, BitXor, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Rem, Shl, Shr, Sub};

    fn constant(values: Values, number: i64) -> Box<Expr> {
        Box::new(Expr::Const(values.store(number)))
    }

    fn result(values: Values, operator: Binary, a: i64, b: i64) -> Option<i64> {
        let expr = Expr::Binary(operator, constant(values, a), constant(values, b));
        values.fits(&expr, &[]).then(|| values.show(values.eval(&expr, &[])))
    }

    /// What C says of `int`, as far as there is room.
    #[test]
    fn exact_values_are_those_of_c() {
        let int = Values::exact(-128, 127);
        let known: [(Binary, i64, i64, Option<i64>); 29] = [
            (Add, 100, 27, Some(127)),
            (Add, 100, 28, None),
            (Sub, -100, 28, Some(-128)),
            (Sub, -100, 29, None),
            (Mul, -8, 16, Some(-128)),
            (Mul, 8, 16, None),
            (Div, -7, 2, Some(-3)),
            (Rem, -7, 2, Some(-1)),
            (Div, 1, 0, None),
            (Rem, 1, 0, None),
            (Div, -128, -1, None),
            (Lt, -1, 0, Some(1)),
            (Le, 0, -1, Some(0)),
            (Gt, 127, -128, Some(1)),
            (Ge, -128, -128, Some(1)),
            (Eq, -1, 127, Some(0)),
            (Ne, -1, -1, Some(0)),
            (And, -1, 2, Some(1)),
            (Or, 0, -2, Some(1)),
            (BitAnd, -1, 5, Some(5)),
            (BitOr, -128, 1, Some(-127)),
            (BitXor, -1, 1, Some(-2)),
            (Shl, 1, 6, Some(64)),
            (Shl, 1, 7, None),
            (Shl, -1, 1, None),
            (Shl, 1, -1, None),
            (Shr, -4, 1, Some(-2)),
            (Shr, 4, 32, None),
            (Shl, 0, 31, Some(0)),
        ];
        for (operator, a, b, expected) in known {
            assert_eq!(result(int, operator, a, b), expected, "{a} {operator:?} {b}");
        }
        let unsigned = Values::exact(0, 127);
        assert_eq!((result(unsigned, Sub, 1, 1), result(unsigned, Sub, 1, 2)), (Some(0), None));
    }

    #[test]
    fn what_is_not_evaluated_needs_no_value() {
        let int = Values::exact(-128, 127);
        let by_zero = || Box::new(Expr::Binary(Div, constant(int, 1), constant(int, 0)));
        for (operator, left, fits) in [(And, 0, true), (And, -1, false), (Or, -1, true), (Or, 0, false)] {
            let expr = Expr::Binary(operator, constant(int, left), by_zero());
            assert_eq!(int.fits(&expr, &[]), fits, "{left} {operator:?} 1 / 0");
        }
    }

    #[test]
    fn other_values_wrap() {
        let values = Values::wrapping(9);
        assert_eq!(result(values, Add, 7, 5), Some(2));
        assert_eq!(result(values, Sub, 1, 2), Some(9));
        assert_eq!(result(values, Div, 1, 0), Some(0));
        assert_eq!((values.show(9), values.store(-1)), (9, 9));
    }

    /// Each is stored as a number of its own.
    #[test]
    fn values_are_shown_as_they_were_stored() {
        let values = Values::exact(-3, 5);
        assert_eq!(values.modulus(), 9);
        for number in -3..=5 {
            assert!(values.store(number) < 9);
            assert_eq!(values.show(values.store(number)), number);
        }
    }
}
