//! Binary relations between events, with the operators of the papers.
//!
//! Notation as in \[RoboCop24] §3.2 and \[Fency21] §II.A: `r | s`, `r & s`, `r - s` are union, intersection and
//! difference, [`Relation::seq`] is `r ; s`, [`Relation::inverse`] `r⁻¹`, [`Relation::maybe`] `r?`,
//! [`Relation::plus`] `r⁺`, [`Relation::star`] `r*`, [`Relation::within`] `[A] ; r ; [B]`. Events are
//! numbered from 0, at most [`Set::MAX`]; a row of the bit matrix holds the successors of one event.

use crate::set::Set;
use std::collections::VecDeque;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// A binary relation between the events `0..len`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Relation<const W: usize = 1> {
    rows: Vec<Set<W>>,
}

impl<const W: usize> Relation<W> {
    /// The empty relation between `n` events (at most [`Set::MAX`] of them).
    pub fn empty(n: usize) -> Relation<W> {
        Relation { rows: vec![Set::EMPTY; n.min(Set::<W>::MAX)] }
    }

    /// `[A]`: the identity on a set.
    pub fn identity(n: usize, on: Set<W>) -> Relation<W> {
        Relation { rows: (0..n.min(Set::<W>::MAX)).map(|a| Set::one(a) & on).collect() }
    }

    /// `A × B`.
    pub fn product(n: usize, from: Set<W>, to: Set<W>) -> Relation<W> {
        let to = to & Set::first(n);
        let row = |a| if from.contains(a) { to } else { Set::EMPTY };
        Relation { rows: (0..n.min(Set::<W>::MAX)).map(row).collect() }
    }

    /// The relation made of these pairs. Pairs out of range are left out.
    pub fn from_pairs(n: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Relation<W> {
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
        self.rows.iter().all(|row| row.is_empty())
    }

    /// Relates `a` to `b`.
    pub fn insert(&mut self, a: usize, b: usize) {
        if a < self.len() && b < self.len() {
            self.rows[a].insert(b);
        }
    }

    /// Relates `a` to everything in `to`.
    pub fn insert_all(&mut self, a: usize, to: Set<W>) {
        let all = Set::first(self.len());
        if let Some(row) = self.rows.get_mut(a) {
            *row |= to & all;
        }
    }

    /// Whether `a` is related to `b`.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.rows.get(a).is_some_and(|row| row.contains(b))
    }

    /// What `a` is related to.
    pub fn after(&self, a: usize) -> Set<W> {
        self.rows.get(a).copied().unwrap_or_default()
    }

    /// What is related to `b`.
    pub fn before(&self, b: usize) -> Set<W> {
        (0..self.len()).filter(|&a| self.contains(a, b)).collect()
    }

