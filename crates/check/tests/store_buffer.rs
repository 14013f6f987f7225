//! The engine's verdicts for TSO against the operational machine: a program is not robust iff some run of the
//! store-buffer machine has a graph that is not sequentially consistent.
//!
//! The machine gives the graphs of its runs by their keys; SC's own graphs, from the oracle, are the other side.

mod common;

use common::engine::{Engine, NONE, USUAL};
use common::sample::Sample;
use common::sketch::Sketch;
use common::{Drawn, TSO, Tally, Verdict, compare_many};
use seqcst_model::oracle::{self, Candidate};
use seqcst_model::store_buffer;
use seqcst_model::{Model, Program};
use seqcst_testing::drawn::cases;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

const CASES: u64 = 600;
const STATES: usize = 20_000;

/// Whether all runs of the machine are sequentially consistent; `None`: too many to tell.
fn runs_are_sc(program: &impl Program) -> Option<bool> {
    let runs = store_buffer::runs(program, STATES).ok()?;
    let mut sc = BTreeSet::new();
    oracle::consistent(program, Model::Sc, STATES, |Candidate { graph, .. }| {
        sc.insert(graph.key());
        ControlFlow::Continue(())
    })
    .ok()?;
    Some(runs.stopped.is_subset(&sc))
}

fn compare<P: Drawn>(what: &str) -> Tally {
    compare_many(what, cases(CASES), |program: &P| {
        let engine = Engine::new(&program.to_string(), TSO);
        let Some(robust) = runs_are_sc(&engine.machine) else { return Ok(None) };
        for reductions in [USUAL, NONE] {
            let verdict = engine.check(reductions)?;
            let fits = match verdict {
                Verdict::Robust => robust,
                Verdict::NotRobust => !robust,
                // Something else was found first. The oracle's tests look into that.
                Verdict::Race | Verdict::Assertion => true,
                Verdict::Deadlock | Verdict::GaveUp => false,
            };
            if !fits {
                let runs = if robust { "are all SC" } else { "are not all SC" };
                return Err(format!("{reductions:?} say {verdict:?}, but the runs of the machine {runs}"));
            }
        }
        Ok(Some(if robust { Verdict::Robust } else { Verdict::NotRobust }))
    })
}

#[test]
fn straight_lines_on_the_store_buffer_machine() {
    compare::<Sample>("store buffers").assert_healthy(5, 30);
}

#[test]
fn all_of_tpl_on_the_store_buffer_machine() {
    compare::<Sketch>("store buffers").assert_healthy(5, 30);
}
