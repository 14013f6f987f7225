//! Types from specifiers and declarators.

use lang_c::ast::{
    ArraySize, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator, EnumType,
    PointerQualifier, SpecifierQualifier, StorageClassSpecifier, StructDeclaration, StructKind, StructType,
    TypeName, TypeQualifier, TypeSpecifier,
};
use lang_c::span::{Node, Span};

use super::declare::Reader;
use super::error::Error;
use super::types::{Kind, Struct, Type};
use crate::code::Integer;

/// The storage class of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Storage {
    /// `typedef`?
    pub is_typedef: bool,
    /// `static`?
    pub is_static: bool,
    /// `extern`?
    pub is_extern: bool,
}

/// A part of a declaration that says something about the type.
enum Part<'a> {
    Specifier(&'a Node<TypeSpecifier>),
    Qualifier(&'a Node<TypeQualifier>),
}

impl Reader<'_> {
    /// The type and storage class of a declaration.
    pub fn declared(
        &mut self,
        specifiers: &[Node<DeclarationSpecifier>],
        span: Span,
    ) -> Result<(Type, Storage), Error> {
        let mut storage = Storage::default();
        let mut parts = Vec::new();
        for specifier in specifiers {
            match &specifier.node {
                DeclarationSpecifier::StorageClass(class) => match class.node {
                    StorageClassSpecifier::Typedef => storage.is_typedef = true,
                    StorageClassSpecifier::Extern => storage.is_extern = true,
                    StorageClassSpecifier::Static => storage.is_static = true,
                    StorageClassSpecifier::ThreadLocal => {
                        return Err(self.error(
                            class.span,
                            "thread-local variables aren't modelled: pass the state as a parameter",
                        ));
                    }
                    StorageClassSpecifier::Auto | StorageClassSpecifier::Register => {}
                },
                DeclarationSpecifier::TypeSpecifier(t) => parts.push(Part::Specifier(t)),
                DeclarationSpecifier::TypeQualifier(q) => parts.push(Part::Qualifier(q)),
                DeclarationSpecifier::Function(_)
                | DeclarationSpecifier::Alignment(_)
                | DeclarationSpecifier::Extension(_) => {}
            }
        }
        Ok((self.assemble(&parts, span)?, storage))
    }

    fn qualified(&mut self, specifiers: &[Node<SpecifierQualifier>], span: Span) -> Result<Type, Error> {
        let parts: Vec<_> = specifiers
            .iter()
            .filter_map(|s| match &s.node {
                SpecifierQualifier::TypeSpecifier(t) => Some(Part::Specifier(t)),
                SpecifierQualifier::TypeQualifier(q) => Some(Part::Qualifier(q)),
                SpecifierQualifier::Extension(_) => None,
            })
            .collect();
        self.assemble(&parts, span)
    }

    /// The type that a cast or `sizeof` names.
    pub fn named(&mut self, name: &Node<TypeName>) -> Result<Type, Error> {
        let base = self.qualified(&name.node.specifiers, name.span)?;
        match &name.node.declarator {
            Some(declarator) => Ok(self.declarator(base, declarator)?.1),
            None => Ok(base),
        }
    }

    fn assemble(&mut self, parts: &[Part], span: Span) -> Result<Type, Error> {
        let (mut is_atomic, mut is_const) = (false, false);
        let (mut long, mut unsigned, mut word) = (0, false, None::<u8>);
        let mut whole = None;
        for part in parts {
            match part {
                Part::Qualifier(q) => match q.node {
                    TypeQualifier::Atomic => is_atomic = true,
                    TypeQualifier::Const => is_const = true,
                    TypeQualifier::Volatile => return Err(self.volatile(q.span)),
                    _ => {}
                },
                Part::Specifier(s) => match &s.node {
                    TypeSpecifier::Void => whole = Some(Type::plain(Kind::Void)),
                    TypeSpecifier::Bool => whole = Some(Type::plain(Kind::Bool)),
                    TypeSpecifier::Char => word = Some(1),
                    TypeSpecifier::Short => word = Some(2),
                    TypeSpecifier::Int => word = word.or(Some(4)),
                    TypeSpecifier::Long => long += 1,
                    TypeSpecifier::Signed => {}
                    TypeSpecifier::Unsigned => unsigned = true,
                    TypeSpecifier::Atomic(name) => {
                        whole = Some(self.named(name)?);
                        is_atomic = true;
                    }
                    TypeSpecifier::Struct(s) => whole = Some(Type::plain(Kind::Struct(self.structure(s)?))),
                    TypeSpecifier::Enum(e) => {
                        whole = Some(self.enumeration(e)?);
                    }
                    TypeSpecifier::TypedefName(name) => match self.typedefs.get(&name.node.name) {
                        Some(known) => whole = Some(known.clone()),
                        None => {
                            return Err(self
                                .error(name.span, format!("the type `{}` isn't declared", name.node.name)));
                        }
                    },
                    TypeSpecifier::Float
                    | TypeSpecifier::Double
                    | TypeSpecifier::Complex
                    | TypeSpecifier::TS18661Float(_) => {
                        return Err(
                            self.error(s.span, "floating-point numbers aren't modelled: use an integer type")
                        );
                    }
                    TypeSpecifier::TypeOf(_) => {
                        return Err(self.error(s.span, "`typeof` isn't understood: write the type"));
                    }
                },
            }
        }
        let bytes = if long > 0 { 8 } else { word.unwrap_or(4) };
        let mut ty = whole.unwrap_or_else(|| Type::plain(Kind::Int { bytes, signed: !unsigned }));
        ty.is_const |= is_const;
        self.make_atomic(&mut ty, is_atomic, span)?;
        Ok(ty)
    }

    fn make_atomic(&self, ty: &mut Type, is_atomic: bool, span: Span) -> Result<(), Error> {
        if is_atomic && !ty.is_scalar() {
            let shown = self.structs.show(ty);
            return Err(self.error(
                span,
                format!("`_Atomic({shown})` isn't modelled: only numbers and pointers can be atomic"),
            ));
        }
        ty.is_atomic |= is_atomic;
        Ok(())
    }

    fn volatile(&self, span: Span) -> Error {
        self.error(span, "`volatile` says nothing about threads: use `_Atomic`, or leave it out")
    }

    /// Applies a declarator to a type: the name (empty for abstract ones) and the whole type.
    pub fn declarator(&mut self, base: Type, declarator: &Node<Declarator>) -> Result<(String, Type), Error> {
        let mut ty = base;
        let (pointers, suffixes): (Vec<_>, Vec<_>) =
            declarator.node.derived.iter().partition(|d| matches!(d.node, DerivedDeclarator::Pointer(_)));
        for pointer in pointers {
            let DerivedDeclarator::Pointer(qualifiers) = &pointer.node else { continue };
            ty = ty.pointer();
            for qualifier in qualifiers {
                let PointerQualifier::TypeQualifier(q) = &qualifier.node else { continue };
                match q.node {
                    TypeQualifier::Atomic => ty.is_atomic = true,
                    TypeQualifier::Const => ty.is_const = true,
                    TypeQualifier::Volatile => return Err(self.volatile(q.span)),
                    _ => {}
                }
            }
        }
        for suffix in suffixes.into_iter().rev() {
            ty = match &suffix.node {
                DerivedDeclarator::Array(array) => {
                    let length = match &array.node.size {
                        ArraySize::Unknown | ArraySize::VariableUnknown => None,
                        ArraySize::VariableExpression(e) | ArraySize::StaticExpression(e) => {
                            let length = self.constant(e)?;
                            match u64::try_from(length) {
                                Ok(length) if (1..=1 << 32).contains(&length) => Some(length),
                                _ => {
                                    return Err(
                                        self.error(e.span, format!("an array can't have {length} cells"))
                                    );
                                }
                            }
                        }
                    };
                    Type::plain(Kind::Array(Box::new(ty), length))
                }
                _ => Type::plain(Kind::Function),
            };
        }
        match &declarator.node.kind.node {
            DeclaratorKind::Abstract => Ok((String::new(), ty)),
            DeclaratorKind::Identifier(name) => Ok((name.node.name.clone(), ty)),
            DeclaratorKind::Declarator(inner) => self.declarator(ty, inner),
        }
    }

    fn structure(&mut self, s: &Node<StructType>) -> Result<usize, Error> {
        if s.node.kind.node == StructKind::Union {
            return Err(self.error(s.span, "unions aren't modelled: use a struct"));
        }
        let known = s.node.identifier.as_ref().and_then(|name| self.tags.get(&name.node.name).copied());
        let id = known.unwrap_or_else(|| {
            let id = self.structs.0.len();
            let name = match &s.node.identifier {
                Some(name) => {
                    self.tags.insert(name.node.name.clone(), id);
                    name.node.name.clone()
                }
                None => format!("%{id}"),
            };
            self.structs.0.push(Struct { name, fields: None });
            id
        });
        let Some(declarations) = &s.node.declarations else { return Ok(id) };
        if self.structs.0[id].fields.is_some() {
            return Err(self.error(s.span, format!("`struct {}` is defined twice", self.structs.0[id].name)));
        }
        let mut fields: Vec<(String, Type)> = Vec::new();
        for declaration in declarations {
            let StructDeclaration::Field(field) = &declaration.node else { continue };
            let base = self.qualified(&field.node.specifiers, field.span)?;
            if field.node.declarators.is_empty() {
                return Err(self.error(
                    field.span,
                    "fields without a name aren't understood: give the inner struct a name",
                ));
            }
            for d in &field.node.declarators {
                if d.node.bit_width.is_some() {
                    return Err(self.error(d.span, "bit-fields aren't modelled: use whole numbers"));
                }
                let Some(declarator) = &d.node.declarator else { continue };
                let (name, ty) = self.declarator(base.clone(), declarator)?;
                let is_incomplete =
                    matches!(ty.kind, Kind::Struct(inner) if self.structs.0[inner].fields.is_none());
                if is_incomplete || matches!(ty.kind, Kind::Void | Kind::Function) {
                    return Err(self.error(d.span, format!("a field can't be `{}`", self.structs.show(&ty))));
                }
                fields.push((name, ty));
            }
        }
        self.structs.0[id].fields = Some(fields);
        Ok(id)
    }

    /// An enumeration: `unsigned` if no enumerator is negative, as gcc and clang have it.
    fn enumeration(&mut self, e: &Node<EnumType>) -> Result<Type, Error> {
        let tag = e.node.identifier.as_ref().map(|tag| tag.node.name.clone());
        if e.node.enumerators.is_empty() {
            let known = tag.as_ref().and_then(|tag| self.enumerations.get(tag)).cloned();
            return known.ok_or_else(|| self.error(e.span, "this enumeration isn't declared"));
        }
        let (mut next, mut least) = (0, 0);
        for enumerator in &e.node.enumerators {
            if let Some(value) = &enumerator.node.expression {
                next = self.constant(value)?;
            }
            if !Integer::INT.contains(next) {
                return Err(self.error(enumerator.span, "an enumerator must fit into an `int`"));
            }
            self.enumerators.insert(enumerator.node.identifier.node.name.clone(), next);
            least = least.min(next);
            next += 1;
        }
        let ty = Type::plain(Kind::Int { bytes: 4, signed: least < 0 });
        self.enumerations.extend(tag.map(|tag| (tag, ty.clone())));
        Ok(ty)
    }
}
