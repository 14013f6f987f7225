//! Walks over a file's declarations and puts the library together.

use lang_c::ast::{
    BlockItem, Declaration, DeclaratorKind, DerivedDeclarator, Ellipsis, ExternalDeclaration,
    FunctionDefinition, Initializer, ParameterDeclaration, Statement, TranslationUnit,
};
use lang_c::span::{Node, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::contract::Terms;
use super::error::Error;
use super::lower;
use super::objects::innermost;
use super::source::Source;
use super::tidy::tidy;
use super::types::{Kind, Structs, Type};
use crate::code::{Class, ClassId, Label, Library, Record, RecordId, Site};

/// A global variable (or a static one of a function).
#[derive(Clone, Debug)]
pub struct Global<'a> {
    /// Its name; `function.name` for static ones of functions.
    pub name: String,
    /// Its declared type.
    pub ty: Type,
    /// Its value, if it is a constant.
    pub constant: Option<i128>,
    /// What it is at the beginning.
    pub initializer: Option<&'a Node<Initializer>>,
    /// Where it is declared (first).
    pub span: Span,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: String,
    /// `static`?
    pub is_static: bool,
    /// What it returns.
    pub result: Type,
    /// Its parameters.
    pub parameters: Vec<(String, Type, Span)>,
    /// What it does.
    pub body: &'a [Node<BlockItem>],
    /// Where it is.
    pub span: Span,
}

/// Names of types and enumerators, as they are in scope.
#[derive(Clone, Debug, Default)]
pub struct Names {
    typedefs: FxHashMap<String, Type>,
    enumerations: FxHashMap<String, Type>,
    enumerators: FxHashMap<String, i128>,
}

/// What is known while a file is read.
pub struct Reader<'a> {
    /// Maps spans of the preprocessed text to places.
    pub source: &'a Source,
    /// The contract, as written.
    pub terms: Terms,
    /// Structs.
    pub structs: Structs,
    /// Structs by tag.
    pub tags: FxHashMap<String, usize>,
    /// Typedefs.
    pub typedefs: FxHashMap<String, Type>,
    /// Types of enumerations by tag.
    pub enumerations: FxHashMap<String, Type>,
    /// Enumerators: all of them are `int`.
    pub enumerators: FxHashMap<String, i128>,
    /// Global variables.
    pub globals: Vec<Global<'a>>,
    /// Functions with bodies, as they come.
    pub functions: Vec<Function<'a>>,
    /// Functions that are declared `static`: that holds for their definition, too.
    pub statics: FxHashSet<String>,
    /// The struct that stands for the library's object.
    pub object: Option<usize>,
    /// Structs that shared pointers point to.
    pub linked: Vec<usize>,
    /// Records by struct.
    pub records: FxHashMap<usize, RecordId>,
    /// Classes by root and path.
    pub classes: FxHashMap<String, ClassId>,
    /// Addresses of records that aren't allocated by methods, by root and path.
    pub fixed: FxHashMap<String, i128>,
    /// The next one of these addresses.
    pub next_fixed: i128,
    /// The next label.
    pub next_label: u32,
    /// What has been put together.
    pub library: Library,
}

/// Room for tag bits between the addresses of records that aren't allocated by methods.
pub const STRIDE: i128 = 16;

impl<'a> Reader<'a> {
    /// Nothing is known yet.
    pub fn new(source: &'a Source, terms: Terms) -> Self {
        Reader {
            source,
            terms,
            structs: Structs::default(),
            tags: FxHashMap::default(),
            typedefs: FxHashMap::default(),
            enumerations: FxHashMap::default(),
            enumerators: FxHashMap::default(),
            globals: Vec::new(),
            functions: Vec::new(),
            statics: FxHashSet::default(),
            object: None,
            linked: Vec::new(),
            records: FxHashMap::default(),
            classes: FxHashMap::default(),
            fixed: FxHashMap::default(),
            next_fixed: -STRIDE,
            next_label: 0,
            library: Library { files: source.files.clone(), ..Library::default() },
        }
    }

