//! What tests of repaired files share: reading IR, repairing it, and counting instructions in what clang makes of it.

use super::scratch;
use seqcst_model::Mode;
use seqcst_port::change::{Change, Strength};
use seqcst_port::ir::code::{Code, File};
use seqcst_port::ir::inline::Site;
use seqcst_port::ir::lower::{Options, Ported, lower};
use seqcst_port::ir::module::Op;
use seqcst_port::ir::patch::{Edit, apply, edits};
use seqcst_port::ir::{read, threads};
use seqcst_port::machine::{Fence, Machine};
use seqcst_port::place::{Costs, Placement, place};
use seqcst_port::program::{NodeKind, Point};
use seqcst_port::robust::Question;
use std::collections::BTreeMap;
use std::process::Command;

/// What clang is told about a machine.
pub fn flags(machine: Machine) -> &'static [&'static str] {
    match machine {
        Machine::Sc | Machine::X86 => &["--target=x86_64-linux-gnu"],
        Machine::ArmV8 => &["--target=aarch64-linux-gnu", "-mno-outline-atomics"],
        Machine::ArmV7 => &["--target=armv7-linux-gnueabihf", "-march=armv7-a"],
    }
}

/// What clang is told about an ARMv8 that has `ldapr`.
pub const RCPC: &[&str] = &["--target=aarch64-linux-gnu", "-mno-outline-atomics", "-march=armv8-a+rcpc"];

/// Reads IR and finds its threads.
pub fn load(name: &str, text: String) -> (Code, Ported) {
    let module = read(&text).unwrap_or_else(|e| panic!("{:?}: {}", e.line_column(&text), e.message));
    let code = Code::new(vec![File { name: name.to_owned(), text, module }]);
    let found = threads::find(&code);
    let ported = lower(&code, &found, Options::default()).expect("no limit");
    (code, ported)
}

/// A repaired file.
pub struct Repaired {
    /// What was found.
    pub placement: Placement,
    /// The changes as places in the text.
    pub edits: Vec<Edit>,
    /// The changed text.
    pub text: String,
}

/// Repairs a file of one piece.
pub fn repair((code, ported): &(Code, Ported), question: Question) -> Repaired {
    let placement = place(&ported.program, &ported.classes, question, &Costs::default()).expect("no limit");
    assert!(placement.after.is_robust(), "{question:?}");
    let edits = edits(code, ported, &placement.changes).expect("all have places");
    let text = apply(code, 0, &edits, question.to, question.features).expect("all can be written");
    Repaired { placement, edits, text }
}

/// Reads a repaired file, in which our fences stand as intrinsics of the target, and gives them as changes again: they are
/// there on the machine that the program goes to, not on the one that it comes from. The programs have no others.
pub fn read_again(name: &str, text: &str) -> (Ported, Vec<Change>) {
    let (code, mut ported) = load(name, text.to_owned());
    let mut changes = Vec::new();
    for (function, f) in ported.program.functions.iter_mut().enumerate() {
        let fences = f.nodes.iter_mut().enumerate();
        for (node, n) in fences.filter(|(_, n)| matches!(n.kind, NodeKind::Fence(_) | NodeKind::StoreFence)) {
            let site = ported.sites[n.tag as usize];
            let Site::Before { function: id, block, index } = site else { panic!("{site:?}") };
            let span = &code.function(id).expect("is there").blocks[block as usize].body[index as usize].span;
            let fence = match &text[span.clone()] {
                call if call.contains(".dmb(i32 9)") => Fence::Load,
                call if call.contains(".dmb(i32 10)") => Fence::Store,
                call if call.contains(".dmb(i32 11)") || call.contains(".mfence(") => Fence::Full,
                _ => continue,
            };
            n.kind = NodeKind::Nothing;
            changes.push(Change::Insert { at: Point::Before { function, node }, fence });
        }
    }
    (ported, changes)
}

/// Instructions that order, for each function.
pub type Counts = BTreeMap<String, BTreeMap<String, usize>>;

/// How often each instruction that orders stands in the functions that clang makes of IR. Widths are left out: `ldarb` is
/// `ldar`.
pub fn assembly(compiler: &str, flags: &[&str], name: &str, text: &str) -> Counts {
    let path = scratch(name);
    std::fs::write(&path, text).expect("can be written");
    let out = Command::new(compiler).args(flags).args(["-O1", "-S", "-o", "-", "-w"]).arg(&path).output();
    let out = out.expect("the compiler runs");
    assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    let mut counts = Counts::new();
    let mut function = String::new();
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        if let Some((label, _)) =
            line.split_once(':').filter(|_| line.starts_with(|c: char| c.is_alphabetic()))
        {
            function = label.to_owned();
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let instruction = match words[..] {
            ["mfence"] => "mfence".to_owned(),
            ["dmb", kind] => format!("dmb {kind}"),
            [name, ..] => ["ldar", "ldapr", "stlr", "ldaxr", "stlxr"]
                .into_iter()
                .find(|known| name.strip_prefix(known).is_some_and(|width| matches!(width, "" | "b" | "h")))
                .unwrap_or_default()
                .to_owned(),
            [] => String::new(),
        };
        if !instruction.is_empty() {
            *counts.entry(function.clone()).or_default().entry(instruction).or_default() += 1;
        }
    }
    counts
}

/// What must be in the assembly once these changes are made: one instruction for each.
pub fn expected(before: &Counts, code: &Code, edits: &[Edit], machine: Machine) -> Counts {
    let mut counts = before.clone();
    for &edit in edits {
        let (Site::Before { function, .. } | Site::Edge { function, .. }) = edit.site();
        let instruction = instruction(code, edit, machine);
        if instruction == "ldar" && is_acquire(code, edit.site()) {
            let ldapr = counts.get_mut(code.name(function)).and_then(|counts| counts.get_mut("ldapr"));
            *ldapr.expect("what an acquire load is if it can be made stronger") -= 1;
        }
        *counts
            .entry(code.name(function).to_owned())
            .or_default()
            .entry(instruction.to_owned())
            .or_default() += 1;
    }
    counts.values_mut().for_each(|counts| counts.retain(|_, count| *count > 0));
    counts
}

fn is_acquire(code: &Code, site: Site) -> bool {
    let Site::Before { function, block, index } = site else { return false };
    let op = &code.function(function).expect("is there").blocks[block as usize].body[index as usize].op;
    matches!(op, Op::Load { order: Mode::Acquire, .. })
}

fn instruction(code: &Code, edit: Edit, machine: Machine) -> &'static str {
    let swaps = |site: Site| {
        let Site::Before { function, block, index } = site else { return false };
        let op = &code.function(function).expect("is there").blocks[block as usize].body[index as usize].op;
        matches!(op, Op::Rmw { .. } | Op::CompareExchange { .. })
    };
    match (machine, edit) {
        (Machine::X86 | Machine::Sc, _) => "mfence",
        (Machine::ArmV8, Edit::Fence(_, Fence::Load)) => "dmb ishld",
        (_, Edit::Fence(_, Fence::Store)) => "dmb ishst",
        (_, Edit::Fence(..)) => "dmb ish",
        (_, Edit::Strengthen(site, Strength::Release)) => {
            if swaps(site) {
                "stlxr"
            } else {
                "stlr"
            }
        }
        (_, Edit::Strengthen(site, Strength::Acquire)) => {
            if swaps(site) {
                "ldaxr"
            } else {
                "ldar"
            }
        }
        (_, Edit::Strengthen(_, Strength::AcquirePc)) => "ldapr",
    }
}
