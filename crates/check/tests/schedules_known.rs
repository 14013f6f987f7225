//! Schedules of known programs: the corpus, spin loops, bugs of known depth; and what is done with a failing schedule:
//! replayed, told as a witness, minimized.

mod common;

use common::engine::{Engine, USUAL};
use common::sample::Sample;
use common::schedules::{explore_all, first};
use common::sketch::Sketch;
use common::{Drawn, RA, RC20, TSO, Verdict};
use seqcst_check::answer::Source;
use seqcst_check::schedules::{Options, ProgramSource};
use seqcst_check::witness::witness;
use seqcst_explore::strategies::{Bounded, Dpor, Pct, RandomWalk, Replay, minimize};
use seqcst_explore::{End, Failing, Found, Limits, Strategy, Summary, explore, tape};
use seqcst_model::Model;
use seqcst_testing::corpus::{self, Verdict as Expected};
use seqcst_testing::drawn::{cases, seeds};

const UNDER: [Model; 3] = [RC20, RA, TSO];

fn run(engine: &Engine, strategy: &mut dyn Strategy, executions: u64) -> Summary {
    let options = Options { steps: 500, ..Options::default() };
    let mut source = ProgramSource::new(&engine.machine, options);
    let limits = Limits { executions, keep_going: true, distinct: false, ..Limits::default() };
    let Ok(summary) = explore(&mut source, strategy, &limits, |_, _| ());
    assert_eq!(summary.diverged, None);
    summary
}

/// Robust programs show nothing in any schedule; most of the others show what is wrong in fewer than two hundred.
#[test]
fn the_corpus_in_a_few_schedules() {
    let (mut bad, mut seen) = (0, 0);
    for program in corpus::finite_state().unwrap_or_else(|why| panic!("{why}")) {
        let name = program.path.display().to_string();
        for under in UNDER {
            let verdict = program.header.verdict(under.name()).expect("one for every model");
            let engine = Engine::named(&name, &program.text, under);
            let mut strategies: [Box<dyn Strategy>; 4] = [
                Box::new(Bounded::new(None)),
                Box::new(Dpor::new()),
                Box::new(Pct::new(3, 1, 40)),
                Box::new(RandomWalk::new(1, 40)),
            ];
            let mut found = false;
            for strategy in &mut strategies {
                let summary = run(&engine, strategy.as_mut(), 40);
                for failing in &summary.failing {
                    let bad = !failing.outcome.found.is_empty() || failing.outcome.failure.is_some();
                    assert!(
                        !bad || verdict != Expected::Robust,
                        "{name} under {}: {failing:?}",
                        under.name()
                    );
                    found |= bad;
                }
            }
            bad += u32::from(![Expected::Robust, Expected::Deadlock].contains(&verdict));
            seen += u32::from(found);
        }
    }
    println!("{seen} of {bad} seen");
    assert!(10 * seen > 8 * bad, "{seen} of {bad} seen");
}

/// What is found is there again when its tape is played, and the definitions confirm a witness of it.
fn replays(text: &str, under: Model) -> usize {
    let engine = Engine::new(text, under);
    let Some((seen, _)) = explore_all(&engine, &mut Dpor::new(), 20_000) else { return 0 };
    for failing in &seen.summary.failing {
        let shown = tape::show(&failing.tape);
        let again = run(&engine, &mut Replay::new(tape::read(&shown).expect("it was shown")), 10);
        let same = again.first().expect("it fails again");
        assert_eq!((&same.tape, same.end, &same.outcome), (&failing.tape, failing.end, &failing.outcome));
        let mut source = ProgramSource::new(&engine.machine, Options::default());
        let findings = source.findings(&failing.tape);
        assert!(!findings.is_empty() || failing.end == End::Livelock, "{shown}\n{text}");
        for found in findings {
            if let Err(why) = witness(&engine.machine, Source { file: "test.tpl", text }, under, &found) {
                panic!("{found:?} of {shown} under {}: {why}\n{text}", under.name());
            }
        }
    }
    seen.summary.failing.len()
}

#[test]
fn what_is_found_can_be_replayed_and_told() {
    let mut failing = 0;
    for seed in seeds(cases(80 * 100) / 100) {
        for under in UNDER {
            failing += replays(&Sample::draw(seed).to_string(), under);
            failing += replays(&Sketch::draw(seed).to_string(), under);
        }
    }
    println!("{failing} failing schedules");
    assert!(failing > 20);
}

