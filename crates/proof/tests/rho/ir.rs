//! Libraries written down by hand, and their text.
#![allow(dead_code, reason = "not every test uses everything")]

use seqcst_c11::code::Mode::Relaxed;
use seqcst_c11::code::*;
use std::sync::atomic::{AtomicU32, Ordering};

static LABELS: AtomicU32 = AtomicU32::new(1);

/// The variables of methods, by number.
pub const A: LocalId = LocalId(0);
pub const B: LocalId = LocalId(1);
pub const C: LocalId = LocalId(2);
pub const D: LocalId = LocalId(3);
pub const E: LocalId = LocalId(4);
pub const F: LocalId = LocalId(5);

pub const X: ClassId = ClassId(0);
pub const Y: ClassId = ClassId(1);
pub const NEXT: ClassId = ClassId(2);
pub const VAL: ClassId = ClassId(3);
pub const CELL: ClassId = ClassId(4);
pub const NODE: RecordId = RecordId(0);

/// Two globals `x`, `y`, nodes with fields `next` and `val`, an array `cell[]`, and these methods.
pub fn library(methods: Vec<Method>) -> Library {
    let class = |name: &str, record, cells, is_atomic| Class {
        name: name.to_owned(),
        record,
        cells,
        is_atomic,
        integer: Integer::LONG,
        initial: 0,
        initial_cell: None,
        is_of_object: false,
    };
    Library {
        files: vec!["test.c".to_owned()],
        records: vec![Record { name: "node".to_owned() }],
        classes: vec![
            class("x", None, None, true),
            class("y", None, None, true),
            class("node.next", Some(NODE), None, true),
            class("node.val", Some(NODE), None, false),
            class("cell[]", None, Some(Some(2)), false),
        ],
        methods,
        has_global_records: false,
        contract: Contract::default(),
    }
}

/// A method with variables `a` to `f`, the first of which are its parameters.
pub fn method(name: &str, parameters: u32, body: Vec<Statement>) -> Method {
    let local = |name: &str| Local { name: name.to_owned(), points_to: None, integer: Integer::LONG };
    let mut returns = false;
    seqcst_proof::rho::each_statement(&body, &mut |s| returns |= matches!(s, Statement::Return(Some(_))));
    Method {
        name: name.to_owned(),
        parameters: (0..parameters).map(LocalId).collect(),
        locals: ["a", "b", "c", "d", "e", "f"].map(local).to_vec(),
        body,
        returns,
        site: Site::default(),
    }
}

fn access(kind: AccessKind) -> Statement {
    let label = LABELS.fetch_add(1, Ordering::Relaxed);
    Statement::Access(Access { label: Label(label), site: Site { file: 0, line: label, column: 1 }, kind })
}

pub fn at(class: ClassId) -> Place {
    Place { class, base: None, index: None }
}

pub fn field(class: ClassId, base: LocalId) -> Place {
    Place { class, base: Some(v(base)), index: None }
}

pub fn cell(class: ClassId, index: Expr) -> Place {
    Place { class, base: None, index: Some(index) }
}

pub fn load(to: LocalId, place: Place, order: Mode) -> Statement {
    access(AccessKind::Load { to, place, order })
}

pub fn store(place: Place, value: Expr, order: Mode) -> Statement {
    access(AccessKind::Store { place, value, order })
}

pub fn rmw(to: LocalId, place: Place, update: Update, operand: Expr, order: Mode) -> Statement {
    access(AccessKind::Rmw { to: Some(to), place, update, integer: Integer::LONG, operand, order })
}

pub fn cas(
    ok: LocalId,
    found: Option<LocalId>,
    place: Place,
    expected: Expr,
    desired: Expr,
    success: Mode,
) -> Statement {
    cas_or(ok, found, place, expected, desired, success, Relaxed)
}

pub fn cas_or(
    ok: LocalId,
    found: Option<LocalId>,
    place: Place,
    expected: Expr,
    desired: Expr,
    success: Mode,
    failure: Mode,
) -> Statement {
    let (succeeded, is_weak, is_blocking) = (Some(ok), true, false);
    access(AccessKind::Cas {
        succeeded,
        found,
        place,
        expected,
        desired,
        success,
        failure,
        is_weak,
        is_blocking,
    })
}

pub fn fence(order: Mode) -> Statement {
    access(AccessKind::Fence { order })
}

pub fn alloc(to: LocalId) -> Statement {
    access(AccessKind::Allocate { to, record: NODE, is_zeroed: false })
}

pub fn free(pointer: LocalId) -> Statement {
    access(AccessKind::Free { pointer: v(pointer), record: NODE })
}

pub fn set(to: LocalId, value: Expr) -> Statement {
    Statement::Assign { to, value }
}

pub fn repeat(body: Vec<Statement>) -> Statement {
    let line = LABELS.fetch_add(1, Ordering::Relaxed);
    Statement::Loop { body, site: Site { file: 0, line, column: 1 } }
}

