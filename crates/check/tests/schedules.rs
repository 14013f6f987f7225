//! Schedules against the search over all states and against the definitions, on random programs.

mod common;

use common::definition::Truth;
use common::engine::{Engine, USUAL};
use common::sample::{Sample, ScSample};
use common::schedules::{explore_all, sc_graphs};
use common::sketch::{ScSketch, Sketch};
use common::spinning::Spinning;
use common::{Drawn, RA, RC11, RC20, TSO, Tally, Verdict, compare_many};
use seqcst_explore::strategies::{Bounded, Dpor};
use seqcst_model::Model;
use seqcst_testing::drawn::cases;
use std::cell::Cell;
use std::fmt::Display;

/// Per model and kind of program.
const CASES: u64 = 250;
/// How many programs: one for twenty that the other tests take, for each is executed many times.
fn programs() -> u64 {
    cases(20 * CASES) / 20
}

/// Executions of one program.
const MOST: u64 = 200_000;

macro_rules! ensure {
    ($condition:expr, $($what:tt)*) => {
        if !$condition {
            return Err(format!($($what)*));
        }
    };
}

#[derive(Default)]
struct Counts {
    programs: Cell<u64>,
    graphs: Cell<u64>,
    traces: Cell<u64>,
    executions: Cell<u64>,
    redundant: Cell<u64>,
    twice: Cell<u64>,
}

fn more(cell: &Cell<u64>, by: usize) {
    cell.set(cell.get() + by as u64);
}

/// `dpor` finds what the search over all states finds, and sees each SC execution graph.
fn dpor_agrees(text: &str, under: Model, counts: &Counts) -> Result<Option<Verdict>, String> {
    let engine = Engine::new(text, under);
    let Some(graphs) = sc_graphs(&engine.machine) else { return Ok(None) };
    let Some((seen, _)) = explore_all(&engine, &mut Dpor::new(), MOST) else { return Ok(None) };
    ensure!(seen.summary.progress.exhausted, "not exhausted: {:?}", seen.summary.progress);
    let missing = graphs.difference(&seen.graphs).count();
    let invented = seen.graphs.difference(&graphs).count();
    ensure!(
        missing == 0 && invented == 0,
        "{missing} of {} graphs missing, {invented} invented",
        graphs.len()
    );
    // Asleep, a compare-and-swap that may fail counts as one that succeeds, and is woken up too often.
    let twice = seen.summary.executions - seen.summary.redundant - seen.traces.len() as u64;
    ensure!(
        twice == 0 || text.contains("WCAS"),
        "{twice} of {} executions are equivalent to others",
        seen.summary.executions
    );
    more(&counts.twice, twice as usize);

    let verdict = engine.check(USUAL)?;
    let found = seen.stale || seen.race || seen.fails;
    ensure!(found == (verdict != Verdict::Robust), "found {found}, but all states say {verdict:?}");
    let Some(truth) = Truth::of(&engine.machine, under) else { return Ok(None) };
    let is = (seen.stale, seen.race, seen.fails);
    ensure!(seen.fails == truth.fails, "{is:?}, but {truth:?}");
    ensure!(truth.race == seen.race, "{is:?}, but {truth:?}");
    ensure!(!seen.stale || !truth.robust, "{is:?}, but {truth:?}");
    ensure!(truth.race || seen.stale != truth.robust, "{is:?}, but {truth:?}");
    ensure!(!seen.stuck || truth.stuck, "stuck, but {truth:?}");

    more(&counts.programs, 1);
    more(&counts.graphs, graphs.len());
    more(&counts.traces, seen.traces.len());
    more(&counts.executions, seen.summary.executions as usize);
    more(&counts.redundant, seen.summary.redundant as usize);
    Ok(Some(verdict))
}

fn dpor_against_all_states<P: Drawn + Display>(under: Model, cases: u64) -> Tally {
    let counts = Counts::default();
    let tally =
        compare_many(under.name(), cases, |program: &P| dpor_agrees(&program.to_string(), under, &counts));
    println!(
        "{}: {} programs, {} graphs, {} traces, {} executions, of which {} redundant and {} equivalent to others",
        under.name(),
        counts.programs.get(),
        counts.graphs.get(),
        counts.traces.get(),
        counts.executions.get(),
        counts.redundant.get(),
        counts.twice.get()
    );
    tally
}

#[test]
fn dpor_under_rc20() {
    dpor_against_all_states::<Sample>(RC20, programs()).assert_healthy(5, 30);
    dpor_against_all_states::<Sketch>(RC20, programs()).assert_healthy(5, 30);
}

#[test]
fn dpor_under_rc11() {
    dpor_against_all_states::<Sample>(RC11, programs() / 2).assert_healthy(5, 30);
    dpor_against_all_states::<ScSample>(RC11, programs()).assert_healthy(5, 30);
    dpor_against_all_states::<ScSketch>(RC11, programs()).assert_healthy(5, 30);
}

