//! The engine against itself on programs too large for brute force: each reduction on and off, one worker and two.
//!
//! All must agree on whether something is wrong; which of several violations turns up first is their own business.
//! How many workers there are must not show at all.

mod common;

use common::engine::{Engine, NONE, Reductions, USUAL};
use common::large::Large;
use common::{RA, RC20, TSO, Tally, Verdict, compare_many};
use seqcst_model::Model;
use seqcst_testing::drawn::cases;
use std::cell::Cell;

const CASES: u64 = 40;

fn compare(under: Model) -> Tally {
    let most = Cell::new(0);
    let tally = compare_many(under.name(), cases(CASES), |program: &Large| {
        let engine = Engine::new(&program.to_string(), under);
        let plain = engine.check(NONE)?;
        let fine = plain == Verdict::Robust;
        let same = |what: &str, verdict: Verdict| match (verdict == Verdict::Robust) == fine {
            true => Ok(()),
            false => Err(format!("{what} gives {verdict:?}, no reductions {plain:?}")),
        };
        same("the usual plan", engine.check(USUAL)?)?;
        same("symmetry alone", engine.check(Reductions { symmetry: true, ..NONE })?)?;
        same("independence alone", engine.check(Reductions { independence: true, ..NONE })?)?;
        same("independence alone", engine.check(Reductions { independence: true, ..NONE })?)?;
        same("independence off", engine.check(Reductions { independence: false, ..USUAL })?)?;
        same("forgetting without symmetry", engine.check(Reductions { abstraction: true, ..NONE })?)?;
        same("one location at a time", engine.check_forgetfully()?)?;
        for one in [NONE, USUAL] {
            let (alone, two) = (engine.decide(one), engine.decide(Reductions { workers: 2, ..one }));
            most.set(most.get().max(alone.progress.states));
            if alone.found != two.found {
                return Err(format!("{one:?}: {:?}, with two workers {:?}", alone.found, two.found));
            }
        }
        Ok(Some(plain))
    });
    println!("{}: up to {} states", under, most.get());
    assert!(tally.all() < 20 || most.get() > 5_000, "no program was large: {} states", most.get());
    tally
}

#[test]
fn reductions_agree_under_ra() {
    compare(RA).assert_healthy(5, 75);
}

#[test]
fn reductions_agree_under_rc20() {
    compare(RC20).assert_healthy(5, 75);
}

#[test]
fn reductions_agree_under_tso() {
    compare(TSO).assert_healthy(5, 75);
}
