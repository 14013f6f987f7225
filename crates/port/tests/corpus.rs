//! The programs of `corpus/c/port`: how many fences each pair of machines needs, and what clang makes of the repaired files.

mod common;

use common::repair::{RCPC, assembly, expected, flags, load, read_again, repair};
use common::{compile, tool};
use expect_test::expect;
use seqcst_port::count::{existing, naive};
use seqcst_port::ir::code::Code;
use seqcst_port::ir::lower::Ported;
use seqcst_port::ir::patch::Edit;
use seqcst_port::machine::Machine;
use seqcst_port::mapping::Features;
use seqcst_port::place::{Costs, place};
use seqcst_port::robust::{Question, check};
use std::fmt::Write;

const PROGRAMS: [&str; 10] = [
    "barrier",
    "dekker-tso",
    "peterson-sc",
    "lamport-sc",
    "spinlock",
    "ticket-lock",
    "seqlock",
    "rcu-offline",
    "cilk-tso",
    "cilk-sc",
];

/// A program's IR for a target.
fn ir(program: &str, target: &[&str]) -> String {
    let headers = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/tests/sources/include");
    let mut all = vec!["-O1", "-g", "-ffreestanding", headers];
    all.extend(target);
    let path = compile("clang-19", &format!("../../../../corpus/c/port/{program}.c"), "c", &all);
    std::fs::read_to_string(path).expect("just made")
}

/// Naive / existing / inserted for a program and all pairs.
fn row(program: &str) -> String {
    let mut out = format!("{program:12}");
    let mut last: Option<(Machine, (Code, Ported))> = None;
    for (from, to) in Machine::PAIRS {
        if last.as_ref().is_none_or(|(machine, _)| *machine != to) {
            last = Some((to, load(program, ir(program, flags(to)))));
        }
        let Some((_, (_, ported))) = &last else { continue };
        let question = Question::new(from, to);
        let found = place(&ported.program, &ported.classes, question, &Costs::default()).expect("no limit");
        assert!(found.exact && found.after.is_robust(), "{program} {from} {to}");
        let existing = existing(&ported.program, to, Features::default());
        let cell = format!("{}/{existing}/{}", naive(&ported.program), found.changes.len());
        let _ = write!(out, " {cell:>11}");
    }
    out + "\n"
}

/// What the tables of `docs/port.md` say. A number that changes here changes there (`cargo xtask bench port`).
#[test]
fn fences() {
    if !tool("clang-19") {
        return;
    }
    let head: String = Machine::PAIRS.map(|(from, to)| format!(" {:>11}", format!("{from}-{to}"))).concat();
    let table = format!("{:12}{head}\n{}", "", PROGRAMS.map(row).concat());
    expect![[r#"
                          sc-x86    sc-armv8   x86-armv8    sc-armv7   x86-armv7 armv8-armv7
        barrier            6/0/2       6/2/2       6/2/0       6/2/2       6/2/0       6/2/0
        dekker-tso        18/4/0     18/10/4     18/10/4     18/10/4     18/10/4     18/10/4
        peterson-sc       14/0/2      14/0/8      14/0/8     14/0/10      14/0/8      14/0/4
        lamport-sc        17/0/4      17/7/6      17/7/4      17/7/8      17/7/4      17/7/3
        spinlock          12/0/0      12/6/0      12/6/0      12/6/0      12/6/0      12/6/0
        ticket-lock       10/0/0      10/6/0      10/6/0      10/8/0      10/8/0      10/8/0
        seqlock            9/0/0       9/4/2       9/4/2       9/4/2       9/4/2       9/4/0
        rcu-offline       34/6/3     34/20/9     34/20/9    34/20/11     34/20/9     34/20/6
        cilk-tso          21/3/0     21/10/4     21/10/4     21/10/4     21/10/4     21/10/2
        cilk-sc           19/0/0      19/7/6      19/7/6      19/7/7      19/7/7      19/7/3
    "#]]
    .assert_eq(&table);
}

/// Every repaired file compiles for its machine, each change is one instruction of the function it is in, everything else is
/// as it was, and the analysis finds nothing to do in what was written.
fn repaired(to: Machine, features: Features, target: &[&str]) {
    if !tool("clang-19") {
        return;
    }
    for program in PROGRAMS {
        let text = ir(program, target);
        let name = format!("{program}{}", target.concat());
        let before = assembly("clang-19", target, &format!("{name}-before.ll"), &text);
        let original = load(program, text);
        for (from, _) in Machine::PAIRS.into_iter().filter(|pair| pair.1 == to) {
            let about = format!("{name}-{from}");
            let question = Question { features, ..Question::new(from, to) };
            let repaired = repair(&original, question);
            let after = assembly("clang-19", target, &format!("{about}-after.ll"), &repaired.text);
            let wanted = expected(&before, &original.0, &repaired.edits, to);
            assert_eq!(after, wanted, "{about}: {:?}", repaired.edits);
            let (again, changes) = read_again(program, &repaired.text);
            let answer = check(&again.program, &again.classes, question, &changes).expect("no limit");
            assert!(answer.is_robust(), "{about}: {:?}", answer.faults);
            // Without that, too, unless it comes from ARMv8: a fence there makes dependencies count that ARMv7 has not.
            let plain = load(program, repaired.text).1;
            let answer = check(&plain.program, &plain.classes, question, &[]).expect("no limit");
            assert!(from == Machine::ArmV8 || answer.is_robust(), "{about}: {:?}", answer.faults);
            let fences = repaired.edits.iter().filter(|edit| matches!(edit, Edit::Fence(..))).count();
            assert_eq!(changes.len(), fences, "{about}");
        }
    }
}

#[test]
fn repaired_for_x86() {
    repaired(Machine::X86, Features::default(), flags(Machine::X86));
}

#[test]
fn repaired_for_armv8() {
    repaired(Machine::ArmV8, Features::default(), flags(Machine::ArmV8));
}

#[test]
fn repaired_for_armv7() {
    repaired(Machine::ArmV7, Features::default(), flags(Machine::ArmV7));
}

#[test]
fn repaired_for_armv8_with_rcpc_loads() {
    repaired(Machine::ArmV8, Features { rcpc: true }, RCPC);
}
