//! The whole sanitizer on random multi-threaded C programs, made from random finite-state programs: where `seqcst check`
//! proves robustness, it must never report. Where there is a violation, it should often find it.

#[path = "../../../check/tests/common/mod.rs"]
mod common;
#[path = "../compiled/mod.rs"]
mod compiled;
mod crew;
#[path = "../harness/mod.rs"]
mod harness;
mod translate;

use common::engine::{Engine, USUAL};
use common::large::Large;
use common::sample::Sample;
use common::sketch::Sketch;
use common::{Drawn, RC11, Verdict};
use compiled::{Report, compilers, line_in};
use crew::{Program, translation_unit};
use harness::Folder;
use seqcst_testing::drawn::{cases, seeds};
use std::collections::BTreeSet;

/// Programs of each kind.
const CASES: u64 = 200;
/// In one translation unit: large ones compile faster than many.
const TOGETHER: usize = 200;

#[test]
fn straight_line_programs() {
    compare::<Sample>("sample");
}

#[test]
fn programs_with_branches_and_loops() {
    compare::<Sketch>("sketch");
}

#[test]
fn larger_programs() {
    compare::<Large>("large");
}

/// Draws programs, and runs the robust ones and the others apart.
fn compare<P: Drawn>(kind: &str) {
    let (mut robust, mut not_robust) = (Vec::new(), Vec::new());
    for seed in seeds(cases(CASES)) {
        let drawn = P::draw(seed).to_string();
        let (name, text) = (format!("{kind}-{seed}"), translate::without_blocking(&drawn));
        let program = Program::new(name.clone(), &text);
        match Engine::new(&text, RC11).check(USUAL) {
            // An assertion that fails in C does nothing; what comes after it was not looked at.
            Ok(Verdict::Assertion | Verdict::Deadlock | Verdict::GaveUp) => {}
            Ok(Verdict::Robust) => robust.extend(program),
            Ok(Verdict::NotRobust | Verdict::Race) => not_robust.extend(program),
            Err(wrong) => panic!("{wrong}\n{text}"),
        }
        // Where nobody can wait for ever, waits are waits.
        let text = translate::in_bytes(&drawn);
        if translate::blocks(&text) && Engine::new(&text, RC11).check_deadlock() == Ok(Verdict::Robust) {
            robust.extend(Program::new(format!("{name}-waits"), &text));
        }
    }
    for compiler in compilers() {
        for programs in robust.chunks(TOGETHER) {
            if let Some(report) = run(compiler, kind, programs).first() {
                let (tpl, c) = about(report, programs).map_or(("", ""), |program| (&program.tpl, &program.c));
                panic!("{compiler}: a report on programs that are robust\n\n{tpl}\n{c}\n{report:#?}");
            }
        }
        let (mut found, mut all) = (0, 0);
        for programs in not_robust.chunks(TOGETHER) {
            let reports = run(compiler, kind, programs);
            let programs_found: BTreeSet<&str> =
                reports.iter().filter_map(|report| Some(about(report, programs)?.name.as_str())).collect();
            found += programs_found.len();
            all += programs.len();
        }
        println!(
            "{kind}, {compiler}: {} robust programs silent, {found} of {all} others found",
            robust.len()
        );
        assert!(all < 20 || 2 * found > all, "only {found} of {all} violations found");
    }
}

/// Runs programs together; gives what was reported.
fn run(compiler: &str, kind: &str, programs: &[Program]) -> Vec<Report> {
    let folder = Folder::new(&format!("random-{kind}-{compiler}"));
    let source = folder.write("programs.c", translation_unit(programs));
    let said = folder.run(&folder.compile(compiler, &source), &[], "history=64");
    let errors: Vec<Report> = said.reports.into_iter().filter(|report| report.error).collect();
    let expected = if errors.is_empty() { 0 } else { 66 };
    assert_eq!(said.code, Some(expected), "{compiler}, {kind}: {}", said.text);
    errors
}

/// The program that a report is about. What the compiler made out of several lines has none of them; then the other access tells.
fn about<'a>(report: &Report, programs: &'a [Program]) -> Option<&'a Program> {
    let stands_in = |place, program: &Program| line_in(place, &program.file()).is_some();
    programs.iter().find(|program| stands_in(&report.access, program) || stands_in(&report.other, program))
}
