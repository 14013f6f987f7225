//! Picks a thread at random at every step: the baseline that every other strategy must beat.

use crate::{Fallback, Plan, Progress, Strategy, Trace};
use seqcst_model::sample::Random as Rng;

/// So many executions, each a random walk.
#[derive(Clone, Debug)]
pub struct RandomWalk {
    rng: Rng,
    wanted: u64,
    done: u64,
}

impl RandomWalk {
    /// As many executions as wanted; the same ones from the same seed.
    pub fn new(seed: u64, executions: u64) -> RandomWalk {
        RandomWalk { rng: Rng::new(seed), wanted: executions, done: 0 }
    }
}

impl Strategy for RandomWalk {
    fn next(&mut self, plan: &mut Plan) -> bool {
        if self.done >= self.wanted {
            return false;
        }
        plan.reset(Fallback::Random { seed: self.rng.draw() });
        true
    }

    fn learn(&mut self, _: &Plan, _: &Trace) {
        self.done += 1;
    }

    fn progress(&self) -> Progress {
        let part = (self.wanted < u64::MAX).then(|| self.done as f64 / self.wanted.max(1) as f64);
        Progress { part, ..Progress::default() }
    }
}
