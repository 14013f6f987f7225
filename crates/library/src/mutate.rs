//! Weakened copies of a library: every access one step weaker, every fence removed or one step weaker.

use crate::code::{AccessKind, Label, Library, Order, Site, Statement};
use crate::rho::{accessed, each_access};
use std::collections::BTreeSet;

/// A weakened library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutant {
    /// The library.
    pub library: Library,
    /// What is weaker: `push: compare-and-swap of head: release → relaxed`.
    pub description: String,
    /// Where.
    pub site: Site,
}

/// What is done to an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Another order; of a compare-and-swap, if it succeeds.
    Order(Order),
    /// Another order of a compare-and-swap that fails.
    Failure(Order),
    /// It is gone.
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

fn steps(kind: &AccessKind) -> Vec<(Step, String)> {
    let to = |from: Order, step: fn(Order) -> Step, kind: Kind, before: &str| -> Vec<(Step, String)> {
        weaker(from, kind).iter().map(|order| (step(*order), format!("{before}{from} → {order}"))).collect()
    };
    match kind {
        AccessKind::Load { order, .. } | AccessKind::Wait { order, .. } => {
            to(*order, Step::Order, Kind::Read, "")
        }
        AccessKind::Store { order, .. } => to(*order, Step::Order, Kind::Write, ""),
        AccessKind::Rmw { order, .. } => to(*order, Step::Order, Kind::Update, ""),
        AccessKind::Cas { success, failure, is_blocking, .. } => {
            let mut all = to(*success, Step::Order, Kind::Update, "");
            if !is_blocking {
                all.extend(to(*failure, Step::Failure, Kind::Read, "if it fails, "));
            }
            all
        }
        AccessKind::Fence { order } => {
            let mut all = vec![(Step::Removed, format!("{order} → none"))];
            let less = to(*order, Step::Order, Kind::Update, "");
            all.extend(less.into_iter().filter(|(step, _)| *step != Step::Order(Order::Relaxed)));
            all
        }
        AccessKind::Allocate { .. } | AccessKind::Free { .. } => vec![],
    }
}

/// What an order is to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Update,
}

/// The next weaker orders.
fn weaker(order: Order, kind: Kind) -> &'static [Order] {
    match (order, kind) {
        (Order::Relaxed, _) => &[],
        (Order::SeqCst, Kind::Read) => &[Order::Acquire],
        (Order::SeqCst, Kind::Write) => &[Order::Release],
        (Order::SeqCst, Kind::Update) => &[Order::AcqRel],
        (Order::AcqRel, Kind::Update) => &[Order::Acquire, Order::Release],
        (Order::Acquire | Order::Release | Order::AcqRel, _) => &[Order::Relaxed],
    }
}

fn weaken(block: &mut Vec<Statement>, label: Label, step: Step) {
    if step == Step::Removed {
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
                (AccessKind::Cas { failure, .. }, Step::Failure(weaker)) => *failure = weaker,
                (
                    AccessKind::Load { order, .. }
                    | AccessKind::Wait { order, .. }
                    | AccessKind::Store { order, .. }
                    | AccessKind::Rmw { order, .. }
                    | AccessKind::Cas { success: order, .. }
                    | AccessKind::Fence { order },
                    Step::Order(weaker),
                ) => *order = weaker,
                _ => {}
            },
            _ => {}
        }
    }
}
