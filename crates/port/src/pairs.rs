//! Pairs of accesses of one thread, and whether the two machines order them.
//!
//! Seed 004 §IV: `MM`, `Pnf` and `Ord`, asked path by path. A pair is *kept* if the machine that the program comes from
//! may order it on some path: then it can be a program-order edge of a cycle that this machine forbids. It is *loose* if on
//! such a path the machine that the program goes to doesn't order it. Pairs that always touch the same memory are
//! neither (`poℓ` is in every condition of Theorem 1): coherence takes them out of every cycle.

use crate::bits::Bits;
use crate::change::Change;
use crate::depends::Depends;
use crate::lowered::{Event, Lowered, Op};
use crate::order::{Met, Rules, State};
use crate::program::Aliases;
use std::collections::VecDeque;

/// The pairs of a program: one set of second events for each first event.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Ordered by the machine that the program comes from, on some path.
    pub kept: Vec<Bits>,
    /// Of these, not ordered by the machine that it goes to, on the same path.
    pub loose: Vec<Bits>,
    /// Ordered by the machine that the program comes from on some path, but not worth a look: another pair serves.
    pub spare: Vec<Bits>,
    /// Not ordered by the machine that the program comes from, on some path.
    pub free: Vec<Bits>,
}

/// What a pair is on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    /// Not ordered by the machine that the program comes from.
    Free,
    /// Ordered there, but another pair serves.
    Spare,
    /// Ordered there, and by the machine that the program goes to.
    Held,
    /// Ordered there, and not by the machine that the program goes to.
    Loose,
}

/// What happens between two events: the nodes after the first up to the second, in the graph of their thread.
pub type Path = Vec<usize>;

/// All that is asked about pairs.
pub struct Asked<'a> {
    /// The program.
    pub lowered: &'a Lowered,
    /// Which events are on the same memory.
    pub aliases: &'a dyn Aliases,
    /// Dependencies and release writes.
    pub depends: &'a Depends,
}

/// A node, the states of both machines there, and whether the first event's instruction has been left.
type At = (usize, State, State, bool);

