//! Threads that get stuck: states from which a thread that has not finished can never move again.
//!
//! This needs the whole graph of states, not just the set: a blocked thread is stuck if no state that can be reached
//! lets it move. So it is a search of its own, under plain SC, without reductions, on request.
//!
//! Nor can free choices wait until a thread moves, as they do elsewhere ([`super::locals`]): a thread that has chosen
//! to block, or to end without what another waits for, has no way back. So a state has the access that each thread
//! stands at.

use super::locals::ways;
use super::search::{Answer, Found, Limit, Limits, Progress, Step, Violation};
use rustc_hash::FxHashMap;
use seqcst_model::{Action, Next, Op, Outcome, Program};
use seqcst_program::semantics::{Local, Machine};
use std::time::Instant;

/// For every thread the number of its local state, then the memory.
type State = Box<[u32]>;

/// Where a state was first met.
enum Origin {
    /// At the start, by these choices.
    Start(Vec<usize>),
    /// After this step from another state.
    Step(u32, Step),
}

#[derive(Default)]
struct StateGraph {
    numbers: FxHashMap<State, u32>,
    states: Vec<State>,
    origins: Vec<Origin>,
    /// Threads that cannot move, as bits; finished ones are not among them.
    blocked: Vec<u64>,
    /// Edges, backwards: from every state, those that lead to it.
    sources: Vec<Vec<u32>>,
    bytes: u64,
}

/// Looks for a thread that gets stuck.
pub fn find_stuck(machine: &Machine, limits: &Limits, report: &(dyn Fn(Progress) + Sync)) -> Answer {
    let start = Instant::now();
    let threads = machine.threads();
    let mut tables: Vec<Table> = (0..threads).map(|thread| Table::new(machine, thread)).collect();
    let mut graph = StateGraph::default();
    let mut answer = Answer::default();
    for (choices, state) in beginnings(machine, &mut tables) {
        graph.add(state, Origin::Start(choices));
    }
    let mut at = 0;
    let mut last_report = start;
    while at < graph.states.len() {
        if at % 256 == 0 {
            answer.progress = graph.progress(at, start);
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
        for (thread, table) in tables.iter_mut().enumerate() {
            let Some(action) = table.actions[state[thread] as usize].clone() else { continue };
            let place = threads + action.loc.index();
            let mut blocked = true;
            for outcome in action.outcomes(state[place]) {
                blocked = false;
                for &(choice, local) in table.after(state[thread], outcome) {
                    let mut next = state.clone();
                    next[thread] = local;
                    next[place] = outcome.value_written().unwrap_or(state[place]);
                    let to = graph.add(next, Origin::Step(at as u32, Step { thread, outcome, choice }));
                    graph.sources[to as usize].push(at as u32);
                    graph.bytes += 4;
                    answer.transitions += 1;
                }
            }
            graph.blocked[at] |= u64::from(blocked) << thread;
        }
        at += 1;
    }
    answer.progress = graph.progress(at, start);
    let stuck = (0..threads).filter_map(|thread| Some((graph.first_stuck(thread)?, thread)));
    if let Some((state, thread)) = stuck.min() {
        answer.found = Some(graph.run(state, Violation::Stuck { thread }));
    }
    answer
}

/// The states in which the program can start, each with the choices that lead there.
fn beginnings(machine: &Machine, tables: &mut [Table]) -> Vec<(Vec<usize>, State)> {
    let mut found = vec![(Vec::new(), Vec::new())];
    for (thread, table) in tables.iter_mut().enumerate() {
        let starts = table.settle(machine.start(thread));
        let with = |(choices, locals): &(Vec<usize>, Vec<u32>), (choice, local): (usize, u32)| {
            ([&choices[..], &[choice]].concat(), [&locals[..], &[local]].concat())
        };
        found = found.iter().flat_map(|part| starts.iter().map(move |&start| with(part, start))).collect();
    }
    let whole = |(choices, locals): (Vec<usize>, Vec<u32>)| {
        (choices, [&locals[..], machine.initial()].concat().into())
    };
    found.into_iter().map(whole).collect()
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

/// The local states of a thread, numbered as they turn up.
struct Table<'a> {
    machine: &'a Machine,
    thread: usize,
    numbers: FxHashMap<Local, u32>,
    locals: Vec<Local>,
    /// For every local state, the access that comes next, if the thread is not finished.
    actions: Vec<Option<Action>>,
    /// Where an access leads, with the choices made on the way.
    after: FxHashMap<(u32, Outcome), Vec<(usize, u32)>>,
}

impl<'a> Table<'a> {
    fn new(machine: &'a Machine, thread: usize) -> Table<'a> {
        Table {
            machine,
            thread,
            numbers: FxHashMap::default(),
            locals: Vec::new(),
            actions: Vec::new(),
            after: FxHashMap::default(),
        }
    }

    fn after(&mut self, local: u32, outcome: Outcome) -> &[(usize, u32)] {
        if !self.after.contains_key(&(local, outcome)) {
            let nexts = self.machine.after(self.thread, &self.locals[local as usize], outcome);
            let places = self.settle(nexts);
            self.after.insert((local, outcome), places);
        }
        &self.after[&(local, outcome)]
    }

    /// The local states at the ends of the ways. A way that fails an assertion is somebody else's finding.
    fn settle(&mut self, nexts: Vec<Next<Local>>) -> Vec<(usize, u32)> {
        let mut places = Vec::new();
        for (choice, way) in ways(self.machine, self.thread, nexts).into_iter().enumerate() {
            if let Next::At(local) = way.end {
                places.push((choice, self.number(local)));
            }
        }
        places
    }

    fn number(&mut self, local: Local) -> u32 {
        if let Some(&number) = self.numbers.get(&local) {
            return number;
        }
        let number = self.locals.len() as u32;
        // A fence here closes a loop of fences: the thread is as good as finished.
        self.actions.push(self.machine.action(self.thread, &local).filter(|action| action.op != Op::Fence));
        self.locals.push(local.clone());
        self.numbers.insert(local, number);
        number
    }
}

impl StateGraph {
    fn progress(&self, looked_at: usize, start: Instant) -> Progress {
        Progress {
            states: self.states.len() as u64,
            depth: 0,
            waiting: (self.states.len() - looked_at) as u64,
            memory: self.bytes,
            elapsed: start.elapsed(),
        }
    }

    fn add(&mut self, state: State, origin: Origin) -> u32 {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = self.states.len() as u32;
        self.bytes += 8 * state.len() as u64 + 150;
        self.numbers.insert(state.clone(), number);
        self.states.push(state);
        self.origins.push(origin);
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

    /// The run to a state.
    fn run(&self, state: u32, violation: Violation) -> Found {
        let mut steps = Vec::new();
        let mut at = state;
        loop {
            match &self.origins[at as usize] {
                Origin::Step(from, step) => {
                    steps.push(*step);
                    at = *from;
                }
                Origin::Start(starts) => {
                    steps.reverse();
                    return Found { starts: starts.clone(), steps, violation };
                }
            }
        }
    }
}
