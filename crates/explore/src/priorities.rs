//! Probabilistic concurrency testing inside an execution (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! Each thread gets a random priority when it comes, and the one with the highest that can run does. At `d - 1` steps,
//! drawn independently from `1..=k`, the thread that makes the step gets priority `d - i`, below all that threads start
//! with, for the `i`-th step *drawn*: not in the order in which they come.

use crate::ThreadId;
use seqcst_model::sample::Random as Rng;

/// The priorities of an execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Priorities {
    rng: Rng,
    /// The higher, the sooner.
    of: Vec<i64>,
    /// After which step the thread that made it gets which priority; those still to come, the next one last.
    lowerings: Vec<(u32, i64)>,
}

/// Threads start above this, with room for others between them and below.
const STARTS: i64 = 1 << 56;
const APART: u32 = 20;

impl Priorities {
    pub fn start(&mut self, seed: u64, depth: u32, length: u32) {
        self.rng = Rng::new(seed);
        self.of.clear();
        self.lowerings.clear();
        for i in 1..depth {
            let step = 1 + self.rng.pick(length.max(1));
            self.lowerings.push((step, i64::from(depth - i) << APART));
        }
        // At the same step, the lowest comes last and stays.
        self.lowerings.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    }

    /// Threads up to this number are there.
    pub fn welcome(&mut self, threads: usize) {
        while self.of.len() < threads {
            let drawn = (self.rng.draw() >> 32) as i64;
            self.of.push(STARTS + (drawn << APART));
        }
    }

    /// The thread waits for these in vain if they don't go first: from now on they do, and others stay where they are.
    pub fn put_behind(&mut self, thread: ThreadId, others: impl Iterator<Item = ThreadId>) {
        let lowest = others.filter_map(|other| self.of.get(other as usize)).min().copied();
        if let (Some(lowest), Some(priority)) = (lowest, self.of.get_mut(thread as usize)) {
            *priority = (*priority).min(lowest - 1);
        }
    }

    /// The thread has made this step, counted from 1. True: its priority has changed.
    pub fn made(&mut self, step: u32, thread: ThreadId) -> bool {
        let mut changed = false;
        while let Some(&(at, priority)) = self.lowerings.last()
            && at <= step
        {
            self.lowerings.pop();
            if let Some(mine) = self.of.get_mut(thread as usize) {
                *mine = priority;
                changed = true;
            }
        }
        changed
    }

    /// The thread with the highest priority among those that can go.
    pub fn highest(&self, can_go: impl Fn(ThreadId) -> bool) -> Option<ThreadId> {
        let able = (0..self.of.len() as ThreadId).filter(|&thread| can_go(thread));
        able.max_by_key(|&thread| self.of[thread as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowered_by_the_number_of_the_draw() {
        // Whatever the order of the steps drawn, each of the numbers 1 … d - 1 is given once.
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let mut priorities = Priorities::default();
            priorities.start(seed, 4, 10);
            priorities.welcome(3);
            assert!(priorities.of.iter().all(|&priority| priority >= STARTS));
            let mut given: Vec<(u32, i64)> = priorities.lowerings.iter().rev().copied().collect();
            assert!(given.is_sorted_by_key(|&(step, _)| step));
            assert!(given.iter().all(|&(step, _)| (1..=10).contains(&step)));
            orders.insert(given.iter().map(|&(_, priority)| priority).collect::<Vec<_>>());
            given.sort_by_key(|&(_, priority)| priority);
            assert_eq!(
                given.iter().map(|&(_, priority)| priority).collect::<Vec<_>>(),
                [1, 2, 3].map(|i| i << APART)
            );
        }
        assert_eq!(orders.len(), 6, "the order of steps and the order of priorities are independent");
    }

    #[test]
    fn the_thread_that_makes_the_step_is_lowered() {
        let mut priorities = Priorities::default();
        priorities.start(1, 2, 1);
        priorities.welcome(2);
        let first = priorities.highest(|_| true).expect("somebody is ready");
        assert!(priorities.made(1, first));
        assert_eq!(priorities.highest(|_| true), Some(1 - first));
        assert!(!priorities.made(2, first));
        // Behind the one that was lowered: a later lowering, to less, still puts that one behind both.
        priorities.put_behind(1 - first, [first].into_iter());
        assert_eq!(priorities.highest(|_| true), Some(first));
        assert_eq!(priorities.highest(|thread| thread != first), Some(1 - first));
    }
}
