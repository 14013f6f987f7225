//! Pairs of accesses of one thread, and whether the two machines order them.
//!
//! \[Fency21] §IV: `MM`, `Pnf` and `Ord`, asked path by path. A pair is *kept* if the source machine
//! may order it on some path: then it can be a program-order edge of a cycle that this machine forbids. It is *loose* if on
//! such a path the target machine doesn't order it. Pairs that always touch the same memory are
//! neither (`poℓ` is in every condition of Theorem 1): coherence takes them out of every cycle.

use crate::bits::Bits;
use crate::change::AppliedChanges;
use crate::depends::Depends;
use crate::limit::{Deadline, OutOfTime};
use crate::lowered::{Lowered, Op};
use crate::machine::Machine;
use crate::order::{Reached, Rules, State};
use crate::program::Aliases;
use crate::tables::Tables;
use std::collections::VecDeque;

/// The pairs of a program: one set of second events for each first event.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Ordered by the source machine, on some path.
    pub kept: Vec<Bits>,
    /// Of these, not ordered by the target machine, on the same path.
    pub loose: Vec<Bits>,
    /// Ordered by the source machine on some path, but not worth a look: another pair serves.
    pub spare: Vec<Bits>,
    /// Not ordered by the source machine, on some path.
    pub free: Vec<Bits>,
    /// Whether only the most perilous paths were looked at: then `free` is not all.
    pub coarse: bool,
}

/// What a pair is on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    /// Not ordered by the source machine.
    Free,
    /// Ordered there, but another pair serves.
    Spare,
    /// Ordered there, and by the target machine.
    Held,
    /// Ordered there, and not by the target machine.
    Loose,
}

/// What happens between two events: the nodes after the first up to the second, in the graph of their thread.
pub type Path = Vec<usize>;

/// All that is asked about pairs.
pub struct Query<'a> {
    /// The program.
    pub lowered: &'a Lowered,
    /// Which events are on the same memory.
    pub aliases: &'a Tables,
    /// Dependencies and release writes.
    pub depends: &'a Depends,
}

/// What is known at a node on a path.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PathState {
    /// The state of the source machine.
    from: State,
    /// The state of the target machine.
    to: State,
    /// Whether the first event's instruction has been left.
    left: bool,
}

/// More different states than this at one node are taken together, on the safe side.
const MOST_STATES: usize = 48;

/// In programs with more events than this, less is looked at: no states but the most perilous ones.
pub const LARGE: usize = 100;

/// The same from here on, if the paths from one event have more steps than this.
const MOST_STEPS: usize = 8_000;

