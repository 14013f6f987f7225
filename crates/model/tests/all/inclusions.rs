//! Which model allows more, graph by graph, over all candidate graphs of random programs.
//!
//! On one and the same graph:
//! * SC ⊆ every model;
//! * SC ⊆ TSO ⊆ RA ⊆ RC20, whatever the modes: RA ignores fences, and an MFENCE is no more than an
//!   acquire-release fence to RC20;
//! * RC11 is RC20 without SC accesses and SC fences, and within RC20 with them, if RC20 takes them for acquire-release ones;
//! * ARMv8 ⊆ RC11 on graphs of programs as written, without RMWs and cycles of `po ∪ rf`: compilers' mapping is sound;
//! * TSO ⊆ ARMv8 and TSO ⊆ ARMv7 on graphs lowered for TSO. Not with release stores and acquire loads: ARMv8
//!   orders an STLR before a later LDAR, and x86 does not order their plain counterparts;
//! * ARMv8 ⊆ ARMv7 on graphs of relaxed accesses and full fences. Not with acquire: ARMv7 has no load fence,
//!   its DMB is stronger than DMB LD, and the DMB after a load also orders the store that the load took its
//!   value from (the litmus test SB+rfi+acq).

use seqcst_model::oracle::{self, Candidate};
use seqcst_model::sample::{Kind, Operand, Random, RandomProgram, Shape, Statement};
use seqcst_model::{Graph, Loc, Mode, Model, Program};
use std::ops::ControlFlow;

/// A program with many SC accesses and fences. Its first two threads access two locations in opposite order, or hardly any
/// would be weak.
fn mostly_sc(seed: u64) -> RandomProgram {
    let mut random = Random::new(seed);
    let shape =
        Shape { threads: 2 + random.below(2), statements: 3, locations: 2, non_atomic: false, modulus: 3 };
    let mut program = RandomProgram::draw(&mut random, shape);
    for (thread, [x, y]) in program.threads.iter_mut().zip([[Loc(0), Loc(1)], [Loc(1), Loc(0)]]) {
        let access = |kind, loc| Statement { guarded: false, kind, loc, mode: Mode::Relaxed, failure: None };
        let store = || Kind::Store(Operand::Const(1));
        thread.insert(0, access(if random.one_in(4) { Kind::Load } else { store() }, x));
        thread.push(access(if random.one_in(4) { store() } else { Kind::Load }, y));
    }
    program.mostly_sc(&mut random)
}

fn drawn(seed: u64) -> RandomProgram {
    let mut random = Random::new(seed);
    let shape = Shape {
        threads: 2 + random.below(2),
        statements: 4 + random.below(3),
        locations: 1 + random.below(2),
        non_atomic: false,
        modulus: 3,
    };
    RandomProgram::draw(&mut random, shape)
}

fn each_graph(program: &impl Program, mut visit: impl FnMut(&Graph)) {
    // A program that is too large is looked at as far as the limit goes.
    let _ = oracle::graphs(program, 5_000, |Candidate { graph, .. }| {
        visit(graph);
        ControlFlow::Continue(())
    });
}

#[track_caller]
fn included(graph: &Graph, stronger: Model, weaker: Model) {
    if stronger.allows(graph)
        && let Err(violation) = weaker.check(graph)
    {
        panic!("{stronger} allows it, {violation}\n{graph}");
    }
}

#[test]
fn every_model_allows_what_sc_allows() {
    for seed in 0..100 {
        for lowered_for in Model::ALL {
            each_graph(&drawn(seed).lower(lowered_for), |graph| {
                Model::ALL.into_iter().for_each(|weaker| included(graph, Model::Sc, weaker));
            });
        }
    }
}

#[test]
fn tso_is_in_ra_is_in_rc20() {
    for seed in 0..100 {
        for lowered_for in [Model::Tso, Model::Ra, Model::Rc20] {
            each_graph(&drawn(seed).lower(lowered_for), |graph| {
                included(graph, Model::Tso, Model::Ra);
                included(graph, Model::Ra, Model::Rc20);
            });
        }
    }
}

#[test]
fn ra_is_rc20_with_every_access_release_acquire() {
    for seed in 0..100 {
        each_graph(&drawn(seed).lower(Model::Ra), |graph| included(graph, Model::Rc20, Model::Ra));
    }
}

#[test]
fn rc11_is_rc20_without_sc() {
    for seed in 0..100 {
        let mut program = drawn(seed);
        for statement in program.threads.iter_mut().flatten().filter(|s| s.mode == Mode::SeqCst) {
            statement.mode = Mode::AcqRel;
        }
        each_graph(&program.lower(Model::Rc11), |graph| {
            included(graph, Model::Rc11, Model::Rc20);
            included(graph, Model::Rc20, Model::Rc11);
        });
        each_graph(&mostly_sc(seed).lower(Model::Rc11), |graph| included(graph, Model::Rc11, Model::Rc20));
    }
}

#[test]
fn armv8_is_in_rc11() {
    let (mut weak, mut all) = (0, 0);
    for seed in 0..400 {
        let mut program = mostly_sc(seed);
        for statement in program.threads.iter_mut().flatten().filter(|s| s.kind.is_rmw()) {
            statement.kind = Kind::Load;
        }
        each_graph(&program.lower(Model::ArmV8), |graph| {
            if (&graph.po | &graph.rf).is_acyclic() {
                included(graph, Model::ArmV8, Model::Rc11);
                all += 1;
                weak += usize::from(Model::ArmV8.allows(graph) && !Model::Sc.allows(graph));
            }
        });
    }
    assert!(weak > 100, "{weak} of {all}");
}

/// What x86 breaks, C11 breaks: an SC load is a plain load there, and an SC store a store and a fence.
#[test]
fn what_is_not_robust_on_x86_is_not_robust_under_rc11() {
    let mut broken = 0;
    for seed in 0..600 {
        let program = mostly_sc(seed);
        let robust = |model| oracle::robust(&program.lower(model), model, Model::Sc, 20_000);
        if let oracle::Verdict::NotRobust(_) = robust(Model::Tso) {
            assert_ne!(robust(Model::Rc11), oracle::Verdict::Robust, "{program}");
            broken += 1;
        }
    }
    assert!(broken > 50, "{broken}");
}

#[test]
fn tso_is_in_both_arms_when_lowered_for_tso() {
    for seed in 0..100 {
        each_graph(&drawn(seed).lower(Model::Tso), |graph| {
            included(graph, Model::Tso, Model::ArmV8);
            included(graph, Model::Tso, Model::ArmV7);
        });
    }
}

#[test]
fn armv8_is_in_armv7_for_relaxed_accesses_and_full_fences() {
    for seed in 0..200 {
        let mut program = drawn(seed);
        for statement in program.threads.iter_mut().flatten() {
            statement.mode = if statement.kind == Kind::Fence { Mode::SeqCst } else { Mode::Relaxed };
        }
        each_graph(&program.lower(Model::ArmV8), |graph| included(graph, Model::ArmV8, Model::ArmV7));
    }
}
