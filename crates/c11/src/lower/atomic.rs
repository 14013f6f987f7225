//! The generic functions of `<stdatomic.h>`.

use lang_c::ast::Expression;
use lang_c::span::{Node, Span};

use super::Lowering;
use super::place::{Root, Spot, Value};
use crate::arithmetic;
use crate::code::{AccessKind, Expr, LocalId, Mode, Update, order_name};
use crate::error::Error;
use crate::types::{Kind, Type};

/// What an order is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Load,
    Store,
    Both,
}

impl Lowering<'_, '_> {
    /// A call of one of them.
    pub fn atomic(
        &mut self,
        name: &str,
        arguments: &[Node<Expression>],
        span: Span,
    ) -> Result<(Value, Type), Error> {
        let nothing = || Ok((Value::Number(Expr::Int(0)), Type::plain(Kind::Void)));
        let (short, is_explicit) = match name.strip_suffix("_explicit") {
            Some(short) => (short, true),
            None => (name, false),
        };
        if let Some((update, count)) = updating(short) {
            self.count(name, arguments, count + usize::from(is_explicit), span)?;
            let order = self.order(arguments.get(count), Use::Both)?;
            return self.fetch(short, update, arguments, order, span);
        }
        match short {
            "atomic_thread_fence" if !is_explicit => {
                self.count(name, arguments, 1, span)?;
                let order = self.order(arguments.first(), Use::Both)?;
                if order != Mode::Relaxed {
                    self.access(span, AccessKind::Fence { order })?;
                }
                nothing()
            }
            "atomic_load" => {
                self.count(name, arguments, 1 + usize::from(is_explicit), span)?;
                let spot = self.object(&arguments[0])?;
                let order = self.order(arguments.get(1), Use::Load)?;
                let (ty, place) = (spot.ty.unqualified(), self.place(&spot, span)?);
                let to = self.temporary(&ty);
                self.access(span, AccessKind::Load { to, place, order })?;
                Ok((Value::Number(Expr::Local(to)), ty))
            }
            "atomic_store" | "atomic_init" => {
                self.count(name, arguments, 2 + usize::from(is_explicit), span)?;
                let spot = self.object(&arguments[0])?;
                let value = self.operand(&arguments[1], &spot.ty)?;
                // Initialisation is no atomic access (C11 7.17.2.2).
                let order = match short {
                    "atomic_init" => Mode::NonAtomic,
                    _ => self.order(arguments.get(2), Use::Store)?,
                };
                let place = self.place(&spot, span)?;
                self.access(span, AccessKind::Store { place, value, order })?;
                nothing()
            }
            "atomic_flag_clear" => {
                self.count(name, arguments, 1 + usize::from(is_explicit), span)?;
                let spot = self.object(&arguments[0])?;
                let order = self.order(arguments.get(1), Use::Store)?;
                let place = self.place(&spot, span)?;
                self.access(span, AccessKind::Store { place, value: Expr::Int(0), order })?;
                nothing()
            }
            "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak" => {
                self.count(name, arguments, 3 + 2 * usize::from(is_explicit), span)?;
                self.compare_exchange(short.ends_with("weak"), arguments, span)
            }
            _ => self.error(span, format!("`{name}` isn't known: take the functions of C11's <stdatomic.h>")),
        }
    }

    fn count(
        &self,
        name: &str,
        arguments: &[Node<Expression>],
        wanted: usize,
        span: Span,
    ) -> Result<(), Error> {
        match arguments.len() {
            given if given == wanted => Ok(()),
            given => {
                self.error(span, format!("`{name}` takes another number of arguments: {wanted}, not {given}"))
            }
        }
    }

    /// The atomic object that an argument points to.
    fn object(&mut self, e: &Node<Expression>) -> Result<Spot, Error> {
        let (value, ty) = self.value(e)?;
        let spot = self.pointed(value, &ty, e.span)?;
        if matches!(spot.root, Root::Local(_)) {
            return self.error(e.span, "this atomic object isn't in shared memory of the library");
        }
        if !spot.ty.is_atomic {
            let shown = self.show(&spot.ty);
            return self.error(e.span, format!("this object has the type `{shown}`, which isn't atomic"));
        }
        Ok(spot)
    }

    fn operand(&mut self, e: &Node<Expression>, ty: &Type) -> Result<Expr, Error> {
        let (value, from) = self.value(e)?;
        self.stored(value, &from, ty, e.span)
    }

    /// The order that an argument gives; seq_cst where there is none.
    fn order(&mut self, e: Option<&Node<Expression>>, wanted: Use) -> Result<Mode, Error> {
        let Some(e) = e else { return Ok(Mode::SeqCst) };
        let (value, _) = self.number(e)?;
        let order = match value {
            Expr::Int(0) => Mode::Relaxed,
            Expr::Int(1 | 2) => Mode::Acquire,
            Expr::Int(3) => Mode::Release,
            Expr::Int(4) => Mode::AcqRel,
            Expr::Int(5) => Mode::SeqCst,
            _ => return self.error(e.span, "the memory order must be one of the constants memory_order_…"),
        };
        let is_wrong = match wanted {
            Use::Load => matches!(order, Mode::Release | Mode::AcqRel),
            Use::Store => matches!(order, Mode::Acquire | Mode::AcqRel),
            Use::Both => false,
        };
        match (is_wrong, wanted) {
            (false, _) => Ok(order),
            (true, Use::Store) => self.error(e.span, format!("a store can't be {}", order_name(order))),
            (true, _) => self.error(e.span, format!("a load can't be {}", order_name(order))),
        }
    }

