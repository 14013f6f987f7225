//! Which pairs can lie on a cycle that the stronger machine forbids.
//!
//! \[Fency21] §III: such a cycle alternates between kept pairs of a thread and *conflicts* between threads (`rfe`, `coe`,
//! `fre`). The paper's pair graph has an edge from `(a, b)` to `(c, d)` where `b` and `c` may alias, and takes every pair with
//! an edge in and an edge out. Here the same graph is split at the accesses: a cycle *enters* an event by a conflict and
//! *leaves* an event by one. A kept pair `(a, b)` leads from entering `a` to leaving `b`; a write can be entered and left alone
//! (`fre ; rfe`). A pair is on a cycle iff both its ends are in one strongly connected component. Self-loops stay:
//! `flag[i] = 1; r = flag[1 - i]` is store buffering from one pair.

use crate::graph::components;
use crate::limit::{Deadline, OutOfTime};
use crate::lowered::{Event, Lowered};
use crate::machine::{Machine, Step};
use crate::pairs::Pairs;
use crate::program::Aliases;

/// The graph of the cycles: events entered and left.
pub struct Cycles {
    /// Where a cycle can go: events are entered at `2 * event`, left at `2 * event + 1`.
    next: Vec<Vec<u32>>,
    /// The component of each place.
    component: Vec<usize>,
}

/// Entering an event.
fn enter(event: usize) -> usize {
    2 * event
}

/// Leaving an event.
fn leave(event: usize) -> usize {
    2 * event + 1
}

/// Whether a cycle can lead from the one event to the other by a conflict: both may be at the same memory in different
/// threads, and one writes.
///
/// Read-modify-writes are atomic, which takes two kinds of conflicts out of cycles. What is `fr`-after their read is
/// `co`-after their write, so a cycle may as well leave the write. And what is `co`-before their write is `co`-before or
/// at the write that they read, so a cycle may as well enter the read; only a read that is no part of a read-modify-write
/// enters the write alone. (The second is left out for ARMv8, where a write of the thread's own that they read may be
/// unordered with them.)
pub fn conflict(lowered: &Lowered, aliases: &dyn Aliases, a: usize, b: usize) -> bool {
    let leaves_by_write =
        lowered.events.get(a + 1).is_some_and(|next| is_swap(next) && !is_swap(&lowered.events[a]));
    let (a, b) = (&lowered.events[a], &lowered.events[b]);
    let apart = a.thread != b.thread || lowered.threads[a.thread].many;
    let enters_by_read = is_swap(b) && a.is_write() && lowered.from != Machine::ArmV8;
    apart
        && (a.is_write() || b.is_write())
        && !leaves_by_write
        && !enters_by_read
        && aliases.across(a.location, b.location)
}

/// Whether the event is the write of a read-modify-write; the event before it is the read.
fn is_swap(event: &Event) -> bool {
    matches!(event.from, Step::Write { exclusive: true, .. })
}

impl Cycles {
    /// The graph of a program with these pairs.
    pub fn new(
        lowered: &Lowered,
        aliases: &dyn Aliases,
        pairs: &Pairs,
        deadline: Deadline,
    ) -> Result<Cycles, OutOfTime> {
        let many = lowered.events.len();
        let mut next = vec![Vec::new(); 2 * many];
        for event in 0..many {
            deadline.check("looking for cycles")?;
            next[enter(event)].extend(pairs.kept[event].iter().map(|second| leave(second) as u32));
            if lowered.events[event].is_write() {
                next[enter(event)].push(leave(event) as u32);
            }
            let partners = (0..many).filter(|&other| conflict(lowered, aliases, event, other));
            next[leave(event)].extend(partners.map(|other| enter(other) as u32));
        }
        let mut component = vec![0; next.len()];
        let edges = |place: usize| next[place].iter().map(|&to| to as usize);
        for (number, members) in components(next.len(), 0..next.len(), edges).into_iter().enumerate() {
            members.into_iter().for_each(|place| component[place] = number);
        }
        Ok(Cycles { next, component })
    }

    /// Whether the kept pair is on a cycle.
    pub fn contains(&self, first: usize, second: usize) -> bool {
        self.component[enter(first)] == self.component[leave(second)]
    }

    /// A shortest cycle through the pair: the events from the second back to the first, as the cycle meets them.
    pub fn through(&self, first: usize, second: usize) -> Vec<usize> {
        let (start, goal) = (leave(second), enter(first));
        let mut before = vec![u32::MAX; self.next.len()];
        let mut level = vec![start];
        while !level.is_empty() && before[goal] == u32::MAX {
            let mut below = Vec::new();
            for &at in &level {
                for &next in &self.next[at] {
                    if before[next as usize] == u32::MAX {
                        before[next as usize] = at as u32;
                        below.push(next as usize);
                    }
                }
            }
            level = below;
        }
        let mut cycle = Vec::new();
        let mut at = goal;
        while at != start && before[at] != u32::MAX && cycle.len() <= before.len() {
            cycle.push(at / 2);
            at = before[at] as usize;
        }
        cycle.push(second);
        cycle.reverse();
        cycle.dedup();
        cycle
    }
}
