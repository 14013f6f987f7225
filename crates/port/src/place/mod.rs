//! Which changes make a program robust, at the least cost.
//!
//! Every pair at fault has a path on which the machine does not order it. What could be done on that path (a fence
//! somewhere, an access made stronger) makes a *demand*: one of these at least. A cheapest choice that meets all demands is
//! made, the program is looked at again with these changes, and paths that are still open make more demands. When none is
//! left, the program is robust: the last look is the check.
//!
//! `Enforce` of \[Fency21] goes pair by pair and skips a pair whose second access already has a fence in front, of
//! whatever kind; this can leave pairs unordered.

mod cost;
mod demand;
mod exact;
mod greedy;

pub use cost::Costs;

use crate::bits::Bits;
use crate::change::{AppliedChanges, Change};
use crate::limit::OutOfTime;
use crate::program::{Aliases, Program};
use crate::robust::{Answer, Prepared, Question};
use crate::tables::Tables;
use demand::Demands;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placement {
    /// The changes, in the order of the program.
    pub changes: Vec<Change>,
    /// Whether no cheaper choice meets the demands; otherwise it is what a greedy search found.
    pub exact: bool,
    /// What the analysis says before the changes.
    pub before: Answer,
    /// What it says after them: robust, unless pairs are left that nothing can order.
    pub after: Answer,
    /// Whether there was time to look for changes to the end; if not, there are none.
    pub in_time: bool,
    /// How often the program was looked at.
    pub rounds: usize,
}

/// More rounds than any program should need; every round adds a demand that was not met before.
const MOST_ROUNDS: usize = 200;

/// For all rounds of the exact search together: people wait, and what a greedy search finds is rarely dearer.
const BUDGET: Duration = Duration::from_secs(4);

/// Looks for the cheapest changes that make the program robust. An error if there was no time to find out whether it is.
pub fn place(
    program: &Program,
    aliases: &dyn Aliases,
    question: Question,
    costs: &Costs,
) -> Result<Placement, OutOfTime> {
    place_where(program, aliases, question, costs, &|_| true)
}

/// The same with changes that are allowed. If others would be needed, the program is not robust after them.
pub fn place_where(
    program: &Program,
    aliases: &dyn Aliases,
    question: Question,
    costs: &Costs,
    allowed: &dyn Fn(Change) -> bool,
) -> Result<Placement, OutOfTime> {
    let tables = Tables::new(aliases, program.locations.len());
    let untouched = Prepared::new(program, &tables, question, &[])?;
    let before = untouched.answer()?;
    let (changes, after) = (Vec::new(), before.clone());
    let mut placement = Placement { changes, exact: true, before, after, in_time: true, rounds: 1 };
    let demands = Demands::new(program, question, costs, allowed);
    if improve(&mut placement, program, &tables, &untouched, demands).is_err() {
        placement.changes.clear();
        placement.after.clone_from(&placement.before);
        (placement.in_time, placement.exact) = (false, false);
    }
    Ok(placement)
}

