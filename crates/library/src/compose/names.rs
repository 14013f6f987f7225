//! What names in a client stand for: functions, atomic variables, objects of libraries.

use lang_c::ast::{
    Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator, Identifier,
    ParameterDeclaration, SpecifierQualifier, StorageClassSpecifier, StructDeclaration, TranslationUnit,
    TypeQualifier, TypeSpecifier,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};
use rustc_hash::{FxHashMap, FxHashSet};

/// The name that a declarator declares.
pub fn declared(declarator: &Declarator) -> Option<String> {
    match &declarator.kind.node {
        DeclaratorKind::Identifier(name) => Some(name.node.name.clone()),
        DeclaratorKind::Declarator(inner) => declared(&inner.node),
        DeclaratorKind::Abstract => None,
    }
}

/// The parameters of a function.
pub fn parameter_list(declarator: &Declarator) -> Vec<&ParameterDeclaration> {
    let functions = declarator.derived.iter().filter_map(|derived| match &derived.node {
        DerivedDeclarator::Function(function) => Some(&function.node),
        _ => None,
    });
    functions.flat_map(|function| &function.parameters).map(|parameter| &parameter.node).collect()
}

fn specifier_name(specifier: &TypeSpecifier) -> Option<String> {
    match specifier {
        TypeSpecifier::Struct(it) => Some(format!("struct {}", it.node.identifier.as_ref()?.node.name)),
        TypeSpecifier::TypedefName(name) => Some(name.node.name.clone()),
        _ => None,
    }
}

/// A variable that may be the object of a library.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name of its struct type.
    pub type_name: String,
    /// Declared at the top, so that there is one of it.
    pub is_global: bool,
    /// A pointer to such an object.
    pub is_pointer: bool,
    /// An array of such objects.
    pub is_array: bool,
}

/// What is known about names, wherever they are declared: a name that means two things is taken for the worse one.
#[derive(Debug, Default)]
pub struct Names {
    /// Atomic variables.
    pub atomics: FxHashSet<String>,
    /// Pointers to, and arrays of, atomic variables.
    pub to_atomics: FxHashSet<String>,
    /// Members of structs that are atomic.
    pub atomic_members: FxHashSet<String>,
    /// Variables of struct types.
    pub variables: FxHashMap<String, Vec<Variable>>,
    /// Types that `sizeof` is asked of: objects may be allocated.
    pub sized: FxHashSet<String>,
    /// All variables, functions excepted.
    pub values: FxHashSet<String>,
    /// Other names of structs.
    aliases: FxHashMap<String, String>,
    atomic_types: FxHashSet<String>,
    depth: usize,
}

impl Names {
    /// Reads all declarations.
    pub fn new(unit: &TranslationUnit) -> Names {
        let mut names = Names::default();
        names.visit_translation_unit(unit);
        names
    }

    /// `struct stack`, or the name of a typedef of something else.
    pub fn type_name(&self, specifiers: &[Node<DeclarationSpecifier>]) -> Option<String> {
        let name = specifiers.iter().find_map(|specifier| match &specifier.node {
            DeclarationSpecifier::TypeSpecifier(specifier) => specifier_name(&specifier.node),
            _ => None,
        });
        name.map(|name| self.aliases.get(&name).cloned().unwrap_or(name))
    }

    fn is_atomic_specifier(&self, specifier: &TypeSpecifier) -> bool {
        match specifier {
            TypeSpecifier::Atomic(_) => true,
            TypeSpecifier::TypedefName(name) => self.atomic_types.contains(&name.node.name),
            _ => false,
        }
    }

    fn is_atomic(&self, specifiers: &[Node<DeclarationSpecifier>]) -> bool {
        specifiers.iter().any(|specifier| match &specifier.node {
            DeclarationSpecifier::TypeSpecifier(specifier) => self.is_atomic_specifier(&specifier.node),
            DeclarationSpecifier::TypeQualifier(qualifier) => qualifier.node == TypeQualifier::Atomic,
            _ => false,
        })
    }

