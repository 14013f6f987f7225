//! Weakened copies of libraries.

#[path = "../../../proof/tests/rho/ir.rs"]
mod ir;

use ir::*;
use seqcst_library::code::Mode::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use seqcst_library::code::Update;
use seqcst_library::mutate::mutants;

fn descriptions(body: Vec<seqcst_library::code::Statement>) -> Vec<String> {
    let library = library(vec![method("m", 0, body)]);
    let mutants = mutants(&library);
    assert!(mutants.iter().all(|mutant| mutant.library != library && mutant.site.line > 0));
    mutants.into_iter().map(|mutant| mutant.description).collect()
}

#[test]
fn one_step_each() {
    assert_eq!(
        descriptions(vec![
            load(A, at(X), Acquire),
            load(A, at(X), SeqCst),
            load(A, at(X), Relaxed),
            store(at(Y), int(1), Release),
            store(at(Y), int(1), SeqCst),
            rmw(A, at(X), Update::Add, int(1), AcqRel),
            rmw(A, at(X), Update::Add, int(1), SeqCst),
        ]),
        [
            "m: load of x: acquire → relaxed",
            "m: load of x: seq_cst → acquire",
            "m: store of y: release → relaxed",
            "m: store of y: seq_cst → release",
            "m: update of x: acq_rel → acquire",
            "m: update of x: acq_rel → release",
            "m: update of x: seq_cst → acq_rel",
        ]
    );
}

#[test]
fn success_and_failure_apart() {
    let attempt = cas_or(B, Some(A), at(X), v(A), int(1), Release, Acquire);
    assert_eq!(
        descriptions(vec![repeat(vec![attempt, when(v(B), vec![leave()])])]),
        [
            "m: compare-and-swap of x: release → relaxed",
            "m: compare-and-swap of x: if it fails, acquire → relaxed"
        ]
    );
}

#[test]
fn fences_are_removed_or_weakened() {
    assert_eq!(
        descriptions(vec![fence(SeqCst), fence(AcqRel), fence(Release)]),
        [
            "m: fence: seq_cst → none",
            "m: fence: seq_cst → acq_rel",
            "m: fence: acq_rel → none",
            "m: fence: acq_rel → acquire",
            "m: fence: acq_rel → release",
            "m: fence: release → none",
        ]
    );
}

#[test]
fn copies_are_weakened_together() {
    let access = load(A, at(X), Acquire);
    let library = library(vec![method("m", 0, vec![either(v(B), vec![access.clone()], vec![access])])]);
    let mutants = mutants(&library);
    assert_eq!(mutants.len(), 1);
    let text = text(&mutants[0].library, &mutants[0].library.methods[0].body);
    assert_eq!(text, "if b\n  a = x relaxed\nelse\n  a = x relaxed\n");
}
