//! Critical cycles: a closer look at cycles when some functions run in one thread only.
//!
//! A violation always shows as a *shortest* cycle, and on a shortest cycle nothing can be left out (Shasha and Snir,
//! 1988). Two visits `(a, b)` and `(c, d)` to the same thread could be made into one if the machine that the program comes
//! from orders `a` before `d`, or `c` before `b`; under SC it always orders one of them, under x86 a thread may be
//! visited twice (two writes, then two reads). And accesses of two threads to the same memory, one of them a write, are
//! in conflict anyway: visits to one location are next to one another.
//!
//! Where a function may run in any number of threads, every walk through the graph of `cycles` is a cycle of some
//! execution, and nothing is left to ask.

use crate::cycles::conflict;
use crate::depends::reachable;
use crate::lowered::Lowered;
use crate::machine::Machine;
use crate::pairs::Pairs;
use crate::program::Aliases;
use std::cell::Cell;

/// How many visits are tried for one pair.
const BUDGET: usize = 20_000;

/// What the search says about a pair.
pub enum Critical {
    /// The pair is on no critical cycle.
    None,
    /// The events of a critical cycle, from the pair's second to its first.
    Cycle(Vec<usize>),
    /// The budget was spent.
    GaveUp,
    /// All functions run in any number of threads, or the program is large.
    NotAsked,
}

/// The search.
pub struct Search<'a> {
    lowered: &'a Lowered,
    aliases: &'a dyn Aliases,
    pairs: &'a Pairs,
    /// Whom each event can be in conflict with.
    conflicts: Vec<Vec<usize>>,
    /// Whether the second event can come after the first in its thread, by their events.
    after: Vec<Vec<bool>>,
    needed: bool,
    left: Cell<usize>,
}

/// A visit to a thread: enters at the first event, leaves at the second; both are the same write for a short one.
type Visit = (usize, usize);

