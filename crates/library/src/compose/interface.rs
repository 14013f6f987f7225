//! What of a library matters to its clients.

use super::names::{Names, declared, parameter_list};
use crate::c::{self, Error};
use crate::code::Library;
use lang_c::ast::ExternalDeclaration;

/// A library from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// The path of its source.
    pub name: String,
    /// The functions that clients may call.
    pub methods: Vec<Method>,
    /// Groups of methods that one and the same thread calls, ever.
    pub one_thread: Vec<Vec<String>>,
}

/// A library function as its clients see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Which argument points to the object, and the name of the object's type.
    pub object: Option<(usize, String)>,
    /// Is it called before everything else, with effects that every thread knows?
    pub is_setup: bool,
}

impl Interface {
    /// The interface of a library that was read from this text, with these macros.
    pub fn new(path: &str, text: &[u8], macros: &[String], library: &Library) -> Result<Interface, Error> {
        c::on_deep_stack(path, || {
            let (_, unit) = c::parse(path, text, macros)?;
            let names = Names::new(&unit);
            let mut methods = Vec::new();
            for external in &unit.0 {
                let ExternalDeclaration::FunctionDefinition(function) = &external.node else { continue };
                let Some(name) = declared(&function.node.declarator.node) else { continue };
                let is_setup = library.contract.setup.contains(&name);
                let method = library.methods.iter().find(|method| method.name == name);
                if method.is_none() && !is_setup {
                    continue;
                }
                // What is no parameter of the method stands for the object.
                let values: Vec<&str> = method.map_or(Vec::new(), |method| {
                    let name = |local: &crate::code::LocalId| method.locals.get(local.0 as usize);
                    method.parameters.iter().filter_map(name).map(|local| local.name.as_str()).collect()
                });
                let parameters = parameter_list(&function.node.declarator.node);
                let object = parameters.iter().enumerate().find_map(|(number, parameter)| {
                    let name = parameter.declarator.as_ref().and_then(|it| declared(&it.node));
                    let is_value = name.is_none_or(|name| values.contains(&name.as_str()));
                    (!is_value).then(|| (number, names.type_name(&parameter.specifiers).unwrap_or_default()))
                });
                methods.push(Method { name, object, is_setup });
            }
            Ok(Interface { name: path.to_owned(), methods, one_thread: library.contract.one_thread.clone() })
        })
    }
}
