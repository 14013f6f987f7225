//! Random programs, run through the crate: something is found exactly when the definitions say so, and there are as many
//! different executions as SC execution graphs.

mod common;

use common::run;
use seqcst::{Builder, Problem};
use seqcst_model::oracle::{self, Candidate};
use seqcst_model::sample::{Kind, Random, RandomProgram, Shape, Statement};
use seqcst_model::{Mode, Model};
use seqcst_testing::drawn;
use std::ops::ControlFlow;

/// Programs per model.
const CASES: u64 = 600;
/// Graphs to look at before a program counts as too big.
const LIMIT: usize = 60_000;

fn cases() -> u64 {
    drawn::cases(CASES)
}

/// A program of up to three threads, without blocking instructions and sums modulo three, which the crate has not.
fn draw(seed: u64, non_atomic: bool) -> RandomProgram {
    let mut random = Random::new(seed);
    let (threads, statements) = (2 + random.below(2), 5 + random.below(4));
    let locations = 2 + usize::from(non_atomic || random.one_in(4));
    let shape = Shape { threads, statements, locations, non_atomic, modulus: 3 };
    let mut program = RandomProgram::draw(&mut random, shape);
    for thread in &mut program.threads {
        thread.retain(|statement| !matches!(statement.kind, Kind::Wait(_) | Kind::BlockingCas(..)));
        for statement in thread {
            match statement.kind {
                Kind::FetchAdd(operand) => statement.kind = Kind::Exchange(operand),
                // Fewer fences, more to fence.
                Kind::Fence if random.one_in(2) => {
                    (statement.kind, statement.mode) = (Kind::Load, Mode::Acquire);
                    statement.loc = seqcst_model::Loc(random.below(2) as u8);
                }
                _ => {}
            }
        }
    }
    program
}

/// The program with something between any two accesses that orders nothing: in Rust there is always a local variable. To the
/// partial SC order of RC11, accesses to one location in a row are closer than others.
fn with_locals(program: &RandomProgram) -> RandomProgram {
    let mut program = program.clone();
    for thread in &mut program.threads {
        let local = |after: &Statement| Statement { kind: Kind::Fence, mode: Mode::Relaxed, ..after.clone() };
        *thread = thread.iter().flat_map(|statement| [statement.clone(), local(statement)]).collect();
    }
    program
}

fn builder(model: seqcst::Model) -> Builder {
    Builder::default().memory_model(model).spurious_failures(true).patience(1000)
}

/// Compares verdicts; counts those that are fine and those that aren't.
fn verdicts(model: seqcst::Model, definition: Model, non_atomic: bool) {
    let (mut fine, mut bad) = (0, 0);
    for seed in drawn::seeds(cases()) {
        let program = draw(seed, non_atomic);
        let program = if definition == Model::Rc11 && seed % 2 == 0 {
            program.mostly_sc(&mut Random::new(seed))
        } else {
            program
        };
        let lowered = with_locals(&program).lower(definition);
        let robust = match oracle::robust(&lowered, definition, Model::Sc, LIMIT) {
            oracle::Verdict::TooBig => continue,
            verdict => verdict.is_robust(),
        };
        let Some(races) = races(&program, definition) else { continue };
        let exploration = builder(model).explore(|| run(&program));
        let found = exploration.problem();
        let told = || format!("{found:?}, robust: {robust}, races: {races}, seed {seed}:\n{program}");
        match found {
            None => {
                assert!(exploration.is_exhaustive(), "{}", exploration.summary());
                assert!(robust && !races, "{}", told());
            }
            Some(Problem::Stale(_)) => assert!(!robust, "{}", told()),
            Some(Problem::Race(..)) => assert!(races, "{}", told()),
            Some(_) => panic!("{}", told()),
        }
        *(if found.is_none() { &mut fine } else { &mut bad }) += 1;
    }
    println!("{definition:?}: {fine} are fine, {bad} are not");
    assert!(fine > cases() / 5 && bad > cases() / 100, "{fine} are fine, {bad} are not");
}

/// Whether some SC execution has a race, by happens-before.
fn races(program: &RandomProgram, model: Model) -> Option<bool> {
    let mut racy = false;
    let visit = |Candidate { graph, .. }: Candidate| {
        racy = oracle::race(graph, model).is_some();
        if racy { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    oracle::consistent(&program.lower(model), Model::Sc, LIMIT, visit).ok()?;
    Some(racy)
}

#[test]
fn verdicts_under_rc11() {
    verdicts(seqcst::Model::Rc11, Model::Rc11, false);
}

#[test]
fn verdicts_under_rc20() {
    verdicts(seqcst::Model::Rc20, Model::Rc20, false);
}

#[test]
fn verdicts_under_ra() {
    verdicts(seqcst::Model::Ra, Model::Ra, false);
}

#[test]
fn verdicts_under_tso() {
    verdicts(seqcst::Model::Tso, Model::Tso, false);
}

#[test]
fn verdicts_with_plain_accesses() {
    verdicts(seqcst::Model::Rc11, Model::Rc11, true);
    verdicts(seqcst::Model::Rc20, Model::Rc20, true);
}

/// SC accesses and SC fences conflict with nothing but accesses to the same location: as many executions as graphs.
#[test]
fn as_many_executions_as_graphs() {
    let (mut programs, mut all, mut redundant) = (0, 0, 0);
    for seed in drawn::seeds(cases()) {
        let program = draw(seed, false).mostly_sc(&mut Random::new(seed));
        let mut graphs = 0;
        let visit = |candidate: Candidate| {
            graphs += u64::from(candidate.complete);
            ControlFlow::Continue(())
        };
        if oracle::consistent(&program.lower(Model::Rc11), Model::Sc, LIMIT, visit).is_err() {
            continue;
        }
        let exploration = builder(seqcst::Model::Sc).explore(|| run(&program));
        assert!(exploration.is_exhaustive() && exploration.problem().is_none());
        assert_eq!(exploration.distinct(), graphs, "seed {seed}:\n{program}");
        programs += 1;
        all += exploration.executions();
        redundant += exploration.redundant();
        if !program.to_string().contains("WCAS") {
            assert_eq!(exploration.executions() - exploration.redundant(), graphs, "seed {seed}:\n{program}");
        }
    }
    println!("{programs} programs, {all} executions, {redundant} of them redundant");
    assert!(programs > cases() / 2);
}
