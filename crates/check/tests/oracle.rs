//! The engine against the definitions, on random programs: 2–4 threads, up to 8 events in all, every kind of
//! instruction and mode, branches, free choices, replicated threads, loops against their unrolled form.
//!
//! A disagreement is a bug in one of the two. The message has a program that shows it, made as small as possible, and
//! the seed.

mod common;

use common::chain::Chain;
use common::definition::{self, Truth};
use common::engine::{Engine, NONE, Reductions, USUAL};
use common::sample::{Sample, ScSample};
use common::sketch::{ExactSketch, ScSketch, Sketch};
use common::{Drawn, RA, RC11, RC20, TSO, Tally, Verdict, compare_many};
use seqcst_model::Model;
use seqcst_model::sample::{Random, RandomProgram};
use seqcst_testing::drawn::cases;

/// Per model, half of them straight-line programs.
const CASES: u64 = 2_000;

/// Fails with what is wrong.
macro_rules! ensure {
    ($condition:expr, $($what:tt)*) => {
        if !$condition {
            return Err(format!($($what)*));
        }
    };
}

/// Compares everything the engine says about a program with the definitions, and gives the verdict.
fn agree(engine: &Engine) -> Result<Option<Verdict>, String> {
    let Engine { machine, model, .. } = engine;
    let Some(truth) = Truth::of(machine, *model) else { return Ok(None) };
    theorems(engine, truth)?;

    let usual = engine.check(USUAL)?;
    ensure!(truth.admits(usual), "the engine says {usual:?}, but {truth:?}");
    let variants = [
        Reductions { abstraction: false, ..USUAL },
        Reductions { symmetry: false, ..USUAL },
        Reductions { independence: false, ..USUAL },
        Reductions { independence: true, ..NONE },
        Reductions { independence: true, ..NONE },
        NONE,
        Reductions { workers: 2, ..NONE },
    ];
    for reductions in variants {
        let verdict = engine.check(reductions)?;
        ensure!(truth.admits(verdict), "with {reductions:?} it says {verdict:?}, but {truth:?}");
    }
    let forgetful = engine.check_forgetfully()?;
    ensure!(truth.admits(forgetful), "forgetting, it says {forgetful:?}, but {truth:?}");

    // Deadlocks are looked for only if all else is well.
    let waiting = engine.check_deadlock()?;
    let expected = if usual == Verdict::Robust && truth.stuck { Verdict::Deadlock } else { usual };
    ensure!(waiting == expected, "looking for deadlocks, it says {waiting:?}, but {truth:?}");

    // What a monitor must see: stale accesses and, under RC11 and RC20, races by happens-before. Elsewhere it does not look at
    // non-atomic locations: an access to one can be stale only if it clashes with another.
    let by_hb = model.has_races();
    let must = !truth.robust && !truth.race || by_hb && truth.race;
    let may = must || !truth.robust;
    let focused = engine.is_stale_somewhere();
    if !truth.fails {
        ensure!(if focused { may } else { !must }, "one location at a time: {focused}, but {truth:?}");
    }
    if must {
        ensure!(engine.is_suspicious_without_data(None), "forgetting everything hides it: {truth:?}");
        let mut random = Random::new(engine.text.len() as u64);
        let partly = engine.is_suspicious_without_data(Some(&mut random));
        ensure!(partly, "forgetting some data hides it: {truth:?}");
    }
    Ok(Some(usual))
}

/// What must be so by the definitions alone, if a program with non-atomic accesses is robust. All its graphs are then
/// SC, so a race is a race under SC. Under RA moreover two accesses that happens-before does not order clash: the
/// accesses that happen before them are a graph that RA allows, hence a run under SC, and it ends right before both.
fn theorems(engine: &Engine, truth: Truth) -> Result<(), String> {
    let has_plain = engine.machine.code().locations.iter().any(|location| location.non_atomic);
    if has_plain && truth.robust && engine.model != Model::Tso {
        let Some(races) = definition::races(&engine.machine, engine.model) else { return Ok(()) };
        ensure!(races == truth.race, "oracle::races says {races}, but {truth:?}");
    }
    Ok(())
}

fn straight_lines<P: Drawn + AsRef<RandomProgram>>(under: Model) -> Tally {
    compare_many(under.name(), cases(CASES).div_ceil(2), |sample: &P| {
        let engine = Engine::new(&sample.to_string(), under);
        let verdict = agree(&engine)?;
        // The generator's own idea of what the program means for the model.
        let lowered = sample.as_ref().lower(under);
        let (here, there) = (definition::robust(&engine.machine, under), definition::robust(&lowered, under));
        ensure!(here == there || here.is_none() || there.is_none(), "lowered: {here:?}, sample: {there:?}");
        Ok(verdict)
    })
}