fn improve(
    placement: &mut Placement,
    program: &Program,
    tables: &Tables,
    untouched: &Prepared<'_>,
    mut demands: Demands<'_>,
) -> Result<(), OutOfTime> {
    let question = demands.question;
    let mut budget = BUDGET;
    while !placement.after.is_robust() && placement.rounds < MOST_ROUNDS {
        let now = Prepared::new(program, tables, question, &placement.changes)?;
        let applied = AppliedChanges::new(program, &placement.changes);
        let mut new = false;
        demands.again();
        for (first, seconds) in by_first(&placement.after) {
            for (_, path) in now.query().paths(first, &seconds) {
                question.deadline.check("looking for changes")?;
                new |= demands.add(untouched, first, &path, &applied);
            }
        }
        if !new {
            break;
        }
        // A solver that was too slow once would be so again: the problem only grows.
        let start = Instant::now();
        let chosen = if placement.exact { exact::choose(&demands, budget) } else { None };
        budget = budget.saturating_sub(start.elapsed());
        placement.exact &= chosen.is_some();
        placement.changes = match chosen {
            Some(chosen) => chosen,
            None => greedy::choose(&demands)?,
        };
        placement.changes.sort();
        placement.after = Prepared::new(program, tables, question, &placement.changes)?.answer()?;
        placement.rounds += 1;
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Deadline;
    use crate::machine::Machine;
    use crate::program::{Access, Base, Edge, Function, Kind, Location, Node, NodeKind};
    use seqcst_model::Mode;

    /// Threads that go through these variables, each with the other kind of access.
    fn program() -> Program {
        let function = |name: u32, kinds: [(Kind, usize); 3]| {
            let mut nodes: Vec<Node> = Vec::new();
            for (number, (kind, location)) in kinds.into_iter().enumerate() {
                let (order, failure) = (Mode::Relaxed, Mode::Relaxed);
                let (size, volatile, depends) = (4, false, Vec::new());
                let access = Access { kind, order, failure, location, size, volatile, depends };
                let next = vec![Edge::to(number + 1)];
                let tag = 10 * name + number as u32;
                nodes.push(Node { kind: NodeKind::Access(access), next, tag, ..Node::default() });
            }
            nodes.push(Node { tag: 10 * name + 9, ..Node::default() });
            Function { name: format!("f{name}"), nodes, entry: 0, many: false }
        };
        let location =
            |n: u32| Location { name: format!("x{n}"), base: Base::Global(n), offset: Some(0), size: 4 };
        let write = [(Kind::Store, 0), (Kind::Store, 1), (Kind::Store, 2)];
        let read = [(Kind::Load, 2), (Kind::Load, 1), (Kind::Load, 0)];
        Program {
            functions: vec![function(0, write), function(1, read)],
            locations: (0..3).map(location).collect(),
        }
    }

    /// What a placement finds that has had no answer from the solver.
    fn greedy(program: &Program, question: Question) -> (Placement, Result<(), OutOfTime>) {
        let tables = Tables::new(program, program.locations.len());
        let untouched =
            Prepared::new(program, &tables, Question { deadline: Deadline::default(), ..question }, &[])
                .expect("no limit");
        let before = untouched.answer().expect("no limit");
        let mut placement = Placement { after: before.clone(), before, rounds: 1, ..Placement::default() };
        let costs = Costs::default();
        let demands = Demands::new(program, question, &costs, &|_| true);
        let end = improve(&mut placement, program, &tables, &untouched, demands);
        (placement, end)
    }

    #[test]
    fn a_greedy_choice_serves_and_says_so() {
        let program = program();
        for (from, to) in Machine::PAIRS {
            let question = Question::new(from, to);
            let (found, end) = greedy(&program, question);
            assert!(end.is_ok() && found.after.is_robust() && !found.exact, "{from}–{to}: {found:?}");
            let best = place(&program, &program, question, &Costs::default()).expect("no limit");
            assert!(best.exact && best.in_time && best.changes.len() <= found.changes.len(), "{from}–{to}");
            let needed = (from, to) != (Machine::Sc, Machine::X86) && from != Machine::ArmV8;
            assert_eq!(!found.changes.is_empty(), needed, "{from}–{to}: {found:?}");
        }
    }

    #[test]
    fn nothing_is_said_when_time_is_out() {
        let program = program();
        let deadline = Deadline::after(Duration::ZERO);
        for (from, to) in Machine::PAIRS {
            let question = Question { deadline, ..Question::new(from, to) };
            assert!(place(&program, &program, question, &Costs::default()).is_err());
            assert!(crate::robust::check(&program, &program, question, &[]).is_err());
        }
        let question = Question { deadline, ..Question::new(Machine::X86, Machine::ArmV8) };
        let (found, end) = greedy(&program, question);
        assert!(end.is_err() && !found.before.is_robust(), "{found:?}");
    }
}
