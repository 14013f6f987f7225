//! Which structs are the library's object, which are records; and the names that a contract mentions.

use super::declare::{Function, Reader};
use super::error::Error;
use super::types::{Kind, Type};
use crate::code::{AccessKind, Label, Statement};

impl Reader<'_> {
    /// Finds structs that shared pointers point to, and the struct that stands for the object.
    pub fn find_objects(&mut self) -> Result<(), Error> {
        let fields = self.structs.0.iter().filter_map(|s| s.fields.as_ref()).flatten().map(|(_, ty)| ty);
        let shared: Vec<Type> = fields.chain(self.globals.iter().map(|g| &g.ty)).cloned().collect();
        for ty in shared {
            let mut ty = &ty;
            while let Kind::Array(of, _) | Kind::Pointer(of) = &ty.kind {
                if let Some(s) = ty.struct_pointee()
                    && !self.linked.contains(&s)
                {
                    self.linked.push(s);
                }
                ty = of;
            }
        }
        self.object = self.find_object()?;
        let Some(object) = self.object else { return Ok(()) };
        self.linked.retain(|s| *s != object);
        let takes_object =
            |f: &Function| f.parameters.iter().any(|(_, ty, _)| ty.struct_pointee() == Some(object));
        let is_parameter = self.functions.iter().any(|f| !f.is_static && takes_object(f));
        match self.globals.iter().find(|g| innermost(&g.ty).kind == Kind::Struct(object)) {
            Some(global) if is_parameter => Err(Error::of_file(
                &self.source.files[0],
                format!(
                    "the object is the parameter `struct {} *` of methods, and there is the global variable `{}` of that type \
                     too: use one or the other",
                    self.structs.0[object].name, global.name
                ),
            )),
            _ => Ok(()),
        }
    }

    fn find_object(&self) -> Result<Option<usize>, Error> {
        if let Some((name, place)) = &self.terms.object {
            if name == "none" {
                return Ok(None);
            }
            let by_typedef = self.typedefs.get(name).and_then(|t| match t.kind {
                Kind::Struct(s) => Some(s),
                _ => None,
            });
            let Some(found) = self.tags.get(name).copied().or(by_typedef) else {
                return Err(place.error(format!("there is no `struct {name}`")));
            };
            return Ok(Some(found));
        }
        let mut object: Option<usize> = None;
        for function in self.functions.iter().filter(|f| !f.is_static) {
            let first =
                function.parameters.iter().find_map(|(_, ty, span)| Some((ty.struct_pointee()?, *span)));
            let Some((found, span)) = first else { continue };
            if self.linked.contains(&found) || self.structs.0[found].fields.is_none() {
                continue;
            }
            match object {
                Some(known) if known != found => {
                    let show = |s| self.structs.show(&Type::plain(Kind::Struct(s)));
                    let (a, b) = (show(known), show(found));
                    return Err(self.error(
                        span,
                        format!("methods work on `{a}` and on `{b}`: say which is the object, with `//@ object: {a}`"),
                    ));
                }
                _ => object = Some(found),
            }
        }
        Ok(object)
    }

    /// A record that is the beginning of another one could be reached as both: then classes would not be apart.
    pub fn check_records(&self) -> Result<(), Error> {
        for whole in self.records.keys() {
            let mut first = self.structs.0[*whole].fields.as_ref().and_then(|f| f.first()).map(|(_, ty)| ty);
            while let Some(Type { kind: Kind::Struct(part), .. }) = first {
                if self.records.contains_key(part) {
                    let (a, b) = (&self.structs.0[*part].name, &self.structs.0[*whole].name);
                    let message = format!(
                        "`struct {a}` is a record, and also the beginning of the record `struct {b}`: use one of them"
                    );
                    return Err(Error::of_file(&self.source.files[0], message));
                }
                first = self.structs.0[*part].fields.as_ref().and_then(|f| f.first()).map(|(_, ty)| ty);
            }
        }
        Ok(())
    }

    /// Every method that the contract mentions must be there.
    pub fn check_names(&self) -> Result<(), Error> {
        for (name, place) in &self.terms.mentioned {
            if !self.functions.iter().any(|f| f.name == *name && !f.is_static) {
                return Err(place.error(format!(
                    "there is no method `{name}`: methods are functions that aren't static"
                )));
            }
        }
        Ok(())
    }

    /// Looks up linearization points.
    pub fn finish_contract(&mut self) -> Result<(), Error> {
        let mut contract = self.terms.contract.clone();
        for line in &self.terms.points {
            let mut found = Vec::new();
            for method in &self.library.methods {
                labels_of_line(&method.body, *line, &mut found);
            }
            if found.is_empty() {
                return Err(Error {
                    file: self.source.files[0].clone(),
                    line: *line,
                    column: 1,
                    message: "a linearization point needs an access of shared memory that begins on its line"
                        .to_owned(),
                });
            }
            contract.points.extend(found);
        }
        contract.points.sort_unstable();
        contract.points.dedup();
        self.library.contract = contract;
        Ok(())
    }
}

/// What an array is made of.
pub fn innermost(ty: &Type) -> &Type {
    match &ty.kind {
        Kind::Array(of, _) => innermost(of),
        _ => ty,
    }
}

fn labels_of_line(body: &[Statement], line: u32, found: &mut Vec<Label>) {
    for statement in body {
        match statement {
            Statement::Access(access) => {
                let is_memory = !matches!(
                    access.kind,
                    AccessKind::Fence { .. } | AccessKind::Allocate { .. } | AccessKind::Free { .. }
                );
                if is_memory && access.site.file == 0 && access.site.line == line {
                    found.push(access.label);
                }
            }
            Statement::If { then, otherwise, .. } => {
                labels_of_line(then, line, found);
                labels_of_line(otherwise, line, found);
            }
            Statement::Loop { body, .. } => labels_of_line(body, line, found),
            _ => {}
        }
    }
}
