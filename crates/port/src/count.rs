//! Fences counted as \[Fency21] §V counts them: those that a naive scheme would put in, and those that are there.

use crate::machine::{Acquire, Machine, Step};
use crate::mapping::{Features, steps};
use crate::program::{NOWHERE, NodeKind, Program};
use rustc_hash::FxHashSet;

/// The naive scheme: a fence after every memory access.
pub fn naive(program: &Program) -> usize {
    instructions(program).into_iter().filter(|what| matches!(what, NodeKind::Access(_))).count()
}

/// The fences that the machine's program has: fence instructions, on ARMv8 also acquire loads and release stores, on x86
/// also stores by `xchg`. Other locked instructions are not counted.
pub fn existing(program: &Program, machine: Machine, features: Features) -> usize {
    instructions(program).into_iter().map(|what| in_node(what, machine, features)).sum()
}

/// What the instructions do; copies of one count once, and so does one that does several things.
fn instructions(program: &Program) -> Vec<&NodeKind> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for function in &program.functions {
        for node in function.nodes.iter().filter(|node| node.tag != NOWHERE) {
            // One that goes on piece by piece has its place in front of the pieces.
            let pieces =
                node.next.iter().map(|edge| &function.nodes[edge.to]).find(|next| next.tag == NOWHERE);
            let what = match (&node.kind, pieces) {
                (NodeKind::Nothing, Some(piece)) => &piece.kind,
                (what, _) => what,
            };
            if *what != NodeKind::Nothing && seen.insert(node.tag) {
                found.push(what);
            }
        }
    }
    found
}

fn in_node(what: &NodeKind, machine: Machine, features: Features) -> usize {
    let steps = steps(machine, features, what);
    let fences = steps.success.iter().filter(|step| matches!(step, Step::Fence(_))).count();
    let swaps = steps.success.iter().any(|step| matches!(step, Step::Write { exclusive: true, .. }));
    let strong = steps.success.iter().any(|step| match step {
        Step::Read(acquire) => *acquire != Acquire::No,
        Step::Write { release, .. } => *release,
        Step::Fence(_) => false,
    });
    match machine {
        Machine::Sc => 0,
        Machine::X86 => {
            if swaps {
                0
            } else {
                fences
            }
        }
        Machine::ArmV8 => fences + usize::from(strong),
        Machine::ArmV7 => fences,
    }
}