impl Query<'_> {
    /// Looks at all pairs.
    pub fn pairs(&self, deadline: Deadline) -> Result<Pairs, OutOfTime> {
        let many = self.lowered.events.len();
        let empty = vec![Bits::new(many); many];
        let mut pairs = Pairs {
            kept: empty.clone(),
            loose: empty.clone(),
            spare: empty.clone(),
            free: empty,
            coarse: false,
        };
        pairs.coarse = many > LARGE;
        for first in 0..many {
            deadline.check("following paths between accesses")?;
            let steps = self.walk(first, |second, found, _| {
                match found {
                    Found::Free => pairs.free[first].insert(second),
                    Found::Spare => pairs.spare[first].insert(second),
                    Found::Held => pairs.kept[first].insert(second),
                    Found::Loose => pairs.kept[first].insert(second) | pairs.loose[first].insert(second),
                };
            });
            pairs.coarse |= steps.len() > MOST_STEPS;
        }
        Ok(pairs)
    }

    /// For these second events, a shortest path on which the pair is loose.
    pub fn paths(&self, first: usize, seconds: &Bits) -> Vec<(usize, Path)> {
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let steps = self.walk(first, |second, found, step| {
            let wanted = found == Found::Loose && seconds.contains(second);
            if wanted && !ends.iter().any(|&(other, _)| other == second) {
                ends.push((second, step));
            }
        });
        let path = |(second, mut step): (usize, usize)| {
            let mut path = vec![self.lowered.events[second].node];
            while step != 0 {
                path.push(steps[step].0);
                step = steps[step].1;
            }
            path.reverse();
            (second, path)
        };
        ends.into_iter().map(path).collect()
    }

    /// Whether the target machine holds the pair along a path, once these changes are applied, too.
    pub fn holds(&self, first: usize, path: &[usize], applied: &AppliedChanges) -> bool {
        let origin = &self.lowered.events[first];
        let nodes = &self.lowered.threads[origin.thread].nodes;
        let to = Rules { machine: self.lowered.to, may: false, from_write: origin.is_write() };
        let reached = |event: usize| {
            let seen = self.reached(first, event, false);
            Reached { step: applied.strengthened(self.lowered.events[event].tag, seen.step), ..seen }
        };
        let mut state = to.start(reached(first));
        let mut holds = false;
        for &node in path {
            match &nodes[node].op {
                Op::Nothing | Op::From(_) => {}
                Op::To(fence) => state = to.fence(state, *fence),
                Op::Gate(gate) => {
                    let fences = gate.fences.iter().chain(applied.fences(gate.spot));
                    state = fences.fold(state, |state, &fence| to.fence(state, fence));
                }
                Op::Event(event) => {
                    let event = reached(*event);
                    holds = to.holds(state, event);
                    state = to.pass(state, event);
                }
            }
        }
        holds
    }

    /// Follows all paths from an event, breadth first, and tells `found` of every event on them: its number, what the
    /// pair is, and the step before it. Left out are other steps of the same instruction, which nothing can come
    /// between, and events that are always at the same memory. Gives the steps: a node and the step before.
    fn walk(&self, first: usize, mut found: impl FnMut(usize, Found, usize)) -> Vec<(usize, usize)> {
        let lowered = self.lowered;
        let origin = &lowered.events[first];
        let nodes = &lowered.threads[origin.thread].nodes;
        let from_write = origin.is_write();
        let from = Rules { machine: lowered.from, may: true, from_write };
        let to = Rules { machine: lowered.to, may: false, from_write };
        let start = PathState {
            from: from.start(self.reached(first, first, true)),
            to: to.start(self.reached(first, first, false)),
            left: false,
        };

        let worst = |a: PathState, b: PathState| PathState {
            from: from.worst(a.from, b.from),
            to: to.worst(a.to, b.to),
            left: a.left || b.left,
        };
        let large = lowered.events.len() > LARGE;
        let mut seen: Vec<Vec<PathState>> = vec![Vec::new(); nodes.len()];
        let mut steps = vec![(origin.node, 0)];
        let mut queue = VecDeque::from([(start, 0)]);
        while let Some((at, step)) = queue.pop_front() {
            let (node, _) = steps[step];
            for &next in &nodes[node].next {
                let mut at = at;
                match &nodes[next].op {
                    Op::Nothing => {}
                    Op::From(fence) => at.from = from.fence(at.from, *fence),
                    Op::To(fence) => at.to = to.fence(at.to, *fence),
                    Op::Gate(gate) => {
                        at.to = gate.fences.iter().fold(at.to, |state, &fence| to.fence(state, fence));
                        at.left = true;
                    }
                    Op::Event(second) => {
                        let (there, here) =
                            (self.reached(first, *second, true), self.reached(first, *second, false));
                        let what = match (from.orders(at.from, there), to.holds(at.to, here)) {
                            (false, _) => Found::Free,
                            _ if from.needless(at.from, there) => Found::Spare,
                            (true, true) => Found::Held,
                            (true, false) => Found::Loose,
                        };
                        if at.left && !here.must_alias && !self.served(first, *second) {
                            found(*second, what, step);
                        }
                        at.from = from.pass(at.from, there);
                        at.to = to.pass(at.to, here);
                    }
                }
                let known = &mut seen[next];
                if known.len() >= MOST_STATES {
                    at = known.iter().fold(at, |a, &b| worst(a, b));
                }
                let large = large || steps.len() > MOST_STEPS;
                if large && known.iter().any(|&other| worst(other, at) == other) {
                    continue;
                }
                if !known.contains(&at) {
                    known.push(at);
                    steps.push((next, step));
                    queue.push_back((at, steps.len() - 1));
                }
            }
        }
        steps
    }

    /// Whether a pair with an access `e` to memory that hasn't escaped its thread yet is served by others.
    ///
    /// A thread that finds that memory by an access `f` has read its address in a read `r`: from a write `w` after `e`, or on
    /// a way through other threads. Under SC and x86 a write is after all that came before it, and what follows a read is
    /// after it. So where a cycle goes from `a` to `e` and on to `f`, it may as well go from `a` to `w`, `r` and what comes
    /// after `f`: nothing is asked of pairs that end at `e`. And where a cycle comes from `f` to `e`, the cycle `e`, `w`, `r`,
    /// `f` is there, too: if its pairs are ordered, no execution has it. So nothing is asked of `e` but to come before
    /// later writes. (`tests/validate/hidden.rs` tries this.)
    ///
    /// An access through the same address when it was other memory is no `f`: allocators reuse only memory that was freed.
    fn served(&self, first: usize, second: usize) -> bool {
        let events = &self.lowered.events;
        let hidden = |event: usize| self.aliases.hidden(events[event].location);
        self.lowered.from != Machine::ArmV8 && (hidden(second) || hidden(first) && !events[second].is_write())
    }

    /// The event on the way from another, as the source machine sees it, or the target machine.
    fn reached(&self, first: usize, event: usize, from: bool) -> Reached {
        let step = if from { self.lowered.events[event].from } else { self.lowered.events[event].to };
        let at = |event: usize| self.lowered.events[event].location;
        let facts = if from { &self.depends.from } else { &self.depends.to };
        Reached {
            step,
            again: event == first,
            may_alias: self.aliases.may(at(first), at(event)),
            must_alias: self.aliases.must(at(first), at(event)),
            place: self.depends.places.get(event).copied().unwrap_or(0),
            depends: facts.on.get(event).is_some_and(|on| on.contains(first)),
            depends_at_all: facts.on.get(event).is_some_and(|on| !on.is_empty()),
            bit: facts.release.get(event).copied().unwrap_or(0),
            covered: facts.covered.get(event).copied().unwrap_or(0),
        }
    }
}