    /// The whole library.
    pub fn read(mut self, unit: &'a TranslationUnit) -> Result<Library, Error> {
        for declaration in &unit.0 {
            match &declaration.node {
                ExternalDeclaration::Declaration(d) => self.variables(d)?,
                ExternalDeclaration::StaticAssert(_) => {}
                ExternalDeclaration::FunctionDefinition(f) => self.function_definition(f)?,
            }
        }
        self.find_objects()?;
        self.check_names()?;
        let is_setup = |name: &String| self.terms.contract.setup.contains(name);
        let (setup, methods): (Vec<_>, Vec<_>) =
            self.functions.iter().filter(|f| !f.is_static).cloned().partition(|f| is_setup(&f.name));
        if methods.is_empty() {
            return Err(Error::of_file(
                &self.source.files[0],
                "there is no method: a library needs a function that isn't static",
            ));
        }
        for function in &methods {
            let method = lower::method(&mut self, function, false)?;
            self.library.methods.push(method);
        }
        // Classes that come later are none of the methods' concern.
        let classes = self.library.classes.len();
        let mut preparations = vec![lower::initializers(&mut self)?];
        for name in self.terms.contract.setup.clone() {
            for function in setup.iter().filter(|f| f.name == name) {
                preparations.push(lower::method(&mut self, function, true)?);
            }
        }
        self.check_records()?;
        self.set_initial_values(&preparations, classes)?;
        tidy(&mut self.library);
        self.finish_contract()?;
        Ok(self.library)
    }

    /// The names that are in scope.
    pub fn names(&self) -> Names {
        Names {
            typedefs: self.typedefs.clone(),
            enumerations: self.enumerations.clone(),
            enumerators: self.enumerators.clone(),
        }
    }

    /// Another scope.
    pub fn set_names(&mut self, names: Names) {
        (self.typedefs, self.enumerations, self.enumerators) =
            (names.typedefs, names.enumerations, names.enumerators);
    }

    /// A message about a place.
    pub fn error(&self, span: Span, message: impl Into<String>) -> Error {
        let site = self.site(span);
        Error {
            file: self.source.file(site).to_owned(),
            line: site.line,
            column: site.column,
            message: message.into(),
        }
    }

    /// The place of a piece of syntax.
    pub fn site(&self, span: Span) -> Site {
        self.source.site(span.start)
    }