impl Asked<'_> {
    /// Looks at all pairs.
    pub fn pairs(&self) -> Pairs {
        let many = self.lowered.events.len();
        let empty = vec![Bits::new(many); many];
        let mut pairs =
            Pairs { kept: empty.clone(), loose: empty.clone(), spare: empty.clone(), free: empty };
        for first in 0..many {
            self.walk(first, |second, found| {
                if self.same_place(first, second) {
                    return false;
                }
                match found {
                    Found::Free => pairs.free[first].insert(second),
                    Found::Spare => pairs.spare[first].insert(second),
                    Found::Held => pairs.kept[first].insert(second),
                    Found::Loose => pairs.kept[first].insert(second) | pairs.loose[first].insert(second),
                };
                false
            });
        }
        pairs
    }

    /// A shortest path on which the pair is loose.
    pub fn path(&self, first: usize, second: usize) -> Option<Path> {
        self.walk(first, |met, found| met == second && found == Found::Loose)
    }

    fn same_place(&self, first: usize, second: usize) -> bool {
        let events = &self.lowered.events;
        self.aliases.must(events[first].location, events[second].location)
    }

    /// Whether the machine that the program goes to holds the pair along a path, once these changes are made, too.
    pub fn holds(&self, first: usize, path: &[usize], changes: &[Change]) -> bool {
        let origin = &self.lowered.events[first];
        let nodes = &self.lowered.threads[origin.thread].nodes;
        let to = Rules { machine: self.lowered.to, may: false, from_write: origin.is_write() };
        let met = |event: usize| self.met(first, event, false).stronger(&self.lowered.events[event], changes);
        let mut state = to.start(met(first));
        let mut holds = false;
        for &node in path {
            match &nodes[node].op {
                Op::Nothing | Op::From(_) => {}
                Op::To(fence) => state = to.fence(state, *fence),
                Op::Gate(point, fences) => {
                    let more = changes.iter().filter_map(|change| match change {
                        Change::Insert { at, fence } if at == point => Some(*fence),
                        _ => None,
                    });
                    state = fences.iter().copied().chain(more).fold(state, |s, fence| to.fence(s, fence));
                }
                Op::Event(event) => {
                    let met = met(*event);
                    holds = to.holds(state, met);
                    state = to.pass(state, met);
                }
            }
        }
        holds
    }

    /// Follows all paths from an event, breadth first, and tells `found` of every event on them (but for other steps of
    /// the same instruction, which nobody can come between): its number and what the pair is. Ends with the path on
    /// which `found` says yes.
    fn walk(&self, first: usize, mut found: impl FnMut(usize, Found) -> bool) -> Option<Path> {
        let lowered = self.lowered;
        let origin = &lowered.events[first];
        let nodes = &lowered.threads[origin.thread].nodes;
        let from_write = origin.is_write();
        let from = Rules { machine: lowered.from, may: true, from_write };
        let to = Rules { machine: lowered.to, may: false, from_write };
        let start = (self.met(first, first, true), self.met(first, first, false));
        let start: At = (origin.node, from.start(start.0), to.start(start.1), false);

        let mut seen: Vec<Vec<(State, State, bool)>> = vec![Vec::new(); nodes.len()];
        let mut visited: Vec<(At, usize)> = vec![(start, 0)];
        let mut queue = VecDeque::from([0]);
        while let Some(number) = queue.pop_front() {
            let ((node, f, t, left), _) = visited[number];
            for &next in &nodes[node].next {
                let (mut f, mut t, mut left) = (f, t, left);
                match &nodes[next].op {
                    Op::Nothing => {}
                    Op::From(fence) => f = from.fence(f, *fence),
                    Op::To(fence) => t = to.fence(t, *fence),
                    Op::Gate(_, fences) => {
                        t = fences.iter().fold(t, |t, &fence| to.fence(t, fence));
                        left = true;
                    }
                    Op::Event(second) => {
                        let (there, here) = (self.met(first, *second, true), self.met(first, *second, false));
                        let what = match (from.orders(f, there), to.holds(t, here)) {
                            (false, _) => Found::Free,
                            _ if from.needless(f, there) => Found::Spare,
                            (true, true) => Found::Held,
                            (true, false) => Found::Loose,
                        };
                        if left && found(*second, what) {
                            return Some(path(&visited, number, next));
                        }
                        (f, t) = (from.pass(f, there), to.pass(t, here));
                    }
                }
                if !seen[next].contains(&(f, t, left)) {
                    seen[next].push((f, t, left));
                    visited.push(((next, f, t, left), number));
                    queue.push_back(visited.len() - 1);
                }
            }
        }
        None
    }

    /// The event on the way from another, as the machine sees it that the program comes from, or goes to.
    fn met(&self, first: usize, event: usize, from: bool) -> Met {
        let step = if from { self.lowered.events[event].from } else { self.lowered.events[event].to };
        let at = |event: usize| self.lowered.events[event].location;
        let facts = if from { &self.depends.from } else { &self.depends.to };
        Met {
            step,
            again: event == first,
            may_meet: self.aliases.may(at(first), at(event)),
            meets: self.aliases.must(at(first), at(event)),
            place: self.depends.places.get(event).copied().unwrap_or(0),
            depends: facts.on.get(event).is_some_and(|on| on.contains(first)),
            depends_at_all: facts.on.get(event).is_some_and(|on| !on.is_empty()),
            bit: facts.release.get(event).copied().unwrap_or(0),
            covered: facts.covered.get(event).copied().unwrap_or(0),
        }
    }
}

fn path(visited: &[(At, usize)], mut number: usize, last: usize) -> Path {
    let mut path = vec![last];
    while number != 0 {
        let ((node, ..), before) = visited[number];
        path.push(node);
        number = before;
    }
    path.reverse();
    path
}

impl Met {
    /// The event once these changes are made.
    fn stronger(self, event: &Event, changes: &[Change]) -> Met {
        let mine = changes.iter().filter_map(|change| match *change {
            Change::Strengthen { function, node, to } => {
                ((function, node) == (event.thread, event.source)).then_some(to)
            }
            Change::Insert { .. } => None,
        });
        Met { step: mine.fold(self.step, |step, to| to.applied(step)), ..self }
    }
}
