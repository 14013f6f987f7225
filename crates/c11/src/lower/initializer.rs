//! Initial values of global variables, as stores that a setup function would make.

use lang_c::ast::{Designator, Initializer, InitializerListItem};
use lang_c::span::{Node, Span};

use super::Lowering;
use super::place::{Root, Spot};
use crate::code::{Expr, Method};
use crate::declare::Reader;
use crate::error::Error;
use crate::types::Kind;

/// A method that gives all global variables their initial values.
pub fn initializers(reader: &mut Reader) -> Result<Method, Error> {
    let site = crate::code::Site::default();
    let globals = reader.globals.clone();
    let mut lowering = Lowering::new(reader, "%initial", true);
    for global in globals {
        if let (Some(initializer), None) = (global.initializer, global.constant) {
            let spot = Spot::new(Root::Global(global.name), global.ty);
            let spot = lowering.settled(spot);
            lowering.initialise(spot, &initializer.node, initializer.span)?;
        }
    }
    let Lowering { locals, out, .. } = lowering;
    Ok(Method {
        name: "%initial".to_owned(),
        parameters: Vec::new(),
        locals,
        body: out,
        returns: false,
        site,
    })
}

impl Lowering<'_, '_> {
    fn initialise(&mut self, spot: Spot, initializer: &Initializer, span: Span) -> Result<(), Error> {
        match (initializer, &spot.ty.kind) {
            (Initializer::Expression(e), _) => {
                let (value, from) = self.value(e)?;
                let value = self.stored(value, &from, &spot.ty, e.span)?;
                let plain = Spot { ty: spot.ty.unqualified(), ..spot.clone() };
                self.place(&spot, span)?;
                self.store(&plain, value, span)
            }
            (Initializer::List(items), Kind::Struct(s)) => {
                let fields = self.reader.structs.0[*s].fields.clone().unwrap_or_default();
                self.each(items, |l, item, next, designator| {
                    let at = match designator {
                        None => Some(next),
                        Some(Designator::Member(name)) => {
                            fields.iter().position(|(n, _)| *n == name.node.name)
                        }
                        Some(_) => None,
                    };
                    let Some((at, (name, _))) = at.and_then(|at| Some((at, fields.get(at)?))) else {
                        return l.error(item.span, "there is no such field");
                    };
                    let field = l.field(spot.clone(), name, item.span)?;
                    l.initialise(field, &item.node.initializer.node, item.span)?;
                    Ok(at + 1)
                })
            }
            (Initializer::List(items), Kind::Array(..)) => self.each(items, |l, item, next, designator| {
                let at = match designator {
                    None => next as i128,
                    Some(Designator::Index(e)) => l.reader.constant(e)?,
                    Some(_) => return l.error(item.span, "an index must stand here"),
                };
                let (value, ty) = l.first_cell(spot.clone());
                let (value, ty) = l.shifted(value, ty, Expr::Int(at), item.span)?;
                let cell = l.pointed(value, &ty, item.span)?;
                l.initialise(cell, &item.node.initializer.node, item.span)?;
                Ok(usize::try_from(at).unwrap_or(0) + 1)
            }),
            (Initializer::List(items), _) => match &items[..] {
                [item] => self.initialise(spot, &item.node.initializer.node, span),
                _ => self.error(span, "a single value must stand here"),
            },
        }
    }

    /// Calls `with` for each item, with the position that comes next and its designator.
    fn each(
        &mut self,
        items: &[Node<InitializerListItem>],
        mut with: impl FnMut(
            &mut Self,
            &Node<InitializerListItem>,
            usize,
            Option<&Designator>,
        ) -> Result<usize, Error>,
    ) -> Result<(), Error> {
        let mut next = 0;
        for item in items {
            let designator = match &item.node.designation[..] {
                [] => None,
                [one] => Some(&one.node),
                _ => return self.error(item.span, "nested designators aren't understood: use nested braces"),
            };
            next = with(self, item, next, designator)?;
        }
        Ok(())
    }
}
