//! Binary relations between events, with the operators of the papers.
//!
//! Notation as in seed 002 §3.2 and seed 004 §II.A: `r | s`, `r & s`, `r - s` are union, intersection and
//! difference, [`Relation::seq`] is `r ; s`, [`Relation::inverse`] `r⁻¹`, [`Relation::maybe`] `r?`,
//! [`Relation::plus`] `r⁺`, [`Relation::star`] `r*`, [`Relation::within`] `[A] ; r ; [B]`. Events are
//! numbered from 0, at most [`MAX_EVENTS`]; a row of the bit matrix holds the successors of one event.

use crate::set::{MAX_EVENTS, Set};
use std::collections::VecDeque;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// A binary relation between the events `0..len`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Relation {
    rows: Vec<u64>,
}

impl Relation {
    /// The empty relation between `n` events (at most [`MAX_EVENTS`] of them).
    pub fn empty(n: usize) -> Relation {
        Relation { rows: vec![0; n.min(MAX_EVENTS)] }
    }

    /// `[A]`: the identity on a set.
    pub fn identity(n: usize, on: Set) -> Relation {
        Relation { rows: (0..n.min(MAX_EVENTS)).map(|a| Set::one(a).0 & on.0).collect() }
    }

    /// `A × B`.
    pub fn product(n: usize, from: Set, to: Set) -> Relation {
        let to = to & Set::first(n);
        Relation { rows: (0..n.min(MAX_EVENTS)).map(|a| if from.contains(a) { to.0 } else { 0 }).collect() }
    }

    /// The relation made of these pairs. Pairs out of range are left out.
    pub fn from_pairs(n: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Relation {
        let mut r = Relation::empty(n);
        for (a, b) in pairs {
            r.insert(a, b);
        }
        r
    }

    /// The number of events it ranges over.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no pair is related.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|&row| row == 0)
    }

    /// Relates `a` to `b`.
    pub fn insert(&mut self, a: usize, b: usize) {
        if a < self.len() && b < self.len() {
            self.rows[a] |= 1 << b;
        }
    }

    /// Relates `a` to everything in `to`.
    pub fn insert_all(&mut self, a: usize, to: Set) {
        let all = Set::first(self.len());
        if let Some(row) = self.rows.get_mut(a) {
            *row |= (to & all).0;
        }
    }

