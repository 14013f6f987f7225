//! What can be done to a program to make it robust: fences put in, accesses made stronger.

use crate::machine::{Acquire, Fence, Step};
use crate::program::{Point, Program, Spot};
use rustc_hash::FxHashMap;

/// One change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Change {
    /// A fence instruction is put in.
    Insert {
        /// The point before which, or the edge on which, it stands.
        at: Point,
        /// Its kind.
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

/// Changes, by the places in the text that they are about.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppliedChanges {
    fences: FxHashMap<Spot, Vec<Fence>>,
    strengths: FxHashMap<u32, Vec<Strength>>,
}

impl AppliedChanges {
    /// These changes of a program.
    pub fn new(program: &Program, changes: &[Change]) -> AppliedChanges {
        let mut applied = AppliedChanges::default();
        changes.iter().for_each(|&change| applied.add(program, change));
        applied
    }

    /// Adds a change; one that has no place in the text is left out.
    pub fn add(&mut self, program: &Program, change: Change) {
        match change {
            Change::Insert { at, fence } => {
                if let Some(spot) = program.spot(at) {
                    self.fences.entry(spot).or_default().push(fence);
                }
            }
            Change::Strengthen { function, node, to } => {
                if let Some(spot) = program.spot(Point::Before { function, node }) {
                    self.strengths.entry(spot.tag).or_default().push(to);
                }
            }
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.fences.is_empty() && self.strengths.is_empty()
    }

    /// The fences that were put there.
    pub fn fences(&self, spot: Option<Spot>) -> &[Fence] {
        spot.and_then(|spot| self.fences.get(&spot)).map_or(&[], |fences| fences)
    }

    /// The step of an instruction with this tag, as it is then.
    pub fn strengthened(&self, tag: u32, step: Step) -> Step {
        let strengths = self.strengths.get(&tag).map_or(&[][..], |strengths| strengths);
        strengths.iter().fold(step, |step, strength| strength.applied(step))
    }
}