    fn fetch(
        &mut self,
        name: &str,
        update: Update,
        arguments: &[Node<Expression>],
        order: Mode,
        span: Span,
    ) -> Result<(Value, Type), Error> {
        let spot = self.object(&arguments[0])?;
        let operand = match name {
            "atomic_flag_test_and_set" => Expr::Int(1),
            "atomic_exchange" => self.operand(&arguments[1], &spot.ty)?,
            _ => {
                let (operand, from) = self.number(&arguments[1])?;
                self.update_operand(update, operand, &from, &spot.ty, span)?
            }
        };
        let (ty, place) = (spot.ty.unqualified(), self.place(&spot, span)?);
        let to = self.temporary(&ty);
        let integer = self.room(to);
        self.access(span, AccessKind::Rmw { to: Some(to), place, update, integer, operand, order })?;
        Ok((Value::Number(Expr::Local(to)), ty))
    }

    /// The operand of an update, in the type of the object: the lowest bits of the result hang on its lowest bits only.
    pub fn update_operand(
        &self,
        update: Update,
        operand: Expr,
        from: &Type,
        ty: &Type,
        span: Span,
    ) -> Result<Expr, Error> {
        if from.pointee().is_some() || !from.is_scalar() {
            return self.error(span, "the operand must be a number");
        }
        let converted = arithmetic::convert(operand.clone(), from, ty, &|local| self.room(local));
        match (&ty.kind, update) {
            (Kind::Pointer(_), _) => {
                self.error(span, "arithmetic on atomic pointers isn't modelled: use an atomic index")
            }
            (Kind::Bool, Update::Add | Update::Sub) => {
                self.error(span, "arithmetic on a `_Bool` isn't modelled: use atomic_int")
            }
            (Kind::Bool, Update::And | Update::Xor) if converted != operand => {
                self.error(span, "this operand of a `_Bool` must be 0 or 1")
            }
            _ => Ok(converted),
        }
    }

    fn compare_exchange(
        &mut self,
        is_weak: bool,
        arguments: &[Node<Expression>],
        span: Span,
    ) -> Result<(Value, Type), Error> {
        let spot = self.object(&arguments[0])?;
        let found = self.expected(&arguments[1])?;
        let variable = &self.kinds[found.0 as usize];
        let are_pointers = matches!((variable, &spot.ty.kind), (Kind::Pointer(_), Kind::Pointer(_)));
        if *variable != spot.ty.kind && !are_pointers {
            let (a, b) = (self.show(&Type::plain(variable.clone())), self.show(&spot.ty.unqualified()));
            return self.error(
                arguments[1].span,
                format!("the expected value is in a `{a}`, and the object is a `{b}`: use the same type"),
            );
        }
        let desired = self.operand(&arguments[2], &spot.ty)?;
        let success = self.order(arguments.get(3), Use::Both)?;
        let failure = self.order(arguments.get(4), Use::Load)?;
        let place = self.place(&spot, span)?;
        let succeeded = self.temporary(&Type::plain(Kind::Bool));
        self.access(
            span,
            AccessKind::Cas {
                succeeded: Some(succeeded),
                found: Some(found),
                place,
                expected: Expr::Local(found),
                desired,
                success,
                failure,
                is_weak,
                is_blocking: false,
            },
        )?;
        Ok((Value::Number(Expr::Local(succeeded)), Type::plain(Kind::Bool)))
    }

    /// The variable that `&expected` names.
    fn expected(&mut self, e: &Node<Expression>) -> Result<LocalId, Error> {
        let (value, ty) = self.value(e)?;
        match self.pointed(value, &ty, e.span)?.root {
            Root::Local(local) => {
                for (memory, is_read) in &mut self.client {
                    *is_read |= *memory == local;
                }
                Ok(local)
            }
            _ => self.error(e.span, "the expected value must be in a local variable"),
        }
    }
}

/// Functions that read and write at once, and how many arguments stand before the order.
fn updating(name: &str) -> Option<(Update, usize)> {
    Some(match name {
        "atomic_exchange" => (Update::Exchange, 2),
        "atomic_fetch_add" => (Update::Add, 2),
        "atomic_fetch_sub" => (Update::Sub, 2),
        "atomic_fetch_or" => (Update::Or, 2),
        "atomic_fetch_and" => (Update::And, 2),
        "atomic_fetch_xor" => (Update::Xor, 2),
        "atomic_flag_test_and_set" => (Update::Exchange, 1),
        _ => return None,
    })
}
