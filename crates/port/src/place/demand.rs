//! Demands: for a path on which a pair is not ordered, the changes that order it.
//!
//! Which changes do is not worked out from rules but tried: the path is walked again with the change made.

use super::Costs;
use crate::change::{AppliedChanges, Change, Strength};
use crate::lowered::Op;
use crate::machine::{Acquire, Fence, Machine, Step};
use crate::mapping::steps;
use crate::pairs::Query;
use crate::program::{Access, Kind, NOWHERE, NodeKind, Point, Program, Spot};
use crate::robust::{Prepared, Question};
use seqcst_model::Mode;
use std::collections::BTreeMap;

/// What could be done on a path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Demand {
    /// Each of these orders the pair by itself: indices into [`Demands::changes`].
    pub one: Vec<usize>,
    /// Each of these does together.
    pub two: Vec<(usize, usize)>,
}

/// All demands so far.
pub struct Demands<'a> {
    /// The changes that they speak of.
    pub changes: Vec<Change>,
    /// What these cost.
    pub costs: Vec<u32>,
    /// The demands.
    pub all: Vec<Demand>,
    numbers: BTreeMap<Key, usize>,
    /// What was taken for each demand when it came, so that paths that this serves, too, make no demand of their own.
    tentative: AppliedChanges,
    program: &'a Program,
    /// What is asked.
    pub question: Question,
    prices: &'a Costs,
    allowed: &'a dyn Fn(Change) -> bool,
}

/// Changes with the same key are one change of the text.
type Key = (Option<Spot>, Result<Strength, Fence>);

/// Paths with more places than this for a pair of stronger accesses are offered fences and single accesses only.
const MOST_TWO: usize = 24;

