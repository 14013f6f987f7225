//! What can be done to a program to make it robust: fences put in, accesses made stronger.

use crate::machine::{Acquire, Fence, Step};
use crate::program::{NOWHERE, Point, Program};

/// One change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Change {
    /// A fence instruction is put in.
    Insert {
        /// Where.
        at: Point,
        /// Which.
        fence: Fence,
    },
    /// An access gets a stronger instruction.
    Strengthen {
        /// Index into [`Program::functions`](crate::program::Program::functions).
        function: usize,
        /// Index into [`Function::nodes`](crate::program::Function::nodes).
        node: usize,
        /// What it becomes.
        to: Strength,
    },
}

/// What an access is made into (ARMv8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Strength {
    /// A load that comes before everything later: `ldapr`.
    AcquirePc,
    /// The same, and after earlier release stores: `ldar`, `ldaxr`.
    Acquire,
    /// A store that comes after everything earlier: `stlr`, `stlxr`.
    Release,
}

impl Strength {
    /// The step, if it is of the right kind, with this strength.
    pub fn applied(self, step: Step) -> Step {
        match (step, self) {
            (Step::Read(now), Strength::Acquire) => Step::Read(now.max(Acquire::Yes)),
            (Step::Read(now), Strength::AcquirePc) => Step::Read(now.max(Acquire::Pc)),
            (Step::Write { exclusive, .. }, Strength::Release) => Step::Write { release: true, exclusive },
            (step, _) => step,
        }
    }
}

impl Change {
    /// What the change makes of the instruction with this tag, if it is about that one.
    pub fn strength(&self, program: &Program, tag: u32) -> Option<Strength> {
        let Change::Strengthen { function, node, to } = *self else { return None };
        let changed = program.functions.get(function)?.nodes.get(node)?.tag;
        (changed == tag && tag != NOWHERE).then_some(to)
    }
}