    fn declare(&mut self, specifiers: &[Node<DeclarationSpecifier>], declarator: &Declarator) {
        let Some(name) = declared(declarator) else { return };
        // `void (*f)(void)` is a variable, `void f(void)` is not.
        let is_function = matches!(declarator.kind.node, DeclaratorKind::Identifier(_))
            && declarator
                .derived
                .iter()
                .any(|derived| matches!(derived.node, DerivedDeclarator::Function(_)));
        let is_pointer =
            declarator.derived.iter().any(|derived| matches!(derived.node, DerivedDeclarator::Pointer(_)));
        let is_array =
            declarator.derived.iter().any(|derived| matches!(derived.node, DerivedDeclarator::Array(_)));
        if is_function {
            return;
        }
        self.values.insert(name.clone());
        // `int *_Atomic p` is an atomic variable, too.
        let own = declarator.derived.iter().any(|derived| match &derived.node {
            DerivedDeclarator::Pointer(qualifiers) => qualifiers.iter().any(|qualifier| {
                matches!(&qualifier.node, lang_c::ast::PointerQualifier::TypeQualifier(it) if it.node == TypeQualifier::Atomic)
            }),
            _ => false,
        });
        match self.is_atomic(specifiers) {
            true if is_pointer || is_array => self.to_atomics.insert(name.clone()),
            true => self.atomics.insert(name.clone()),
            false => false,
        };
        if own {
            self.atomics.insert(name.clone());
        }
        if let Some(type_name) = self.type_name(specifiers) {
            let variable = Variable { type_name, is_global: self.depth == 0, is_pointer, is_array };
            self.variables.entry(name).or_default().push(variable);
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_function_definition(
        &mut self,
        function: &'ast lang_c::ast::FunctionDefinition,
        span: &'ast Span,
    ) {
        self.depth += 1;
        visit::visit_function_definition(self, function, span);
        self.depth -= 1;
    }

    fn visit_declaration(&mut self, declaration: &'ast Declaration, span: &'ast Span) {
        let is_typedef = declaration.specifiers.iter().any(|specifier| {
            matches!(&specifier.node, DeclarationSpecifier::StorageClass(it) if it.node == StorageClassSpecifier::Typedef)
        });
        for declarator in &declaration.declarators {
            let declarator = &declarator.node.declarator.node;
            if !is_typedef {
                self.declare(&declaration.specifiers, declarator);
            } else if let (Some(name), []) = (declared(declarator), &declarator.derived[..]) {
                if self.is_atomic(&declaration.specifiers) {
                    self.atomic_types.insert(name);
                } else if let Some(type_name) = self.type_name(&declaration.specifiers) {
                    self.aliases.insert(name, type_name);
                }
            }
        }
        visit::visit_declaration(self, declaration, span);
    }

    fn visit_parameter_declaration(&mut self, parameter: &'ast ParameterDeclaration, span: &'ast Span) {
        if let Some(declarator) = &parameter.declarator {
            self.depth += 1;
            self.declare(&parameter.specifiers, &declarator.node);
            self.depth -= 1;
        }
        visit::visit_parameter_declaration(self, parameter, span);
    }

    fn visit_struct_declaration(&mut self, member: &'ast StructDeclaration, span: &'ast Span) {
        if let StructDeclaration::Field(field) = member {
            let atomic = field.node.specifiers.iter().any(|specifier| match &specifier.node {
                SpecifierQualifier::TypeSpecifier(specifier) => self.is_atomic_specifier(&specifier.node),
                SpecifierQualifier::TypeQualifier(qualifier) => qualifier.node == TypeQualifier::Atomic,
                SpecifierQualifier::Extension(_) => false,
            });
            if atomic {
                let members = field.node.declarators.iter();
                let names = members.filter_map(|it| declared(&it.node.declarator.as_ref()?.node));
                self.atomic_members.extend(names);
            }
            let type_name = field.node.specifiers.iter().find_map(|specifier| match &specifier.node {
                SpecifierQualifier::TypeSpecifier(specifier) => specifier_name(&specifier.node),
                _ => None,
            });
            if let Some(type_name) = type_name {
                let type_name = self.aliases.get(&type_name).cloned().unwrap_or(type_name);
                for declarator in field.node.declarators.iter().filter_map(|it| it.node.declarator.as_ref()) {
                    let Some(name) = declared(&declarator.node) else { continue };
                    let is_pointer = declarator
                        .node
                        .derived
                        .iter()
                        .any(|it| matches!(it.node, DerivedDeclarator::Pointer(_)));
                    let type_name = type_name.clone();
                    let variable = Variable { type_name, is_global: false, is_pointer, is_array: false };
                    self.variables.entry(name).or_default().push(variable);
                }
            }
        }
        visit::visit_struct_declaration(self, member, span);
    }

    fn visit_sizeofty(&mut self, size: &'ast lang_c::ast::SizeOfTy, span: &'ast Span) {
        for specifier in &size.0.node.specifiers {
            if let SpecifierQualifier::TypeSpecifier(specifier) = &specifier.node {
                let name = specifier_name(&specifier.node);
                self.sized.extend(name.map(|name| self.aliases.get(&name).cloned().unwrap_or(name)));
            }
        }
        visit::visit_sizeofty(self, size, span);
    }

    fn visit_sizeofval(&mut self, size: &'ast lang_c::ast::SizeOfVal, span: &'ast Span) {
        // `malloc(sizeof *s)`: whatever `s` points to.
        struct Inside<'a>(&'a mut Names);
        impl<'ast> Visit<'ast> for Inside<'_> {
            fn visit_identifier(&mut self, name: &'ast Identifier, _: &'ast Span) {
                let types = self.0.variables.get(&name.name).into_iter().flatten();
                let types: Vec<String> = types.map(|variable| variable.type_name.clone()).collect();
                self.0.sized.extend(types);
            }
        }
        Inside(self).visit_sizeofval(size, span);
    }
}
