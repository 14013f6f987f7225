//! Assignments, compound assignments, `++` and `--`.

use lang_c::ast::{Expression, Initializer};
use lang_c::span::{Node, Span};

use super::place::{Root, Spot, Value};
use super::{Binding, Lowering};
use crate::code::{AccessKind, Expr, Mode, Operator, Update};
use crate::error::Error;
use crate::fold;
use crate::types::{Kind, Type};

impl<'a> Lowering<'_, 'a> {
    /// `to = from`.
    pub fn assign(
        &mut self,
        to: &Node<Expression>,
        from: &Node<Expression>,
        span: Span,
    ) -> Result<(Value, Type), Error> {
        if let Some(aim) = self.aim_of(to) {
            let (value, _) = self.value(from)?;
            self.aim(aim, value, span)?;
            return Ok((self.aimed(aim, span)?, self.aims[aim].ty.clone()));
        }
        if let Expression::CompoundLiteral(literal) = &from.node {
            let spot = self.spot(to)?;
            let ty = spot.ty.clone();
            self.fill(&spot, &literal.node.initializer_list, span)?;
            return Ok((Value::Number(Expr::Int(0)), ty));
        }
        let spot = self.target(to)?;
        let (value, from_ty) = self.value(from)?;
        let value = self.stored(value, &from_ty, &spot.ty, from.span)?;
        let ty = spot.ty.unqualified();
        self.store(&spot, value.clone(), span)?;
        // A load straight into the variable leaves no temporary one to speak of.
        let value = if let Root::Local(local) = spot.root { Expr::Local(local) } else { value };
        Ok((Value::Number(value), ty))
    }

    /// A place that is written.
    fn target(&mut self, e: &Node<Expression>) -> Result<Spot, Error> {
        if let Expression::Identifier(name) = &e.node
            && let Some(Binding::Fixed(..)) = self.lookup(&name.node.name)
        {
            return self.error(
                e.span,
                format!("assigning to the pointer parameter `{}` isn't modelled", name.node.name),
            );
        }
        self.spot(e)
    }

    /// The number that is stored in something of this type.
    pub fn stored(&mut self, value: Value, from: &Type, ty: &Type, span: Span) -> Result<Expr, Error> {
        if !ty.is_scalar() {
            let shown = self.show(ty);
            return self
                .error(span, format!("a whole `{shown}` can't be read or written at once: use its fields"));
        }
        let value = self.converted(value, from, ty, span)?;
        self.as_number(value, span)
    }

    /// The variable, if the expression is a pointer that may be aimed.
    fn aim_of(&self, e: &Node<Expression>) -> Option<usize> {
        match &e.node {
            Expression::Identifier(name) => match self.lookup(&name.node.name) {
                Some(Binding::Aim(aim)) => Some(*aim),
                _ => None,
            },
            _ => None,
        }
    }

    /// Writes the fields of a struct from a list; those that are not mentioned become 0.
    fn fill(
        &mut self,
        spot: &Spot,
        list: &[Node<lang_c::ast::InitializerListItem>],
        span: Span,
    ) -> Result<(), Error> {
        let Kind::Struct(s) = spot.ty.kind else {
            return self.error(span, "compound literals are understood for structs only");
        };
        let fields = self.reader.structs.0[s].fields.clone().unwrap_or_default();
        let mut values: Vec<Option<&Node<Expression>>> = vec![None; fields.len()];
        let mut next = 0;
        for item in list {
            if let [designator] = &item.node.designation[..] {
                let lang_c::ast::Designator::Member(name) = &designator.node else {
                    return self.error(designator.span, "a field must be named here");
                };
                match fields.iter().position(|(n, _)| *n == name.node.name) {
                    Some(found) => next = found,
                    None => return self.error(name.span, format!("there is no field `{}`", name.node.name)),
                }
            } else if !item.node.designation.is_empty() {
                return self
                    .error(item.span, "nested designators aren't understood: assign the fields one by one");
            }
            let Initializer::Expression(e) = &item.node.initializer.node else {
                return self.error(item.span, "nested lists aren't understood: assign the fields one by one");
            };
            match values.get_mut(next) {
                Some(slot) => *slot = Some(e),
                None => return self.error(item.span, "there are too many values"),
            }
            next += 1;
        }
        // All values are there before the first field is written: they may be read from the struct itself.
        let mut written = Vec::new();
        for ((name, _), value) in fields.iter().zip(values) {
            let field = self.field(spot.clone(), name, span)?;
            written.push(match value {
                Some(e) => {
                    let (value, from) = self.value(e)?;
                    let value = self.stored(value, &from, &field.ty, e.span)?;
                    (field, value, e.span)
                }
                None => (field, Expr::Int(0), span),
            });
        }
        for (field, value, span) in written {
            // Initialisation is no atomic access.
            let plain = Spot { ty: field.ty.unqualified(), ..field.clone() };
            self.place(&field, span)?;
            self.store(&plain, value, span)?;
        }
        Ok(())
    }

    /// `place op= e`.
    pub fn update(
        &mut self,
        op: Operator,
        to: &Node<Expression>,
        from: &Node<Expression>,
        span: Span,
    ) -> Result<(Value, Type), Error> {
        let operand = self.value(from)?;
        self.change(op, to, operand, false, span)
    }

    /// `++` and `--`.
    pub fn step(
        &mut self,
        op: Operator,
        to: &Node<Expression>,
        is_after: bool,
        span: Span,
    ) -> Result<(Value, Type), Error> {
        self.change(op, to, (Value::Number(Expr::Int(1)), Type::int()), is_after, span)
    }

    fn change(
        &mut self,
        op: Operator,
        to: &Node<Expression>,
        operand: (Value, Type),
        wants_old: bool,
        span: Span,
    ) -> Result<(Value, Type), Error> {
        if let Some(aim) = self.aim_of(to) {
            let old = (self.aimed(aim, span)?, self.aims[aim].ty.clone());
            if wants_old {
                return self.error(
                    span,
                    "the value of `++` on a pointer isn't modelled: write it as a statement of its own",
                );
            }
            let (value, ty) = self.arithmetic(op, old, operand, span)?;
            self.aim(aim, value, span)?;
            return Ok((self.aimed(aim, span)?, ty));
        }
        let spot = self.target(to)?;
        if spot.ty.is_atomic && !matches!(spot.root, Root::Local(_)) {
            return self.change_atomic(op, &spot, operand, wants_old, span);
        }
        let (old, ty) = self.load(spot.clone(), span)?;
        let old = if wants_old && matches!(spot.root, Root::Local(_)) {
            let old = self.as_number(old, span)?;
            Value::Number(self.snapshot(old, &ty))
        } else {
            old
        };
        let (new, from) = self.arithmetic(op, (old.clone(), ty.clone()), operand, span)?;
        let new = self.stored(new, &from, &spot.ty, span)?;
        self.store(&spot, new.clone(), span)?;
        let new = if let Root::Local(local) = spot.root { Expr::Local(local) } else { new };
        Ok((if wants_old { old } else { Value::Number(new) }, ty))
    }

    /// Operators on atomic objects are seq_cst read-modify-writes.
    fn change_atomic(
        &mut self,
        op: Operator,
        spot: &Spot,
        (operand, operand_ty): (Value, Type),
        wants_old: bool,
        span: Span,
    ) -> Result<(Value, Type), Error> {
        let update =
            match op {
                Operator::Add => Update::Add,
                Operator::Sub => Update::Sub,
                Operator::And => Update::And,
                Operator::Or => Update::Or,
                Operator::Xor => Update::Xor,
                _ => return self.error(
                    span,
                    "this operator on an atomic object isn't modelled: write the loop with compare-exchange",
                ),
            };
        let ty = spot.ty.unqualified();
        let operand = self.as_number(operand, span)?;
        let operand = self.update_operand(update, operand, &operand_ty, &ty, span)?;
        let place = self.place(spot, span)?;
        let to = self.temporary(&ty);
        let (integer, order) = (self.room(to), Mode::SeqCst);
        self.access(
            span,
            AccessKind::Rmw { to: Some(to), place, update, integer, operand: operand.clone(), order },
        )?;
        if wants_old {
            return Ok((Value::Number(Expr::Local(to)), ty));
        }
        let new = fold::binary(op, Expr::Local(to), operand);
        let new = if matches!(update, Update::Add | Update::Sub) { fold::wrap(integer, new) } else { new };
        Ok((Value::Number(new), ty))
    }
}
