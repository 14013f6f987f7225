//! Constant expressions: lengths of arrays, enumerators, initial values.

use lang_c::ast::{BinaryOperator, Constant, Expression, IntegerBase, IntegerSize, UnaryOperator};
use lang_c::span::{Node, Span};

use super::arithmetic::{self, no_variables};
use super::declare::Reader;
use super::error::Error;
use super::types::{Kind, Type};
use crate::code::{Expr, Operator};

impl Reader<'_> {
    /// The value of a constant expression.
    pub fn constant(&mut self, e: &Node<Expression>) -> Result<i128, Error> {
        Ok(self.typed_constant(e)?.0)
    }

    /// The value of a constant expression, converted to a type.
    pub fn constant_of(&mut self, e: &Node<Expression>, ty: &Type) -> Result<i128, Error> {
        let (value, from) = self.typed_constant(e)?;
        self.settle(e.span, Ok((arithmetic::convert(Expr::Int(value), &from, ty, &no_variables), ())))
            .map(|(value, ())| value)
    }

    /// The value of a constant expression, with its type.
    pub fn typed_constant(&mut self, e: &Node<Expression>) -> Result<(i128, Type), Error> {
        match &e.node {
            Expression::Constant(c) => self.literal(&c.node, e.span),
            Expression::Identifier(name) => {
                let name = &name.node.name;
                if let Some(value) = self.enumerators.get(name) {
                    return Ok((*value, Type::int()));
                }
                match self.global(name).and_then(|g| Some((g.constant?, g.ty.unqualified()))) {
                    Some(value) => Ok(value),
                    None => Err(self.not_constant(e.span)),
                }
            }
            Expression::SizeOfTy(name) => {
                let ty = self.named(&name.node.0)?;
                Ok((self.size(&ty, e.span)?, Type::size()))
            }
            Expression::AlignOf(name) => {
                let ty = self.named(&name.node.0)?;
                let align = self.structs.size(&ty).map(|(_, align)| align.into());
                Ok((align.ok_or_else(|| self.not_constant(e.span))?, Type::size()))
            }
            Expression::Cast(cast) => {
                let ty = self.named(&cast.node.type_name)?.unqualified();
                if !ty.is_scalar() {
                    return Err(self.not_constant(e.span));
                }
                Ok((self.constant_of(&cast.node.expression, &ty)?, ty))
            }
            Expression::UnaryOperator(unary) => {
                let (value, ty) = self.typed_constant(&unary.node.operand)?;
                let e_value = Expr::Int(value);
                let made = match unary.node.operator.node {
                    UnaryOperator::Plus => {
                        let to = arithmetic::promoted(&ty);
                        Ok((arithmetic::convert(e_value, &ty, &to, &no_variables), to))
                    }
                    UnaryOperator::Minus => arithmetic::minus(e_value, &ty, &no_variables),
                    UnaryOperator::Complement => arithmetic::complement(e_value, &ty, &no_variables),
                    UnaryOperator::Negate => Ok((Expr::Int((value == 0).into()), Type::int())),
                    _ => return Err(self.not_constant(e.span)),
                };
                self.settle(e.span, made)
            }
            Expression::BinaryOperator(binary) => {
                let (op, swap) =
                    operator(&binary.node.operator.node).ok_or_else(|| self.not_constant(e.span))?;
                let (a, left) = self.typed_constant(&binary.node.lhs)?;
                if op == Operator::Both && a == 0 || op == Operator::Either && a != 0 {
                    return Ok(((a != 0).into(), Type::int()));
                }
                let (b, right) = self.typed_constant(&binary.node.rhs)?;
                if matches!(op, Operator::Both | Operator::Either) {
                    return Ok(((b != 0).into(), Type::int()));
                }
                let (a, b) = ((Expr::Int(a), &left), (Expr::Int(b), &right));
                let (a, b) = if swap { (b, a) } else { (a, b) };
                let made = arithmetic::binary(op, a, b, &no_variables);
                self.settle(e.span, made)
            }
            Expression::Conditional(c) => {
                let (condition, _) = self.typed_constant(&c.node.condition)?;
                let (then, yes) = self.typed_constant(&c.node.then_expression)?;
                let (otherwise, no) = self.typed_constant(&c.node.else_expression)?;
                let ty = arithmetic::common(&yes, &no);
                let (value, from) = if condition != 0 { (then, yes) } else { (otherwise, no) };
                let value = arithmetic::convert(Expr::Int(value), &from, &ty, &no_variables);
                self.settle(e.span, Ok((value, ty)))
            }
            _ => Err(self.not_constant(e.span)),
        }
    }

    /// The number that an expression over constants is.
    fn settle<T>(&self, span: Span, made: Result<(Expr, T), &'static str>) -> Result<(i128, T), Error> {
        match made {
            Ok((Expr::Int(value), ty)) => Ok((value, ty)),
            Ok(_) => Err(self.error(span, "this constant is too large or not defined")),
            Err(message) => Err(self.error(span, message)),
        }
    }

    fn not_constant(&self, span: Span) -> Error {
        self.error(span, "a constant must stand here")
    }

    /// `sizeof`.
    pub fn size(&self, ty: &Type, span: Span) -> Result<i128, Error> {
        match self.structs.size(ty) {
            Some((size, _)) => Ok(size.into()),
            None => Err(self.error(span, format!("the size of `{}` isn't known", self.structs.show(ty)))),
        }
    }

    /// A number or character, with its type.
    pub fn literal(&self, c: &Constant, span: Span) -> Result<(i128, Type), Error> {
        match c {
            Constant::Integer(n) => number(n)
                .ok_or_else(|| self.error(span, "this number is too large: none has more than 64 bits")),
            Constant::Character(text) => character(text)
                .map(|value| (value, Type::int()))
                .ok_or_else(|| self.error(span, "this character isn't understood: write its number")),
            Constant::Float(_) => {
                Err(self.error(span, "floating-point numbers aren't modelled: use an integer type"))
            }
        }
    }
}

