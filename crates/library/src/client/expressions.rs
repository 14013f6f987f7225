//! Expressions of a call over the registers of a program, whose arithmetic is another: values wrap around at the program's own
//! bound, and none is negative. What the program would compute is compared with what C computes, for all values that the
//! variables may have; where the two differ, the expression becomes a choice by these values.

use super::Unsupported;
use super::compile::{Compiler, Frame};
use super::sets::{combinations, short};
use super::syntax::{at, binary, number, register};
use super::values::Env;
use crate::code::{Expr as Value, Operator};
use seqcst_model::Value as Word;
use seqcst_program::ast::{Expr, ExprKind};
use seqcst_program::code::{self, Binary, Unary};

/// A choice by more values than this is not written down.
const MOST_CASES: usize = 100;

/// Values of variables, and the result.
type Case = (Vec<(usize, i64)>, Word);

impl Compiler<'_> {
    /// An expression over the registers of a call.
    pub fn expr(&self, expr: &Value, env: &Env, frame: &Frame) -> Result<Expr, Unsupported> {
        let mut cases: Vec<Case> = Vec::new();
        let mut is_small = true;
        let complete = combinations(expr, env, &mut |of| {
            let value_of = |local: usize| of.iter().find(|(l, _)| *l == local).map(|(_, v)| i128::from(*v));
            // Without a value C has no execution that goes on.
            if let Some(value) = expr.evaluate(&|local| value_of(local.0 as usize)) {
                match i64::try_from(value) {
                    Ok(value) => cases.push((of.to_vec(), self.codec.value(value))),
                    Err(_) => is_small = false,
                }
            }
        });
        if !complete || !is_small {
            return Err(Unsupported(
                "a number is too large, or has too many values in this client".to_owned(),
            ));
        }
        let native = self.native(expr, frame);
        if self.computes(&native, &cases, frame) {
            return Ok(native);
        }
        let chosen = self.chosen(&cases, frame);
        match chosen.filter(|chosen| self.computes(chosen, &cases, frame)) {
            Some(chosen) => Ok(chosen),
            None => Err(Unsupported("arithmetic wraps around for too many values in this client".to_owned())),
        }
    }

    /// Does the program compute the results of all cases?
    fn computes(&self, expr: &Expr, cases: &[Case], frame: &Frame) -> bool {
        let Some(lowered) = lowered(expr, frame) else { return false };
        let mut registers = vec![0; frame.registers.len()];
        cases.iter().all(|(of, result)| {
            for (local, value) in of {
                registers[*local] = self.codec.value(*value);
            }
            Word::try_from(self.codec.modulus - 1)
                .is_ok_and(|max| seqcst_program::Values::wrapping(max).eval(&lowered, &registers) == *result)
        })
    }

    /// The result of the first case, and what others have more than that.
    fn chosen(&self, cases: &[Case], frame: &Frame) -> Option<Expr> {
        let (_, first) = cases.first().filter(|_| cases.len() <= MOST_CASES)?;
        let others = cases.iter().filter(|(_, result)| result != first);
        Some(others.fold(number(*first), |sum, (of, result)| {
            let each = of.iter().map(|(local, value)| self.is(register(&frame.registers[*local]), *value));
            let is_it = each.reduce(|a, b| binary(Binary::And, a, b)).unwrap_or_else(|| number(1));
            let more = (i64::from(*result) - i64::from(*first)).rem_euclid(self.codec.modulus) as u32;
            binary(Binary::Add, sum, binary(Binary::Mul, is_it, number(more)))
        }))
    }

    /// The expression as it is written, in the arithmetic of programs.
    fn native(&self, expr: &Value, frame: &Frame) -> Expr {
        match expr {
            // Whether there is room for what becomes of it is seen by the results.
            Value::Int(value) => number(self.codec.word(short(*value))),
            Value::Local(local) => register(frame.name(*local)),
            Value::Not(e) => at(ExprKind::Unary(Unary::Not, Box::new(self.native(e, frame)))),
            Value::Wrap(_, e) => self.native(e, frame),
            Value::Binary(operator, a, b) => {
                let (mut a, mut b) = (self.native(a, frame), self.native(b, frame));
                let operator = match operator {
                    Operator::Add => Binary::Add,
                    Operator::Sub => Binary::Sub,
                    Operator::Mul => Binary::Mul,
                    Operator::Div => Binary::Div,
                    Operator::Rem => Binary::Rem,
                    Operator::And => Binary::BitAnd,
                    Operator::Or => Binary::BitOr,
                    Operator::Xor => Binary::BitXor,
                    Operator::Shl => Binary::Shl,
                    Operator::Shr => Binary::Shr,
                    Operator::Equal => Binary::Eq,
                    Operator::NotEqual => Binary::Ne,
                    Operator::Less | Operator::LessEqual => {
                        if self.codec.has_negative {
                            // Values wrap around: moved by half of the range, negative ones come first.
                            let half = u32::try_from(self.codec.modulus / 2).unwrap_or(0);
                            a = binary(Binary::Add, a, number(half));
                            b = binary(Binary::Add, b, number(half));
                        }
                        if *operator == Operator::Less { Binary::Lt } else { Binary::Le }
                    }
                    Operator::Both => Binary::And,
                    Operator::Either => Binary::Or,
                };
                binary(operator, a, b)
            }
        }
    }
}

/// The expression as the machine has it, with the registers of one call.
fn lowered(expr: &Expr, frame: &Frame) -> Option<code::Expr> {
    Some(match &expr.node {
        ExprKind::Number(value) => code::Expr::Const(*value),
        ExprKind::Bool(truth) => code::Expr::Const((*truth).into()),
        ExprKind::Name(name) => {
            let at = frame.registers.iter().position(|register| register == name)?;
            code::Expr::Reg(u16::try_from(at).ok()?)
        }
        ExprKind::Unary(operator, e) => code::Expr::Unary(*operator, Box::new(lowered(e, frame)?)),
        ExprKind::Binary(operator, a, b) => {
            code::Expr::Binary(*operator, Box::new(lowered(a, frame)?), Box::new(lowered(b, frame)?))
        }
    })
}
