//! A library with two objects, as a library of its own: what a client of several objects may do that one of one object does not.

use super::Client;
use super::enumerate::object_of;
use super::values::is_fixed;
use crate::code::{AccessKind, ClassId, Expr, Library, Method, Statement};
use crate::rho::{accessed, each_statement};

/// Names of the objects.
const NAMES: [&str; 2] = ["a", "b"];

/// The methods of a library that are given an object twice, once for each of two objects; `push@a` is `push` of the object `a`.
/// None if there is no object, or if it comes with records: these would be the same for both.
pub fn two(library: &Library) -> Option<Library> {
    let is_of_object = |class: ClassId| library.classes[class.0 as usize].is_of_object;
    if !library.classes.iter().any(|class| class.is_of_object) || has_records_at_once(library) {
        return None;
    }
    let uses = |method: &Method| {
        let mut found = false;
        each_statement(&method.body, &mut |statement| {
            if let Statement::Access(access) = statement {
                found |= accessed(access).is_some_and(|place| is_of_object(place.class));
            }
        });
        found
    };
    let mut out = Library { classes: library.classes.clone(), methods: Vec::new(), ..library.clone() };
    let mut second = Vec::new();
    for class in &library.classes {
        second.push(ClassId(out.classes.len() as u32));
        if class.is_of_object {
            let mut copy = class.clone();
            copy.name = format!("{}.{}", NAMES[1], class.name);
            out.classes.push(copy);
        }
    }
    for class in out.classes.iter_mut().take(library.classes.len()).filter(|class| class.is_of_object) {
        class.name = format!("{}.{}", NAMES[0], class.name);
    }
    let named = |name: &String, object: &str| match library.methods.iter().find(|m| m.name == *name) {
        Some(method) if uses(method) => format!("{name}@{object}"),
        _ => name.clone(),
    };
    for (number, object) in NAMES.iter().enumerate() {
        for method in &library.methods {
            if number > 0 && !uses(method) {
                continue;
            }
            let mut method = Method { name: named(&method.name, object), ..method.clone() };
            if number > 0 {
                rename(&mut method.body, &|class| {
                    if is_of_object(class) { second[class.0 as usize] } else { class }
                });
            }
            out.methods.push(method);
        }
    }
    let contract = &library.contract;
    let each = |group: &Vec<String>, object: &str| group.iter().map(|name| named(name, object)).collect();
    out.contract.one_thread = NAMES
        .iter()
        .flat_map(|object| contract.one_thread.iter().map(move |group| each(group, object)))
        .collect();
    out.contract.roles = NAMES
        .iter()
        .flat_map(|object| contract.roles.iter().map(move |(role, name)| (*role, named(name, object))))
        .collect();
    Some(out)
}

/// Does a client use both objects?
pub fn uses_both(client: &Client) -> bool {
    let uses = |object: &str| client.threads.iter().flatten().any(|call| object_of(&call.method) == object);
    NAMES.iter().all(|object| uses(object))
}

/// In how many threads does it?
pub fn threads_with_both(client: &Client) -> usize {
    let has_both = |thread: &&Vec<super::Call>| {
        NAMES.iter().all(|object| thread.iter().any(|call| object_of(&call.method) == *object))
    };
    client.threads.iter().filter(has_both).count()
}

/// Are there records before any call?
fn has_records_at_once(library: &Library) -> bool {
    let of_class = library.classes.iter().any(|class| {
        class.record.is_some() && class.initial_cell.is_some()
            || !library.records.is_empty() && i64::try_from(class.initial).is_ok_and(is_fixed)
    });
    let mut of_code = false;
    for method in &library.methods {
        each_statement(&method.body, &mut |statement| {
            if let Statement::Access(access) = statement {
                let base = accessed(access).and_then(|place| place.base.as_ref());
                of_code |= matches!(base, Some(Expr::Int(_)));
            }
        });
    }
    library.has_global_records || of_class || of_code
}

/// Gives all accesses other classes.
fn rename(block: &mut [Statement], to: &impl Fn(ClassId) -> ClassId) {
    for statement in block {
        match statement {
            Statement::Access(access) => match &mut access.kind {
                AccessKind::Load { place, .. }
                | AccessKind::Wait { place, .. }
                | AccessKind::Store { place, .. }
                | AccessKind::Rmw { place, .. }
                | AccessKind::Cas { place, .. } => place.class = to(place.class),
                AccessKind::Allocate { .. } | AccessKind::Free { .. } | AccessKind::Fence { .. } => {}
            },
            Statement::If { then, otherwise, .. } => {
                rename(then, to);
                rename(otherwise, to);
            }
            Statement::Loop { body, .. } => rename(body, to),
            _ => {}
        }
    }
}
