//! Weakened copies of a library: every access one step weaker, every fence removed or one step weaker.

use crate::code::{AccessKind, Label, Library, Mode, Site, Statement, order_name};
use crate::rho::{accessed, each_access};
use std::collections::BTreeSet;

/// A weakened library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutant {
    /// The weakened copy.
    pub library: Library,
    /// What is weaker: `push: compare-and-swap of head: release → relaxed`.
    pub description: String,
    /// The place of the operation that is weaker.
    pub site: Site,
}

/// What is done to an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weakening {
    /// Another order; of a compare-and-swap, if it succeeds.
    Order(Mode),
    /// Another order of a compare-and-swap that fails.
    Failure(Mode),
    /// The operation is removed.
    Removed,
}

/// All libraries that are one step weaker. Copies of an operation, which have one label, are weakened together.
pub fn mutants(library: &Library) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let mut seen = BTreeSet::new();
    for method in &library.methods {
        each_access(&method.body, &mut |access| {
            if !seen.insert(access.label) {
                return;
            }
            let place = accessed(access).map_or(String::new(), |place| {
                format!(
                    " of {}",
                    library.classes.get(place.class.0 as usize).map_or("?", |class| class.name.as_str())
                )
            });
            for (step, what) in steps(&access.kind) {
                let mut weaker = library.clone();
                for method in &mut weaker.methods {
                    weaken(&mut method.body, access.label, step);
                }
                let description = format!("{}: {}{place}: {what}", method.name, word(&access.kind));
                mutants.push(Mutant { library: weaker, description, site: access.site });
            }
        });
    }
    mutants
}

fn word(kind: &AccessKind) -> &'static str {
    match kind {
        AccessKind::Load { .. } => "load",
        AccessKind::Wait { .. } => "wait",
        AccessKind::Store { .. } => "store",
        AccessKind::Rmw { .. } => "update",
        AccessKind::Cas { .. } => "compare-and-swap",
        AccessKind::Fence { .. } => "fence",
        AccessKind::Allocate { .. } => "allocation",
        AccessKind::Free { .. } => "free",
    }
}

fn steps(kind: &AccessKind) -> Vec<(Weakening, String)> {
    let to = |from: Mode,
              step: fn(Mode) -> Weakening,
              kind: AccessType,
              before: &str|
     -> Vec<(Weakening, String)> {
        let text = |to: Mode| format!("{before}{} → {}", order_name(from), order_name(to));
        weaker(from, kind).iter().map(|to| (step(*to), text(*to))).collect()
    };
    match kind {
        AccessKind::Load { order, .. } | AccessKind::Wait { order, .. } => {
            to(*order, Weakening::Order, AccessType::Read, "")
        }
        AccessKind::Store { order, .. } => to(*order, Weakening::Order, AccessType::Write, ""),
        AccessKind::Rmw { order, .. } => to(*order, Weakening::Order, AccessType::Update, ""),
        AccessKind::Cas { success, failure, is_blocking, .. } => {
            let mut all = to(*success, Weakening::Order, AccessType::Update, "");
            if !is_blocking {
                all.extend(to(*failure, Weakening::Failure, AccessType::Read, "if it fails, "));
            }
            all
        }
        AccessKind::Fence { order } => {
            let mut all = vec![(Weakening::Removed, format!("{} → none", order_name(*order)))];
            let less = to(*order, Weakening::Order, AccessType::Update, "");
            all.extend(less.into_iter().filter(|(step, _)| *step != Weakening::Order(Mode::Relaxed)));
            all
        }
        AccessKind::Allocate { .. } | AccessKind::Free { .. } => vec![],
    }
}

/// Kinds of access, which differ in the orders they may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccessType {
    Read,
    Write,
    Update,
}

/// The next weaker orders.
fn weaker(order: Mode, kind: AccessType) -> &'static [Mode] {
    match (order, kind) {
        (Mode::NonAtomic | Mode::Relaxed, _) => &[],
        (Mode::SeqCst, AccessType::Read) => &[Mode::Acquire],
        (Mode::SeqCst, AccessType::Write) => &[Mode::Release],
        (Mode::SeqCst, AccessType::Update) => &[Mode::AcqRel],
        (Mode::AcqRel, AccessType::Update) => &[Mode::Acquire, Mode::Release],
        (Mode::Acquire | Mode::Release | Mode::AcqRel, _) => &[Mode::Relaxed],
    }
}

fn weaken(block: &mut Vec<Statement>, label: Label, step: Weakening) {
    if step == Weakening::Removed {
        block.retain(|statement| !matches!(statement, Statement::Access(access) if access.label == label));
    }
    for statement in block {
        match statement {
            Statement::If { then, otherwise, .. } => {
                weaken(then, label, step);
                weaken(otherwise, label, step);
            }
            Statement::Loop { body, .. } => weaken(body, label, step),
            Statement::Access(access) if access.label == label => match (&mut access.kind, step) {
                (AccessKind::Cas { failure, .. }, Weakening::Failure(weaker)) => *failure = weaker,
                (
                    AccessKind::Load { order, .. }
                    | AccessKind::Wait { order, .. }
                    | AccessKind::Store { order, .. }
                    | AccessKind::Rmw { order, .. }
                    | AccessKind::Cas { success: order, .. }
                    | AccessKind::Fence { order },
                    Weakening::Order(weaker),
                ) => *order = weaker,
                _ => {}
            },
            _ => {}
        }
    }
}
