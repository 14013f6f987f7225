//! Values and conditions of straight-line code, and how the solver reads them.

use crate::code::Operator;

/// A value in one segment of code, in terms of what its accesses read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// A constant.
    Int(i64),
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
    /// The value of that [`Merge`](super::straight::Merge).
    Merged(usize),
    /// `!t`.
    Not(Box<Term>),
    /// `a op b`.
    Binary(Operator, Box<Term>, Box<Term>),
}

impl Term {
    /// Calls `visit` on this term and all terms in it.
    pub fn visit(&self, visit: &mut impl FnMut(&Term)) {
        visit(self);
        match self {
            Term::Not(t) => t.visit(visit),
            Term::Binary(_, a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
            _ => {}
        }
    }

    /// The term plus a constant, if it is one (`t + 2`, `3 - 1`, `t`): the rest and the constant.
    pub fn split_constant(&self) -> (Option<&Term>, i64) {
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
    pub fn integer(&self, slot: usize) -> String {
        match self {
            Term::Int(n) => number(*n),
            Term::Argument(k) => format!("a_{slot}_{k}"),
            Term::Entry(entry) => format!("l_{slot}_{entry}"),
            Term::Read(step) => format!("r_{slot}_{step}"),
            Term::Address(step) => format!("n_{slot}_{step}"),
            Term::Merged(merge) => format!("v_{slot}_{merge}"),
            Term::Succeeded(_) | Term::Not(_) => format!("(ite {} 1 0)", self.condition(slot)),
            Term::Binary(op, a, b) => {
                let (x, y) = (a.integer(slot), b.integer(slot));
                match op {
                    Operator::Add => format!("(+ {x} {y})"),
                    Operator::Sub => format!("(- {x} {y})"),
                    Operator::Mul => format!("(* {x} {y})"),
                    // C and SMT-LIB agree where nothing is negative.
                    Operator::Div => {
                        format!("(ite (and (>= {x} 0) (> {y} 0)) (div {x} {y}) (negative_div {x} {y}))")
                    }
                    Operator::Rem => {
                        format!("(ite (and (>= {x} 0) (> {y} 0)) (mod {x} {y}) (negative_rem {x} {y}))")
                    }
                    Operator::And => match &**b {
                        // A mask of ones is a remainder; other bits stay unknown.
                        Term::Int(mask) if *mask >= 0 && (mask + 1) & mask == 0 => {
                            format!("(mod {x} {})", mask + 1)
                        }
                        _ => format!("(bits_and {x} {y})"),
                    },
                    Operator::Or => format!("(bits_or {x} {y})"),
                    Operator::Xor => format!("(bits_xor {x} {y})"),
                    Operator::Shl => format!("(bits_shl {x} {y})"),
                    Operator::Shr => format!("(bits_shr {x} {y})"),
                    _ => format!("(ite {} 1 0)", self.condition(slot)),
                }
            }
        }
    }

    /// As a condition of SMT-LIB (not 0), for the slot with this number.
    pub fn condition(&self, slot: usize) -> String {
        match self {
            Term::Int(n) => (*n != 0).to_string(),
            Term::Succeeded(step) => format!("ok_{slot}_{step}"),
            Term::Not(t) => format!("(not {})", t.condition(slot)),
            Term::Binary(op, a, b) => {
                let numbers = |name: &str| format!("({name} {} {})", a.integer(slot), b.integer(slot));
                match op {
                    Operator::Equal => numbers("="),
                    Operator::NotEqual => format!("(not {})", numbers("=")),
                    Operator::Less => numbers("<"),
                    Operator::LessEqual => numbers("<="),
                    Operator::Both => format!("(and {} {})", a.condition(slot), b.condition(slot)),
                    Operator::Either => format!("(or {} {})", a.condition(slot), b.condition(slot)),
                    _ => format!("(not (= {} 0))", self.integer(slot)),
                }
            }
            _ => format!("(not (= {} 0))", self.integer(slot)),
        }
    }
}

/// A number as SMT-LIB writes it.
pub fn number(n: i64) -> String {
    if n < 0 { format!("(- {})", n.unsigned_abs()) } else { n.to_string() }
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
