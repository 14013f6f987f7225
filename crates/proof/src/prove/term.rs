//! Values and conditions of straight-line code, and how the solver reads them.

use super::execution::EventId;
use super::execution::symbols::{address, argument, entry, phi, read, succeeded};
use crate::solver::formula::{Formula, Int, all, any};
use seqcst_c11::code::{Integer, Operator};

/// A value in one segment of code, in terms of what its accesses read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// A constant.
    Int(i128),
    /// What the client passes for that parameter.
    Argument(u32),
    /// A value of which nothing is known: of a variable before an iteration of a loop.
    Entry(usize),
    /// What that step read.
    Read(usize),
    /// 1 if that step (a compare-and-swap) succeeded, else 0.
    Succeeded(usize),
    /// The address that that step allocated.
    Address(usize),
    /// The value of that [`Phi`](super::segments::Phi).
    Phi(usize),
    /// `!t`.
    Not(Box<Term>),
    /// `t`, converted to a type.
    Wrap(Integer, Box<Term>),
    /// `a op b`.
    Binary(Operator, Box<Term>, Box<Term>),
}

impl Term {
    /// Calls `visit` on this term and all terms in it.
    pub fn visit(&self, visit: &mut impl FnMut(&Term)) {
        visit(self);
        match self {
            Term::Not(t) | Term::Wrap(_, t) => t.visit(visit),
            Term::Binary(_, a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
            _ => {}
        }
    }

    /// The term plus a constant, if it is one (`t + 2`, `3 - 1`, `t`): the rest and the constant.
    pub fn split_constant(&self) -> (Option<&Term>, i128) {
        match self {
            Term::Int(n) => (None, *n),
            Term::Binary(Operator::Add, a, b) => match (&**a, &**b) {
                (t, Term::Int(n)) | (Term::Int(n), t) => (Some(t), *n),
                _ => (Some(self), 0),
            },
            Term::Binary(Operator::Sub, a, b) => match &**b {
                Term::Int(n) => (Some(a), -*n),
                _ => (Some(self), 0),
            },
            _ => (Some(self), 0),
        }
    }

    /// As an integer of SMT-LIB, for the slot with this number.
    pub fn integer(&self, slot: usize) -> Int {
        let at = |step: &usize| EventId { slot, step: *step };
        match self {
            Term::Int(n) => Int::from(*n),
            Term::Argument(k) => argument(slot, *k),
            Term::Entry(k) => entry(slot, *k),
            Term::Read(step) => read(at(step)),
            Term::Address(step) => address(at(step)),
            Term::Phi(k) => phi(slot, *k),
            Term::Succeeded(_) | Term::Not(_) => self.truth(slot),
            Term::Wrap(to, t) => wrapped(*to, &t.integer(slot)),
            Term::Binary(op, a, b) => {
                let (x, y) = (a.integer(slot), b.integer(slot));
                // C and SMT-LIB agree where nothing is negative.
                let divided = |function: &str, negative: &str| {
                    let agrees = all([x.ge(Int::from(0)), y.gt(Int::from(0))]);
                    Int::if_else(&agrees, Int::apply(function, [&x, &y]), Int::apply(negative, [&x, &y]))
                };
                match op {
                    Operator::Add => x + y,
                    Operator::Sub => x - y,
                    Operator::Mul => x * y,
                    Operator::Div => divided("div", "negative_div"),
                    Operator::Rem => divided("mod", "negative_rem"),
                    Operator::And => match &**b {
                        // A mask of ones is a remainder; other bits stay unknown.
                        Term::Int(mask) if *mask >= 0 && (mask + 1) & mask == 0 => {
                            Int::apply("mod", [x, Int::from(mask + 1)])
                        }
                        _ => Int::apply("bits_and", [x, y]),
                    },
                    Operator::Or => Int::apply("bits_or", [x, y]),
                    Operator::Xor => Int::apply("bits_xor", [x, y]),
                    Operator::Shl | Operator::Shr => match (&**b, op) {
                        (Term::Int(by @ 0..64), Operator::Shl) => x * Int::from(1i128 << by),
                        // Rounded down, as compilers shift negative numbers.
                        (Term::Int(by @ 0..64), _) => Int::apply("div", [x, Int::from(1i128 << by)]),
                        (_, Operator::Shl) => Int::apply("bits_shl", [x, y]),
                        _ => Int::apply("bits_shr", [x, y]),
                    },
                    _ => self.truth(slot),
                }
            }
        }
    }

    /// 1 if the condition holds, else 0.
    fn truth(&self, slot: usize) -> Int {
        Int::if_else(&self.condition(slot), Int::from(1), Int::from(0))
    }

    /// As a condition of SMT-LIB (not 0), for the slot with this number.
    pub fn condition(&self, slot: usize) -> Formula {
        match self {
            Term::Int(n) => (*n != 0).into(),
            Term::Succeeded(step) => succeeded(EventId { slot, step: *step }),
            Term::Not(t) => !t.condition(slot),
            Term::Binary(op, a, b) => {
                let (x, y) = (|| a.integer(slot), || b.integer(slot));
                match op {
                    Operator::Equal => x().equals(y()),
                    Operator::NotEqual => !x().equals(y()),
                    Operator::Less => x().lt(y()),
                    Operator::LessEqual => x().le(y()),
                    Operator::Both => all([a.condition(slot), b.condition(slot)]),
                    Operator::Either => any([a.condition(slot), b.condition(slot)]),
                    _ => !self.integer(slot).equals(Int::from(0)),
                }
            }
            _ => !self.integer(slot).equals(Int::from(0)),
        }
    }
}

/// A number of a type: the one that differs from `value` by a multiple of the modulus. Most often it is there already.
fn wrapped(to: Integer, value: &Int) -> Int {
    let it = Int::constant("wide");
    let (least, modulus) = (to.least(), Int::from(to.modulus()));
    let fits = all([it.ge(Int::from(least)), it.le(Int::from(to.greatest()))]);
    let rest = match to.signed {
        true => {
            let moved = it.clone() - Int::from(least);
            Int::apply("mod", [moved, modulus]) + Int::from(least)
        }
        false => Int::apply("mod", [it.clone(), modulus]),
    };
    Int::if_else(&fits, &it, rest).with(&it, value)
}

/// Functions that every question declares: operations of which nothing is known.
pub const BITS: [&str; 7] = [
    "(declare-fun negative_div (Int Int) Int)",
    "(declare-fun negative_rem (Int Int) Int)",
    "(declare-fun bits_and (Int Int) Int)",
    "(declare-fun bits_or (Int Int) Int)",
    "(declare-fun bits_xor (Int Int) Int)",
    "(declare-fun bits_shl (Int Int) Int)",
    "(declare-fun bits_shr (Int Int) Int)",
];
