//! Explorations of TPL programs, with everything that turned up in them.

use super::engine::Engine;
use seqcst_check::schedules::{Options, ProgramSource};
use seqcst_check::states::{self, Violation};
use seqcst_explore::{End, Failing, Found, Limits, Outcome, Plan, Source, Strategy, Summary, Trace, explore};
use seqcst_model::graph::Key;
use seqcst_model::oracle::{self, Candidate};
use seqcst_model::{Graph, Model, Program};
use seqcst_program::semantics::Machine;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// What turned up.
#[derive(Default)]
pub struct Seen {
    /// Execution graphs of the executions in which all threads came to their ends.
    pub graphs: BTreeSet<Key>,
    /// Fingerprints of all that were not stopped as redundant.
    pub traces: BTreeSet<u64>,
    /// The same by the preemptions of the execution.
    pub by_preemptions: Vec<BTreeSet<u64>>,
    /// Tapes.
    pub tapes: BTreeSet<Vec<u32>>,
    pub stale: bool,
    pub race: bool,
    pub fails: bool,
    pub stuck: bool,
    pub summary: Summary,
}

/// A source that notes what it sees.
pub struct Noting<'a> {
    pub machine: &'a Machine,
    pub source: ProgramSource<'a>,
    pub seen: Seen,
    pub tapes: bool,
}

impl<'a> Noting<'a> {
    pub fn new(engine: &'a Engine) -> Noting<'a> {
        let source = ProgramSource::new(&engine.machine, Options::default());
        Noting { machine: &engine.machine, source, seen: Seen::default(), tapes: false }
    }
}

impl Source for Noting<'_> {
    type Error = Infallible;

    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, Infallible> {
        let outcome = self.source.run(plan, trace)?;
        let seen = &mut self.seen;
        if trace.end == End::Done && outcome.failure.is_none() {
            seen.graphs.insert(graph(self.machine, &self.source).key());
        }
        if trace.end != End::Redundant {
            let fingerprint = trace.fingerprint();
            seen.traces.insert(fingerprint);
            let preemptions = trace.preemptions() as usize;
            if seen.by_preemptions.len() <= preemptions {
                seen.by_preemptions.resize(preemptions + 1, BTreeSet::new());
            }
            seen.by_preemptions[preemptions].insert(fingerprint);
        }
        if self.tapes {
            assert!(seen.tapes.insert(trace.tape().collect()), "the same schedule twice");
        }
        seen.stale |= outcome.found.iter().any(|found| matches!(found, Found::Stale(_)));
        seen.race |= outcome.found.iter().any(|found| matches!(found, Found::Race(..)));
        seen.fails |= outcome.failure.is_some();
        seen.stuck |= trace.end == End::Deadlock;
        Ok(outcome)
    }
}

/// The execution graph of the last execution.
pub fn graph(machine: &Machine, source: &ProgramSource<'_>) -> Graph {
    let (starts, steps) = source.run_so_far();
    let found = states::Found { starts, steps, violation: Violation::Failed { thread: 0 } };
    let replay = states::replay(machine, &found).expect("it is a run");
    let mut graph = Graph::new(machine.initial());
    for executed in &replay.run {
        graph.add(executed.thread, &executed.action, executed.outcome, None).expect("it is small");
    }
    for (thread, fences) in replay.fences.iter().enumerate() {
        for action in fences {
            graph.add(thread, action, seqcst_model::Outcome::Fenced, None).expect("it is small");
        }
    }
    graph
}

/// The graphs of all finished SC executions, by definition; `None`: too many.
pub fn sc_graphs(machine: &Machine) -> Option<BTreeSet<Key>> {
    let mut keys = BTreeSet::new();
    let visit = |Candidate { graph, complete }: Candidate| {
        if complete {
            keys.insert(graph.key());
        }
        ControlFlow::Continue(())
    };
    oracle::consistent(machine, Model::Sc, 60_000, visit).ok()?;
    Some(keys)
}

/// Explores to the end, or until there are too many executions.
pub fn explore_all<'a>(
    engine: &'a Engine,
    strategy: &mut dyn Strategy,
    most: u64,
) -> Option<(Seen, Noting<'a>)> {
    let mut source = Noting::new(engine);
    let summary = explore_with(&mut source, strategy, most)?;
    let mut seen = std::mem::take(&mut source.seen);
    seen.summary = summary;
    Some((seen, source))
}

pub fn explore_with(source: &mut Noting<'_>, strategy: &mut dyn Strategy, most: u64) -> Option<Summary> {
    let limits = Limits { executions: most, keep_going: true, ..Limits::default() };
    let Ok(summary) = explore(source, strategy, &limits, |_, _| ());
    assert_eq!(summary.diverged, None);
    (!summary.stopped).then_some(summary)
}

/// The first execution that failed in this way.
pub fn first(summary: &Summary, such: impl Fn(&Failing) -> bool) -> Option<&Failing> {
    summary.failing.iter().find(|failing| such(failing))
}
