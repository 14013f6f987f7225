//! Places: which class of locations, which record, which cell.

use lang_c::ast::{BinaryOperator, Expression, MemberExpression, MemberOperator, UnaryOperator};
use lang_c::span::{Node, Span};

use super::{Binding, Lowering};
use crate::code::{AccessKind, Class, Expr, Integer, LocalId, Mode, Operator, Place, RecordId, Statement};
use crate::declare::STRIDE;
use crate::error::Error;
use crate::fold;
use crate::types::{Kind, Type};

/// A value of C.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A number, or the address of a record.
    Number(Expr),
    /// The address of something that isn't a record: known up to record and cell.
    Pointer(Spot),
}

/// Something that can be read and written, or a part of memory that contains such things.
#[derive(Clone, PartialEq, Debug)]
pub struct Spot {
    /// Where the path begins.
    pub root: Root,
    /// Address of the record.
    pub base: Option<Expr>,
    /// Index of the cell, of all arrays along the path together.
    pub index: Option<Expr>,
    /// Number of cells, if there is an array along the path.
    pub cells: Option<Option<u64>>,
    /// `.next`, `[].sequence`.
    pub path: String,
    /// The type of the object that it denotes.
    pub ty: Type,
}

/// Where a path begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Root {
    /// A variable of the method.
    Local(LocalId),
    /// A global variable.
    Global(String),
    /// The library's object.
    Object,
    /// A record.
    Record(RecordId),
}

impl Spot {
    /// A whole root.
    pub fn new(root: Root, ty: Type) -> Self {
        Spot { root, base: None, index: None, cells: None, path: String::new(), ty }
    }

    /// The library's object as a whole.
    pub fn object(ty: Type) -> Self {
        Spot::new(Root::Object, ty)
    }

    /// A variable.
    pub fn local(local: LocalId, ty: Type) -> Self {
        Spot::new(Root::Local(local), ty)
    }

    /// The same but for record and cell?
    pub fn is_like(&self, other: &Spot) -> bool {
        self.root == other.root && self.path == other.path && self.ty == other.ty
    }
}

