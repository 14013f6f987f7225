//! The last pass: what is constant is not read, and what is not used goes.

use crate::code::{AccessKind, Class, ClassId, Expr, Library, LocalId, Method, Mode, Place, Statement};

/// Folds loads of locations that no method writes; drops classes and variables that nothing uses.
pub fn tidy(library: &mut Library) {
    let mut is_written = vec![false; library.classes.len()];
    for method in &mut library.methods {
        each_access(&mut method.body, &mut |kind| {
            let writes = !matches!(kind, AccessKind::Load { .. } | AccessKind::Wait { .. });
            if let (Some(place), true) = (place_of(kind), writes) {
                is_written[place.class.0 as usize] = true;
            }
        });
    }
    let known: Vec<Option<i128>> = library
        .classes
        .iter()
        .zip(&is_written)
        .map(|(c, written)| (!written && c.record.is_none() && c.cells.is_none()).then_some(c.initial))
        .collect();
    let mut is_used = vec![false; library.classes.len()];
    for method in &mut library.methods {
        each_statement(&mut method.body, &mut |statement| {
            // A seq_cst load is a fence too.
            if let Statement::Access(access) = statement
                && let AccessKind::Load { to, place, order } = &access.kind
                && *order != Mode::SeqCst
                && let Some(value) = known[place.class.0 as usize]
            {
                *statement = Statement::Assign { to: *to, value: Expr::Int(value) };
            }
        });
        each_access(&mut method.body, &mut |kind| {
            if let Some(place) = place_of(kind) {
                is_used[place.class.0 as usize] = true;
            }
        });
        drop_unused_locals(method);
    }
    let renamed = renumbered(&is_used);
    for method in &mut library.methods {
        each_access(&mut method.body, &mut |kind| {
            if let Some(place) = place_of(kind) {
                place.class = ClassId(renamed[place.class.0 as usize]);
            }
        });
    }
    let mut keep = is_used.iter();
    library.classes.retain(|_: &Class| *keep.next().unwrap_or(&true));
}

/// New numbers of what is kept.
fn renumbered(keep: &[bool]) -> Vec<u32> {
    let mut next = 0;
    keep.iter()
        .map(|keep| {
            next += u32::from(*keep);
            next.saturating_sub(1)
        })
        .collect()
}

fn drop_unused_locals(method: &mut Method) {
    let mut is_used = vec![false; method.locals.len()];
    let mut mark = |local: &mut LocalId| is_used[local.0 as usize] = true;
    method.parameters.iter_mut().for_each(&mut mark);
    each_local(&mut method.body, &mut mark);
    let renamed = renumbered(&is_used);
    let mut rename = |local: &mut LocalId| local.0 = renamed[local.0 as usize];
    method.parameters.iter_mut().for_each(&mut rename);
    each_local(&mut method.body, &mut rename);
    let mut keep = is_used.iter();
    method.locals.retain(|_| *keep.next().unwrap_or(&true));
    // Temporary variables are numbered anew.
    let mut number = 0;
    for local in &mut method.locals {
        if local.name.starts_with('%') {
            number += 1;
            local.name = format!("%{number}");
        }
    }
}

fn each_statement(body: &mut [Statement], with: &mut impl FnMut(&mut Statement)) {
    for statement in body {
        with(statement);
        match statement {
            Statement::If { then, otherwise, .. } => {
                each_statement(then, with);
                each_statement(otherwise, with);
            }
            Statement::Loop { body, .. } => each_statement(body, with),
            _ => {}
        }
    }
}

fn each_access(body: &mut [Statement], with: &mut impl FnMut(&mut AccessKind)) {
    each_statement(body, &mut |statement| {
        if let Statement::Access(access) = statement {
            with(&mut access.kind);
        }
    });
}

fn place_of(kind: &mut AccessKind) -> Option<&mut Place> {
    match kind {
        AccessKind::Load { place, .. }
        | AccessKind::Wait { place, .. }
        | AccessKind::Store { place, .. }
        | AccessKind::Rmw { place, .. }
        | AccessKind::Cas { place, .. } => Some(place),
        AccessKind::Fence { .. } | AccessKind::Allocate { .. } | AccessKind::Free { .. } => None,
    }
}

fn each_local(body: &mut [Statement], with: &mut impl FnMut(&mut LocalId)) {
    each_statement(body, &mut |statement| match statement {
        Statement::Access(access) => locals_of_access(&mut access.kind, with),
        Statement::Assign { to, value } => {
            with(to);
            locals_of(value, with);
        }
        Statement::If { condition, .. } => locals_of(condition, with),
        Statement::Return(Some(e)) | Statement::Assume(e) => locals_of(e, with),
        _ => {}
    });
}

fn locals_of_access(kind: &mut AccessKind, with: &mut impl FnMut(&mut LocalId)) {
    if let Some(place) = place_of(kind) {
        place.base.iter_mut().chain(&mut place.index).for_each(|e| locals_of(e, with));
    }
    match kind {
        AccessKind::Load { to, .. } | AccessKind::Allocate { to, .. } => with(to),
        AccessKind::Wait { to, until, .. } => {
            with(to);
            locals_of(until, with);
        }
        AccessKind::Store { value, .. } => locals_of(value, with),
        AccessKind::Rmw { to, operand, .. } => {
            to.iter_mut().for_each(&mut *with);
            locals_of(operand, with);
        }
        AccessKind::Cas { succeeded, found, expected, desired, .. } => {
            succeeded.iter_mut().chain(found).for_each(&mut *with);
            locals_of(expected, with);
            locals_of(desired, with);
        }
        AccessKind::Free { pointer, .. } => locals_of(pointer, with),
        AccessKind::Fence { .. } => {}
    }
}

fn locals_of(e: &mut Expr, with: &mut impl FnMut(&mut LocalId)) {
    match e {
        Expr::Int(_) => {}
        Expr::Local(local) => with(local),
        Expr::Not(e) | Expr::Wrap(_, e) => locals_of(e, with),
        Expr::Binary(_, a, b) => {
            locals_of(a, with);
            locals_of(b, with);
        }
    }
}