/// No preemption more than needed: compared with all schedules by their number.
#[test]
fn minimized_schedules_have_the_fewest_preemptions() {
    let (mut compared, mut shortened) = (0, 0);
    let programs = cases(60 * 100) / 100;
    for seed in seeds(programs) {
        let text = Sketch::draw(seed).to_string();
        let engine = Engine::new(&text, RC20);
        let summary = run(&engine, &mut RandomWalk::new(seed, 60), 60);
        let Some(failing) = first(&summary, |failing| !failing.outcome.found.is_empty()) else { continue };
        let wanted = &failing.outcome.found[0];
        let mut source = ProgramSource::new(&engine.machine, Options::default());
        let same = |_: &_, outcome: &seqcst_explore::Outcome| outcome.found.contains(wanted);
        let Ok(minimized) = minimize(&mut source, &failing.tape, same, 20_000);
        let minimized = minimized.expect("the tape fails");
        let again = run(&engine, &mut Replay::new(minimized.tape.clone()), 1);
        assert!(again.first().is_some_and(|again| again.outcome.found.contains(wanted)));
        // By hand: the first round in which it turns up.
        let mut bounded = Bounded::new(None);
        let mut source = ProgramSource::new(&engine.machine, Options::default());
        let (mut plan, mut trace) = Default::default();
        let truth = loop {
            assert!(bounded.next(&mut plan));
            let round = bounded.bound();
            seqcst_explore::Trace::clear(&mut trace);
            let Ok(outcome) = seqcst_explore::Source::run(&mut source, &plan, &mut trace);
            assert_eq!(trace.preemptions(), round);
            if outcome.found.contains(wanted) {
                break round;
            }
            bounded.learn(&plan, &trace);
        };
        assert!(minimized.proved, "{minimized:?}");
        assert_eq!(minimized.preemptions, truth, "{text}");
        compared += 1;
        shortened += usize::from(minimized.tape != failing.tape);
    }
    println!("{compared} compared, {shortened} shortened");
    // Among a few there may be none that fails.
    assert!(programs < 60 || compared >= 5 && shortened > 0);
}

/// Bugs of depth 1, 2 and 3: each turns up at least as often as the theorem says.
#[test]
fn pct_keeps_its_promise() {
    let programs = [
        (1, "max_value 2; global x; fn a { x.store(1); } fn b { local r; r = x.load(); assert(r != 0); }"),
        (
            2,
            "max_value 2; global x; fn a { x.store(1); x.store(0); } fn b { local r; r = x.load(); assert(r != 1); }",
        ),
        (
            3,
            "max_value 2; global x, y; fn a { y.store(1); x.store(1); y.store(2); x.store(2); y.store(0); }
             fn b { local r, s; r = y.load(); r = x.load(); s = x.load(); assert(r != 1 || s != 2); }",
        ),
        (
            2,
            "max_value 3; global x, y, z; fn a { y.store(1); x.store(1); x.store(0); y.store(2); }
             fn c[2] { z.store(1); z.store(2); } fn b { local r; r = x.load(); assert(r != 1); }",
        ),
    ];
    const EXECUTIONS: u64 = 20_000;
    for (depth, text) in programs {
        let engine = Engine::new(text, Model::Sc);
        let mut source = ProgramSource::new(&engine.machine, Options::default());
        let mut strategy = Pct::new(depth, 7, EXECUTIONS);
        let (mut plan, mut trace) = Default::default();
        let mut hits = 0u64;
        while strategy.next(&mut plan) {
            seqcst_explore::Trace::clear(&mut trace);
            let Ok(outcome) = seqcst_explore::Source::run(&mut source, &plan, &mut trace);
            hits += u64::from(outcome.failure.is_some());
            strategy.learn(&plan, &trace);
        }
        let (rate, promised) = (hits as f64 / EXECUTIONS as f64, strategy.chance());
        println!("depth {depth}: {rate:.4}, promised {promised:.4}");
        // Three standard deviations.
        let slack = 3.0 * (promised / EXECUTIONS as f64).sqrt();
        assert!(rate >= promised - slack, "depth {depth}: {rate}, promised {promised}");
    }
}

