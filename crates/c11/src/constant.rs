//! Constant expressions: lengths of arrays, enumerators, initial values.

use lang_c::ast::{BinaryOperator, Constant, Expression, Integer, IntegerBase, UnaryOperator};
use lang_c::span::{Node, Span};

use super::declare::Reader;
use super::error::Error;
use super::types::Kind;
use crate::code::Operator;

impl Reader<'_> {
    /// The value of a constant expression.
    pub fn constant(&mut self, e: &Node<Expression>) -> Result<i64, Error> {
        match &e.node {
            Expression::Constant(c) => self.literal(&c.node, e.span),
            Expression::Identifier(name) => {
                let name = &name.node.name;
                if let Some(value) = self.enumerators.get(name) {
                    return Ok(*value);
                }
                match self.global(name).and_then(|g| g.constant) {
                    Some(value) => Ok(value),
                    None => Err(self.not_constant(e.span)),
                }
            }
            Expression::SizeOfTy(name) => {
                let ty = self.named(&name.node.0)?;
                self.size(&ty, e.span)
            }
            Expression::AlignOf(name) => {
                let ty = self.named(&name.node.0)?;
                self.structs.size(&ty).map(|(_, align)| align as i64).ok_or_else(|| self.not_constant(e.span))
            }
            Expression::Cast(cast) => {
                let ty = self.named(&cast.node.type_name)?;
                let value = self.constant(&cast.node.expression)?;
                Ok(if ty.kind == Kind::Bool { (value != 0).into() } else { value })
            }
            Expression::UnaryOperator(unary) => {
                let value = self.constant(&unary.node.operand)?;
                match unary.node.operator.node {
                    UnaryOperator::Plus => Some(value),
                    UnaryOperator::Minus => value.checked_neg(),
                    UnaryOperator::Complement => Some(!value),
                    UnaryOperator::Negate => Some((value == 0).into()),
                    _ => None,
                }
                .ok_or_else(|| self.not_constant(e.span))
            }
            Expression::BinaryOperator(binary) => {
                let a = self.constant(&binary.node.lhs)?;
                let b = self.constant(&binary.node.rhs)?;
                let (op, swap) =
                    operator(&binary.node.operator.node).ok_or_else(|| self.not_constant(e.span))?;
                let (a, b) = if swap { (b, a) } else { (a, b) };
                op.compute(a, b)
                    .ok_or_else(|| self.error(e.span, "this constant is too large or not defined"))
            }
            Expression::Conditional(c) => {
                let which = if self.constant(&c.node.condition)? != 0 {
                    &c.node.then_expression
                } else {
                    &c.node.else_expression
                };
                self.constant(which)
            }
            _ => Err(self.not_constant(e.span)),
        }
    }

    fn not_constant(&self, span: Span) -> Error {
        self.error(span, "a constant must stand here")
    }

    /// `sizeof`.
    pub fn size(&self, ty: &super::types::Type, span: Span) -> Result<i64, Error> {
        let size = self.structs.size(ty).and_then(|(size, _)| i64::try_from(size).ok());
        size.ok_or_else(|| self.error(span, format!("the size of `{}` isn't known", self.structs.show(ty))))
    }

    /// A number or character.
    pub fn literal(&self, c: &Constant, span: Span) -> Result<i64, Error> {
        match c {
            Constant::Integer(n) => number(n).ok_or_else(|| {
                self.error(span, "this number is too large: the analysis has numbers up to 2^63 - 1")
            }),
            Constant::Character(text) => character(text)
                .ok_or_else(|| self.error(span, "this character isn't understood: write its number")),
            Constant::Float(_) => {
                Err(self.error(span, "floating-point numbers aren't modelled: use an integer type"))
            }
        }
    }
}

fn number(n: &Integer) -> Option<i64> {
    let radix = match n.base {
        IntegerBase::Decimal => 10,
        IntegerBase::Octal => 8,
        IntegerBase::Hexadecimal => 16,
        IntegerBase::Binary => 2,
    };
    if n.number.is_empty() {
        return Some(0);
    }
    i64::from_str_radix(&n.number, radix).ok()
}

fn character(text: &str) -> Option<i64> {
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
        (c, None) => return c.is_ascii().then_some(i64::from(u32::from(c))),
        _ => return None,
    };
    chars.next().is_none().then_some(i64::from(u32::from(value)))
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
