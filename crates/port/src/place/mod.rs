//! Which changes make a program robust, at the least cost.
//!
//! Every pair at fault has a path on which the machine does not order it. What could be done on that path (a fence
//! somewhere, an access made stronger) makes a *demand*: one of these at least. A cheapest choice that meets all demands is
//! made, the program is looked at again with these changes, and paths that are still open make more demands. When none is
//! left, the program is robust: the last look is the check.
//!
//! Seed 004's `Enforce` goes pair by pair and skips a pair whose second access already has a fence in front, of
//! whatever kind; this can leave pairs unordered.

mod cost;
mod demand;
mod exact;
mod greedy;

pub use cost::Costs;

use crate::bits::Bits;
use crate::change::{Change, Made};
use crate::program::{Aliases, Program};
use crate::robust::{Answer, Prepared, Question};
use crate::tables::Tables;
use demand::Demands;
use std::collections::BTreeMap;

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The changes, in the order of the program.
    pub changes: Vec<Change>,
    /// Whether no cheaper choice meets the demands; otherwise it is what a greedy search found.
    pub exact: bool,
    /// What the analysis says before the changes.
    pub before: Answer,
    /// What it says after them: robust, unless pairs are left that nothing can order.
    pub after: Answer,
    /// How often the program was looked at.
    pub rounds: usize,
}

/// More rounds than any program should need; every round adds a demand that was not met before.
const MOST_ROUNDS: usize = 200;

/// Looks for the cheapest changes that make the program robust.
pub fn place(program: &Program, aliases: &dyn Aliases, question: Question, costs: &Costs) -> Placement {
    let tables = Tables::new(aliases, program.locations.len());
    let untouched = Prepared::new(program, &tables, question, &[]);
    let before = untouched.answer();
    let mut demands = Demands::new(program, question, costs);
    let mut placement =
        Placement { changes: Vec::new(), exact: true, after: before.clone(), before, rounds: 1 };
    while !placement.after.is_robust() && placement.rounds < MOST_ROUNDS {
        let now = Prepared::new(program, &tables, question, &placement.changes);
        let made = Made::new(program, &placement.changes);
        let mut new = false;
        demands.again();
        for (first, seconds) in by_first(&placement.after) {
            for (_, path) in now.asked().paths(first, &seconds) {
                new |= demands.add(&untouched, first, &path, &made);
            }
        }
        if !new {
            break;
        }
        let chosen = exact::choose(&demands);
        placement.exact &= chosen.is_some();
        placement.changes = chosen.unwrap_or_else(|| greedy::choose(&demands));
        placement.changes.sort();
        placement.after = Prepared::new(program, &tables, question, &placement.changes).answer();
        placement.rounds += 1;
    }
    placement
}

/// The pairs at fault, together by their first events.
fn by_first(answer: &Answer) -> BTreeMap<usize, Bits> {
    let bound = answer.faults.iter().map(|fault| fault.events.1 + 1).max().unwrap_or(0);
    let mut pairs: BTreeMap<usize, Bits> = BTreeMap::new();
    for fault in &answer.faults {
        pairs.entry(fault.events.0).or_insert_with(|| Bits::new(bound)).insert(fault.events.1);
    }
    pairs
}