impl<'a> Demands<'a> {
    /// No demands yet. Only what is allowed is thought of.
    pub fn new(
        program: &'a Program,
        question: Question,
        prices: &'a Costs,
        allowed: &'a dyn Fn(Change) -> bool,
    ) -> Demands<'a> {
        let (changes, costs, all) = Default::default();
        let (numbers, tentative) = Default::default();
        Demands { changes, costs, all, numbers, tentative, program, question, prices, allowed }
    }

    /// A new round: paths that were left open make demands again.
    pub fn again(&mut self) {
        self.tentative = AppliedChanges::default();
    }

    /// Whether what was taken in this round serves the path.
    fn is_met_on(&self, query: &Query<'_>, first: usize, path: &[usize]) -> bool {
        !self.tentative.is_empty() && query.holds(first, path, &self.tentative)
    }

    /// Adds the demand of a path from an event; false if there is nothing new in it, or nothing helps.
    ///
    /// `applied` are the changes with which the path was found open. If it isn't (states were taken together on the way),
    /// nothing but a fence at its end is sure to help.
    pub fn add(
        &mut self,
        prepared: &Prepared<'_>,
        first: usize,
        path: &[usize],
        applied: &AppliedChanges,
    ) -> bool {
        let query = prepared.query();
        if self.is_met_on(&query, first, path) {
            return false;
        }
        let origin = &prepared.lowered.events[first];
        let nodes = &prepared.lowered.threads[origin.thread].nodes;
        let mut fences = Vec::new();
        let mut accesses = self.strengthenings(origin.thread, origin.source);
        for &node in path {
            match nodes[node].op {
                Op::Gate(ref gate) if gate.spot.is_some() => {
                    let kinds = self.question.to.fences().iter();
                    fences.extend(kinds.map(|&fence| Change::Insert { at: gate.point, fence }));
                }
                Op::Event(event) => {
                    accesses
                        .extend(self.strengthenings(origin.thread, prepared.lowered.events[event].source));
                }
                _ => {}
            }
        }
        accesses.sort();
        accesses.dedup();
        let allowed = self.allowed;
        fences.retain(|&change| allowed(change));
        accesses.retain(|&change| allowed(change));
        if query.holds(first, path, applied) {
            let full = |change: &&Change| matches!(change, Change::Insert { fence: Fence::Full, .. });
            accesses.clear();
            fences = fences.iter().rev().find(full).into_iter().copied().collect();
        }
        let program = self.program;
        let helps = |changes: &[Change]| query.holds(first, path, &AppliedChanges::new(program, changes));
        let mut demand = Demand::default();
        let alone: Vec<Change> = fences.iter().chain(&accesses).copied().filter(|&c| helps(&[c])).collect();
        if accesses.len() <= MOST_TWO {
            accesses.retain(|change| !alone.contains(change));
            for (n, &a) in accesses.iter().enumerate() {
                for &b in &accesses[n + 1..] {
                    if helps(&[a, b]) {
                        demand.two.push((self.number(a), self.number(b)));
                    }
                }
            }
        }
        demand.one = alone.into_iter().map(|change| self.number(change)).collect();
        let new = demand != Demand::default() && !self.all.contains(&demand);
        if new {
            let cheapest = demand.one.iter().min_by_key(|&&number| (self.costs[number], usize::MAX - number));
            if let Some(&number) = cheapest {
                self.tentative.add(self.program, self.changes[number]);
            }
            self.all.push(demand);
        }
        new
    }

    fn number(&mut self, change: Change) -> usize {
        let next = self.changes.len();
        let key = match change {
            Change::Insert { at, fence } => (self.program.spot(at), Err(fence)),
            Change::Strengthen { function, node, to } => {
                (self.program.spot(Point::Before { function, node }), Ok(to))
            }
        };
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.changes.push(change);
            self.costs.push(self.prices.of(self.program, change));
        }
        number
    }

    /// What an access could be made into. (Library functions are larger than any instruction.)
    fn strengthenings(&self, function: usize, node: usize) -> Vec<Change> {
        let Question { to, features, .. } = self.question;
        let node_there = self.program.functions.get(function).and_then(|f| f.nodes.get(node));
        let Some(there) = node_there.filter(|node| node.tag != NOWHERE) else { return Vec::new() };
        let NodeKind::Access(Access { kind, order, size, .. }) = there.kind else { return Vec::new() };
        if to != Machine::ArmV8 || order == Mode::NonAtomic || size > 8 {
            return Vec::new();
        }
        let strengths = |step: &Step| -> &[Strength] {
            match step {
                Step::Read(Acquire::No) if features.rcpc && kind == Kind::Load => {
                    &[Strength::AcquirePc, Strength::Acquire]
                }
                Step::Read(Acquire::No | Acquire::Pc) => &[Strength::Acquire],
                Step::Write { release: false, .. } => &[Strength::Release],
                _ => &[],
            }
        };
        let stronger = |&to: &Strength| Change::Strengthen { function, node, to };
        steps(to, features, &there.kind).success.iter().flat_map(strengths).map(stronger).collect()
    }

    /// For every change that is worth a thought: its number. Of changes that meet the same demands the cheapest is kept.
    pub fn worthwhile(&self) -> Vec<usize> {
        let mut best: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut kept: Vec<usize> = Vec::new();
        for number in 0..self.changes.len() {
            let in_two = |demand: &Demand| demand.two.iter().any(|&(a, b)| a == number || b == number);
            if self.all.iter().any(in_two) {
                kept.push(number);
                continue;
            }
            let meets = |(_, demand): &(usize, &Demand)| demand.one.contains(&number);
            let met: Vec<usize> = self.all.iter().enumerate().filter(meets).map(|(n, _)| n).collect();
            let rank = |number: usize| (self.costs[number], unnatural(self.changes[number]));
            best.entry(met)
                .and_modify(|old| *old = if rank(number) < rank(*old) { number } else { *old })
                .or_insert(number);
        }
        kept.extend(best.into_iter().filter(|(met, _)| !met.is_empty()).map(|(_, number)| number));
        kept.sort_unstable();
        kept
    }
}

/// Among equals, a stronger access is easier to read than a fence, a fence before an instruction than one on an edge.
fn unnatural(change: Change) -> u8 {
    match change {
        Change::Strengthen { .. } => 0,
        Change::Insert { at: Point::Before { .. }, .. } => 1,
        Change::Insert { at: Point::On { .. }, .. } => 2,
    }
}
