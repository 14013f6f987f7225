//! Demands: for a path on which a pair is not ordered, the changes that order it.
//!
//! Which changes do is not worked out from rules but tried: the path is walked again with the change made.

use super::Costs;
use crate::change::{Change, Strength};
use crate::lowered::Op;
use crate::machine::Machine;
use crate::program::{Access, Kind, Order, Point, Program, What};
use crate::robust::{Prepared, Question};
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
    numbers: BTreeMap<Change, usize>,
    program: &'a Program,
    question: Question,
    prices: &'a Costs,
}

/// Paths with more places than this for a pair of stronger accesses are offered fences and single accesses only.
const MOST_TWO: usize = 24;

impl<'a> Demands<'a> {
    /// No demands yet.
    pub fn new(program: &'a Program, question: Question, prices: &'a Costs) -> Demands<'a> {
        let (changes, costs, all) = Default::default();
        Demands { changes, costs, all, numbers: BTreeMap::new(), program, question, prices }
    }

    /// Adds the demand of a path from an event; false if there is nothing new in it, or nothing helps.
    pub fn add(&mut self, prepared: &Prepared<'_>, first: usize, path: &[usize]) -> bool {
        let asked = prepared.asked();
        let origin = &prepared.lowered.events[first];
        let nodes = &prepared.lowered.threads[origin.thread].nodes;
        let mut fences = Vec::new();
        let mut accesses = self.strengthenings(origin.thread, origin.source);
        for &node in path {
            match nodes[node].op {
                Op::Gate(at, _) => {
                    let kinds = self.question.to.fences().iter();
                    fences.extend(kinds.map(|&fence| Change::Insert { at, fence }));
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
        let helps = |changes: &[Change]| asked.holds(first, path, changes);
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
            self.all.push(demand);
        }
        new
    }

    fn number(&mut self, change: Change) -> usize {
        let next = self.changes.len();
        let number = *self.numbers.entry(change).or_insert(next);
        if number == next {
            self.changes.push(change);
            self.costs.push(self.prices.of(self.program, change));
        }
        number
    }

    /// What an access could be made into.
    fn strengthenings(&self, function: usize, node: usize) -> Vec<Change> {
        let what = self.program.functions.get(function).and_then(|f| f.nodes.get(node)).map(|n| &n.what);
        let Some(What::Access(Access { kind, order, size, .. })) = what else { return Vec::new() };
        if self.question.to != Machine::ArmV8 || *order == Order::Plain || *size > 8 {
            return Vec::new();
        }
        let mut strengths = Vec::new();
        if *kind == Kind::Load && self.question.features.rcpc {
            strengths.push(Strength::AcquirePc);
        }
        if *kind != Kind::Store && !order.is_acquire() {
            strengths.push(Strength::Acquire);
        }
        if *kind != Kind::Load && !order.is_release() {
            strengths.push(Strength::Release);
        }
        strengths.into_iter().map(|to| Change::Strengthen { function, node, to }).collect()
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
