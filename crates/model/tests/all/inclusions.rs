//! Which model allows more, graph by graph, over all candidate graphs of random programs.
//!
//! On one and the same graph:
//! * SC ⊆ every model;
//! * SC ⊆ TSO ⊆ RA ⊆ RC20, whatever the modes: RA ignores fences, and an MFENCE is no more than an
//!   acquire-release fence to RC20;
//! * TSO ⊆ ARMv8 and TSO ⊆ ARMv7 on graphs lowered for TSO. Not with release stores and acquire loads: ARMv8
//!   orders an STLR before a later LDAR, and x86 does not order their plain counterparts;
//! * ARMv8 ⊆ ARMv7 on graphs of relaxed accesses and full fences. Not with acquire: ARMv7 has no load fence,
//!   its DMB is stronger than DMB LD, and the DMB after a load also orders the store that the load took its
//!   value from (the litmus test SB+rfi+acq).

use seqcst_model::oracle::{self, Candidate};
use seqcst_model::sample::{Kind, Random, RandomProgram, Shape};
use seqcst_model::{Graph, Mode, Model, Program};
use std::ops::ControlFlow;

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
