//! The analysis against the definition: is every graph that the one machine allows allowed by the other?
//!
//! On random programs and on the litmus tests of `corpus/`: robust only if the oracle agrees; after the changes the oracle
//! always agrees; without branches, and if it doesn't matter which values are read, no smaller number of changes would
//! do. Values the analysis knows nothing about: a `wait` for a value that never comes, it takes for a read.

mod drawn;
mod hardware;
mod hidden;
mod named;
mod private;
mod source;

use hardware::{Depend, allows, seen};
use seqcst_model::oracle::{self, Candidate};
use seqcst_model::sample::RandomProgram;
use seqcst_model::{Graph, Model};
use seqcst_port::change::{Change, Strength};
use seqcst_port::machine::{Fence, Machine};
use seqcst_port::mapping::Features;
use seqcst_port::place::{Costs, place};
use seqcst_port::program::{Kind, NodeKind, Point};
use seqcst_port::robust::Question;
use seqcst_testing::drawn::{cases, seeds};
use source::Source;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The graphs of a program that any machine could allow: those that ARMv7 allows without fences and dependencies. (What
/// x86 or ARMv8 allows, ARMv7 does, if there is nothing but relaxed accesses.)
fn graphs(source: &Source, limit: usize) -> Option<Vec<Graph>> {
    let mut found = Vec::new();
    let visit = |Candidate { graph, .. }: Candidate<'_>| {
        found.push(graph.clone());
        ControlFlow::Continue(())
    };
    oracle::consistent(&source.machine, Model::ArmV7, limit, visit).ok()?;
    Some(found)
}

/// The graphs that the machine forbids that the program comes from.
fn forbidden<'a>(source: &Source, graphs: &'a [Graph], question: Question) -> Vec<&'a Graph> {
    let Question { from, features, .. } = question;
    let allowed =
        |graph: &&Graph| allows(from, &seen(source, graph, (from, features), &[], Depend::AsCompiled));
    graphs.iter().filter(|graph| !allowed(graph)).collect()
}

/// A graph as the machine sees it that the program goes to, once the changes are made. Dependencies don't count unless they
/// are trusted: a compiler may lose them.
fn there(source: &Source, graph: &Graph, question: Question, changes: &[Change]) -> Graph {
    let Question { to, features, trust_dependencies, .. } = question;
    let depend = if trust_dependencies { Depend::AsWritten } else { Depend::Not };
    seen(source, graph, (to, features), changes, depend)
}

/// The first of these graphs that the machine allows that the program goes to, once the changes are made.
fn allowed<'a>(
    source: &Source,
    graphs: &[&'a Graph],
    question: Question,
    changes: &[Change],
) -> Option<&'a Graph> {
    graphs.iter().copied().find(|graph| allows(question.to, &there(source, graph, question, changes)))
}

/// Looks at a program in every way.
fn compare(name: &str, source: &Source, graphs: &[Graph], question: Question) -> &'static str {
    let Question { from, to, .. } = question;
    let bad = forbidden(source, graphs, question);
    let found = place(&source.program, &source.program, question, &Costs::default()).expect("no limit");
    let show = |graph: &Graph, changes: &[Change]| there(source, graph, question, changes).to_string();
    let witness = allowed(source, &bad, question, &[]);
    if let Some(graph) = witness.filter(|_| found.before.is_robust()) {
        panic!("{name}: {from}–{to} robust, says the analysis; but\n{}", show(graph, &[]));
    }
    let left = &found.after.faults;
    assert!(left.is_empty(), "{name}: {from}–{to} {left:?} left after {:?}", found.changes);
    if let Some(graph) = allowed(source, &bad, question, &found.changes) {
        panic!("{name}: {from}–{to} not robust after {:?}\n{}", found.changes, show(graph, &found.changes));
    }
    if source.is_straight() && !source.is_repeated() && witness.is_some() && found.changes.len() < 6 {
        let fewer = fewest(source, &bad, question, found.changes.len());
        if source.is_indifferent() || name.ends_with(".tpl") || name.ends_with(".litmus") {
            assert!(fewer.is_none(), "{name}: {from}–{to} {:?}, but {fewer:?} suffices", found.changes);
        }
        if fewer.is_some() {
            return "not robust, but fewer changes would do";
        }
    }
    match (found.before.is_robust(), witness.is_none()) {
        (true, _) => "robust",
        (false, false) => "not robust",
        (false, true) => "conservative",
    }
}

