//! What changes cost.

use crate::change::{Change, Strength};
use crate::machine::Fence;
use crate::program::{Point, Program};

/// Costs of instructions, and how much more they cost in loops.
///
/// The kinds differ little: two weak instructions cost more than one strong one, so that the cheapest choice is also one of
/// the shortest, up to a dozen changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// `mfence`, `dmb ish`
    pub full: u32,
    /// `dmb ishld`
    pub load: u32,
    /// `dmb ishst`
    pub store: u32,
    /// A load becomes `ldar`.
    pub acquire: u32,
    /// A load becomes `ldapr`.
    pub acquire_pc: u32,
    /// A store becomes `stlr`.
    pub release: u32,
    /// A loop multiplies the cost by this, for up to three loops around.
    pub in_loop: u32,
}

impl Default for Costs {
    fn default() -> Costs {
        Costs { full: 100, load: 96, store: 95, acquire: 93, acquire_pc: 92, release: 93, in_loop: 4 }
    }
}

impl Costs {
    /// The cost of a change in a program.
    pub fn of(&self, program: &Program, change: Change) -> u32 {
        let depth = |function: usize, node: usize| {
            program.functions.get(function).and_then(|f| f.nodes.get(node)).map_or(0, |node| node.depth)
        };
        let (base, depth) = match change {
            Change::Insert { at, fence } => {
                let base = match fence {
                    Fence::Full => self.full,
                    Fence::Load => self.load,
                    Fence::Store => self.store,
                };
                let depth = match at {
                    Point::Before { function, node } => depth(function, node),
                    Point::On { function, from, edge } => {
                        let node = program.functions.get(function).and_then(|f| f.nodes.get(from));
                        let to = node.and_then(|node| node.next.get(edge)).map_or(from, |edge| edge.to);
                        depth(function, from).min(depth(function, to))
                    }
                };
                (base, depth)
            }
            Change::Strengthen { function, node, to } => {
                let base = match to {
                    Strength::AcquirePc => self.acquire_pc,
                    Strength::Acquire => self.acquire,
                    Strength::Release => self.release,
                };
                (base, depth(function, node))
            }
        };
        base.saturating_mul(self.in_loop.max(1).saturating_pow(depth.min(3)))
    }
}