#[test]
fn dpor_under_ra() {
    dpor_against_all_states::<Sample>(RA, programs()).assert_healthy(5, 30);
    dpor_against_all_states::<Sketch>(RA, programs()).assert_healthy(5, 30);
}

#[test]
fn dpor_under_tso() {
    dpor_against_all_states::<Sample>(TSO, programs()).assert_healthy(5, 30);
    dpor_against_all_states::<Sketch>(TSO, programs()).assert_healthy(5, 30);
}

/// All schedules, one by one, show the same traces.
fn bounded_agrees(text: &str, under: Model) -> Result<Option<Verdict>, String> {
    let engine = Engine::new(text, under);
    let Some((dpor, _)) = explore_all(&engine, &mut Dpor::new(), MOST) else { return Ok(None) };
    let mut noting = common::schedules::Noting::new(&engine);
    noting.tapes = true;
    let mut strategy = Bounded::new(None);
    let Some(summary) = common::schedules::explore_with(&mut noting, &mut strategy, 4_000) else {
        return Ok(None);
    };
    let all = noting.seen;
    ensure!(summary.progress.exhausted, "not exhausted: {:?}", summary.progress);
    let missing = all.traces.difference(&dpor.traces).count();
    let invented = dpor.traces.difference(&all.traces).count();
    ensure!(missing + invented == 0, "{missing} of {} traces missing, {invented} invented", all.traces.len());
    let is = |seen: &common::schedules::Seen| (seen.stale, seen.race, seen.fails, seen.stuck);
    ensure!(is(&all) == is(&dpor), "all schedules: {:?}, dpor: {:?}", is(&all), is(&dpor));
    Ok(Some(if all.stale { Verdict::NotRobust } else { Verdict::Robust }))
}

#[test]
fn bounded_without_a_bound_sees_what_dpor_sees() {
    for under in [RC11, RC20, TSO] {
        let bounded = |text: String| bounded_agrees(&text, under);
        compare_many(under.name(), programs() / 10, |sample: &Sample| bounded(sample.to_string()));
        compare_many(under.name(), programs() / 10, |sketch: &Sketch| bounded(sketch.to_string()));
    }
}

/// With a bound, `dpor` sees every trace that has a schedule with so few preemptions, and no other.
fn bounds_agree(text: &str, under: Model, counts: &Counts) -> Result<Option<Verdict>, String> {
    let engine = Engine::new(text, under);
    for bound in 0..3 {
        let Some((all, _)) = explore_all(&engine, &mut Bounded::new(Some(bound)), 4_000) else {
            return Ok(None);
        };
        let Some((few, _)) = explore_all(&engine, &mut Dpor::bounded(bound), 4_000) else {
            return Ok(None);
        };
        let missing = all.traces.difference(&few.traces).count();
        let invented = few.traces.difference(&all.traces).count();
        ensure!(
            missing + invented == 0,
            "bound {bound}: {missing} of {} traces missing, {invented} invented",
            all.traces.len()
        );
        let most = all.by_preemptions.len().max(few.by_preemptions.len());
        ensure!(most <= bound as usize + 1, "bound {bound}: {most} preemptions");
        more(&counts.traces, all.traces.len());
        more(&counts.executions, all.summary.executions as usize);
        more(&counts.redundant, few.summary.executions as usize);
    }
    Ok(Some(Verdict::Robust))
}

#[test]
fn dpor_with_a_bound_sees_what_bounded_sees() {
    let counts = Counts::default();
    compare_many("bounds", programs() / 4, |sample: &Sample| {
        bounds_agree(&sample.to_string(), RC20, &counts)
    });
    compare_many("bounds", programs() / 4, |sketch: &Sketch| bounds_agree(&sketch.to_string(), TSO, &counts));
    let Counts { traces, executions, redundant, .. } = counts;
    println!("{} traces, {} schedules, with dpor {}", traces.get(), executions.get(), redundant.get());
}

/// Programs with loops have no end of execution graphs, but a thread that goes round in circles is left alone: `dpor`, all
/// schedules, and all states say the same.
#[test]
fn spin_loops() {
    for under in [RC11, RC20, RA, TSO] {
        compare_many(under.name(), programs() / 3, |program: &Spinning| {
            let text = program.to_string();
            let verdict = bounded_agrees(&text, under)?;
            let engine = Engine::new(&text, under);
            let all_states = engine.check(USUAL)?;
            let stale = verdict.map(|verdict| verdict == Verdict::NotRobust);
            ensure!(
                stale.is_none_or(|stale| stale == (all_states == Verdict::NotRobust)),
                "{verdict:?}, but {all_states:?}"
            );
            Ok(verdict)
        });
    }
}
