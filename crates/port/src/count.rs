//! Fences counted as seed 004 §V counts them: those that a naive scheme would put in, and those that are there.

use crate::machine::{Acquire, Machine, Step};
use crate::mapping::{Features, steps};
use crate::program::{Program, What};

/// The naive scheme: a fence after every memory access.
pub fn naive(program: &Program) -> usize {
    let nodes = program.functions.iter().flat_map(|function| &function.nodes);
    nodes.filter(|node| matches!(node.what, What::Access(_))).count()
}

/// The fences that the machine's program has: fence instructions, on ARMv8 also acquire loads and release stores, on x86
/// also stores by `xchg`. Other locked instructions are not counted.
pub fn existing(program: &Program, machine: Machine, features: Features) -> usize {
    let nodes = program.functions.iter().flat_map(|function| &function.nodes);
    nodes.map(|node| in_node(&node.what, machine, features)).sum()
}

fn in_node(what: &What, machine: Machine, features: Features) -> usize {
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