/// Fewer than `bound` changes that make the program robust, by trying.
fn fewest(source: &Source, bad: &[&Graph], question: Question, bound: usize) -> Option<Vec<Change>> {
    let mut candidates = Vec::new();
    for (function, code) in source.program.functions.iter().enumerate() {
        for (node, at) in code.nodes.iter().enumerate() {
            if matches!(at.kind, NodeKind::Nothing) {
                continue;
            }
            // The strongest fence does what the others do.
            candidates.push(Change::Insert { at: Point::Before { function, node }, fence: Fence::Full });
            let NodeKind::Access(access) = &at.kind else { continue };
            if question.to != Machine::ArmV8 {
                continue;
            }
            let offered: &[Strength] = match access.kind {
                Kind::Load if question.features.rcpc => &[Strength::AcquirePc, Strength::Acquire],
                Kind::Load => &[Strength::Acquire],
                Kind::Store => &[Strength::Release],
                Kind::Rmw | Kind::Cas => &[Strength::Acquire, Strength::Release],
            };
            candidates.extend(offered.iter().map(|&to| Change::Strengthen { function, node, to }));
        }
    }
    (0..bound).find_map(|size| subset(source, bad, question, &candidates, size, &mut Vec::new()))
}

fn subset(
    source: &Source,
    bad: &[&Graph],
    question: Question,
    candidates: &[Change],
    size: usize,
    chosen: &mut Vec<Change>,
) -> Option<Vec<Change>> {
    if size == 0 {
        return allowed(source, bad, question, chosen).is_none().then(|| chosen.clone());
    }
    for (number, &change) in candidates.iter().enumerate() {
        chosen.push(change);
        let found = subset(source, bad, question, &candidates[number + 1..], size - 1, chosen);
        chosen.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

type Counts = BTreeMap<String, BTreeMap<&'static str, usize>>;

fn compare_all(name: &str, source: &Source, limit: usize, counts: &mut Counts) {
    let Some(graphs) = graphs(source, limit) else {
        *counts.entry("too big".into()).or_default().entry("").or_default() += 1;
        return;
    };
    for (title, question) in questions() {
        let verdict = compare(name, source, &graphs, question);
        *counts.entry(title).or_default().entry(verdict).or_default() += 1;
    }
}

/// The six pairs; those with an ARMv8 that has `ldapr`; those where dependencies are trusted.
fn questions() -> Vec<(String, Question)> {
    let rcpc = Features { rcpc: true };
    let mut out = Vec::new();
    for (from, to) in Machine::PAIRS {
        let plain = Question::new(from, to);
        out.push((format!("{from}–{to}"), plain));
        if from == Machine::ArmV8 || to == Machine::ArmV8 {
            out.push((format!("{from}–{to}, rcpc"), Question { features: rcpc, ..plain }));
        }
        if to == Machine::ArmV8 {
            out.push((format!("{from}–{to}, dependencies"), Question { trust_dependencies: true, ..plain }));
        }
    }
    out
}

/// How many random programs of each sort are drawn.
fn programs() -> u64 {
    cases(200)
}

/// What was counted: some of everything, and the analysis is not too careful.
fn settle(title: &str, counts: &Counts) {
    println!("{title}: {counts:#?}");
    for (pair, counts) in counts.iter().filter(|(pair, _)| *pair != "too big") {
        let all: usize = counts.values().sum();
        let of = |verdict| counts.get(verdict).copied().unwrap_or(0);
        assert!(of("robust") > 0 && of("not robust") > 0, "{title}, {pair}: {counts:?}");
        assert!(of("conservative") * 100 < 15 * all, "{title}, {pair}: {counts:?}");
    }
}

#[test]
fn random_programs() {
    let mut counts = Counts::new();
    for seed in seeds(programs()) {
        let text = RandomProgram::from_seed(seed).to_string();
        compare_all(&text, &Source::read(&text, "random.tpl"), 20_000, &mut counts);
    }
    settle("random programs", &counts);
}

#[test]
fn random_litmus_tests() {
    let mut counts = Counts::new();
    for seed in seeds(programs()) {
        let text = drawn::program(seed);
        compare_all(&text, &Source::read(&text, "random.tpl"), 20_000, &mut counts);
    }
    settle("random litmus tests", &counts);
}

#[test]
fn loops_and_bodies_that_run_twice() {
    let mut counts = Counts::new();
    for seed in seeds(programs() / 2) {
        let text = drawn::repeated(seed);
        compare_all(&text, &Source::read(&text, "random.tpl"), 20_000, &mut counts);
    }
    // What is right for any number of threads may be too much for two: no bound here.
    println!("loops and bodies that run twice: {counts:#?}");
}

#[test]
fn litmus_tests_of_the_corpus() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/litmus");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut counts = Counts::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().to_string();
        let source = Source::read(&std::fs::read_to_string(&file).unwrap(), &name);
        if !source.has_loops() {
            compare_all(&name, &source, 200_000, &mut counts);
        }
    }
    assert!(!counts.contains_key("too big"));
    settle("litmus tests", &counts);
}
