//! The TSO axioms against the store-buffer machine.

use seqcst_model::oracle::{self, Candidate};
use seqcst_model::sample::RandomProgram;
use seqcst_model::store_buffer::{self, Runs};
use seqcst_model::{Model, Program};
use std::ops::ControlFlow;

fn by_axioms(program: &impl Program) -> Runs {
    let mut runs = Runs::default();
    let enumerated = oracle::consistent(program, Model::Tso, 1_000_000, |Candidate { graph, complete }| {
        if complete {
            runs.complete.insert(graph.key());
        }
        runs.stopped.insert(graph.key());
        ControlFlow::Continue(())
    });
    assert_eq!(enumerated, Ok(()));
    runs
}

#[test]
fn machine_and_axioms_allow_the_same_graphs() {
    let (mut compared, mut not_sc) = (0, 0);
    for seed in 0..3000 {
        let random_program = RandomProgram::from_seed(seed);
        let program = random_program.lower(Model::Tso);
        let Ok(machine) = store_buffer::runs(&program, 20_000) else { continue };
        assert!(machine == by_axioms(&program), "seed {seed}\n{random_program}");
        compared += 1;
        not_sc += usize::from(!oracle::robust(&program, Model::Tso, Model::Sc, 1_000_000).is_robust());
    }
    assert!(compared > 2500 && not_sc > 10, "{compared} programs, {not_sc} of them not robust");
}