/// A literal has the first type of a list into which it fits (C11 6.4.4.1).
fn number(n: &lang_c::ast::Integer) -> Option<(i128, Type)> {
    let radix = match n.base {
        IntegerBase::Decimal => 10,
        IntegerBase::Octal => 8,
        IntegerBase::Hexadecimal => 16,
        IntegerBase::Binary => 2,
    };
    let value = if n.number.is_empty() { 0 } else { i128::from_str_radix(&n.number, radix).ok()? };
    let may_be_unsigned = n.suffix.unsigned || n.base != IntegerBase::Decimal;
    let sizes = if n.suffix.size == IntegerSize::Int { [4, 8].iter() } else { [8].iter() };
    sizes
        .flat_map(|bytes| [(*bytes, true), (*bytes, false)])
        .filter(|(_, signed)| if *signed { !n.suffix.unsigned } else { may_be_unsigned })
        .map(|(bytes, signed)| Type::plain(Kind::Int { bytes, signed }))
        .find(|ty| ty.kind.integer().is_some_and(|integer| integer.contains(value)))
        .map(|ty| (value, ty))
}

fn character(text: &str) -> Option<i128> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut chars = inner.chars();
    let value = match (chars.next()?, chars.next()) {
        ('\\', Some(escaped)) => match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            '\\' | '\'' | '"' => escaped,
            _ => return None,
        },
        (c, None) => return c.is_ascii().then_some(u32::from(c).into()),
        _ => return None,
    };
    chars.next().is_none().then_some(u32::from(value).into())
}

/// Our operator for one of C, and whether its operands change places.
pub fn operator(op: &BinaryOperator) -> Option<(Operator, bool)> {
    Some(match op {
        BinaryOperator::Multiply => (Operator::Mul, false),
        BinaryOperator::Divide => (Operator::Div, false),
        BinaryOperator::Modulo => (Operator::Rem, false),
        BinaryOperator::Plus => (Operator::Add, false),
        BinaryOperator::Minus => (Operator::Sub, false),
        BinaryOperator::ShiftLeft => (Operator::Shl, false),
        BinaryOperator::ShiftRight => (Operator::Shr, false),
        BinaryOperator::Less => (Operator::Less, false),
        BinaryOperator::Greater => (Operator::Less, true),
        BinaryOperator::LessOrEqual => (Operator::LessEqual, false),
        BinaryOperator::GreaterOrEqual => (Operator::LessEqual, true),
        BinaryOperator::Equals => (Operator::Equal, false),
        BinaryOperator::NotEquals => (Operator::NotEqual, false),
        BinaryOperator::BitwiseAnd => (Operator::And, false),
        BinaryOperator::BitwiseXor => (Operator::Xor, false),
        BinaryOperator::BitwiseOr => (Operator::Or, false),
        BinaryOperator::LogicalAnd => (Operator::Both, false),
        BinaryOperator::LogicalOr => (Operator::Either, false),
        _ => return None,
    })
}

/// The operator of a compound assignment.
pub fn assigning(op: &BinaryOperator) -> Option<Operator> {
    Some(match op {
        BinaryOperator::AssignMultiply => Operator::Mul,
        BinaryOperator::AssignDivide => Operator::Div,
        BinaryOperator::AssignModulo => Operator::Rem,
        BinaryOperator::AssignPlus => Operator::Add,
        BinaryOperator::AssignMinus => Operator::Sub,
        BinaryOperator::AssignShiftLeft => Operator::Shl,
        BinaryOperator::AssignShiftRight => Operator::Shr,
        BinaryOperator::AssignBitwiseAnd => Operator::And,
        BinaryOperator::AssignBitwiseXor => Operator::Xor,
        BinaryOperator::AssignBitwiseOr => Operator::Or,
        _ => return None,
    })
}
