//! Threads that get stuck: states from which a thread that has not finished can never move again.
//!
//! This needs the whole graph of states, not just the set: a blocked thread is stuck if no state that can be reached
//! lets it move. So it is a search of its own, under plain SC, without reductions, on request.

use super::expand::{Expander, Move};
use super::locals::Locals;
use super::search::{Answer, Found, Limit, Limits, Progress, RunOfMoves, Violation};
use rustc_hash::FxHashMap;
use seqcst_monitor::finite::Monitor;
use seqcst_program::semantics::Machine;
use std::time::Instant;

#[derive(Default)]
struct StateGraph {
    numbers: FxHashMap<Box<[u64]>, u32>,
    states: Vec<Box<[u64]>>,
    /// The move that first led to each state but the first, and from where.
    parents: Vec<Option<(u32, Move)>>,
    /// Threads that cannot move, as bits; finished ones are not among them.
    blocked: Vec<u64>,
    /// Edges, backwards: from every state, those that lead to it.
    sources: Vec<Vec<u32>>,
    bytes: u64,
}

/// Looks for a thread that gets stuck. The monitor is asked for nothing but the shape of states.
pub fn find_stuck(
    machine: &Machine,
    monitor: &dyn Monitor,
    limits: &Limits,
    report: &(dyn Fn(Progress) + Sync),
) -> Answer {
    let start = Instant::now();
    let locals = Locals::new(machine);
    let mut expander = Expander::new(monitor, &locals, false);
    let mut graph = StateGraph::default();
    let mut answer = Answer::default();
    // A thread that fails its first assertion is somebody else's finding.
    let Ok(first) = expander.start() else { return answer };
    graph.add(first.into(), None);
    let mut at = 0;
    let mut last_report = start;
    while at < graph.states.len() {
        if at % 256 == 0 {
            answer.progress = Progress {
                states: graph.states.len() as u64,
                depth: 0,
                waiting: (graph.states.len() - at) as u64,
                memory: graph.bytes,
                elapsed: start.elapsed(),
            };
            answer.limit = reached(limits, &answer.progress);
            if answer.limit.is_some() {
                return answer;
            }
            if last_report.elapsed().as_millis() > 200 {
                last_report = Instant::now();
                report(answer.progress);
            }
        }
        let state = graph.states[at].clone();
        for thread in 0..monitor.shape().threads {
            let mut moved = false;
            expander.moves(&state, thread, |mv, after| {
                moved = true;
                answer.transitions += 1;
                let to = graph.add(after.as_slice().into(), Some((at as u32, mv)));
                graph.sources[to as usize].push(at as u32);
                graph.bytes += 4;
            });
            if !moved && !expander.is_finished(&state, thread) {
                graph.blocked[at] |= 1 << thread;
            }
        }
        at += 1;
    }
    answer.progress = Progress {
        states: graph.states.len() as u64,
        memory: graph.bytes,
        elapsed: start.elapsed(),
        ..Progress::default()
    };
    let stuck = (0..monitor.shape().threads).filter_map(|thread| Some((graph.first_stuck(thread)?, thread)));
    if let Some((state, thread)) = stuck.min() {
        answer.found = Some(graph.run(state, thread, &locals, monitor));
    }
    answer
}

fn reached(limits: &Limits, progress: &Progress) -> Option<Limit> {
    if limits.states.is_some_and(|most| progress.states >= most) {
        Some(Limit::States)
    } else if limits.time.is_some_and(|most| progress.elapsed >= most) {
        Some(Limit::Time)
    } else if limits.memory.is_some_and(|most| progress.memory >= most) {
        Some(Limit::Memory)
    } else {
        None
    }
}

impl StateGraph {
    fn add(&mut self, state: Box<[u64]>, parent: Option<(u32, Move)>) -> u32 {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = self.states.len() as u32;
        self.bytes += 16 * state.len() as u64 + 120;
        self.numbers.insert(state.clone(), number);
        self.states.push(state);
        self.parents.push(parent);
        self.blocked.push(0);
        self.sources.push(Vec::new());
        number
    }

    /// The first state in which the thread is blocked and from which no state can be reached where it isn't.
    fn first_stuck(&self, thread: usize) -> Option<u32> {
        let mut hopeful: Vec<bool> = self.blocked.iter().map(|blocked| blocked >> thread & 1 == 0).collect();
        let mut todo: Vec<u32> = (0..self.states.len() as u32).filter(|&s| hopeful[s as usize]).collect();
        while let Some(state) = todo.pop() {
            for &source in &self.sources[state as usize] {
                if !std::mem::replace(&mut hopeful[source as usize], true) {
                    todo.push(source);
                }
            }
        }
        hopeful.iter().position(|hopeful| !hopeful).map(|state| state as u32)
    }

    /// The run to a state in which the thread is stuck.
    fn run(&self, state: u32, thread: usize, locals: &Locals, monitor: &dyn Monitor) -> Found {
        let mut moves = Vec::new();
        let mut at = state;
        while let Some((parent, mv)) = self.parents[at as usize] {
            moves.push(mv);
            at = parent;
        }
        let mut run = RunOfMoves::new(monitor.shape().threads);
        moves.into_iter().rev().for_each(|mv| run.step(mv));
        for thread in 0..monitor.shape().threads {
            let place = self.states[state as usize][monitor.shape().thread(thread)] as u32;
            run.choose(thread, locals.any_way(thread, place));
        }
        run.found(Violation::Stuck { thread })
    }
}
