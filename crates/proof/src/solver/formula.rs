//! Formulas of SMT-LIB over integers. A truth value and a number have a type each, so that only what the solver can read is
//! ever written.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Add, Mul, Not, Sub};

/// A term of sort `Bool`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Formula(String);

/// A term of sort `Int`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Int(String);

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<bool> for Formula {
    fn from(value: bool) -> Formula {
        Formula(value.to_string())
    }
}

impl From<i128> for Int {
    fn from(n: i128) -> Int {
        Int(if n < 0 { format!("(- {})", n.unsigned_abs()) } else { n.to_string() })
    }
}

impl From<i64> for Int {
    fn from(n: i64) -> Int {
        Int::from(i128::from(n))
    }
}

impl From<i32> for Int {
    fn from(n: i32) -> Int {
        Int::from(i128::from(n))
    }
}

/// Conjunction.
pub fn all<F: Borrow<Formula>>(parts: impl IntoIterator<Item = F>) -> Formula {
    joined("and", "true", parts)
}

/// Disjunction.
pub fn any<F: Borrow<Formula>>(parts: impl IntoIterator<Item = F>) -> Formula {
    joined("or", "false", parts)
}

/// `neutral`: the value of no formulas at all, which changes nothing among others.
fn joined<F: Borrow<Formula>>(operator: &str, neutral: &str, parts: impl IntoIterator<Item = F>) -> Formula {
    let mut text = format!("({operator}");
    let (mut count, first) = (0, text.len() + 1);
    for part in parts {
        let Formula(part) = part.borrow();
        if part != neutral {
            text.push(' ');
            text.push_str(part);
            count += 1;
        }
    }
    Formula(match count {
        0 => neutral.to_owned(),
        1 => text.split_off(first),
        _ => text + ")",
    })
}

impl Formula {
    /// A Boolean constant of that name.
    pub fn constant(name: impl fmt::Display) -> Formula {
        Formula(name.to_string())
    }

    /// The command that declares a constant.
    pub fn declaration(&self) -> String {
        format!("(declare-const {self} Bool)")
    }

    /// A predicate of an integer.
    pub fn apply(predicate: &str, argument: &Int) -> Formula {
        Formula(format!("({predicate} {argument})"))
    }

    /// Is it the constant `true`?
    pub fn is_true(&self) -> bool {
        self.0 == "true"
    }

    /// If this holds, then that.
    pub fn implies(&self, conclusion: impl Borrow<Formula>) -> Formula {
        let conclusion = conclusion.borrow();
        if self.is_true() { conclusion.clone() } else { Formula(format!("(=> {self} {conclusion})")) }
    }

    /// Both hold, or neither.
    pub fn iff(&self, other: &Formula) -> Formula {
        if self == other { true.into() } else { Formula(format!("(= {self} {other})")) }
    }

    /// The formula with a value in the place of a constant.
    pub fn with(&self, constant: &Int, value: &Int) -> Formula {
        Formula(format!("(let (({constant} {value})) {self})"))
    }
}

impl Not for Formula {
    type Output = Formula;
    fn not(self) -> Formula {
        !&self
    }
}

impl Not for &Formula {
    type Output = Formula;
    fn not(self) -> Formula {
        Formula(format!("(not {self})"))
    }
}

impl Int {
    /// An integer constant of that name.
    pub fn constant(name: impl fmt::Display) -> Int {
        Int(name.to_string())
    }

    /// The command that declares a constant.
    pub fn declaration(&self) -> String {
        format!("(declare-const {self} Int)")
    }

    /// A function of integers.
    pub fn apply<I: Borrow<Int>>(function: &str, arguments: impl IntoIterator<Item = I>) -> Int {
        let mut text = format!("({function}");
        for argument in arguments {
            text.push(' ');
            text.push_str(&argument.borrow().0);
        }
        Int(text + ")")
    }

    /// One number or the other.
    pub fn if_else(condition: &Formula, then: impl Borrow<Int>, otherwise: impl Borrow<Int>) -> Int {
        Int(format!("(ite {condition} {} {})", then.borrow(), otherwise.borrow()))
    }

    /// The number with a value in the place of a constant.
    pub fn with(&self, constant: &Int, value: &Int) -> Int {
        Int(format!("(let (({constant} {value})) {self})"))
    }

    /// Is it a number, not a term that needs evaluation?
    pub fn is_literal(&self) -> bool {
        self.0.starts_with(|c: char| c.is_ascii_digit()) || self.0.starts_with("(- ")
    }

    /// `=`
    pub fn equals(&self, other: impl Borrow<Int>) -> Formula {
        let other = other.borrow();
        if self == other { true.into() } else { self.compare("=", other) }
    }

    /// `<`
    pub fn lt(&self, other: impl Borrow<Int>) -> Formula {
        self.compare("<", other.borrow())
    }

    /// `<=`
    pub fn le(&self, other: impl Borrow<Int>) -> Formula {
        self.compare("<=", other.borrow())
    }

    /// `>`
    pub fn gt(&self, other: impl Borrow<Int>) -> Formula {
        self.compare(">", other.borrow())
    }

    /// `>=`
    pub fn ge(&self, other: impl Borrow<Int>) -> Formula {
        self.compare(">=", other.borrow())
    }

    /// Is this the middle one of three different numbers that grow?
    pub fn is_between(&self, less: &Int, greater: &Int) -> Formula {
        Formula(format!("(< {less} {self} {greater})"))
    }

    fn compare(&self, relation: &str, other: &Int) -> Formula {
        Formula(format!("({relation} {self} {other})"))
    }
}

impl Add for Int {
    type Output = Int;
    fn add(self, other: Int) -> Int {
        Int::apply("+", [self, other])
    }
}

impl Sub for Int {
    type Output = Int;
    fn sub(self, other: Int) -> Int {
        Int::apply("-", [self, other])
    }
}

impl Mul for Int {
    type Output = Int;
    fn mul(self, other: Int) -> Int {
        Int::apply("*", [self, other])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text() {
        let (x, y) = (Int::constant("x"), Int::constant("y"));
        let (p, q) = (Formula::constant("p"), Formula::apply("q", &x));
        assert_eq!(p.implies(!&q).to_string(), "(=> p (not (q x)))");
        assert_eq!((x.clone() + Int::from(-3)).le(&y).to_string(), "(<= (+ x (- 3)) y)");
        assert_eq!(all([&p, &true.into(), &q]).to_string(), "(and p (q x))");
        assert_eq!(q.with(&x, &y).to_string(), "(let ((x y)) (q x))");
        assert_eq!(Int::if_else(&p, Int::from(1), &y).to_string(), "(ite p 1 y)");
    }

    #[test]
    fn what_is_true_anyway_is_left_out() {
        let (x, p) = (Int::constant("x"), Formula::constant("p"));
        assert!(x.equals(&x).is_true() && p.iff(&p).is_true());
        assert_eq!(Formula::from(true).implies(&p), p);
        assert_eq!(all([&p]), p);
        assert!(all::<Formula>([]).is_true());
        assert_eq!(any::<Formula>([]), false.into());
    }
}