pub fn when(condition: Expr, then: Vec<Statement>) -> Statement {
    Statement::If { condition, then, otherwise: vec![] }
}

pub fn either(condition: Expr, then: Vec<Statement>, otherwise: Vec<Statement>) -> Statement {
    Statement::If { condition, then, otherwise }
}

pub fn leave() -> Statement {
    Statement::Break(0)
}

pub fn again() -> Statement {
    Statement::Continue(0)
}

pub fn ret(value: Expr) -> Statement {
    Statement::Return(Some(value))
}

pub fn v(local: LocalId) -> Expr {
    Expr::Local(local)
}

pub fn int(value: i64) -> Expr {
    Expr::Int(value.into())
}

pub fn not(e: Expr) -> Expr {
    Expr::Not(Box::new(e))
}

pub fn op(operator: Operator, a: Expr, b: Expr) -> Expr {
    Expr::Binary(operator, Box::new(a), Box::new(b))
}

pub fn eq(a: Expr, b: Expr) -> Expr {
    op(Operator::Equal, a, b)
}

pub fn ne(a: Expr, b: Expr) -> Expr {
    op(Operator::NotEqual, a, b)
}

/// A block in one line per statement, without labels.
pub fn text(library: &Library, block: &[Statement]) -> String {
    let mut out = String::new();
    write(library, block, 0, &mut out);
    out
}

fn write(library: &Library, block: &[Statement], depth: usize, out: &mut String) {
    for statement in block {
        let head = match statement {
            Statement::Access(access) => operation(library, &access.kind),
            Statement::Assign { to, value } => format!("{} = {}", name(*to), expr(value)),
            Statement::Break(depth) => format!("break {depth}"),
            Statement::Continue(depth) => format!("continue {depth}"),
            Statement::Return(None) => "return".to_owned(),
            Statement::Return(Some(value)) => format!("return {}", expr(value)),
            Statement::Assume(condition) => format!("assume {}", expr(condition)),
            Statement::Loop { .. } => "loop".to_owned(),
            Statement::If { condition, .. } => format!("if {}", expr(condition)),
        };
        let indent = "  ".repeat(depth);
        out.push_str(&format!("{indent}{head}\n"));
        match statement {
            Statement::Loop { body, .. } => write(library, body, depth + 1, out),
            Statement::If { then, otherwise, .. } => {
                write(library, then, depth + 1, out);
                if !otherwise.is_empty() {
                    out.push_str(&format!("{indent}else\n"));
                    write(library, otherwise, depth + 1, out);
                }
            }
            _ => {}
        }
    }
}

fn name(local: LocalId) -> String {
    ["a", "b", "c", "d", "e", "f"]
        .get(local.0 as usize)
        .map_or_else(|| format!("%{}", local.0), ToString::to_string)
}

fn operation(library: &Library, kind: &AccessKind) -> String {
    let place = |place: &Place| {
        let class = &library.classes[place.class.0 as usize].name;
        match (&place.base, &place.index) {
            (Some(base), _) => format!("{}->{}", expr(base), class.split('.').nth(1).unwrap_or(class)),
            (_, Some(index)) => format!("{}[{}]", class.trim_end_matches("[]"), expr(index)),
            _ => class.clone(),
        }
    };
    match kind {
        AccessKind::Load { to, place: p, order } => {
            format!("{} = {} {}", name(*to), place(p), order_name(*order))
        }
        AccessKind::Wait { to, place: p, until, order } => {
            format!("{} = {} {} until {}", name(*to), place(p), order_name(*order), expr(until))
        }
        AccessKind::Store { place: p, value, order } => {
            format!("{} := {} {}", place(p), expr(value), order_name(*order))
        }
        AccessKind::Rmw { to, place: p, update, operand, order, .. } => {
            let to = to.map_or(String::new(), |to| format!("{} = ", name(to)));
            format!("{to}{update:?}({}, {}) {}", place(p), expr(operand), order_name(*order))
        }
        AccessKind::Cas { succeeded, place: p, expected, desired, success, is_blocking, .. } => {
            let to = succeeded.map_or(String::new(), |to| format!("{} = ", name(to)));
            let word = if *is_blocking { "bcas" } else { "cas" };
            format!(
                "{to}{word}({}, {}, {}) {}",
                place(p),
                expr(expected),
                expr(desired),
                order_name(*success)
            )
        }
        AccessKind::Fence { order } => format!("fence {}", order_name(*order)),
        AccessKind::Allocate { to, .. } => format!("{} = new", name(*to)),
        AccessKind::Free { pointer, .. } => format!("free {}", expr(pointer)),
    }
}

fn expr(e: &Expr) -> String {
    match e {
        Expr::Int(value) => value.to_string(),
        Expr::Local(local) => name(*local),
        Expr::Wrap(to, e) => format!("{to}({})", expr(e)),
        Expr::Not(e) => format!("!{}", expr(e)),
        Expr::Binary(operator, a, b) => format!("({} {operator:?} {})", expr(a), expr(b)),
    }
}
