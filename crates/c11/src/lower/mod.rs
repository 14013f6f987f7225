//! From functions of C to methods of the analysis.

mod aim;
mod assign;
mod atomic;
mod call;
mod expression;
mod initializer;
mod operator;
mod place;
mod returns;
mod statement;
mod switch;

use lang_c::span::Span;
use rustc_hash::FxHashMap;

use self::aim::Aim;
pub use self::initializer::initializers;
use self::place::{Root, Spot, Value};
use super::declare::{Function, Names, Reader};
use super::error::Error;
use super::types::{Kind, Type};
use crate::code::{Access, AccessKind, Expr, Integer, Local, LocalId, Method, Statement};

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    /// A variable.
    Local(LocalId, Type),
    /// A parameter of an inlined function that never changes.
    Fixed(Value, Type),
    /// A pointer that may be aimed at fields and cells: index into [`Lowering::aims`].
    Aim(usize),
    /// A static variable of the function: the name of a global one.
    Static(String),
}

/// A method in the making.
struct Lowering<'r, 'a> {
    reader: &'r mut Reader<'a>,
    locals: Vec<Local>,
    /// Types of `locals`, by index.
    kinds: Vec<Kind>,
    /// Names in scope, innermost last; an inlined function sees only its own.
    scopes: Vec<FxHashMap<String, Binding>>,
    aims: Vec<Aim>,
    /// Types and enumerators of the file, which inlined functions see.
    names: Names,
    /// The block that is being made.
    out: Vec<Statement>,
    /// The functions that are being inlined, outermost first.
    callers: Vec<String>,
    /// What the innermost function returns.
    result: Type,
    /// How many loops of the innermost function stand around.
    loops: u32,
    /// How many `switch` statements stand around, within the innermost loop.
    switches: u32,
    /// Memory of the client that methods get a pointer to, and whether it was read.
    client: Vec<(LocalId, bool)>,
    is_setup: bool,
    /// Statements made so far.
    size: usize,
}

/// Larger methods are refused: nobody writes them, macros and inlining do.
const LARGEST: usize = 20_000;

/// Translates an exported function.
pub fn method<'a>(reader: &mut Reader<'a>, function: &Function<'a>, is_setup: bool) -> Result<Method, Error> {
    let site = reader.site(function.span);
    let mut lowering = Lowering::new(reader, &function.name, is_setup);
    lowering.result = function.result.clone();
    let mut parameters = Vec::new();
    for (name, ty, span) in &function.parameters {
        parameters.extend(lowering.parameter(name, ty, *span)?);
    }
    lowering.items(function.body)?;
    // Memory of the client that is only written is a result, not an argument.
    let client = lowering.client.clone();
    parameters.retain(|p| client.iter().all(|(l, read)| l != p || *read));
    let mut returns = function.result.kind != Kind::Void;
    if let (false, [(out, _)]) = (returns, &client[..]) {
        returns = true;
        lowering.out.push(Statement::Return(None));
        returns::give(&mut lowering.out, *out);
    }
    Ok(Method {
        name: function.name.clone(),
        parameters,
        locals: lowering.locals,
        body: lowering.out,
        returns,
        site,
    })
}

impl<'r, 'a> Lowering<'r, 'a> {
    fn new(reader: &'r mut Reader<'a>, name: &str, is_setup: bool) -> Self {
        Lowering {
            names: reader.names(),
            reader,
            locals: Vec::new(),
            kinds: Vec::new(),
            scopes: vec![FxHashMap::default()],
            aims: Vec::new(),
            out: Vec::new(),
            callers: vec![name.to_owned()],
            result: Type::plain(Kind::Void),
            loops: 0,
            switches: 0,
            client: Vec::new(),
            is_setup,
            size: 0,
        }
    }

    fn error<T>(&self, span: Span, message: impl Into<String>) -> Result<T, Error> {
        Err(self.reader.error(span, message))
    }

    fn show(&self, ty: &Type) -> String {
        self.reader.structs.show(ty)
    }