    /// A global variable.
    pub fn global(&self, name: &str) -> Option<&Global<'a>> {
        self.globals.iter().find(|g| g.name == name)
    }

    /// A function with a body.
    pub fn function(&self, name: &str) -> Option<&Function<'a>> {
        self.functions.iter().find(|f| f.name == name)
    }

    /// The record of a struct.
    pub fn record(&mut self, of: usize) -> RecordId {
        let (records, name) = (&mut self.library.records, &self.structs.0[of].name);
        *self.records.entry(of).or_insert_with(|| {
            records.push(Record { name: name.clone() });
            RecordId(records.len() as u32 - 1)
        })
    }

    /// The class with this root and path; `make` makes it.
    pub fn class(&mut self, key: String, make: impl FnOnce() -> Class) -> ClassId {
        let classes = &mut self.library.classes;
        *self.classes.entry(key).or_insert_with(|| {
            classes.push(make());
            ClassId(classes.len() as u32 - 1)
        })
    }

    /// A new label.
    pub fn label(&mut self) -> Label {
        self.next_label += 1;
        Label(self.next_label - 1)
    }

    /// The first address of `count` records that are there from the beginning.
    pub fn fixed(&mut self, key: String, count: u64) -> i128 {
        let next = &mut self.next_fixed;
        *self.fixed.entry(key).or_insert_with(|| {
            let first = *next;
            *next = next.saturating_sub(STRIDE.saturating_mul(i128::from(count)));
            first
        })
    }

    fn variables(&mut self, d: &'a Node<Declaration>) -> Result<(), Error> {
        let (base, storage) = self.declared(&d.node.specifiers, d.span)?;
        for declarator in &d.node.declarators {
            let (name, ty) = self.declarator(base.clone(), &declarator.node.declarator)?;
            if storage.is_typedef {
                if let Kind::Struct(s) = ty.kind
                    && self.structs.0[s].name.starts_with('%')
                {
                    self.structs.0[s].name.clone_from(&name);
                }
                self.typedefs.insert(name, ty);
            } else if ty.kind != Kind::Function {
                self.variable(name, ty, declarator.node.initializer.as_ref(), declarator.span)?;
            } else if storage.is_static {
                self.statics.insert(name);
            }
        }
        Ok(())
    }

    /// Declares a global variable, perhaps once more.
    pub fn variable(
        &mut self,
        name: String,
        ty: Type,
        initializer: Option<&'a Node<Initializer>>,
        span: Span,
    ) -> Result<(), Error> {
        let innermost = innermost(&ty);
        let is_incomplete = matches!(innermost.kind, Kind::Struct(s) if self.structs.0[s].fields.is_none());
        if is_incomplete || matches!(innermost.kind, Kind::Void | Kind::Function) {
            return Err(self.error(span, format!("a variable can't be `{}`", self.structs.show(&ty))));
        }
        let mut constant = None;
        if let (true, false, true, Some(Initializer::Expression(e))) =
            (ty.is_const, ty.is_atomic, ty.is_scalar(), initializer.map(|i| &i.node))
        {
            constant = self.constant_of(e, &ty).ok();
        }
        match self.globals.iter_mut().find(|g| g.name == name) {
            Some(known) => {
                if matches!(known.ty.kind, Kind::Array(_, None)) {
                    known.ty = ty;
                }
                known.initializer = known.initializer.or(initializer);
                known.constant = known.constant.or(constant);
            }
            None => self.globals.push(Global { name, ty, constant, initializer, span }),
        }
        Ok(())
    }

    fn function_definition(&mut self, f: &'a Node<FunctionDefinition>) -> Result<(), Error> {
        let (mut result, storage) = self.declared(&f.node.specifiers, f.span)?;
        let declarator = &f.node.declarator;
        let DeclaratorKind::Identifier(name) = &declarator.node.kind.node else {
            return Err(
                self.error(declarator.span, "functions that return function pointers aren't understood")
            );
        };
        let mut parameters = Vec::new();
        for derived in &declarator.node.derived {
            match &derived.node {
                DerivedDeclarator::Pointer(_) => result = result.pointer(),
                DerivedDeclarator::Function(function) => {
                    if function.node.ellipsis == Ellipsis::Some {
                        return Err(
                            self.error(derived.span, "variable numbers of arguments aren't understood")
                        );
                    }
                    for parameter in &function.node.parameters {
                        parameters.extend(self.parameter(parameter)?);
                    }
                }
                DerivedDeclarator::KRFunction(names) if names.is_empty() => {}
                _ => return Err(self.error(derived.span, "this form of function isn't understood")),
            }
        }
        let name = name.node.name.clone();
        if name == "main" {
            return Err(
                self.error(declarator.span, "a library has no `main`: clients are made by the analysis")
            );
        }
        if self.function(&name).is_some() {
            return Err(self.error(declarator.span, format!("`{name}` is defined twice")));
        }
        let Statement::Compound(body) = &f.node.statement.node else {
            return Err(self.error(f.node.statement.span, "a function's body must stand here"));
        };
        let span = name_span(declarator.span, &declarator.node.kind);
        let is_static = storage.is_static || self.statics.contains(&name);
        self.functions.push(Function { name, is_static, result, parameters, body, span });
        Ok(())
    }

    fn parameter(&mut self, p: &Node<ParameterDeclaration>) -> Result<Option<(String, Type, Span)>, Error> {
        let (base, _) = self.declared(&p.node.specifiers, p.span)?;
        let (name, ty) = match &p.node.declarator {
            Some(declarator) => self.declarator(base, declarator)?,
            None => (String::new(), base),
        };
        Ok(match ty.kind {
            Kind::Void => None,
            Kind::Array(of, _) => Some((name, of.pointer(), p.span)),
            Kind::Function => Some((name, ty.pointer(), p.span)),
            _ => Some((name, ty, p.span)),
        })
    }
}

fn name_span(whole: Span, kind: &Node<DeclaratorKind>) -> Span {
    match &kind.node {
        DeclaratorKind::Identifier(name) => name.span,
        _ => whole,
    }
}
