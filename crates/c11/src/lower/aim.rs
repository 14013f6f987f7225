//! Pointers that are aimed at fields and cells: which class is known, the index is a variable.

use lang_c::span::Span;

use super::place::{Spot, Value};
use super::{Binding, Lowering};
use crate::code::{Expr, LocalId};
use crate::error::Error;
use crate::types::{Kind, Type};

/// A pointer variable whose use decides what it is.
#[derive(Clone, Debug)]
pub struct Aim {
    pub name: String,
    pub ty: Type,
    /// The number, or the index of the cell.
    local: Option<LocalId>,
    /// The address of the record.
    base: Option<LocalId>,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Undecided,
    Number,
    Spot(Spot),
}

impl Lowering<'_, '_> {
    /// Declares a variable of scalar type.
    pub fn declare(&mut self, name: &str, ty: &Type) {
        let is_aim = match ty.pointee().map(|to| &to.kind) {
            Some(Kind::Void) | None => false,
            Some(Kind::Struct(s)) => !self.reader.linked.contains(s),
            Some(_) => true,
        };
        let binding = if is_aim {
            let aim = Aim {
                name: name.to_owned(),
                ty: ty.clone(),
                local: None,
                base: None,
                state: State::Undecided,
            };
            self.aims.push(aim);
            Binding::Aim(self.aims.len() - 1)
        } else {
            Binding::Local(self.local(name, ty), ty.clone())
        };
        self.bind(name, binding);
    }

    /// The value of such a pointer.
    pub fn aimed(&self, aim: usize, span: Span) -> Result<Value, Error> {
        let aim = &self.aims[aim];
        match (&aim.state, aim.local) {
            (State::Spot(spot), _) => Ok(Value::Pointer(spot.clone())),
            (State::Number, Some(local)) => Ok(Value::Number(Expr::Local(local))),
            _ => self.error(span, format!("`{}` has no value yet", aim.name)),
        }
    }

    /// Gives it a value.
    pub fn aim(&mut self, id: usize, value: Value, span: Span) -> Result<(), Error> {
        let Aim { name, ty, local, base, state } = self.aims[id].clone();
        match (state, value) {
            (State::Undecided | State::Number, Value::Number(value)) => {
                let local = local.unwrap_or_else(|| self.local(&name, &ty));
                self.aims[id].local = Some(local);
                self.aims[id].state = State::Number;
                self.set(local, value);
                Ok(())
            }
            (State::Undecided, Value::Pointer(spot)) => self.hold(id, spot),
            (State::Spot(old), Value::Pointer(spot)) if old.is_like(&spot) => {
                self.aims[id].base = base;
                self.hold(id, spot)
            }
            (State::Spot(_), Value::Number(Expr::Int(0))) | (State::Number, Value::Pointer(_)) => self.error(
                span,
                format!("`{name}` points into memory that isn't a record, and may be NULL: use an index in place of the pointer"),
            ),
            _ => self.error(
                span,
                format!("`{name}` points to places of different kinds: use one pointer for each kind"),
            ),
        }
    }

    fn hold(&mut self, id: usize, mut spot: Spot) -> Result<(), Error> {
        let Aim { name, ty, mut local, mut base, .. } = self.aims[id].clone();
        if let Some(address) = spot.base.take() {
            let to = base.unwrap_or_else(|| self.local(&format!("{name}.base"), &Type::void_pointer()));
            self.set(to, address);
            base = Some(to);
            spot.base = Some(Expr::Local(to));
        }
        if let Some(index) = spot.index.take() {
            let to = local.unwrap_or_else(|| self.local(&name, &Type::difference()));
            self.set(to, index);
            local = Some(to);
            spot.index = Some(Expr::Local(to));
        }
        self.aims[id] = Aim { name, ty, local, base, state: State::Spot(spot) };
        Ok(())
    }
}
