//! Random C programs, made from random finite-state programs: under all schedules a violation is found exactly when
//! `seqcst check` finds one, and what is found can be replayed.

use crate::common::engine::{Engine, USUAL};
use crate::common::large::Large;
use crate::common::sample::Sample;
use crate::common::sketch::Sketch;
use crate::common::{Drawn, RC11, RC20, TSO, Verdict};
use crate::crew::{Program, selected_by_argument};
use crate::{Folder, number, translate};
use seqcst_model::Model;
use seqcst_testing::drawn;

/// How much is compared.
struct Size {
    /// Programs.
    cases: u64,
    /// Programs with more executions than this are left out.
    executions: u64,
    /// One in so many programs may be left out.
    one_in: u64,
}

impl Size {
    /// So many programs and few executions in an ordinary test, more of both if told.
    fn new(cases: u64) -> Size {
        let cases = drawn::cases(cases);
        let (executions, one_in) = if drawn::is_told() { (20_000, 20) } else { (1_000, 2) };
        Size { cases, executions, one_in }
    }
}

#[test]
fn straight_line_programs() {
    compare::<Sample>("sample", Size::new(60));
}

#[test]
fn programs_with_branches_and_loops() {
    compare::<Sketch>("sketch", Size::new(60));
}

#[test]
fn larger_programs() {
    compare::<Large>("large", Size::new(12));
}

/// The same program, with nothing in it that C can't say: no free choice, no failure of a weak CAS for no reason.
fn sayable(text: &str) -> Option<String> {
    let text = text.replace("WCAS(", "CAS(");
    (!text.contains("oneof")).then_some(text)
}

/// A program and what is expected of it.
struct Case {
    program: Program,
    expected: [(&'static str, Option<bool>); 3],
}

fn compare<P: Drawn>(kind: &str, size: Size) {
    let mut cases: Vec<Case> = Vec::new();
    let most = size.executions.to_string();
    for seed in drawn::first().. {
        if cases.len() as u64 >= size.cases {
            break;
        }
        let Some(drawn) = sayable(&P::draw(seed).to_string()) else { continue };
        let text = translate::without_blocking(&drawn);
        let Some(program) = Program::new(format!("{kind}-{seed}"), &text) else { continue };
        let violation = |model: Model| match Engine::new(&text, model).check(USUAL) {
            Ok(Verdict::Robust) => Some(false),
            Ok(Verdict::NotRobust | Verdict::Race) => Some(true),
            // An assertion that fails in C does nothing; what comes after it was not looked at.
            Ok(Verdict::Assertion | Verdict::Deadlock | Verdict::GaveUp) => None,
            Err(wrong) => panic!("{wrong}\n{text}"),
        };
        // Races are a matter of C's happens-before, whatever the machine.
        let plain = text.lines().any(|line| line.starts_with("na "));
        let on_x86 = if plain { None } else { violation(TSO) };
        // RC20's programs differ from RC11's in SC accesses and fences only: now and then is enough.
        let under_rc20 = if seed % 3 == 0 { violation(RC20) } else { None };
        let expected = [("rc11", violation(RC11)), ("rc20", under_rc20), ("tso", on_x86)];
        if expected.iter().any(|(_, expected)| expected.is_some()) {
            cases.push(Case { program, expected });
        }
    }
    let folder = Folder::new(&format!("agreement-{kind}"));
    let (mut robust, mut not_robust, mut too_many, mut executions) = (0, 0, 0, 0);
    for (part, cases) in cases.chunks(200).enumerate() {
        let programs: Vec<&Program> = cases.iter().map(|case| &case.program).collect();
        let source = folder.path(&format!("part{part}.c"));
        std::fs::write(&source, selected_by_argument(&programs)).expect("a file can be written");
        let executable = folder.compile(&source, &[]);
        for (at, case) in cases.iter().enumerate() {
            for (model, expected) in case.expected {
                let Some(expected) = expected else { continue };
                let number_of_it = at.to_string();
                let flags =
                    ["--strategy", "dpor", "--model", model, "--executions", &most, "--steps", "2000"];
                let answer = folder.answer(&[&flags[..], &[&executable, &number_of_it]].concat());
                executions += number(&answer, "executions");
                let found = match answer["verdict"].as_str() {
                    Some("robust") => false,
                    Some("not-robust" | "race") => true,
                    Some("gave-up") if number(&answer, "executions") >= size.executions => {
                        too_many += 1;
                        continue;
                    }
                    _ => panic!("{model}: {answer:#}\n{}\n{}", case.program.tpl, case.program.c),
                };
                let told = || format!("{model}: {:#}\n{}\n{}", answer, case.program.tpl, case.program.c);
                assert_eq!(found, expected, "{}", told());
                *(if found { &mut not_robust } else { &mut robust }) += 1;
                if found {
                    assert_eq!(folder.again(&answer)["verdict"], answer["verdict"], "{}", told());
                }
            }
        }
    }
    println!(
        "{kind}: {robust} robust, {not_robust} not, {too_many} with too many schedules; {executions} executions"
    );
    assert!(size.one_in * too_many <= robust + not_robust + too_many, "{too_many} with too many schedules");
    assert!(robust > 0 && not_robust > 0);
}
