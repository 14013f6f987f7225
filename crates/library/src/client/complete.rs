//! Can an execution that SC does not have be completed?
//!
//! A violation shows up in part of an execution. Where calls block, as the last iterations of loops do, the rest may not exist:
//! in `v = load(&version); …; if (cas(&version, &v, v + 1)) return` an old version may be read, but then the compare-and-swap
//! cannot succeed any more. Such an execution is none of the library's (\[RoboCop24] Def. 5.1 speaks of complete ones). So all RC20
//! execution graphs of the client are built, event by event in one order each (like `seqcst_model::oracle`, whose programs
//! have no loops), until one is complete and not SC.

use seqcst_check::states::{Found, Step, Violation};
use seqcst_model::{Event, Graph, Loc, Model, Next, Op, Outcome, Program, Relation};
use seqcst_program::semantics::{Local, Machine};
use std::time::{Duration, Instant};

/// Events of a graph, at most: initial writes, calls, fences.
type Execution = Graph<2>;

/// What the search says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Completed {
    /// There is a complete execution that SC does not have. This is where it leaves SC.
    Yes(Box<Found>),
    /// There is none.
    No,
    /// A limit was reached.
    Unknown,
}

/// Looks for a complete execution that SC does not have, for some time: first among those that begin with this run and its stale
/// access, then among all.
pub fn complete(machine: &Machine, run: &Found, time: Duration) -> Completed {
    let deadline = Instant::now() + time;
    let mut search = Search::new(machine, deadline, Some(GRAPHS_OF_A_RUN));
    if let Some(found) = search.after(run) {
        return Completed::Yes(Box::new(found));
    }
    let mut search = Search::new(machine, deadline, None);
    match search.start() {
        Some(found) => Completed::Yes(Box::new(found)),
        None if search.cut => Completed::Unknown,
        None => Completed::No,
    }
}

/// So many graphs that begin with a run are looked at.
const GRAPHS_OF_A_RUN: u64 = 20_000;

struct Search<'m> {
    machine: &'m Machine,
    deadline: Instant,
    graph: Execution,
    /// Where each thread stands.
    at: Vec<Local>,
    /// How each thread started.
    starts: Vec<usize>,
    /// What was done, with the number of its event.
    steps: Vec<(Step, usize)>,
    /// How many events there are before any thread makes an access.
    base: usize,
    /// Was something left out?
    cut: bool,
    /// Is there no more time?
    is_over: bool,
    /// Graphs looked at, and how many there may be if they are not to be looked at in the one order.
    looked: u64,
    most: Option<u64>,
}

