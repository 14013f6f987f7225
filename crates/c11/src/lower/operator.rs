//! Arithmetic and comparisons.

use lang_c::span::Span;

use super::Lowering;
use super::place::Value;
use crate::arithmetic;
use crate::code::{Expr, Operator, Statement};
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
            return Ok((Value::Number(self.compare(op, (a, &left), (b, &right), span)?), Type::int()));
        }
        let (is_left, is_right) = (left.pointee().is_some(), right.pointee().is_some());
        match (op, is_left, is_right) {
            (_, false, false) => {
                let (a, b) = (self.as_number(a, span)?, self.as_number(b, span)?);
                let (e, ty) = self.numeric(op, (a, &left), (b, &right), span)?;
                Ok((Value::Number(e), ty))
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
                    Ok((Value::Number(difference), Type::difference()))
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
                let is_pointer = left.pointee().is_some() || right.pointee().is_some();
                if is_order && is_pointer {
                    return self.error(
                        span,
                        "which of two records has the lower address isn't modelled: compare with == and !=",
                    );
                }
                if is_pointer {
                    let address = Type::void_pointer();
                    let room = |local| self.room(local);
                    let a = arithmetic::convert(a, left, &address, &room);
                    let b = arithmetic::convert(b, right, &address, &room);
                    return Ok(fold::binary(op, a, b));
                }
                Ok(self.numeric(op, (a, left), (b, right), span)?.0)
            }
        }
    }

    /// `a op b` on numbers. That C gives it a meaning is assumed where it isn't known.
    fn numeric(
        &mut self,
        op: Operator,
        (a, left): (Expr, &Type),
        (b, right): (Expr, &Type),
        span: Span,
    ) -> Result<(Expr, Type), Error> {
        let room = |local| self.room(local);
        let is_defined = arithmetic::is_defined(op, (&a, left), (&b, right), &room);
        let made = arithmetic::binary(op, (a, left), (b, right), &room);
        let made = made.or_else(|message| self.error(span, message))?;
        if let Some(condition) = is_defined {
            self.emit(Statement::Assume(condition));
        }
        Ok(made)
    }
}
