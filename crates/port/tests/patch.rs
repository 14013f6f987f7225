//! Repaired files: LLVM accepts them, the fences are in the assembly, and the analysis finds nothing in them any more.

mod common;

use common::{compile, scratch, tool};
use seqcst_port::change::Change;
use seqcst_port::ir::code::{Code, File};
use seqcst_port::ir::lower::{Options, Ported, lower};
use seqcst_port::ir::patch::{Edit, apply, edits};
use seqcst_port::ir::{read, threads};
use seqcst_port::machine::{Fence, Machine};
use seqcst_port::place::{Costs, place};
use seqcst_port::program::Point;
use seqcst_port::robust::{Question, check};
use std::process::Command;

const SHAPES: [&str; 6] = ["SB", "MP", "LB", "LOOP", "CAS", "EDGE"];

fn flags(machine: Machine) -> &'static [&'static str] {
    match machine {
        Machine::Sc | Machine::X86 => &["--target=x86_64-linux-gnu"],
        Machine::ArmV8 => &["--target=aarch64-linux-gnu", "-mno-outline-atomics"],
        Machine::ArmV7 => &["--target=armv7-linux-gnueabihf", "-march=armv7-a"],
    }
}

fn load(name: &str, text: String) -> (Code, Ported) {
    let module = read(&text).unwrap_or_else(|e| panic!("{:?}: {}", e.line_column(&text), e.message));
    let code = Code::new(vec![File { name: name.to_owned(), text, module }]);
    let found = threads::find(&code);
    let ported = lower(&code, &found, Options::default());
    (code, ported)
}

/// How often each fence instruction stands in the assembly that clang makes.
fn assembly(compiler: &str, machine: Machine, name: &str, text: &str) -> Vec<(&'static str, usize)> {
    let path = scratch(name);
    std::fs::write(&path, text).expect("can be written");
    let out =
        Command::new(compiler).args(flags(machine)).args(["-O1", "-S", "-o", "-", "-w"]).arg(&path).output();
    let out = out.expect("the compiler runs");
    assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    let assembly = String::from_utf8_lossy(&out.stdout).into_owned();
    let lines: Vec<String> =
        assembly.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let fences = ["mfence", "dmb ishld", "dmb ishst", "dmb ish"];
    fences.map(|fence| (fence, lines.iter().filter(|line| **line == fence).count())).to_vec()
}

fn name(machine: Machine, fence: Fence) -> &'static str {
    match (machine, fence) {
        (Machine::X86 | Machine::Sc, _) => "mfence",
        (Machine::ArmV8, Fence::Load) => "dmb ishld",
        (_, Fence::Store) => "dmb ishst",
        _ => "dmb ish",
    }
}

/// Repairs a shape for two machines, and looks at what came out.
fn repaired(compiler: &str, shape: &str, from: Machine, to: Machine) {
    let define = format!("-D{shape}");
    let mut all = vec!["-O1", "-g", "-ffreestanding", &define];
    all.extend(flags(to));
    let path = compile(compiler, "litmus.c", "c", &all);
    let text = std::fs::read_to_string(&path).expect("just made");
    let (code, ported) = load(shape, text.clone());
    let question = Question::new(from, to);
    let placement = place(&ported.program, &ported.classes, question, &Costs::default());
    assert!(placement.after.is_robust(), "{shape} {from} {to}");
    let changes = edits(&code, &ported, &placement.changes).expect("all have places");
    let patched = apply(&code, 0, &changes, to).expect("all can be written");
    let about = format!("{compiler}-{shape}-{from}-{to}");
    let before = assembly(compiler, to, &format!("{about}-before.ll"), &text);
    let after = assembly(compiler, to, &format!("{about}-after.ll"), &patched);
    let mut wanted = before.clone();
    for edit in &changes {
        if let Edit::Fence(_, fence) = edit {
            wanted.iter_mut().filter(|(n, _)| *n == name(to, *fence)).for_each(|(_, count)| *count += 1);
        }
    }
    assert_eq!(after, wanted, "{about}: {changes:?}");
    // `dmb ishst` has no name in IR that the analysis knows.
    let known = !changes.iter().any(|edit| matches!(edit, Edit::Fence(_, Fence::Store)));
    if known {
        let (_, again) = load(shape, patched);
        assert!(check(&again.program, &again.classes, question, &[]).is_robust(), "{about}: not repaired");
    }
}

#[test]
fn repaired_files_compile_and_hold() {
    if !tool("clang-19") {
        return;
    }
    for shape in SHAPES {
        for (from, to) in Machine::PAIRS {
            repaired("clang-19", shape, from, to);
        }
    }
}

#[test]
fn repaired_files_of_older_compilers() {
    if !tool("clang-14") {
        return;
    }
    for shape in ["MP", "CAS", "EDGE"] {
        repaired("clang-14", shape, Machine::Sc, Machine::ArmV8);
        repaired("clang-14", shape, Machine::Sc, Machine::ArmV7);
    }
}

/// A fence at every single place where one can be put: LLVM takes each of them, and all of them at once.
#[test]
fn a_fence_can_be_put_everywhere() {
    if !tool("clang-19") {
        return;
    }
    for (source, language, level) in [("everything.c", "c", "-O1"), ("everything.c", "c", "-O0")] {
        let path = compile("clang-19", source, language, &[level, "-g", "--target=x86_64-linux-gnu"]);
        let (code, ported) = load(source, std::fs::read_to_string(&path).expect("just made"));
        let mut changes = Vec::new();
        for (function, f) in ported.program.functions.iter().enumerate() {
            let mut entering = vec![0; f.nodes.len()];
            f.nodes.iter().flat_map(|node| &node.next).for_each(|edge| entering[edge.to] += 1);
            for (node, n) in f.nodes.iter().enumerate() {
                if n.tag == u32::MAX {
                    continue;
                }
                changes.push(Change::Insert { at: Point::Before { function, node }, fence: Fence::Full });
                for (edge, e) in n.next.iter().enumerate() {
                    if n.next.len() > 1 && entering[e.to] > 1 {
                        changes.push(Change::Insert {
                            at: Point::On { function, from: node, edge },
                            fence: Fence::Full,
                        });
                    }
                }
            }
        }
        let all = edits(&code, &ported, &changes).expect("all have places");
        let patched = apply(&code, 0, &all, Machine::X86).expect("all can be written");
        let fences = assembly("clang-19", Machine::X86, "everywhere.ll", &patched);
        assert!(all.len() > 20 && fences[0].1 > 20, "{} {fences:?}", all.len());
    }
}
