//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010): random priorities and a
//! few random changes. A bug of depth `d` (one that needs `d` pairs of steps in the right order) shows in each execution
//! with a probability of at least `1 / (n·k^(d-1))`, for `n` threads and `k` steps.
//!
//! What happens inside an execution is in `priorities.rs`.

use crate::{Fallback, Plan, Progress, Strategy, ThreadId, Trace};
use seqcst_model::sample::Random as Rng;

/// So many executions with random priorities.
#[derive(Clone, Debug)]
pub struct Pct {
    depth: u32,
    rng: Rng,
    wanted: u64,
    done: u64,
    /// The longest execution so far, in steps, and the most threads.
    length: u32,
    threads: ThreadId,
    /// The probability that no execution so far has shown a bug of this depth.
    missed: f64,
}

impl Pct {
    /// For bugs up to this depth, as many executions as wanted; the same ones from the same seed.
    pub fn new(depth: u32, seed: u64, executions: u64) -> Pct {
        Pct {
            depth: depth.max(1),
            rng: Rng::new(seed),
            wanted: executions,
            done: 0,
            length: 0,
            threads: 0,
            missed: 1.0,
        }
    }

    /// The probability with which each execution shows a bug.
    pub fn chance(&self) -> f64 {
        let k = f64::from(self.length.max(1));
        1.0 / (f64::from(self.threads.max(1)) * k.powf(f64::from(self.depth - 1)))
    }
}

impl Strategy for Pct {
    fn next(&mut self, plan: &mut Plan) -> bool {
        if self.done >= self.wanted {
            return false;
        }
        // The first execution is for getting to know the length.
        plan.reset(Fallback::Pct { seed: self.rng.draw(), depth: self.depth, length: self.length.max(1) });
        true
    }

    fn learn(&mut self, plan: &Plan, trace: &Trace) {
        let known = matches!(plan.then, Fallback::Pct { length, .. } if length as usize >= trace.steps.len());
        self.done += 1;
        self.length = self.length.max(trace.steps.len() as u32);
        let threads = trace.changes.iter().map(|change| change.thread + 1).max();
        self.threads = self.threads.max(threads.unwrap_or(0));
        // Where the length wasn't known the theorem says nothing.
        if known {
            self.missed *= 1.0 - self.chance();
        }
    }

    fn progress(&self) -> Progress {
        let part = (self.wanted < u64::MAX).then(|| self.done as f64 / self.wanted.max(1) as f64);
        let Pct { depth, length, threads, done, .. } = self;
        let power = if *depth > 2 { format!("^{}", depth - 1) } else { String::new() };
        let product = if *depth > 1 { format!("{threads}·{length}{power}") } else { threads.to_string() };
        let guarantee = format!(
            "a bug of depth {depth} shows in each execution with a probability of at least 1/({product}), \
             {:.3} % in {done} executions",
            100.0 * (1.0 - self.missed)
        );
        Progress { part, guarantee: Some(guarantee), ..Progress::default() }
    }
}