impl<'m> Search<'m> {
    fn new(machine: &'m Machine, deadline: Instant, most: Option<u64>) -> Search<'m> {
        let mut graph = Execution::default();
        for (number, value) in machine.initial().iter().enumerate() {
            graph.push(Event::initial(Loc(number as u8), *value), None);
        }
        Search {
            machine,
            deadline,
            graph,
            at: Vec::new(),
            starts: Vec::new(),
            steps: Vec::new(),
            base: 0,
            cut: false,
            is_over: false,
            looked: 0,
            most,
        }
    }

    /// Executes a run as SC does, and goes on with an access that SC does not have.
    fn after(&mut self, run: &Found) -> Option<Found> {
        for thread in 0..self.machine.threads() {
            let choice = run.starts.get(thread).copied().unwrap_or(0);
            self.starts.push(choice);
            self.arrive(thread, self.machine.start(thread), choice)?;
        }
        for step in &run.steps {
            let local = self.at[step.thread].clone();
            let action = self.machine.action(step.thread, &local)?;
            let new = self.graph.add(step.thread, &action, step.outcome, None)?;
            self.steps.push((*step, new));
            self.arrive(step.thread, self.machine.after(step.thread, &local, step.outcome), step.choice)?;
        }
        let Violation::Stale { thread } = run.violation else { return None };
        let action = self.machine.action(thread, &self.at[thread])?;
        let latest = self.graph.last_write(action.loc)?;
        let older: Vec<usize> = self.graph.mo.before(latest).iter().collect();
        for write in older.into_iter().rev() {
            let value = self.graph.events[write].outcome.value_written()?;
            for outcome in action.outcomes(value) {
                let found = self.add(thread, &action, outcome, write, |graph| !Model::Sc.allows(graph));
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    fn arrive(&mut self, thread: usize, nexts: Vec<Next<Local>>, choice: usize) -> Option<()> {
        let (fences, local) = ways(self.machine, thread, nexts).into_iter().nth(choice)?;
        for fence in fences {
            self.graph.add(thread, &fence, Outcome::Fenced, None)?;
        }
        match self.at.get_mut(thread) {
            Some(at) => *at = local,
            None => self.at.push(local),
        }
        Some(())
    }

    fn start(&mut self) -> Option<Found> {
        let thread = self.at.len();
        if thread == self.machine.threads() {
            self.base = self.graph.len();
            return self.look();
        }
        for (choice, way) in ways(self.machine, thread, self.machine.start(thread)).into_iter().enumerate() {
            self.starts.push(choice);
            let found = self.follow(thread, way, |search, local| {
                search.at.push(local);
                let found = search.start();
                search.at.pop();
                found
            });
            self.starts.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Adds the fences of a way, goes on, and takes them back.
    fn follow(
        &mut self,
        thread: usize,
        way: (Vec<seqcst_model::Action>, Local),
        go_on: impl FnOnce(&mut Self, Local) -> Option<Found>,
    ) -> Option<Found> {
        let (fences, local) = way;
        let mut added = 0;
        for fence in &fences {
            if self.graph.add(thread, fence, Outcome::Fenced, None).is_none() {
                self.cut = true;
                break;
            }
            added += 1;
        }
        let found = if added == fences.len() { go_on(self, local) } else { None };
        (0..added).for_each(|_| self.graph.pop());
        found
    }

    fn look(&mut self) -> Option<Found> {
        self.looked += 1;
        let is_late = self.looked.is_multiple_of(64) && Instant::now() > self.deadline;
        self.is_over |= is_late || self.most.is_some_and(|most| self.looked > most);
        self.cut |= self.is_over;
        let actions: Vec<_> =
            self.at.iter().enumerate().map(|(thread, local)| self.machine.action(thread, local)).collect();
        if actions.iter().all(Option::is_none) && !Model::Sc.allows(&self.graph) {
            return Some(self.found());
        }
        let mut threads: Vec<usize> = (0..actions.len()).collect();
        if self.most.is_some() {
            // Threads that wait for others should not run away.
            threads.sort_by_key(|thread| self.graph.thread_events(*thread).len());
        }
        for thread in threads {
            let Some(action) = &actions[thread] else { continue };
            let writes =
                (0..self.graph.len()).rev().filter(|w| self.graph.events[*w].loc == Some(action.loc));
            for write in writes.collect::<Vec<_>>() {
                let Some(value) = self.graph.events[write].outcome.value_written() else { continue };
                for outcome in action.outcomes(value) {
                    if !self.is_over && self.is_next(thread, outcome, write) {
                        let found = self.add(thread, action, outcome, write, |_| true);
                        if found.is_some() {
                            return found;
                        }
                    }
                }
            }
        }
        None
    }

    fn add(
        &mut self,
        thread: usize,
        action: &seqcst_model::Action,
        outcome: Outcome,
        write: usize,
        is_wanted: impl Fn(&Execution) -> bool,
    ) -> Option<Found> {
        let Some(new) = self.graph.add(thread, action, outcome, Some(write)) else {
            self.cut = true;
            return None;
        };
        let mut found = None;
        if Model::Rc20.allows(&self.graph) && is_wanted(&self.graph) {
            let before = self.at[thread].clone();
            let nexts = self.machine.after(thread, &before, outcome);
            for (choice, way) in ways(self.machine, thread, nexts).into_iter().enumerate() {
                self.steps.push((Step { thread, outcome, choice }, new));
                found = self.follow(thread, way, |search, local| {
                    search.at[thread] = local;
                    search.look()
                });
                if found.is_some() {
                    return found;
                }
                self.steps.pop();
            }
            self.at[thread] = before;
        }
        self.graph.pop();
        found
    }

    /// Whether the one order in which each graph is built adds this access now: everything added since it became possible
    /// (since its predecessor in the thread, and the write it reads from) belongs to lower threads. Any order will do after a run.
    fn is_next(&self, thread: usize, outcome: Outcome, write: usize) -> bool {
        if self.most.is_some() {
            return true;
        }
        let reads = outcome.value_read().is_some();
        let since = self.graph.events.iter().enumerate().skip(self.base).rev();
        since
            .filter(|(_, event)| !event.is_fence())
            .take_while(|(number, event)| event.thread != Some(thread) && !(reads && *number == write))
            .all(|(_, event)| event.thread < Some(thread))
    }

    /// The shortest part of the execution that is SC but for its last access, as a run.
    fn found(&self) -> Found {
        let is_sc = |count: usize| {
            let events = self.steps.get(count).map_or(self.graph.len(), |(_, event)| *event);
            order(&self.graph, events).is_some()
        };
        let count = (0..self.steps.len()).rev().find(|count| is_sc(*count)).unwrap_or(0);
        let (stale, events) = self.steps[count];
        let run = order(&self.graph, events).unwrap_or_default();
        let step = |event: usize| self.steps.iter().find(|(_, e)| *e == event).map(|(step, _)| *step);
        Found {
            starts: self.starts.clone(),
            steps: run.into_iter().filter_map(step).collect(),
            violation: Violation::Stale { thread: stale.thread },
        }
    }
}

/// The first events of a graph in an order that SC allows, if there is one.
fn order(graph: &Execution, events: usize) -> Option<Vec<usize>> {
    let steps = graph.hb_sc_steps();
    let first: Relation<2> =
        Relation::from_pairs(events, steps.pairs().filter(|(a, b)| *a < events && *b < events));
    let before = first.plus();
    if (0..events).any(|event| before.contains(event, event)) {
        return None;
    }
    let mut order: Vec<usize> = (0..events).collect();
    // What comes before another has fewer before itself.
    order.sort_by_key(|event| (before.before(*event).len(), *event));
    Some(order)
}

/// Follows fences to the next access, in every possible way, in the order of [`Step::choice`].
fn ways(
    machine: &Machine,
    thread: usize,
    nexts: Vec<Next<Local>>,
) -> Vec<(Vec<seqcst_model::Action>, Local)> {
    let mut found = Vec::new();
    let mut todo: Vec<_> = nexts.into_iter().rev().map(|next| (next, Vec::new())).collect();
    while let Some((next, fences)) = todo.pop() {
        // Programs of clients have no assertions.
        let Next::At(local) = next else { continue };
        match machine.action(thread, &local) {
            Some(action) if action.op == Op::Fence && fences.len() < 64 => {
                for after in machine.after(thread, &local, Outcome::Fenced).into_iter().rev() {
                    todo.push((after, fences.iter().cloned().chain([action.clone()]).collect()));
                }
            }
            _ => found.push((fences, local)),
        }
    }
    found
}

/// Can calls block in this program?
pub fn blocks(machine: &Machine) -> bool {
    use seqcst_program::code::{AccessKind, Instr};
    machine.code().threads.iter().flat_map(|thread| &thread.instrs).any(|instr| match instr {
        Instr::Access(access) => matches!(access.kind, AccessKind::Wait(_) | AccessKind::BlockingCas { .. }),
        _ => false,
    })
}
