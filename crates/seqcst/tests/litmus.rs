//! Litmus tests with all combinations of modes, against the definitions.

mod common;

use common::run;
use seqcst::{Builder, Problem};
use seqcst_model::sample::{Kind, Operand, RandomProgram, Statement};
use seqcst_model::{Loc, Mode, Model, oracle};

const X: u8 = 0;
const Y: u8 = 1;

/// Loads, and stores of a value.
#[derive(Clone, Copy)]
enum Do {
    R(u8),
    W(u8, u32),
}
use Do::{R, W};

/// All ways to give modes to the accesses.
fn with_all_modes(threads: &[&[Do]], mut test: impl FnMut(&RandomProgram)) {
    let accesses: usize = threads.iter().map(|thread| thread.len()).sum();
    for mut number in 0..3usize.pow(accesses as u32) {
        let mut mode = |reads: bool| {
            let weak = if reads { Mode::Acquire } else { Mode::Release };
            let mode = [Mode::Relaxed, weak, Mode::SeqCst][number % 3];
            number /= 3;
            mode
        };
        let mut statement = |access: &Do| {
            let (kind, loc, mode) = match *access {
                R(loc) => (Kind::Load, loc, mode(true)),
                W(loc, value) => (Kind::Store(Operand::Const(value)), loc, mode(false)),
            };
            Statement { guarded: false, kind, loc: Loc(loc), mode, failure: None }
        };
        let threads = threads.iter().map(|thread| thread.iter().map(&mut statement).collect()).collect();
        test(&RandomProgram { modulus: 3, locations: 2, non_atomic: false, threads });
    }
}

/// All verdicts must agree. (An SC access is an SC fence and the access, in this order: so where the second access of
/// each thread is SC, there is a fence between the two; under RC20, that is.) Returns how many are robust under RC11 and under
/// RC20, out of how many.
fn compare(threads: &[&[Do]]) -> (u32, u32, u32) {
    let (mut robust, mut robust_in_rc20, mut all) = (0, 0, 0);
    with_all_modes(threads, |program| {
        let models = [
            (seqcst::Model::Rc11, Model::Rc11),
            (seqcst::Model::Rc20, Model::Rc20),
            (seqcst::Model::Ra, Model::Ra),
            (seqcst::Model::Tso, Model::Tso),
        ];
        for (model, definition) in models {
            let expected =
                oracle::robust(&program.lower(definition), definition, Model::Sc, 1_000_000).is_robust();
            let exploration = Builder::default().memory_model(model).explore(|| run(program));
            match exploration.problem() {
                None => assert!(expected && exploration.is_exhaustive(), "{definition:?}: {program}"),
                Some(Problem::Stale(_)) => assert!(!expected, "{definition:?}: {program}"),
                Some(other) => panic!("{other:?}: {program}"),
            }
            robust += u32::from(expected && definition == Model::Rc11);
            robust_in_rc20 += u32::from(expected && definition == Model::Rc20);
        }
        all += 1;
    });
    (robust, robust_in_rc20, all)
}

#[test]
fn store_buffering() {
    assert_eq!(compare(&[&[W(X, 1), R(Y)], &[W(Y, 1), R(X)]]), (1, 9, 81));
}

#[test]
fn message_passing() {
    assert_eq!(compare(&[&[W(X, 1), W(Y, 1)], &[R(Y), R(X)]]), (36, 42, 81));
}

/// RC20 has no load buffering.
#[test]
fn load_buffering() {
    assert_eq!(compare(&[&[R(X), W(Y, 1)], &[R(Y), W(X, 1)]]), (81, 81, 81));
}

#[test]
fn two_and_two_writes() {
    assert_eq!(compare(&[&[W(X, 1), W(Y, 2)], &[W(Y, 1), W(X, 2)]]), (1, 9, 81));
}

#[test]
fn independent_reads_of_independent_writes() {
    assert_eq!(compare(&[&[W(X, 1)], &[W(Y, 1)], &[R(X), R(Y)], &[R(Y), R(X)]]), (1, 81, 729));
}
