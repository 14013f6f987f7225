//! Which steps a compiler makes of a C11 access: the mappings that LLVM uses.

use crate::machine::{Acquire, Fence, Machine, Step, Steps};
use crate::program::{Access, Kind, NodeKind};
use seqcst_model::Mode;

/// What the target has beyond the basic instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Features {
    /// ARMv8.3's `ldapr` for acquire loads.
    pub rcpc: bool,
}

/// The steps of a node on a machine.
pub fn steps(machine: Machine, features: Features, what: &NodeKind) -> Steps {
    match what {
        NodeKind::Nothing | NodeKind::MayFence => Steps::default(),
        NodeKind::Fence(order) => always(fence(machine, *order).map(Step::Fence).into_iter().collect()),
        NodeKind::StoreFence => {
            let there = machine.fences().contains(&Fence::Store);
            always(there.then_some(Step::Fence(Fence::Store)).into_iter().collect())
        }
        NodeKind::Opaque { .. } => always(vec![Step::Read(Acquire::No), WRITE]),
        NodeKind::Access(access) => of_access(machine, features, access),
    }
}

/// The steps of a node on the source machine: what is not known there may order everything.
///
/// Atomic accesses of 16 bytes are loops or locked instructions, or calls of a library that may take a lock; in calls that
/// were not followed there may be any fence. On the target machine they order no more than they must.
pub fn old_steps(machine: Machine, features: Features, what: &NodeKind) -> Steps {
    let steps = steps(machine, features, what);
    let around = |steps: Vec<Step>| [vec![FULL], steps, vec![FULL]].concat();
    match what {
        _ if machine == Machine::Sc => steps,
        NodeKind::MayFence => always(vec![FULL]),
        NodeKind::Opaque { fences: true, .. } => Steps { success: around(steps.success), ..steps },
        NodeKind::Access(access) if access.is_wide() => Steps {
            success: around(steps.success),
            failure: steps.failure.map(around),
            retried: steps.retried.map(around),
        },
        _ => steps,
    }
}

const FULL: Step = Step::Fence(Fence::Full);
const WRITE: Step = Step::Write { release: false, exclusive: false };

fn always(success: Vec<Step>) -> Steps {
    Steps { success, ..Steps::default() }
}

fn either(success: Vec<Step>, failure: Vec<Step>) -> Steps {
    Steps { success, failure: Some(failure), retried: None }
}

fn fence(machine: Machine, order: Mode) -> Option<Fence> {
    match (machine, order) {
        (Machine::Sc, _) | (_, Mode::NonAtomic | Mode::Relaxed) => None,
        (Machine::X86, Mode::SeqCst) => Some(Fence::Full),
        (Machine::X86, _) => None,
        (Machine::ArmV8, Mode::Acquire) => Some(Fence::Load),
        (Machine::ArmV8 | Machine::ArmV7, _) => Some(Fence::Full),
    }
}

fn of_access(machine: Machine, features: Features, access: &Access) -> Steps {
    let Access { kind, order, failure, .. } = access;
    let (acquire, release, sc) = (order.is_acquire(), order.is_release(), *order == Mode::SeqCst);
    let read = |acquire: bool| Step::Read(if acquire { Acquire::Yes } else { Acquire::No });
    let swap = |release| Step::Write { release, exclusive: true };
    let after = |yes: bool, mut steps: Vec<Step>| {
        if yes {
            steps.push(FULL);
        }
        steps
    };
    let before = |yes: bool, mut steps: Vec<Step>| {
        if yes {
            steps.insert(0, FULL);
        }
        steps
    };
    match (machine, kind) {
        (Machine::Sc, Kind::Load) => always(vec![read(false)]),
        (Machine::Sc, Kind::Store) => always(vec![WRITE]),
        (Machine::Sc, Kind::Rmw) => always(vec![read(false), swap(false)]),
        (Machine::Sc, Kind::Cas) => either(vec![read(false), swap(false)], vec![read(false)]),

        (Machine::X86, Kind::Load) => always(vec![read(false)]),
        (Machine::X86, Kind::Store) => always(after(sc, vec![WRITE])),
        (Machine::X86, Kind::Rmw) => always(vec![FULL, read(false), swap(false), FULL]),
        (Machine::X86, Kind::Cas) => {
            either(vec![FULL, read(false), swap(false), FULL], vec![FULL, read(false), FULL])
        }

        (Machine::ArmV8, Kind::Load) if features.rcpc && *order == Mode::Acquire => {
            always(vec![Step::Read(Acquire::Pc)])
        }
        // `ldp` and `stp` with fences beside them: such a load doesn't wait for an earlier `stlr`, nor an `ldar` for such a store.
        (Machine::ArmV8, Kind::Load) if acquire && access.is_wide() => always(vec![Step::Read(Acquire::Pc)]),
        (Machine::ArmV8, Kind::Store) if access.is_wide() => {
            always(vec![Step::Write { release: sc, exclusive: false }])
        }
        (Machine::ArmV8, Kind::Load) => always(vec![read(acquire)]),
        (Machine::ArmV8, Kind::Store) => always(vec![Step::Write { release, exclusive: false }]),
        (Machine::ArmV8, Kind::Rmw) => always(vec![read(acquire), swap(release)]),
        // One load and one store serve both outcomes: they get the stronger order.
        (Machine::ArmV8, Kind::Cas) => {
            let acquire = acquire || failure.is_acquire();
            let release = release || *failure == Mode::SeqCst;
            either(vec![read(acquire), swap(release)], vec![read(acquire)])
        }

        (Machine::ArmV7, Kind::Load) => always(after(acquire, vec![read(false)])),
        (Machine::ArmV7, Kind::Store) => always(after(sc, before(release, vec![WRITE]))),
        (Machine::ArmV7, Kind::Rmw) => {
            always(after(acquire, before(release, vec![read(false), swap(false)])))
        }
        // The fence comes once the value is found, and is not repeated when the loop goes round: then the read that counts
        // is behind it.
        (Machine::ArmV7, Kind::Cas) => {
            let mut success = vec![read(false)];
            success.extend(release.then_some(FULL));
            success.push(swap(false));
            let retried = release.then(|| after(acquire, vec![FULL, read(false), swap(false)]));
            let failed = after(failure.is_acquire(), vec![read(false)]);
            Steps { success: after(acquire, success), failure: Some(failed), retried }
        }
    }
}
