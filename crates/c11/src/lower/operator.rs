//! Arithmetic and comparisons.

use lang_c::span::Span;

use super::Lowering;
use super::expression::promoted;
use super::place::Value;
use crate::code::{Expr, Operator};
use crate::error::Error;
use crate::fold;
use crate::types::{Kind, Type};

impl Lowering<'_, '_> {
    /// `a op b` on values.
    pub fn arithmetic(
        &mut self,
        op: Operator,
        (a, left): (Value, Type),
        (b, right): (Value, Type),
        span: Span,
    ) -> Result<(Value, Type), Error> {
        if left.kind == Kind::Void || right.kind == Kind::Void {
            return self.error(span, "this has no value");
        }
        let is_comparison =
            matches!(op, Operator::Equal | Operator::NotEqual | Operator::Less | Operator::LessEqual);
        if is_comparison {
            return Ok((Value::Number(self.compare(op, (a, &left), (b, &right), span)?), Type::truth()));
        }
        let (is_left, is_right) = (left.pointee().is_some(), right.pointee().is_some());
        match (op, is_left, is_right) {
            (_, false, false) => {
                let (a, b) = (self.as_number(a, span)?, self.as_number(b, span)?);
                let is_division = matches!(op, Operator::Div | Operator::Rem);
                if is_division && b == Expr::Int(0) {
                    return self.error(span, "division by 0");
                }
                if matches!(op, Operator::Shl | Operator::Shr)
                    && matches!(b, Expr::Int(n) if !(0..64).contains(&n))
                {
                    return self.error(span, "the number of bits to shift by must be 0 to 63");
                }
                Ok((Value::Number(fold::binary(op, a, b)), common(&left, &right)))
            }
            (Operator::Add, true, false) => {
                let offset = self.as_number(b, span)?;
                self.shifted(a, left, offset, span)
            }
            (Operator::Add, false, true) => {
                let offset = self.as_number(a, span)?;
                self.shifted(b, right, offset, span)
            }
            (Operator::Sub, true, false) => {
                let offset = fold::binary(Operator::Sub, Expr::Int(0), self.as_number(b, span)?);
                self.shifted(a, left, offset, span)
            }
            (Operator::Sub, true, true) => match (a, b) {
                (Value::Pointer(a), Value::Pointer(b)) if a.is_like(&b) && a.base == b.base => {
                    let index = |i: Option<Expr>| i.unwrap_or(Expr::Int(0));
                    let difference = fold::binary(Operator::Sub, index(a.index), index(b.index));
                    Ok((Value::Number(difference), Type::plain(Kind::Int { bytes: 8, signed: true })))
                }
                _ => self.error(span, "the difference of pointers outside one array isn't modelled"),
            },
            _ => self.error(span, "this arithmetic on pointers isn't C: cast to uintptr_t first"),
        }
    }

    fn compare(
        &mut self,
        op: Operator,
        (a, left): (Value, &Type),
        (b, right): (Value, &Type),
        span: Span,
    ) -> Result<Expr, Error> {
        match (a, b) {
            (Value::Pointer(a), Value::Pointer(b)) if a.is_like(&b) && a.base == b.base => {
                let index = |i: Option<Expr>| i.unwrap_or(Expr::Int(0));
                Ok(fold::binary(op, index(a.index), index(b.index)))
            }
            // Such a place is never at NULL.
            (Value::Pointer(_), Value::Number(Expr::Int(0)))
            | (Value::Number(Expr::Int(0)), Value::Pointer(_))
                if matches!(op, Operator::Equal | Operator::NotEqual) =>
            {
                Ok(Expr::Int((op == Operator::NotEqual).into()))
            }
            (a, b) => {
                let (a, b) = (self.as_number(a, span)?, self.as_number(b, span)?);
                let is_order = matches!(op, Operator::Less | Operator::LessEqual);
                let is_wrapped = |e: &Expr| matches!(e, Expr::Int(n) if *n < 0);
                if is_order && common(left, right).is_unsigned() && (is_wrapped(&a) || is_wrapped(&b)) {
                    return self.error(
                        span,
                        "this compares with a number beyond 2^63, which isn't modelled: use a signed type",
                    );
                }
                if is_order && (left.pointee().is_some() || right.pointee().is_some()) {
                    return self.error(
                        span,
                        "which of two records has the lower address isn't modelled: compare with == and !=",
                    );
                }
                Ok(fold::binary(op, a, b))
            }
        }
    }
}

/// C's usual arithmetic conversions.
fn common(a: &Type, b: &Type) -> Type {
    let (a, b) = (promoted(a), promoted(b));
    match (&a.kind, &b.kind) {
        (Kind::Int { bytes: x, signed: s }, Kind::Int { bytes: y, signed: t }) => {
            let signed = match x.cmp(y) {
                std::cmp::Ordering::Less => *t,
                std::cmp::Ordering::Equal => *s && *t,
                std::cmp::Ordering::Greater => *s,
            };
            Type::plain(Kind::Int { bytes: *x.max(y), signed })
        }
        (Kind::Int { .. }, _) => b,
        _ => a,
    }
}
