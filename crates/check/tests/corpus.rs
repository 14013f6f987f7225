//! Every program of the corpus gets the verdicts that its header asks for, under every model that it lists, and a
//! witness behind each violation.

mod common;

use common::Verdict;
use common::engine::{Reductions, USUAL, verdict};
use seqcst_check::answer::Source;
use seqcst_check::robustness::decide;
use seqcst_check::witness::witness;
use seqcst_model::Model;
use seqcst_program::semantics::Machine;
use seqcst_program::{lower, parse};
use seqcst_testing::corpus::{self, Program};
use seqcst_testing::drawn::slow_too;

fn programs() -> Vec<Program> {
    corpus::finite_state().unwrap_or_else(|why| panic!("{why}"))
}

fn expected(verdict: corpus::Verdict) -> Verdict {
    match verdict {
        corpus::Verdict::Robust => Verdict::Robust,
        corpus::Verdict::NotRobust => Verdict::NotRobust,
        corpus::Verdict::Race => Verdict::Race,
        corpus::Verdict::Assertion => Verdict::Assertion,
        corpus::Verdict::Deadlock => Verdict::Deadlock,
        other => panic!("no verdict about states: {other:?}"),
    }
}

fn check(program: &Program, model: Model, reductions: Reductions) -> Verdict {
    let parsed = parse(program.text.as_bytes(), &program.path.to_string_lossy()).expect("it parses");
    let machine =
        Machine::new(lower(&parsed.program, model).expect("programs are checked against this model"));
    let answer = decide(&machine, &reductions.plan(program.header.deadlock), &|_| ());
    let Some(found) = answer.found else {
        return if answer.limit.is_some() { Verdict::GaveUp } else { Verdict::Robust };
    };
    if let Err(unconfirmed) =
        witness(&machine, Source { file: &program.name, text: &program.text }, model, &found)
    {
        panic!("{} under {model}: {found:?} has no witness: {unconfirmed}", program.name);
    }
    verdict(found.violation)
}

/// `SEQCST_SLOW=1` also checks those whose header says that they are slow.
#[test]
fn every_program_has_the_verdicts_of_its_header() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for program in programs().iter().filter(|program| program.header.slow.is_none() || slow_too()) {
        for &(model, verdict) in &program.header.verdicts {
            let model: Model = model.parse().expect("a model");
            let (verdict, expected) = (check(program, model, USUAL), expected(verdict));
            compared += 1;
            if verdict != expected {
                wrong.push(format!("{} under {model}: {verdict:?}, not {expected:?}", program.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} verdicts are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 300, "only {compared} verdicts");
}
