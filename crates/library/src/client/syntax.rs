//! Pieces of finite-state programs.

use seqcst_model::Mode;
use seqcst_program::ast::{Access, At, Cas, CasKind, Expr, ExprKind, Name, RmwMode, Span, Stmt, StmtKind};
use seqcst_program::code::Binary;

pub fn at<T>(node: T) -> At<T> {
    At::new(node, Span::default())
}

pub fn word(text: impl Into<String>) -> Name {
    at(text.into())
}

pub fn number(value: u32) -> Expr {
    at(ExprKind::Number(value))
}

pub fn register(name: &str) -> Expr {
    at(ExprKind::Name(name.to_owned()))
}

pub fn binary(operator: Binary, a: Expr, b: Expr) -> Expr {
    at(ExprKind::Binary(operator, Box::new(a), Box::new(b)))
}

/// A location that nobody writes.
pub const NEVER: &str = "never";

/// What no complete execution gets past.
pub fn stop() -> Stmt {
    let access = Access::Wait(word(NEVER), vec![number(1)], Some(at(Mode::Relaxed)));
    at(StmtKind::Access(None, access))
}

/// Does a block have a [`stop`]?
pub fn stops(block: &[Stmt]) -> bool {
    block.iter().any(|statement| match &statement.node {
        StmtKind::Access(_, Access::Wait(name, ..)) => name.node == NEVER,
        StmtKind::If(_, then, otherwise) => stops(then) || stops(otherwise),
        StmtKind::OneOf(branches) => branches.iter().any(|branch| stops(branch)),
        _ => false,
    })
}

pub fn blocking_cas(location: &str, expected: Expr, new: Expr, order: Mode) -> Stmt {
    let mode = RmwMode::Whole(at(order));
    let cas = Cas { location: word(location), expected, new, mode, failure: None };
    at(StmtKind::Access(None, Access::Cas(CasKind::Blocking, Box::new(cas))))
}

/// The modes of a compare-and-swap: with that of failure, the text has three.
pub fn halves(order: Mode) -> RmwMode {
    let sc = order == Mode::SeqCst;
    let half = |strong: bool, mode| {
        at(if sc {
            Mode::SeqCst
        } else if strong {
            mode
        } else {
            Mode::Relaxed
        })
    };
    RmwMode::Halves(half(order.is_acquire(), Mode::Acquire), half(order.is_release(), Mode::Release))
}

/// The mode of a load that a failed attempt is.
pub fn failure_mode(order: Mode) -> Mode {
    match order {
        Mode::SeqCst => Mode::SeqCst,
        _ if order.is_acquire() => Mode::Acquire,
        _ => Mode::Relaxed,
    }
}
