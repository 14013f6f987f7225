//! Which execution next? One small trait; one file per strategy.

use crate::{Plan, Trace};

/// Makes plans, one execution after the other.
pub trait Strategy {
    /// Writes the next plan; false: there is nothing left to try.
    fn next(&mut self, plan: &mut Plan) -> bool;

    /// How it went with this plan.
    fn learn(&mut self, plan: &Plan, trace: &Trace);

    /// How far it has come.
    fn progress(&self) -> Progress;
}

/// How far a strategy has come.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Progress {
    /// Executions per number of preemptions, as far as the strategy goes by them.
    pub by_preemptions: Vec<u64>,
    /// All schedules with up to so many preemptions were tried.
    pub finished_bound: Option<u32>,
    /// Everything was tried.
    pub exhausted: bool,
    /// Which part of the whole is done, from 0 to 1, as an estimate.
    pub part: Option<f64>,
    /// What the strategy guarantees, in words.
    pub guarantee: Option<String>,
}
