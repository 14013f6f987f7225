//! Expressions: what they compute, and what they do on the way.

use lang_c::ast::{BinaryOperator, ConditionalExpression, Expression, UnaryOperator};
use lang_c::span::{Node, Span};

use super::place::{Root, Spot, Value};
use super::{Binding, Lowering};
use crate::arithmetic;
use crate::code::{Expr, Integer, LocalId, Operator, Statement};
use crate::constant::{assigning, operator};
use crate::error::Error;
use crate::fold;
use crate::types::{Kind, Type};

impl<'a> Lowering<'_, 'a> {
    /// The value of an expression, with its type; effects are emitted.
    pub fn value(&mut self, e: &Node<Expression>) -> Result<(Value, Type), Error> {
        let number = |n, ty| Ok((Value::Number(Expr::Int(n)), ty));
        match &e.node {
            Expression::Identifier(name) => self.named_value(&name.node.name, e),
            Expression::Constant(c) => {
                let (value, ty) = self.reader.literal(&c.node, e.span)?;
                number(value, ty)
            }
            Expression::Member(_) => {
                let spot = self.spot(e)?;
                self.load(spot, e.span)
            }
            Expression::Call(call) => self.call(&call.node, e.span),
            Expression::SizeOfTy(_) | Expression::AlignOf(_) => {
                number(self.reader.constant(e)?, Type::size())
            }
            Expression::SizeOfVal(of) => {
                let ty = self.type_of(&of.node.0)?;
                number(self.reader.size(&ty, e.span)?, Type::size())
            }
            Expression::UnaryOperator(unary) => self.unary(&unary.node.operator.node, &unary.node.operand, e),
            Expression::BinaryOperator(b) => match &b.node.operator.node {
                BinaryOperator::Index => {
                    let spot = self.spot(e)?;
                    self.load(spot, e.span)
                }
                BinaryOperator::Assign => self.assign(&b.node.lhs, &b.node.rhs, e.span),
                BinaryOperator::LogicalAnd => self.logical(true, &b.node.lhs, &b.node.rhs),
                BinaryOperator::LogicalOr => self.logical(false, &b.node.lhs, &b.node.rhs),
                op => {
                    if let Some(op) = assigning(op) {
                        return self.update(op, &b.node.lhs, &b.node.rhs, e.span);
                    }
                    let a = self.value(&b.node.lhs)?;
                    let b = self.value(&b.node.rhs)?;
                    match operator(op) {
                        Some((op, true)) => self.arithmetic(op, b, a, e.span),
                        Some((op, false)) => self.arithmetic(op, a, b, e.span),
                        None => self.error(e.span, "this operator isn't understood"),
                    }
                }
            },
            Expression::Cast(cast) => {
                let to = self.reader.named(&cast.node.type_name)?;
                let (value, from) = self.value(&cast.node.expression)?;
                self.cast(value, &from, to, e.span)
            }
            Expression::Conditional(c) => self.conditional(&c.node, e.span),
            Expression::Comma(all) => {
                let mut last = (Value::Number(Expr::Int(0)), Type::plain(Kind::Void));
                for e in all.iter() {
                    last = self.value(e)?;
                }
                Ok(last)
            }
            Expression::StringLiteral(_) => self.error(e.span, "strings aren't modelled"),
            Expression::GenericSelection(_) => {
                self.error(e.span, "`_Generic` isn't understood: name the function")
            }
            Expression::CompoundLiteral(_) => {
                self.error(e.span, "compound literals aren't understood here: assign the fields one by one")
            }
            Expression::OffsetOf(_) => self.error(
                e.span,
                "`offsetof` isn't modelled: keep a pointer to the record that contains the field",
            ),
            Expression::VaArg(_) => self.error(e.span, "variable numbers of arguments aren't understood"),
            Expression::Statement(_) => self
                .error(e.span, "statements in expressions aren't understood: use a static inline function"),
        }
    }

    /// What an expression does; its value is not wanted.
    pub fn effect(&mut self, e: &Node<Expression>) -> Result<(), Error> {
        match &e.node {
            Expression::UnaryOperator(unary) => {
                let op = match unary.node.operator.node {
                    UnaryOperator::PostIncrement => UnaryOperator::PreIncrement,
                    UnaryOperator::PostDecrement => UnaryOperator::PreDecrement,
                    ref op => op.clone(),
                };
                self.unary(&op, &unary.node.operand, e)?;
            }
            Expression::Comma(all) => all.iter().try_for_each(|e| self.effect(e))?,
            _ => {
                self.value(e)?;
            }
        }
        Ok(())
    }

    fn named_value(&mut self, name: &str, e: &Node<Expression>) -> Result<(Value, Type), Error> {
        match self.lookup(name).cloned() {
            Some(Binding::Fixed(value, ty)) => return Ok((value, ty)),
            Some(Binding::Aim(aim)) => return Ok((self.aimed(aim, e.span)?, self.aims[aim].ty.clone())),
            Some(_) => {}
            None => {
                if let Some(value) = self.reader.enumerators.get(name) {
                    return Ok((Value::Number(Expr::Int(*value)), Type::int()));
                }
                if let Some((value, ty)) =
                    self.reader.global(name).and_then(|g| Some((g.constant?, g.ty.unqualified())))
                {
                    return Ok((Value::Number(Expr::Int(value)), ty));
                }
            }
        }
        let spot = self.spot(e)?;
        self.load(spot, e.span)
    }

    /// A value that must be a number (or the address of a record).
    pub fn number(&mut self, e: &Node<Expression>) -> Result<(Expr, Type), Error> {
        let (value, ty) = self.value(e)?;
        Ok((self.as_number(value, e.span)?, ty))
    }

    /// Refuses addresses of what isn't a record.
    pub fn as_number(&self, value: Value, span: Span) -> Result<Expr, Error> {
        match value {
            Value::Number(e) => Ok(e),
            Value::Pointer(spot) => {
                let what = match spot.root {
                    Root::Local(_) => "a local variable or the client's memory",
                    Root::Object => "the library's object or a part of it",
                    Root::Global(_) => "a global variable or a part of it",
                    Root::Record(_) => "a field",
                };
                self.error(
                    span,
                    format!("the address of {what} can't be a value: only pointers to records can be stored, compared and returned"),
                )
            }
        }
    }

    /// A value as a condition: 0 or not.
    pub fn condition(&mut self, e: &Node<Expression>) -> Result<Expr, Error> {
        match self.value(e)?.0 {
            Value::Number(e) => Ok(e),
            Value::Pointer(_) => Ok(Expr::Int(1)),
        }
    }

    /// What arrives when a value is stored in something of type `to`.
    pub fn converted(&self, value: Value, from: &Type, to: &Type, span: Span) -> Result<Value, Error> {
        let value = match (value, &to.kind) {
            (Value::Pointer(_), Kind::Bool) => return Ok(Value::Number(Expr::Int(1))),
            (Value::Pointer(spot), Kind::Pointer(_)) => return Ok(Value::Pointer(spot)),
            (Value::Pointer(spot), _) => Value::Number(self.as_number(Value::Pointer(spot), span)?),
            (number, _) => number,
        };
        let Value::Number(e) = value else { return Ok(value) };
        let is_record = to.struct_pointee().is_some_and(|s| Some(s) != self.reader.object);
        if is_record && e != Expr::Int(0) && from.pointee().is_some_and(|t| t.kind == Kind::Void) {
            let name = self.show(to);
            return self.error(
                span,
                format!("what a `void *` points to isn't known: use a `{}` throughout", name.trim()),
            );
        }
        Ok(Value::Number(arithmetic::convert(e, from, to, &|local| self.room(local))))
    }

    /// What fits into a variable.
    pub fn room(&self, local: LocalId) -> Integer {
        self.kinds[local.0 as usize].integer().unwrap_or(Integer::LONG)
    }

    fn cast(&mut self, value: Value, from: &Type, to: Type, span: Span) -> Result<(Value, Type), Error> {
        match (&to.kind, &value) {
            (Kind::Void, _) => return Ok((Value::Number(Expr::Int(0)), to)),
            (Kind::Pointer(_), Value::Pointer(spot)) => {
                // The place keeps its type, whatever the pointer is called.
                let is_same = to.pointee().map(|t| &t.kind) == Some(&spot.ty.kind);
                let is_void = to.pointee().is_some_and(|t| t.kind == Kind::Void);
                if !is_same && !is_void {
                    let (a, b) = (self.show(&spot.ty), self.show(&to));
                    return self.error(
                        span,
                        format!("a place of type `{a}` can't be seen through a `{}`", b.trim()),
                    );
                }
            }
            (Kind::Pointer(_), Value::Number(e))
                if e.clone() != Expr::Int(0)
                    && to.struct_pointee().zip(from.struct_pointee()).is_some_and(|(a, b)| a != b) =>
            {
                let (a, b) = (self.show(from), self.show(&to));
                return self.error(
                    span,
                    format!(
                        "a `{}` can't be seen as a `{}`: use one type for one record",
                        a.trim(),
                        b.trim()
                    ),
                );
            }
            (Kind::Struct(_) | Kind::Array(..) | Kind::Function, _) => {
                let (a, b) = (self.show(from), self.show(&to));
                return self.error(span, format!("`{a}` can't become `{b}`"));
            }
            _ => {}
        }
        Ok((self.converted(value, from, &to, span)?, to.unqualified()))
    }

    fn conditional(&mut self, c: &ConditionalExpression, span: Span) -> Result<(Value, Type), Error> {
        let joined = |a: &Type, b: &Type| match (&a.kind, &b.kind) {
            (Kind::Bool | Kind::Int { .. }, Kind::Bool | Kind::Int { .. }) => arithmetic::common(a, b),
            (Kind::Pointer(to), _) if to.kind != Kind::Void => a.clone(),
            _ if b.is_scalar() => b.clone(),
            _ => a.clone(),
        };
        let condition = self.condition(&c.condition)?;
        if let Expr::Int(n) = condition {
            let (taken, other) = (&c.then_expression, &c.else_expression);
            let (taken, other) = if n != 0 { (taken, other) } else { (other, taken) };
            let other = self.type_of(other)?;
            let (value, from) = self.value(taken)?;
            let ty = joined(&from, &other);
            return Ok((self.converted(value, &from, &ty, span)?, ty));
        }
        let (mut then, (yes, a)) = self.block(|s| s.value(&c.then_expression))?;
        let (mut otherwise, (no, b)) = self.block(|s| s.value(&c.else_expression))?;
        let ty = joined(&a, &b);
        if ty.kind == Kind::Void {
            self.emit(Statement::If { condition, then, otherwise });
            return Ok((Value::Number(Expr::Int(0)), ty));
        }
        let (yes, no) = match (yes, no) {
            (Value::Pointer(a), Value::Pointer(b)) if a.is_like(&b) && a.base == b.base => {
                let to = self.temporary(&Type::difference());
                for (block, index) in [(&mut then, &a.index), (&mut otherwise, &b.index)] {
                    block.extend(index.clone().map(|value| Statement::Assign { to, value }));
                }
                self.emit(Statement::If { condition, then, otherwise });
                let index = a.index.as_ref().map(|_| Expr::Local(to));
                return Ok((Value::Pointer(Spot { index, ..a }), ty));
            }
            (yes, no) => (self.stored(yes, &a, &ty, span)?, self.stored(no, &b, &ty, span)?),
        };
        let to = self.temporary(&ty);
        then.push(Statement::Assign { to, value: yes });
        otherwise.push(Statement::Assign { to, value: no });
        self.emit(Statement::If { condition, then, otherwise });
        Ok((Value::Number(Expr::Local(to)), ty))
    }

    /// `a && b` and `a || b`: a branch only if `b` does something.
    fn logical(
        &mut self,
        is_and: bool,
        a: &Node<Expression>,
        b: &Node<Expression>,
    ) -> Result<(Value, Type), Error> {
        let left = self.condition(a)?;
        let (effects, right) = self.block(|s| s.condition(b))?;
        let op = if is_and { Operator::Both } else { Operator::Either };
        let value = match (&left, effects.is_empty()) {
            (_, true) => fold::binary(op, fold::truth(left), fold::truth(right)),
            (Expr::Int(n), _) if (*n != 0) == is_and => {
                effects.into_iter().for_each(|s| self.emit(s));
                fold::truth(right)
            }
            (Expr::Int(_), _) => Expr::Int((!is_and).into()),
            _ => {
                let to = self.temporary(&Type::plain(Kind::Bool));
                let mut on_right = effects;
                on_right.push(Statement::Assign { to, value: fold::truth(right) });
                let on_left = vec![Statement::Assign { to, value: Expr::Int((!is_and).into()) }];
                let (then, otherwise) = if is_and { (on_right, on_left) } else { (on_left, on_right) };
                self.emit(Statement::If { condition: left, then, otherwise });
                Expr::Local(to)
            }
        };
        Ok((Value::Number(value), Type::int()))
    }

    fn unary(
        &mut self,
        op: &UnaryOperator,
        operand: &Node<Expression>,
        whole: &Node<Expression>,
    ) -> Result<(Value, Type), Error> {
        let step = |op, is_after| Some((op, is_after));
        let stepping = match op {
            UnaryOperator::PostIncrement => step(Operator::Add, true),
            UnaryOperator::PostDecrement => step(Operator::Sub, true),
            UnaryOperator::PreIncrement => step(Operator::Add, false),
            UnaryOperator::PreDecrement => step(Operator::Sub, false),
            _ => None,
        };
        if let Some((op, is_after)) = stepping {
            return self.step(op, operand, is_after, whole.span);
        }
        match op {
            UnaryOperator::Address => {
                if let Expression::Identifier(name) = &operand.node
                    && let Some(Binding::Fixed(Value::Pointer(_), _)) = self.lookup(&name.node.name)
                {
                    return self.error(whole.span, "pointers to pointers to the object aren't modelled");
                }
                let spot = self.spot(operand)?;
                Ok(self.address(spot))
            }
            UnaryOperator::Indirection => {
                let spot = self.spot(whole)?;
                self.load(spot, whole.span)
            }
            UnaryOperator::Negate => {
                let e = self.condition(operand)?;
                Ok((Value::Number(fold::not(e)), Type::int()))
            }
            _ => {
                let (e, ty) = self.number(operand)?;
                if ty.pointee().is_some() || !ty.is_scalar() {
                    return self.error(whole.span, "this isn't a number");
                }
                let room = |local| self.room(local);
                let made = match op {
                    UnaryOperator::Minus => arithmetic::minus(e, &ty, &room),
                    UnaryOperator::Complement => arithmetic::complement(e, &ty, &room),
                    _ => Ok((e, arithmetic::promoted(&ty))),
                };
                match made {
                    Ok((e, ty)) => Ok((Value::Number(e), ty)),
                    Err(message) => self.error(whole.span, message),
                }
            }
        }
    }

    /// The type of an expression that is not evaluated.
    pub fn type_of(&mut self, e: &Node<Expression>) -> Result<Type, Error> {
        // What evaluation emits, and the variables that it makes, are thrown away.
        let (locals, client, size) = (self.locals.len(), self.client.clone(), self.size);
        let label = self.reader.next_label;
        let (_, ty) = self.block(|s| match Self::is_place(&e.node) {
            true => match &e.node {
                Expression::Identifier(name) => match s.lookup(&name.node.name) {
                    Some(Binding::Local(_, ty) | Binding::Fixed(_, ty)) => Ok(ty.clone()),
                    Some(Binding::Aim(aim)) => Ok(s.aims[*aim].ty.clone()),
                    _ => Ok(s.spot(e)?.ty),
                },
                Expression::UnaryOperator(u) => {
                    let pointer = s.type_of(&u.node.operand)?;
                    match pointer.kind {
                        Kind::Pointer(to) | Kind::Array(to, _) => Ok(*to),
                        _ => s.error(e.span, "this isn't a pointer"),
                    }
                }
                _ => Ok(s.spot(e)?.ty),
            },
            false => Ok(s.value(e)?.1),
        })?;
        self.locals.truncate(locals);
        self.kinds.truncate(locals);
        self.client = client;
        self.size = size;
        self.reader.next_label = label;
        Ok(ty)
    }
}
