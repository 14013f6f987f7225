//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010): random priorities and a
//! few random changes. A bug of depth `d` (one that needs `d` pairs of steps in the right order) shows in each execution
//! with a probability of at least `1 / (n·k^(d-1))`, for `n` threads and changes drawn from the first `k` steps, if it
//! shows within these: what comes after them doesn't matter.
//!
//! So `k` should be the length of the executions, which is known from those before. If some are far longer than others (a
//! loop that polled for long), changes drawn from all of *their* steps would hardly ever come early enough to change
//! anything: then executions go by the longest, by what nine of ten don't exceed, and by what half of them don't, in turn.
//!
//! What happens inside an execution is in `priorities.rs`.

use crate::{Fallback, Plan, Progress, Strategy, ThreadId, Trace};
use seqcst_model::sample::Random as Rng;
use std::collections::BTreeMap;

/// So many executions with random priorities.
#[derive(Clone, Debug)]
pub struct Pct {
    depth: u32,
    rng: Rng,
    wanted: u64,
    done: u64,
    /// The most threads so far.
    threads: ThreadId,
    /// How many executions had how many steps.
    lengths: BTreeMap<u32, u64>,
    /// Lengths to draw changes from, the longest first, each less than half of the one before.
    from: Vec<u32>,
    /// How often changes were drawn from so many steps.
    drawn: BTreeMap<u32, u64>,
}

impl Pct {
    /// For bugs up to this depth, as many executions as wanted; the same ones from the same seed.
    pub fn new(depth: u32, seed: u64, executions: u64) -> Pct {
        Pct {
            depth: depth.max(1),
            rng: Rng::new(seed),
            wanted: executions,
            done: 0,
            threads: 0,
            lengths: BTreeMap::new(),
            from: vec![1],
            drawn: BTreeMap::new(),
        }
    }

    /// The probability with which an execution shows a bug, if its changes are drawn from [`Pct::length`] steps.
    pub fn chance(&self) -> f64 {
        self.chance_in(self.length())
    }

    /// The length of which [`Pct::chance`] speaks: of the longest execution, or of most if that one is out of proportion.
    pub fn length(&self) -> u32 {
        self.from.last().copied().unwrap_or(1)
    }

    fn chance_in(&self, steps: u32) -> f64 {
        1.0 / (f64::from(self.threads.max(1)) * f64::from(steps.max(1)).powf(f64::from(self.depth - 1)))
    }

    /// The probability that a bug which shows within so many steps was shown by the executions so far.
    fn found(&self, steps: u32) -> f64 {
        let missed = |(&drawn, &often): (&u32, &u64)| (1.0 - self.chance_in(drawn)).powf(often as f64);
        // Without changes it doesn't matter what they would be drawn from.
        let from = if self.depth == 1 { 0 } else { steps };
        1.0 - self.drawn.range(from..).map(missed).product::<f64>()
    }

    /// Looks again which lengths to draw changes from.
    fn look(&mut self) {
        self.from.clear();
        for exceed in [0, self.done / 10, self.done / 2] {
            let mut longer = 0;
            let mut lengths = self.lengths.iter().rev();
            let length = lengths.find(|&(_, often)| {
                longer += often;
                longer > exceed
            });
            let length = length.map_or(1, |(&length, _)| length.max(1));
            if self.from.last().is_none_or(|last| last / 2 > length) {
                self.from.push(length);
            }
        }
    }
}

impl Strategy for Pct {
    fn next(&mut self, plan: &mut Plan) -> bool {
        if self.done >= self.wanted {
            return false;
        }
        // The first execution is for getting to know the length.
        let length = self.from[(self.done % self.from.len() as u64) as usize];
        plan.reset(Fallback::Pct { seed: self.rng.draw(), depth: self.depth, length });
        true
    }

    fn learn(&mut self, plan: &Plan, trace: &Trace) {
        if let Fallback::Pct { length, .. } = plan.then {
            *self.drawn.entry(length).or_default() += 1;
        }
        self.done += 1;
        *self.lengths.entry(trace.steps.len() as u32).or_default() += 1;
        let threads = trace.changes.iter().map(|change| change.thread + 1).max();
        self.threads = self.threads.max(threads.unwrap_or(0));
        if self.done < 16 || self.done.is_power_of_two() || self.done.is_multiple_of(256) {
            self.look();
        }
    }

    fn progress(&self) -> Progress {
        let part = (self.wanted < u64::MAX).then(|| self.done as f64 / self.wanted.max(1) as f64);
        let Pct { depth, threads, done, .. } = self;
        let length = self.length();
        let power = if *depth > 2 { format!("^{}", depth - 1) } else { String::new() };
        let product = if *depth > 1 { format!("({threads}·{length}{power})") } else { threads.to_string() };
        // Rounded down, and never certain.
        let percent = (100_000.0 * self.found(length)).floor().min(99_999.0) / 1000.0;
        let guarantee = format!(
            "a bug of depth {depth} that shows within {length} steps of {threads} threads is found with a probability of \
             at least 1/{product} by an execution drawn for so many, {percent:.3} % by these {done}"
        );
        Progress { part, guarantee: Some(guarantee), ..Progress::default() }
    }
}