fn all_of_tpl<P: Drawn + AsRef<Sketch>>(under: Model) -> Tally {
    compare_many(under.name(), cases(CASES).div_ceil(2), |sketch: &P| {
        let engine = Engine::new(&sketch.to_string(), under);
        let verdict = agree(&engine)?;
        let unrolled = sketch.as_ref().unrolled();
        if unrolled != engine.text {
            let other = Engine::new(&unrolled, under);
            let there = Truth::of(&other.machine, under);
            let says = other.check(USUAL)?;
            ensure!(there.is_none_or(|t| t.admits(says)), "unrolled, it says {says:?}, but {there:?}");
            if let (Some(here), Some(there)) = (Truth::of(&engine.machine, under), there) {
                ensure!(here == there, "{here:?}, unrolled {there:?}");
            }
        }
        Ok(verdict)
    })
}

/// So many values in one location that a monitor has to start again with more room for them.
fn many_values(under: Model) -> Tally {
    compare_many(under.name(), cases(CASES).div_ceil(20), |chain: &Chain| {
        agree(&Engine::new(&chain.to_string(), under))
    })
}

#[test]
fn many_values_under_every_model() {
    for under in [RA, RC11, RC20, TSO] {
        many_values(under).assert_healthy(5, 60);
    }
}

#[test]
fn straight_lines_under_ra() {
    straight_lines::<Sample>(RA).assert_healthy(5, 30);
}

#[test]
fn straight_lines_under_rc20() {
    straight_lines::<Sample>(RC20).assert_healthy(5, 30);
}

#[test]
fn straight_lines_under_rc11() {
    straight_lines::<Sample>(RC11).assert_healthy(5, 30);
    straight_lines::<ScSample>(RC11).assert_healthy(5, 30);
}

#[test]
fn straight_lines_under_tso() {
    straight_lines::<Sample>(TSO).assert_healthy(5, 30);
}

#[test]
fn all_of_tpl_under_ra() {
    all_of_tpl::<Sketch>(RA).assert_healthy(5, 30);
}

#[test]
fn all_of_tpl_under_rc20() {
    all_of_tpl::<Sketch>(RC20).assert_healthy(5, 30);
}

#[test]
fn all_of_tpl_under_rc11() {
    all_of_tpl::<Sketch>(RC11).assert_healthy(5, 30);
    all_of_tpl::<ScSketch>(RC11).assert_healthy(5, 30);
}

#[test]
fn all_of_tpl_under_tso() {
    all_of_tpl::<Sketch>(TSO).assert_healthy(5, 30);
}

/// What leaves the range of values counts as a failed assertion here.
#[test]
fn exact_values_under_every_model() {
    for under in [RA, RC11, RC20, TSO] {
        compare_many(under.name(), cases(CASES).div_ceil(4), |sketch: &ExactSketch| {
            agree(&Engine::new(&sketch.to_string(), under))
        })
        .assert_healthy(3, 30);
    }
}

/// A tool that does not tell values apart would call this program not robust: a load in place of the `wait` can be
/// stale.
#[test]
fn a_wait_looks_at_values() {
    let waiting = include_str!("../../../corpus/litmus/wait-copied-value.tpl");
    let loading = waiting
        .replace("fn asker {", "fn asker { local seen;")
        .replace("wait(echoed, 1);", "seen = echoed.load();");
    for under in [RA, RC11, RC20, TSO] {
        assert_eq!(agree(&Engine::new(waiting, under)), Ok(Some(Verdict::Robust)));
        assert_eq!(agree(&Engine::new(&loading, under)), Ok(Some(Verdict::NotRobust)));
    }
}

/// A run of the forgetful program is followed by a monitor that has room for all values: with too little room, this
/// program was taken for one in which the watcher may still find 0 (`r + 7` is 13, which is 0 here).
#[test]
fn following_a_run_makes_room_for_all_values() {
    let text = "max_value 12; global x, y;
        fn counter {
            x.store(1, rlx); x.store(2, rel); x.store(3, rel); x.store(4, rel);
            x.store(5, rel); x.store(6, rel); x.store(7, rlx);
            fence;
            x.store(8, rel);
            y.store(6, rlx);
        }
        fn watcher { local r; r = y.load(acq); BCAS(x, r + 7, 11, rlx, rlx); }";
    assert_eq!(agree(&Engine::new(text, RC20)), Ok(Some(Verdict::Robust)));
}

/// A choice once made cannot be taken back: the thread that chose to block is stuck, and so is the one that waits for
/// a store that another chose not to make.
#[test]
fn free_choices_can_lead_to_a_deadlock() {
    let blocks = "max_value 1; global x; fn t { oneof ({ x.store(1); } { wait(x, 1); }); }";
    let ends = "max_value 1; global x; fn t { wait(x, 1); } fn u { oneof ({ x.store(1); } { skip; }); }";
    let free = "max_value 1; global x; fn t { wait(x, 1); } fn u { oneof ({ x.store(1); } { fence; x.store(1); }); }";
    for under in [RA, RC11, RC20, TSO] {
        for (text, expected) in
            [(blocks, Verdict::Deadlock), (ends, Verdict::Deadlock), (free, Verdict::Robust)]
        {
            assert_eq!(agree(&Engine::new(text, under)), Ok(Some(Verdict::Robust)), "{text}");
            assert_eq!(Engine::new(text, under).check_deadlock(), Ok(expected), "{text}");
        }
    }
}
