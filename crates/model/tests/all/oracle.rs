//! The oracle against itself: the fast enumeration gives exactly the graphs of the definition.

use seqcst_model::graph::Key;
use seqcst_model::oracle::{self, Candidate, TooBig};
use seqcst_model::sample::{Random, RandomProgram, Shape};
use seqcst_model::{Model, Program};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

const LIMIT: usize = 200_000;

/// Small enough that the plain definition comes to an end.
fn small(seed: u64) -> RandomProgram {
    let mut random = Random::new(seed);
    let threads = 2 + random.below(2);
    let locations = 1 + random.below(2);
    let non_atomic = locations == 2 && random.one_in(4);
    RandomProgram::draw(
        &mut random,
        Shape { threads, statements: 3 + seed as usize % 3, locations, non_atomic, modulus: 3 },
    )
}

fn by_definition(program: &impl Program, model: Model) -> Result<BTreeSet<Key>, TooBig> {
    let mut keys = BTreeSet::new();
    oracle::graphs(program, LIMIT, |Candidate { graph, .. }| {
        if model.allows(graph) {
            keys.insert(graph.key());
        }
        ControlFlow::Continue(())
    })?;
    Ok(keys)
}

#[test]
fn consistent_graphs_are_those_of_the_definition_and_come_once() {
    for model in Model::ALL {
        let mut checked = 0;
        for seed in 0..600 {
            let random_program = small(seed);
            let program = random_program.lower(model);
            let Ok(expected) = by_definition(&program, model) else { continue };
            let mut found = BTreeSet::new();
            oracle::consistent(&program, model, LIMIT, |Candidate { graph, .. }| {
                assert!(found.insert(graph.key()), "{model}: twice\n{graph}\n{random_program}");
                ControlFlow::Continue(())
            })
            .unwrap();
            assert_eq!(found, expected, "{model}\n{random_program}");
            checked += 1;
        }
        assert!(checked > 300, "{model}: only {checked} programs were small enough");
    }
}