/// Threads that spin are left alone until what they read changes; if that never happens, it is a livelock.
#[test]
fn spin_loops_end() {
    let programs = [
        // Waiting for a flag, the flag comes.
        ("max_value 1; global x; fn a { local r; while (r == 0) { r = x.load(acq); } } fn b { x.store(1, rel); }", false),
        // It doesn't.
        ("max_value 1; global x; fn a { local r; while (r == 0) { r = x.load(acq); } } fn b { x.store(0, rel); }", true),
        // Two flags, an SC load in the loop.
        (
            "max_value 1; global x, y; fn a { local r, s; while (r == 0 || s == 0) { r = x.load(sc); s = y.load(acq); } }
             fn b { x.store(1, rel); } fn c { y.store(1, rel); }",
            false,
        ),
        // Test-and-set and compare-and-swap locks.
        (
            "max_value 1; global l, x; fn t[2] { local r; r = 1; while (r) { r = exchange(l, 1, acq, rlx); }
             x.store(1); x.store(0); l.store(0, rel); }",
            false,
        ),
        (
            "max_value 1; global l, x; fn t[2] { local r; while (r == 0) { r = WCAS(l, 0, 1, acq, rlx); }
             x.store(1); x.store(0); l.store(0, rel); }",
            false,
        ),
        // Each waits for the other.
        (
            "max_value 1; global x, y; fn a { local r; while (r == 0) { r = x.load(); } y.store(1); }
             fn b { local r; while (r == 0) { r = y.load(); } x.store(1); }",
            true,
        ),
        // A choice leads out of the loop.
        ("max_value 1; global x; fn a { local r, s; while (s == 0) { r = x.load(); oneof ({ s = 1; } { skip; }); } }", false),
    ];
    for (text, livelock) in programs {
        for under in UNDER {
            let engine = Engine::new(text, under);
            let (dpor, _) = explore_all(&engine, &mut Dpor::new(), 100_000).expect("it ends");
            let (all, _) = explore_all(&engine, &mut Bounded::new(Some(3)), 100_000).expect("it ends");
            for seen in [&dpor, &all] {
                let ends: Vec<End> = seen.summary.failing.iter().map(|failing| failing.end).collect();
                assert_eq!(ends.contains(&End::Livelock), livelock, "{ends:?}\n{text}");
                assert!(
                    !ends.contains(&End::StepLimit) && !ends.contains(&End::Deadlock),
                    "{ends:?}\n{text}"
                );
            }
            assert!(dpor.summary.progress.exhausted);
            assert!(dpor.traces.is_superset(&all.traces), "{text}");
            let verdict = engine.check(USUAL).expect("confirmed");
            assert_eq!(dpor.stale, verdict == Verdict::NotRobust, "{} {text}", under.name());
        }
    }
}

/// What a thread has heard of another before that one's plain access doesn't order the access: under no model.
#[test]
fn a_race_after_synchronisation() {
    let text = "max_value 3; global x, y; na d;
        fn a { x.store(1); d.nastore(1); }
        fn b { local r; y.store(1); y.store(2); y.store(3); r = x.load(); r = d.naload(); }";
    for under in UNDER {
        let engine = Engine::new(text, under);
        let summary = run(&engine, &mut Replay::new(vec![1, 1, 1, 0, 1, 0, 1]), 1);
        let raced = |failing: &Failing| failing.outcome.found.iter().any(|f| matches!(f, Found::Race(..)));
        assert!(summary.failing.iter().any(raced), "{}", under.name());
    }
}

/// Programs that never end are cut off at the limit of steps; what their threads do to one another is found all the same,
/// and nobody says that everything was tried.
#[test]
fn programs_without_end() {
    let text = "max_value 1; global x, y;
        fn a { local r; while (1) { x.store(1); r = y.load(); x.store(0); } }
        fn b { local r; while (1) { y.store(1); r = x.load(); y.store(0); } }";
    let engine = Engine::new(text, TSO);
    let strategies: [Box<dyn Strategy>; 4] = [
        Box::new(Dpor::new()),
        Box::new(Dpor::bounded(2)),
        Box::new(Bounded::new(None)),
        Box::new(Pct::new(3, 1, 500)),
    ];
    for mut strategy in strategies {
        let summary = run(&engine, strategy.as_mut(), 500);
        assert!(first(&summary, |failing| !failing.outcome.found.is_empty()).is_some(), "{summary:?}");
        assert!(summary.failing.iter().all(|failing| failing.end == End::StepLimit));
        assert!(!summary.progress.exhausted);
    }
}

/// Found on a random program: the second thread can only go first at `x` if the store that wakes the third one doesn't
/// count as coming before it.
#[test]
fn reads_between_a_write_that_waits_and_what_it_waits_for() {
    let text = "max_value 1; global x, y;
        fn t0 { local r; r = exchange(x, 1, rlx, rlx); r = y.load(rlx); }
        fn t1 { local r; r = y.load(rlx); }
        fn t2 { local r; r = x.load(rlx); BCAS(y, 0, 1, rlx, rlx); }";
    let engine = Engine::new(text, RC20);
    let (dpor, _) = explore_all(&engine, &mut Dpor::new(), 1000).expect("it is small");
    assert_eq!(dpor.traces.len(), 8);
}