impl<'a> Search<'a> {
    /// Gets ready.
    pub fn new(lowered: &'a Lowered, aliases: &'a dyn Aliases, pairs: &'a Pairs) -> Search<'a> {
        let needed = !pairs.coarse && lowered.threads.iter().any(|thread| !thread.many);
        let events = &lowered.events;
        let (mut conflicts, mut after) = (Vec::new(), Vec::new());
        if needed {
            let reach: Vec<_> = lowered.threads.iter().map(reachable).collect();
            for (number, event) in events.iter().enumerate() {
                conflicts
                    .push((0..events.len()).filter(|&b| conflict(lowered, aliases, number, b)).collect());
                let comes_after = |other: &crate::lowered::Event| {
                    other.thread == event.thread && reach[event.thread][event.node].contains(other.node)
                };
                after.push(events.iter().map(comes_after).collect());
            }
        }
        Search { lowered, aliases, pairs, conflicts, after, needed, left: Cell::new(BUDGET) }
    }

    /// Looks for a critical cycle through the pair.
    pub fn through(&self, first: usize, second: usize) -> Critical {
        if !self.needed {
            return Critical::NotAsked;
        }
        self.left.set(BUDGET);
        let mut gave_up = false;
        // Shorter cycles first: they explain better.
        for depth in 1..=self.lowered.events.len() {
            let mut visits = vec![(first, second)];
            match self.extend(&mut visits, depth) {
                Some(true) => {
                    let events = visits.iter().flat_map(|&(a, b)| [a, b]).skip(1).chain([first]);
                    let mut events: Vec<usize> = events.collect();
                    events.dedup();
                    return Critical::Cycle(events);
                }
                Some(false) if !self.reached(depth) => return Critical::None,
                Some(false) => {}
                None => {
                    gave_up = true;
                    break;
                }
            }
        }
        if gave_up { Critical::GaveUp } else { Critical::None }
    }

    /// Whether longer cycles could be found beyond this depth.
    fn reached(&self, depth: usize) -> bool {
        depth < self.lowered.events.len()
    }

    /// Closes the cycle, or adds a visit; nothing if the budget is spent.
    fn extend(&self, visits: &mut Vec<Visit>, depth: usize) -> Option<bool> {
        let (Some(&(start, _)), Some(&(_, end))) = (visits.first(), visits.last()) else {
            return Some(false);
        };
        if self.conflicts[end].contains(&start) && self.is_critical(visits) {
            return Some(true);
        }
        if visits.len() >= depth {
            return Some(false);
        }
        for &entered in &self.conflicts[end] {
            let alone = self.lowered.events[entered].is_write().then_some(entered);
            for left in alone.into_iter().chain(self.pairs.kept[entered].iter()) {
                self.left.set(self.left.get().checked_sub(1)?);
                visits.push((entered, left));
                if self.fits(visits) && self.extend(visits, depth)? {
                    return Some(true);
                }
                visits.pop();
            }
        }
        Some(false)
    }

    /// Whether a visit is to one write. In a loop, a visit may also lead from an instruction to itself, and to other memory.
    fn is_short(&self, (a, b): Visit) -> bool {
        a == b && !self.pairs.kept[a].contains(a)
    }

    /// Whether the last visit can't be joined with an earlier one to the same thread.
    fn fits(&self, visits: &[Visit]) -> bool {
        let Some((&(c, d), earlier)) = visits.split_last() else { return true };
        // Two short visits in a row are one conflict.
        if self.is_short((c, d)) && earlier.last().is_some_and(|&visit| self.is_short(visit)) {
            return false;
        }
        earlier.iter().all(|&(a, b)| {
            let thread = self.lowered.events[a].thread;
            let apart = thread != self.lowered.events[c].thread || self.lowered.threads[thread].many;
            apart || !(self.joined(a, d, c, b))
        })
    }

    /// Whether visits `(a, b)` and `(c, d)` to one thread can be made into one.
    fn joined(&self, a: usize, d: usize, c: usize, b: usize) -> bool {
        self.lowered.from == Machine::Sc || a == d || c == b || self.surely(a, d) || self.surely(c, b)
    }

    /// Whether the source machine always orders the one event before the other.
    fn surely(&self, a: usize, b: usize) -> bool {
        self.lowered.from == Machine::X86
            && self.after[a][b]
            && !self.after[b][a]
            && (self.pairs.kept[a].contains(b) || self.pairs.spare[a].contains(b))
            && !self.pairs.free[a].contains(b)
    }

    /// Whether visits to one location are next to one another.
    fn is_critical(&self, visits: &[Visit]) -> bool {
        let many = visits.len();
        let events: Vec<(usize, usize)> =
            visits.iter().enumerate().flat_map(|(n, &(a, b))| [(a, n), (b, n + 1)]).collect();
        // The group of an event: conflicts lie between the end of one visit and the beginning of the next; a short visit
        // joins the groups on its two sides.
        let mut group: Vec<usize> = (0..=many).collect();
        for (n, &(a, b)) in visits.iter().enumerate() {
            if a == b {
                let (from, to) = (group[n + 1], group[n]);
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
        let (last, zero) = (group[many], group[0]);
        group.iter_mut().filter(|g| **g == last).for_each(|g| *g = zero);
        // Within a group a thread goes forward.
        let forward = |n: usize| {
            let end = (n + many - 1) % many;
            let (skipped, entered) =
                if self.is_short(visits[n]) { (1, visits[(n + 1) % many].0) } else { (0, visits[n].0) };
            let left = visits[end].1;
            let together = self.lowered.events[left].thread == self.lowered.events[entered].thread;
            let many = self.lowered.threads[self.lowered.events[left].thread].many;
            skipped == 0 || !together || many || self.after[left][entered]
        };
        if !(0..many).all(forward) {
            return false;
        }
        events.iter().all(|&(x, m)| events.iter().all(|&(y, n)| group[m] == group[n] || !self.meet(x, y)))
    }

    /// Whether events of different threads are always in conflict.
    fn meet(&self, x: usize, y: usize) -> bool {
        let (a, b) = (&self.lowered.events[x], &self.lowered.events[y]);
        let apart = a.thread != b.thread;
        apart && (a.is_write() || b.is_write()) && self.aliases.same(a.location, b.location)
    }
}
