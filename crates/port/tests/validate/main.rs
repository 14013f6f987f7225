//! The analysis against the definition: is every graph that the one machine allows allowed by the other?
//!
//! On random programs and on the litmus tests of `corpus/`: robust only if the oracle agrees, and after changes the
//! oracle always agrees.

mod drawn;
mod hardware;
mod source;

use hardware::{allows, seen};
use seqcst_model::oracle::{self, Candidate};
use seqcst_model::sample::RandomProgram;
use seqcst_model::{Graph, Model};
use seqcst_port::change::Change;
use seqcst_port::machine::Machine;
use seqcst_port::robust::{Question, check};
use source::Source;
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

/// A graph that `to` allows with the changes and `from` doesn't.
fn witness<'a>(
    source: &Source,
    graphs: &'a [Graph],
    (from, to): (Machine, Machine),
    changes: &[Change],
) -> Option<&'a Graph> {
    let depend = false;
    graphs.iter().find(|graph| {
        !allows(from, &seen(source, graph, from, &[], true))
            && allows(to, &seen(source, graph, to, changes, depend))
    })
}

#[test]
fn look() {
    let programs: u64 = std::env::var("PORT_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let mut counts = std::collections::BTreeMap::new();
    let mut unsound = 0;
    for seed in 0..programs {
        let text =
            if seed % 4 == 0 { RandomProgram::from_seed(seed).to_string() } else { drawn::program(seed) };
        let source = Source::read(&text, "random.tpl");
        let Some(graphs) = graphs(&source, 30_000) else {
            *counts.entry(("too big".to_string(), "")).or_insert(0) += 1;
            continue;
        };
        for pair in Machine::PAIRS {
            let answer = check(&source.program, &source.program, Question::new(pair.0, pair.1), &[]);
            let found = witness(&source, &graphs, pair, &[]);
            let kind = match (answer.is_robust(), found.is_none()) {
                (true, true) => "robust",
                (false, false) => "not robust",
                (true, false) => "UNSOUND",
                (false, true) => "conservative",
            };
            if kind == "UNSOUND" && unsound < 3 || std::env::var("PORT_SHOW").is_ok_and(|k| k == kind) {
                unsound += 1;
                println!(
                    "{seed} {pair:?} {kind}\n{text}{}\n{:?}",
                    found.map(|g| seen(&source, g, pair.1, &[], true).to_string()).unwrap_or_default(),
                    answer.faults.first()
                );
            }
            *counts.entry((format!("{}-{}", pair.0, pair.1), kind)).or_insert(0) += 1;
        }
    }
    println!("{counts:#?}");
}
