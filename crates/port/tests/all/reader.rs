//! The reader against LLVM itself: what it counts in files that clang has just made is what `opt` counts.

use crate::common::{compile, tool};
use seqcst_model::Mode;
use seqcst_port::ir::{self, module::Op};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Blocks, instructions, loads and stores of every function, as `opt` counts them.
fn counted_by_llvm(path: &std::path::Path) -> BTreeMap<String, [usize; 4]> {
    let out = Command::new("opt-19")
        .args(["-passes=print<func-properties>", "-enable-detailed-function-properties", "-disable-output"])
        .arg(path)
        .output()
        .expect("opt-19 runs");
    let mut counts = BTreeMap::new();
    let mut name = String::new();
    for line in String::from_utf8_lossy(&out.stderr).lines() {
        if let Some(rest) = line.split_once("for function '") {
            name = rest.1.trim_end_matches("':").to_owned();
        }
        let keys = ["BasicBlockCount", "TotalInstructionCount", "LoadInstCount", "StoreInstCount"];
        for (i, key) in keys.iter().enumerate() {
            if let Some(number) = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(": ")) {
                counts.entry(name.clone()).or_insert([0; 4])[i] = number.parse().expect("a number");
            }
        }
    }
    counts
}

/// The same from our reader. LLVM leaves out blocks that nobody can reach.
fn counted_by_us(text: &str) -> BTreeMap<String, [usize; 4]> {
    let module = ir::read(text).unwrap_or_else(|e| panic!("{:?}: {}", e.line_column(text), e.message));
    let counts = module.functions.iter().map(|function| {
        let mut reached = vec![0];
        let mut next = 0;
        while let Some(&block) = reached.get(next) {
            next += 1;
            let more = function.blocks[block].successors();
            reached.extend(
                more.into_iter()
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .filter(|b| !reached.contains(b))
                    .collect::<Vec<_>>(),
            );
        }
        let body = || reached.iter().flat_map(|&block| &function.blocks[block].body);
        assert!(!body().any(|i| matches!(i.op, Op::Unknown(..))), "an instruction that is not known");
        let loads = body().filter(|i| matches!(i.op, Op::Load { .. })).count();
        let stores = body().filter(|i| matches!(i.op, Op::Store { .. })).count();
        (module.name(function.name).to_owned(), [reached.len(), body().count(), loads, stores])
    });
    counts.collect()
}

fn same_counts(source: &str, language: &str, level: &str) {
    if !tool("opt-19") || !tool("clang-19") {
        return;
    }
    let path = compile("clang-19", source, language, &[level, "-g"]);
    let text = std::fs::read_to_string(&path).expect("just made");
    let (ours, theirs) = (counted_by_us(&text), counted_by_llvm(&path));
    assert!(ours.keys().eq(theirs.keys()), "other functions");
    for (name, count) in &ours {
        assert_eq!(Some(count), theirs.get(name), "{source} {level}: {name}");
    }
}

#[test]
fn counts_in_c_are_those_of_llvm() {
    for level in ["-O0", "-O1", "-O2"] {
        same_counts("everything.c", "c", level);
    }
}

#[test]
fn counts_in_cpp_are_those_of_llvm() {
    same_counts("everything.cpp", "c++", "-O1");
}

#[test]
fn older_files_can_be_read() {
    if !tool("clang-14") {
        return;
    }
    for (source, language, level) in
        [("everything.c", "c", "-O0"), ("everything.c", "c", "-O2"), ("everything.cpp", "c++", "-O1")]
    {
        let path = compile("clang-14", source, language, &[level, "-g"]);
        let text = std::fs::read_to_string(&path).expect("just made");
        let mut atomics = 0;
        for function in &ir::read(&text).expect("a file of clang 14").functions {
            for instruction in function.blocks.iter().flat_map(|block| &block.body) {
                assert!(!matches!(instruction.op, Op::Unknown(..)), "an instruction that is not known");
                let atomic = match instruction.op {
                    Op::Load { order, .. } | Op::Store { order, .. } => order != Mode::NonAtomic,
                    ref op => matches!(op, Op::Rmw { .. }),
                };
                atomics += usize::from(atomic);
            }
        }
        assert!(atomics > 0, "{source} {level}");
    }
}