    /// Whether `a` is related to `b`.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.after(a).contains(b)
    }

    /// What `a` is related to.
    pub fn after(&self, a: usize) -> Set {
        Set(self.rows.get(a).copied().unwrap_or(0))
    }

    /// What is related to `b`.
    pub fn before(&self, b: usize) -> Set {
        (0..self.len()).filter(|&a| self.contains(a, b)).collect()
    }

    /// All pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.len()).flat_map(|a| self.after(a).iter().map(move |b| (a, b)))
    }

    /// `dom(r)`: the events related to something.
    pub fn domain(&self) -> Set {
        (0..self.len()).filter(|&a| self.rows[a] != 0).collect()
    }

    /// `codom(r)`: the events that something is related to.
    pub fn codomain(&self) -> Set {
        Set(self.rows.iter().fold(0, |set, row| set | row))
    }

    /// `r ; s`
    pub fn seq(&self, then: &Relation) -> Relation {
        let reach = |row: u64| Set(row).iter().fold(0, |set, b| set | then.after(b).0);
        Relation { rows: self.rows.iter().map(|&row| reach(row)).collect() }
    }

    /// `r⁻¹`
    pub fn inverse(&self) -> Relation {
        Relation::from_pairs(self.len(), self.pairs().map(|(a, b)| (b, a)))
    }

    /// `r?`: or equal.
    pub fn maybe(&self) -> Relation {
        let with_self = |(a, &row): (usize, &u64)| row | Set::one(a).0;
        Relation { rows: self.rows.iter().enumerate().map(with_self).collect() }
    }

    /// `r⁺`: one or more steps (Warshall).
    pub fn plus(&self) -> Relation {
        let mut rows = self.rows.clone();
        for middle in 0..rows.len() {
            let through = rows[middle];
            if through != 0 {
                for row in &mut rows {
                    if *row >> middle & 1 == 1 {
                        *row |= through;
                    }
                }
            }
        }
        Relation { rows }
    }

    /// `r*`: any number of steps.
    pub fn star(&self) -> Relation {
        self.plus().maybe()
    }

    /// `[A] ; r ; [B]`
    pub fn within(&self, from: Set, to: Set) -> Relation {
        let cut = |(a, &row): (usize, &u64)| if from.contains(a) { row & to.0 } else { 0 };
        Relation { rows: self.rows.iter().enumerate().map(cut).collect() }
    }

    /// `[A] ; r`
    pub fn from(&self, from: Set) -> Relation {
        self.within(from, !Set::EMPTY)
    }

    /// `r ; [B]`
    pub fn to(&self, to: Set) -> Relation {
        self.within(!Set::EMPTY, to)
    }

    /// Whether every pair is in the other relation too.
    pub fn is_subset(&self, other: &Relation) -> bool {
        (0..self.len()).all(|a| (self.after(a) - other.after(a)).is_empty())
    }

    /// Whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.len()).all(|a| !self.contains(a, a))
    }

    /// Whether the relation has no cycle: events without a successor are taken away until none is left.
    pub fn is_acyclic(&self) -> bool {
        let mut left = Set::first(self.len());
        loop {
            let before = left;
            for a in before.iter() {
                if (self.after(a) & left).is_empty() {
                    left = left - Set::one(a);
                }
            }
            if left.is_empty() || left == before {
                return left.is_empty();
            }
        }
    }

    /// A shortest cycle, as the list of its events, if there is one.
    pub fn shortest_cycle(&self) -> Option<Vec<usize>> {
        let cycles = (0..self.len()).filter_map(|a| {
            let mut cycle = self.shortest_path(a, a)?;
            cycle.pop();
            Some(cycle)
        });
        cycles.min_by_key(Vec::len)
    }

    /// A shortest path of at least one step, both ends included (breadth first).
    pub fn shortest_path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came_from = vec![usize::MAX; self.len()];
        let mut seen = Set::EMPTY;
        let mut queue = VecDeque::from([from]);
        while let Some(a) = queue.pop_front() {
            for b in (self.after(a) - seen).iter() {
                seen |= Set::one(b);
                came_from[b] = a;
                if b == to {
                    let mut path = vec![b, a];
                    let mut at = a;
                    while at != from {
                        at = came_from[at];
                        path.push(at);
                    }
                    path.reverse();
                    return Some(path);
                }
                queue.push_back(b);
            }
        }
        None
    }

    /// Adds one event, related to nothing. Does nothing when the relation is full.
    pub(crate) fn grow(&mut self) {
        if self.len() < MAX_EVENTS {
            self.rows.push(0);
        }
    }

    /// Takes the last event away.
    pub(crate) fn shrink(&mut self) {
        self.rows.pop();
        let left = Set::first(self.len());
        for row in &mut self.rows {
            *row &= left.0;
        }
    }

    /// Forgets every pair whose second event is in the set.
    pub(crate) fn clear_to(&mut self, to: Set) {
        for row in &mut self.rows {
            *row &= !to.0;
        }
    }

    fn zip(&self, other: &Relation, f: impl Fn(u64, u64) -> u64) -> Relation {
        let n = self.len().max(other.len());
        Relation { rows: (0..n).map(|a| f(self.after(a).0, other.after(a).0)).collect() }
    }
}

impl BitOr for &Relation {
    type Output = Relation;
    fn bitor(self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a | b)
    }
}

impl BitOr<&Relation> for Relation {
    type Output = Relation;
    fn bitor(mut self, other: &Relation) -> Relation {
        self |= other;
        self
    }
}

impl BitOr for Relation {
    type Output = Relation;
    fn bitor(self, other: Relation) -> Relation {
        self | &other
    }
}

impl BitOrAssign<&Relation> for Relation {
    fn bitor_assign(&mut self, other: &Relation) {
        if self.len() < other.len() {
            self.rows.resize(other.len(), 0);
        }
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            *row |= more;
        }
    }
}

impl BitAnd for &Relation {
    type Output = Relation;
    fn bitand(self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & b)
    }
}

impl Sub for &Relation {
    type Output = Relation;
    fn sub(self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & !b)
    }
}
