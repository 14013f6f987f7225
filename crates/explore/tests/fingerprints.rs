//! Fingerprints against the relation that they stand for: executions are the same trace if and only if the same threads do
//! the same, and all steps that conflict come in the same order.

mod common;

use common::{Machine, draw, seeds};
use seqcst_explore::strategies::Bounded;
use seqcst_explore::{Fingerprints, Op, Plan, Source, Step, Strategy, ThreadId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A step by its thread and its number there.
type Name = (ThreadId, usize);

/// What a trace is up to the order of independent steps.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Relation {
    steps: BTreeMap<Name, Op>,
    order: BTreeSet<(Name, Name)>,
}

fn relation(trace: &Trace) -> Relation {
    let mut counts = BTreeMap::new();
    let mut named: Vec<(Name, Step)> = Vec::new();
    let mut order = BTreeSet::new();
    for step in &trace.steps {
        let count = counts.entry(step.thread).or_insert(0);
        let name = (step.thread, *count);
        *count += 1;
        let conflicting =
            named.iter().filter(|(other, before)| other.0 != step.thread && before.conflicts(step));
        order.extend(conflicting.map(|(other, _)| (*other, name)));
        named.push((name, *step));
    }
    Relation { steps: named.into_iter().map(|(name, step)| (name, step.op)).collect(), order }
}

#[test]
fn the_same_for_the_same_trace_and_for_no_other() {
    let mut fingerprints = Fingerprints::default();
    let (mut traces, mut schedules) = (0, 0);
    for seed in seeds(150) {
        let script = draw::script(seed);
        let mut machine = Machine::new(&script);
        let mut known: BTreeMap<u64, Relation> = BTreeMap::new();
        let mut strategy = Bounded::new(None);
        let (mut plan, mut trace) = (Plan::default(), Trace::default());
        for _ in 0..400 {
            if !strategy.next(&mut plan) {
                break;
            }
            trace.clear();
            let Ok(_) = machine.run(&plan, &mut trace);
            let (number, relation) = (fingerprints.of(&trace), relation(&trace));
            assert_eq!(number, trace.fingerprint());
            match known.get(&number) {
                Some(same) => assert_eq!(*same, relation, "{script:?}"),
                None => {
                    assert!(known.values().all(|other| *other != relation), "{script:?}");
                    known.insert(number, relation);
                }
            }
            schedules += 1;
            strategy.learn(&plan, &trace);
        }
        traces += known.len();
    }
    println!("{traces} traces, {schedules} schedules");
    assert!(traces > 1000 && schedules > 2 * traces);
}