    /// All pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.len()).flat_map(|a| self.after(a).iter().map(move |b| (a, b)))
    }

    /// `dom(r)`: the events related to something.
    pub fn domain(&self) -> Set<W> {
        (0..self.len()).filter(|&a| !self.rows[a].is_empty()).collect()
    }

    /// `codom(r)`: the events that something is related to.
    pub fn codomain(&self) -> Set<W> {
        self.rows.iter().fold(Set::EMPTY, |set, &row| set | row)
    }

    /// `r ; s`
    pub fn seq(&self, then: &Relation<W>) -> Relation<W> {
        let reach = |row: Set<W>| row.iter().fold(Set::EMPTY, |set, b| set | then.after(b));
        Relation { rows: self.rows.iter().map(|&row| reach(row)).collect() }
    }

    /// `r⁻¹`
    pub fn inverse(&self) -> Relation<W> {
        Relation::from_pairs(self.len(), self.pairs().map(|(a, b)| (b, a)))
    }

    /// `r?`: or equal.
    pub fn maybe(&self) -> Relation<W> {
        let with_self = |(a, &row): (usize, &Set<W>)| row | Set::one(a);
        Relation { rows: self.rows.iter().enumerate().map(with_self).collect() }
    }

    /// `r⁺`: one or more steps (Warshall).
    pub fn plus(&self) -> Relation<W> {
        let mut rows = self.rows.clone();
        for middle in 0..rows.len() {
            let through = rows[middle];
            if !through.is_empty() {
                for row in &mut rows {
                    if row.contains(middle) {
                        *row |= through;
                    }
                }
            }
        }
        Relation { rows }
    }

    /// `r*`: any number of steps.
    pub fn star(&self) -> Relation<W> {
        self.plus().maybe()
    }

    /// `[A] ; r ; [B]`
    pub fn within(&self, from: Set<W>, to: Set<W>) -> Relation<W> {
        let cut = |(a, &row): (usize, &Set<W>)| if from.contains(a) { row & to } else { Set::EMPTY };
        Relation { rows: self.rows.iter().enumerate().map(cut).collect() }
    }

    /// `[A] ; r`
    pub fn from(&self, from: Set<W>) -> Relation<W> {
        self.within(from, !Set::EMPTY)
    }

    /// `r ; [B]`
    pub fn to(&self, to: Set<W>) -> Relation<W> {
        self.within(!Set::EMPTY, to)
    }

    /// Whether every pair is in the other relation too.
    pub fn is_subset(&self, other: &Relation<W>) -> bool {
        (0..self.len()).all(|a| (self.after(a) - other.after(a)).is_empty())
    }

    /// Whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.len()).all(|a| !self.contains(a, a))
    }

    /// Whether the relation has no cycle: events without a successor are taken away until none is left.
    pub fn is_acyclic(&self) -> bool {
        // Backwards, because most graphs are built in some order of execution.
        self.trimmed(Set::first(self.len()), |n| (0..n).rev()).is_empty()
    }

    /// What remains of the events when those related to none of the others are taken away, again and again. The
    /// order in which they are looked at matters for speed alone.
    fn trimmed<I: Iterator<Item = usize>>(&self, mut left: Set<W>, order: impl Fn(usize) -> I) -> Set<W> {
        loop {
            let before = left;
            for a in order(self.len()) {
                if left.contains(a) && (self.after(a) & left).is_empty() {
                    left.remove(a);
                }
            }
            if left.is_empty() || left == before {
                return left;
            }
        }
    }

    /// A shortest cycle, as the list of its events, if there is one.
    pub fn shortest_cycle(&self) -> Option<Vec<usize>> {
        // Only these can be on a cycle: they lead to one, and one leads to them.
        let left = self.trimmed(Set::first(self.len()), |n| (0..n).rev());
        let left = self.inverse().trimmed(left, |n| 0..n);
        let cycles = left.iter().filter_map(|a| {
            let mut cycle = self.shortest_path(a, a)?;
            cycle.pop();
            Some(cycle)
        });
        cycles.min_by_key(Vec::len)
    }

    /// A shortest path of at least one step, both ends included (breadth first).
    pub fn shortest_path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came_from = vec![usize::MAX; self.len()];
        let mut seen: Set<W> = Set::EMPTY;
        let mut queue = VecDeque::from([from]);
        while let Some(a) = queue.pop_front() {
            for b in (self.after(a) - seen).iter() {
                seen.insert(b);
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
        if self.len() < Set::<W>::MAX {
            self.rows.push(Set::EMPTY);
        }
    }

    /// Takes the last event away.
    pub(crate) fn shrink(&mut self) {
        self.rows.pop();
        let left: Set<W> = Set::first(self.len());
        for row in &mut self.rows {
            *row = *row & left;
        }
    }

    /// Forgets every pair whose second event is in the set.
    pub(crate) fn clear_to(&mut self, to: Set<W>) {
        for row in &mut self.rows {
            *row = *row - to;
        }
    }

    fn zip(&self, other: &Relation<W>, f: impl Fn(Set<W>, Set<W>) -> Set<W>) -> Relation<W> {
        let n = self.len().max(other.len());
        Relation { rows: (0..n).map(|a| f(self.after(a), other.after(a))).collect() }
    }
}

impl<const W: usize> Default for Relation<W> {
    fn default() -> Relation<W> {
        Relation::empty(0)
    }
}

impl<const W: usize> BitOr for &Relation<W> {
    type Output = Relation<W>;
    fn bitor(self, other: &Relation<W>) -> Relation<W> {
        self.zip(other, |a, b| a | b)
    }
}

impl<const W: usize> BitOr<&Relation<W>> for Relation<W> {
    type Output = Relation<W>;
    fn bitor(mut self, other: &Relation<W>) -> Relation<W> {
        self |= other;
        self
    }
}

impl<const W: usize> BitOr for Relation<W> {
    type Output = Relation<W>;
    fn bitor(self, other: Relation<W>) -> Relation<W> {
        self | &other
    }
}

impl<const W: usize> BitOrAssign<&Relation<W>> for Relation<W> {
    fn bitor_assign(&mut self, other: &Relation<W>) {
        if self.len() < other.len() {
            self.rows.resize(other.len(), Set::EMPTY);
        }
        for (row, &more) in self.rows.iter_mut().zip(&other.rows) {
            *row |= more;
        }
    }
}

impl<const W: usize> BitAnd for &Relation<W> {
    type Output = Relation<W>;
    fn bitand(self, other: &Relation<W>) -> Relation<W> {
        self.zip(other, |a, b| a & b)
    }
}

impl<const W: usize> Sub for &Relation<W> {
    type Output = Relation<W>;
    fn sub(self, other: &Relation<W>) -> Relation<W> {
        self.zip(other, |a, b| a - b)
    }
}