    /// Binds a parameter of a method; gives its variable if the client passes a value.
    fn parameter(&mut self, name: &str, ty: &Type, span: Span) -> Result<Option<LocalId>, Error> {
        let object = self.reader.object;
        let binding = match &ty.kind {
            Kind::Pointer(to) => match to.kind {
                Kind::Struct(s) if Some(s) == object => {
                    let is_object = |b: &Binding| matches!(b, Binding::Fixed(Value::Pointer(s), _) if s.root == Root::Object);
                    if self.scopes[0].values().any(is_object) {
                        return self.error(span, "a method that works on two objects isn't modelled");
                    }
                    Binding::Fixed(Value::Pointer(Spot::object((**to).clone())), ty.clone())
                }
                Kind::Function => {
                    return self.error(span, "function pointers aren't modelled: name the function");
                }
                Kind::Void | Kind::Struct(_) => Binding::Local(self.local(name, ty), ty.clone()),
                _ => {
                    let memory = self.local(&format!("*{name}"), to);
                    self.client.push((memory, false));
                    let spot = Spot::local(memory, (**to).clone());
                    self.bind(name, Binding::Fixed(Value::Pointer(spot), ty.clone()));
                    return Ok(Some(memory));
                }
            },
            _ if ty.is_scalar() => Binding::Local(self.local(name, ty), ty.clone()),
            _ => {
                let shown = self.show(ty);
                return self.error(
                    span,
                    format!("a parameter of type `{shown}` isn't modelled: pass numbers and pointers"),
                );
            }
        };
        let local = match binding {
            Binding::Local(local, _) => Some(local),
            _ => None,
        };
        self.bind(name, binding);
        Ok(local)
    }

    fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), binding);
        }
    }

    fn lookup(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// A new variable, whose name gets a number if it is taken.
    fn local(&mut self, name: &str, ty: &Type) -> LocalId {
        let is_taken = |name: &str| self.locals.iter().any(|l| l.name == name);
        let mut unique = name.to_owned();
        let mut number = 1;
        while is_taken(&unique) {
            number += 1;
            unique = format!("{name}.{number}");
        }
        let points_to = ty.struct_pointee().filter(|s| Some(*s) != self.reader.object);
        let points_to =
            points_to.filter(|s| self.reader.linked.contains(s) || self.reader.records.contains_key(s));
        let points_to = points_to.map(|s| self.reader.record(s));
        let integer = ty.kind.integer().unwrap_or(Integer::LONG);
        self.kinds.push(ty.kind.clone());
        self.locals.push(Local { name: unique, points_to, integer });
        LocalId(self.locals.len() as u32 - 1)
    }

    /// A variable that nobody wrote.
    fn temporary(&mut self, ty: &Type) -> LocalId {
        let number = self.locals.len();
        self.local(&format!("%{number}"), ty)
    }

    fn emit(&mut self, statement: Statement) {
        self.size += 1;
        self.out.push(statement);
    }

    fn access(&mut self, span: Span, kind: AccessKind) -> Result<(), Error> {
        if self.size > LARGEST {
            return self.error(
                span,
                format!("this method has more than {LARGEST} steps after inlining: make it smaller"),
            );
        }
        let (label, site) = (self.reader.label(), self.reader.site(span));
        self.emit(Statement::Access(Access { label, site, kind }));
        Ok(())
    }

    /// Assigns to a variable; a load into a temporary variable becomes a load into this one.
    fn set(&mut self, to: LocalId, value: Expr) {
        if let (Expr::Local(from), Some(Statement::Access(access))) = (&value, self.out.last_mut()) {
            let target = match &mut access.kind {
                AccessKind::Load { to, .. } | AccessKind::Allocate { to, .. } => Some(to),
                AccessKind::Rmw { to, .. } => to.as_mut(),
                AccessKind::Cas { succeeded, .. } => succeeded.as_mut(),
                _ => None,
            };
            if let Some(target) = target
                && target == from
                && self.locals[from.0 as usize].name.starts_with('%')
            {
                *target = to;
                return;
            }
        }
        if value != Expr::Local(to) {
            self.emit(Statement::Assign { to, value });
        }
    }

    /// What `make` emits, as a block of its own.
    fn block<T>(
        &mut self,
        make: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<(Vec<Statement>, T), Error> {
        let outer = std::mem::take(&mut self.out);
        let made = make(self);
        let block = std::mem::replace(&mut self.out, outer);
        Ok((block, made?))
    }
}