impl<'a> Lowering<'_, 'a> {
    /// Is this an expression that names a place?
    pub fn is_place(e: &Expression) -> bool {
        match e {
            Expression::Identifier(_) | Expression::Member(_) => true,
            Expression::UnaryOperator(u) => u.node.operator.node == UnaryOperator::Indirection,
            Expression::BinaryOperator(b) => b.node.operator.node == BinaryOperator::Index,
            _ => false,
        }
    }

    /// The place that an expression names.
    pub fn spot(&mut self, e: &Node<Expression>) -> Result<Spot, Error> {
        match &e.node {
            Expression::Identifier(name) => self.named_spot(&name.node.name, e.span),
            Expression::Member(member) => self.member(&member.node, e.span),
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Indirection => {
                let (value, ty) = self.value(&u.node.operand)?;
                self.pointed(value, &ty, e.span)
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                let (value, ty) = self.value(&b.node.lhs)?;
                let (offset, _) = self.number(&b.node.rhs)?;
                let (value, ty) = self.shifted(value, ty, offset, e.span)?;
                self.pointed(value, &ty, e.span)
            }
            _ => self.error(e.span, "this has no place in memory"),
        }
    }

    fn named_spot(&mut self, name: &str, span: Span) -> Result<Spot, Error> {
        let global = match self.lookup(name) {
            Some(Binding::Local(local, ty)) => return Ok(Spot::local(*local, ty.clone())),
            Some(Binding::Fixed(..)) => {
                return self
                    .error(span, format!("`{name}` is a parameter whose address can't be taken here"));
            }
            Some(Binding::Aim(_)) => {
                return self.error(span, format!("pointers to the pointer `{name}` aren't modelled"));
            }
            Some(Binding::Static(global)) => global.clone(),
            None => name.to_owned(),
        };
        match self.reader.global(&global) {
            Some(found) => {
                let spot = Spot::new(Root::Global(found.name.clone()), found.ty.clone());
                Ok(self.settled(spot))
            }
            None if self.reader.function(name).is_some() => {
                self.error(span, "function pointers aren't modelled: name the function")
            }
            None => self.error(span, format!("`{name}` isn't declared")),
        }
    }

    fn member(&mut self, member: &MemberExpression, span: Span) -> Result<Spot, Error> {
        let whole = match member.operator.node {
            MemberOperator::Direct => self.spot(&member.expression)?,
            MemberOperator::Indirect => {
                let (value, ty) = self.value(&member.expression)?;
                self.pointed(value, &ty, span)?
            }
        };
        self.field(whole, &member.identifier.node.name, span)
    }

    /// A field of a struct.
    pub fn field(&mut self, whole: Spot, name: &str, span: Span) -> Result<Spot, Error> {
        let ty = match whole.ty.kind {
            Kind::Struct(s) => self.reader.structs.field(s, name).cloned(),
            _ => None,
        };
        let Some(ty) = ty else {
            let shown = self.show(&whole.ty);
            return self.error(span, format!("`{shown}` has no field `{name}`"));
        };
        let spot = Spot { path: format!("{}.{name}", whole.path), ty, ..whole };
        Ok(self.settled(spot))
    }

    /// What a pointer points to.
    pub fn pointed(&mut self, value: Value, ty: &Type, span: Span) -> Result<Spot, Error> {
        let Some(to) = ty.pointee() else {
            let shown = self.show(ty);
            return self.error(span, format!("`{shown}` isn't a pointer"));
        };
        match (value, &to.kind) {
            (Value::Pointer(spot), _) => Ok(spot),
            (Value::Number(_), Kind::Struct(s)) if Some(*s) == self.reader.object => self.error(
                span,
                "this pointer to the library's object isn't the method's parameter: pass the parameter on",
            ),
            (Value::Number(Expr::Int(0)), _) => self.error(span, "this is always NULL"),
            (Value::Number(base), Kind::Struct(s)) => {
                let root = Root::Record(self.reader.record(*s));
                Ok(Spot { base: Some(base), ..Spot::new(root, to.clone()) })
            }
            (Value::Number(_), _) => {
                let shown = self.show(ty);
                self.error(
                    span,
                    format!("what this `{}` points to isn't known: use a pointer to a struct, or an array with an index", shown.trim()),
                )
            }
        }
    }

    /// `pointer + offset`.
    pub fn shifted(
        &mut self,
        value: Value,
        ty: Type,
        offset: Expr,
        span: Span,
    ) -> Result<(Value, Type), Error> {
        if offset == Expr::Int(0) {
            return Ok((value, ty));
        }
        match value {
            Value::Pointer(spot) if spot.path.ends_with("[]") => {
                let index = spot.index.clone().unwrap_or(Expr::Int(0));
                let index = Some(fold::binary(Operator::Add, index, offset));
                Ok((Value::Pointer(Spot { index, ..spot }), ty))
            }
            // Records that are cells of a global array have addresses that go down.
            Value::Number(Expr::Int(base)) if base < 0 && ty.struct_pointee().is_some() => {
                let offset = fold::binary(Operator::Mul, offset, Expr::Int(STRIDE));
                Ok((Value::Number(fold::binary(Operator::Sub, Expr::Int(base), offset)), ty))
            }
            _ => self.error(
                span,
                "arithmetic on pointers outside arrays isn't modelled: use an array with an index",
            ),
        }
    }

    /// The first cell of an array.
    pub fn first_cell(&mut self, spot: Spot) -> (Value, Type) {
        let Kind::Array(of, length) = spot.ty.kind.clone() else {
            return (Value::Pointer(spot.clone()), spot.ty);
        };
        if let (Kind::Struct(s), Some(length)) = (&of.kind, length)
            && self.is_fixed(&spot, *s)
        {
            let base = self.fixed(&spot, length);
            return (Value::Number(Expr::Int(base)), of.pointer());
        }
        let (index, cells) = match (spot.index, spot.cells) {
            (Some(outer), Some(many)) => {
                let times = Expr::Int(length.unwrap_or(1).into());
                let many = many.zip(length).and_then(|(a, b)| a.checked_mul(b));
                (fold::binary(Operator::Mul, outer, times), many)
            }
            _ => (Expr::Int(0), length),
        };
        let path = format!("{}[]", spot.path);
        let cell = Spot {
            root: spot.root,
            base: spot.base,
            index: Some(index),
            cells: Some(cells),
            path,
            ty: (*of).clone(),
        };
        (Value::Pointer(cell), of.pointer())
    }

    /// A struct that shared pointers point to, outside records: it is a record with a known address.
    fn is_fixed(&self, spot: &Spot, of: usize) -> bool {
        self.reader.linked.contains(&of)
            && spot.index.is_none()
            && matches!(spot.root, Root::Global(_) | Root::Object)
    }

    /// The address of `count` records that stand there.
    fn fixed(&mut self, spot: &Spot, count: u64) -> i128 {
        self.reader.library.has_global_records |= matches!(spot.root, Root::Global(_));
        self.reader.fixed(key(&spot.root, &spot.path), count)
    }

    /// Structs that shared pointers point to are records, wherever they are.
    pub fn settled(&mut self, spot: Spot) -> Spot {
        match spot.ty.kind {
            Kind::Struct(s) if self.is_fixed(&spot, s) => {
                let base = self.fixed(&spot, 1);
                let root = Root::Record(self.reader.record(s));
                Spot { base: Some(Expr::Int(base)), ..Spot::new(root, spot.ty) }
            }
            _ => spot,
        }
    }

    /// `&place`.
    pub fn address(&mut self, spot: Spot) -> (Value, Type) {
        let ty = spot.ty.clone().pointer();
        match (&spot.root, spot.path.is_empty(), &spot.base) {
            (Root::Record(_), true, Some(base)) => (Value::Number(base.clone()), ty),
            _ => (Value::Pointer(spot), ty),
        }
    }

    /// The location of a scalar.
    pub fn place(&mut self, spot: &Spot, span: Span) -> Result<Place, Error> {
        if !spot.ty.is_scalar() {
            let shown = self.show(&spot.ty);
            return self
                .error(span, format!("a whole `{shown}` can't be read or written at once: use its fields"));
        }
        let name = match &spot.root {
            Root::Local(_) => return self.error(span, "this is no shared memory"),
            Root::Global(name) => format!("{name}{}", spot.path),
            Root::Object => {
                let field = spot.path.trim_start_matches('.').to_owned();
                let first = field.split(['.', '[']).next().unwrap_or_default();
                match (self.reader.global(first), self.reader.object) {
                    (Some(_), Some(object)) => format!("{}.{field}", self.reader.structs.0[object].name),
                    _ => field,
                }
            }
            Root::Record(r) => format!("{}{}", self.reader.library.records[r.0 as usize].name, spot.path),
        };
        let record = match spot.root {
            Root::Record(r) => Some(r),
            _ => None,
        };
        let class = self.reader.class(key(&spot.root, &spot.path), || Class {
            name,
            record,
            cells: spot.cells,
            is_of_object: spot.root == Root::Object,
            is_atomic: spot.ty.is_atomic,
            integer: spot.ty.kind.integer().unwrap_or(Integer::LONG),
            initial: 0,
            initial_cell: None,
        });
        Ok(Place { class, base: spot.base.clone(), index: spot.index.clone() })
    }

    /// Reads a place; atomic ones with seq_cst.
    pub fn load(&mut self, spot: Spot, span: Span) -> Result<(Value, Type), Error> {
        match spot.ty.kind {
            Kind::Array(..) => return Ok(self.first_cell(spot)),
            Kind::Function => {
                return self.error(span, "function pointers aren't modelled: name the function");
            }
            _ => {}
        }
        let ty = spot.ty.unqualified();
        if let Root::Local(local) = spot.root {
            self.check_local(&spot, span)?;
            for (memory, is_read) in &mut self.client {
                *is_read |= *memory == local;
            }
            return Ok((Value::Number(Expr::Local(local)), ty));
        }
        let place = self.place(&spot, span)?;
        let order = if spot.ty.is_atomic { Mode::SeqCst } else { Mode::Relaxed };
        let to = self.temporary(&ty);
        self.access(span, AccessKind::Load { to, place, order })?;
        Ok((Value::Number(Expr::Local(to)), ty))
    }

    /// Writes a place; atomic ones with seq_cst, but for initialisation, for which the spot's type is without `_Atomic`.
    pub fn store(&mut self, spot: &Spot, value: Expr, span: Span) -> Result<(), Error> {
        if let Root::Local(local) = spot.root {
            self.check_local(spot, span)?;
            self.set(local, value);
            return Ok(());
        }
        if spot.ty.is_const {
            return self.error(span, "this is const");
        }
        let place = self.place(spot, span)?;
        let order = match self.reader.library.classes[place.class.0 as usize].is_atomic {
            true if spot.ty.is_atomic => Mode::SeqCst,
            // Initialisation is no atomic access.
            true => Mode::NonAtomic,
            false => Mode::Relaxed,
        };
        self.access(span, AccessKind::Store { place, value, order })
    }

    fn check_local(&self, spot: &Spot, span: Span) -> Result<(), Error> {
        if spot.path.is_empty() && spot.index.is_none() && spot.ty.is_scalar() {
            return Ok(());
        }
        self.error(span, "structs and arrays that are local variables aren't modelled: use scalars")
    }

    /// Reads into a temporary variable, so that later assignments don't change the value.
    pub fn snapshot(&mut self, value: Expr, ty: &Type) -> Expr {
        match value {
            Expr::Int(_) => value,
            value => {
                let to = self.temporary(ty);
                self.emit(Statement::Assign { to, value });
                Expr::Local(to)
            }
        }
    }
}

/// Distinguishes classes.
pub fn key(root: &Root, path: &str) -> String {
    match root {
        Root::Local(local) => format!("local {} {path}", local.0),
        Root::Global(name) => format!("global {name} {path}"),
        Root::Object => format!("object {path}"),
        Root::Record(record) => format!("record {} {path}", record.0),
    }
}
