//! Which variables are read later: liveness over structured code.

use super::facts::locals;
use seqcst_c11::code::{Access, AccessKind, Expr, LocalId, Place, Statement};
use std::collections::BTreeSet;

/// A set of variables.
pub type Locals = BTreeSet<LocalId>;

/// What is live where control can go from inside loops: at the exit and at the head of each, innermost last.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// After each loop.
    pub exits: Vec<Locals>,
    /// At the head of each loop.
    pub heads: Vec<Locals>,
}

impl Around {
    /// What is live after `Break(depth)`.
    pub fn exit(&self, depth: u32) -> Locals {
        target(&self.exits, depth)
    }

    /// What is live after `Continue(depth)`.
    pub fn head(&self, depth: u32) -> Locals {
        target(&self.heads, depth)
    }
}

fn target(levels: &[Locals], depth: u32) -> Locals {
    levels.iter().rev().nth(depth as usize).cloned().unwrap_or_default()
}

/// What is live before a block. `watch` is told what is live around (exit last) each loop.
pub fn before(
    block: &[Statement],
    after: Locals,
    around: &mut Around,
    watch: &mut impl FnMut(&Statement, &Around),
) -> Locals {
    let mut live = after;
    for statement in block.iter().rev() {
        match statement {
            Statement::Access(access) => {
                for local in assigned(access) {
                    live.remove(&local);
                }
                live.extend(used(access));
            }
            Statement::Assign { to, value } => {
                live.remove(to);
                add(value, &mut live);
            }
            Statement::If { condition, then, otherwise } => {
                let mut both = before(then, live.clone(), around, watch);
                both.extend(before(otherwise, live, around, watch));
                live = both;
                add(condition, &mut live);
            }
            Statement::Loop { body, .. } => {
                around.exits.push(live);
                around.heads.push(Locals::new());
                live = loop {
                    let old = around.head(0);
                    let head = before(body, old.clone(), around, watch);
                    if head == old {
                        break head;
                    }
                    around.heads.pop();
                    around.heads.push(head);
                };
                watch(statement, around);
                around.exits.pop();
                around.heads.pop();
            }
            Statement::Break(depth) => live = around.exit(*depth),
            Statement::Continue(depth) => live = around.head(*depth),
            Statement::Return(value) => {
                live = Locals::new();
                value.iter().for_each(|value| add(value, &mut live));
            }
            Statement::Assume(condition) => add(condition, &mut live),
        }
    }
    live
}

/// Adds the variables of an expression.
pub fn add(expr: &Expr, live: &mut Locals) {
    locals(expr, &mut |local| {
        live.insert(local);
    });
}

/// The variables that an operation assigns.
pub fn assigned(access: &Access) -> Vec<LocalId> {
    match &access.kind {
        AccessKind::Load { to, .. } | AccessKind::Wait { to, .. } | AccessKind::Allocate { to, .. } => {
            vec![*to]
        }
        AccessKind::Rmw { to, .. } => to.iter().copied().collect(),
        AccessKind::Cas { succeeded, found, .. } => succeeded.iter().chain(found).copied().collect(),
        AccessKind::Store { .. } | AccessKind::Fence { .. } | AccessKind::Free { .. } => vec![],
    }
}

/// The variables that an operation reads before it assigns any.
pub fn used(access: &Access) -> Locals {
    let mut live = Locals::new();
    if let AccessKind::Wait { to, until, .. } = &access.kind {
        add(until, &mut live);
        live.remove(to);
    }
    if let Some(place) = accessed(access) {
        place.base.iter().chain(&place.index).for_each(|expr| add(expr, &mut live));
    }
    values(access).into_iter().for_each(|expr| add(expr, &mut live));
    live
}

/// The expressions whose values an operation compares with, writes or frees.
pub fn values(access: &Access) -> Vec<&Expr> {
    match &access.kind {
        AccessKind::Store { value, .. } => vec![value],
        AccessKind::Rmw { operand, .. } => vec![operand],
        AccessKind::Cas { expected, desired, .. } => vec![expected, desired],
        AccessKind::Free { pointer, .. } => vec![pointer],
        _ => vec![],
    }
}

/// The place that an operation accesses.
pub fn accessed(access: &Access) -> Option<&Place> {
    match &access.kind {
        AccessKind::Load { place, .. }
        | AccessKind::Wait { place, .. }
        | AccessKind::Store { place, .. }
        | AccessKind::Rmw { place, .. }
        | AccessKind::Cas { place, .. } => Some(place),
        AccessKind::Fence { .. } | AccessKind::Allocate { .. } | AccessKind::Free { .. } => None,
    }
}
