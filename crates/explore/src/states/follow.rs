//! Following a given run in another version of a program.

use super::expand::Expander;
use super::locals::{Goto, Locals, LocalsCache};
use super::search::{Found, Step, Violation};
use seqcst_model::Outcome;
use seqcst_monitor::finite::Monitor;
use seqcst_program::code::Pc;
use seqcst_program::semantics::Machine;

/// A run as a sequence of instructions.
pub struct Route {
    /// The steps.
    pub steps: Vec<RouteStep>,
    /// Where each thread is in the end.
    pub ends: Vec<Pc>,
}

/// A step of a route.
pub struct RouteStep {
    /// Who moves.
    pub thread: usize,
    /// The instruction.
    pub pc: Pc,
    /// What comes of it.
    pub outcome: Outcome,
}

/// The instructions that a run executes.
pub fn route(machine: &Machine, found: &Found) -> Route {
    let locals = Locals::new(machine);
    let mut cache = LocalsCache::new(&locals);
    let threads = machine.code().threads.len();
    let place = |goto: &Goto| match goto {
        Goto::Local(number, _) => Some(*number),
        Goto::Failed(_) => None,
    };
    let mut at: Vec<Option<u32>> = (0..threads)
        .map(|thread| locals.start(thread).get(found.starts[thread]).and_then(place))
        .collect();
    let pc = |thread: usize, at: Option<u32>| at.map_or(0, |number| locals.local(thread, number).pc);
    let mut steps = Vec::new();
    for step in &found.steps {
        let Some(number) = at[step.thread] else { break };
        steps.push(RouteStep { thread: step.thread, pc: pc(step.thread, Some(number)), outcome: step.outcome });
        at[step.thread] = cache.next(step.thread, number, step.outcome).get(step.choice).and_then(place);
    }
    let ends = (0..threads).map(|thread| pc(thread, at[thread])).collect();
    Route { steps, ends }
}

/// Follows a route, in every way that the program's free choices and data allow.
pub struct Follower<'a> {
    locals: Box<Locals<'a>>,
    monitor: &'a dyn Monitor,
    runs: Vec<Run>,
}

struct Run {
    state: Vec<u64>,
    found: Found,
}

/// Runs kept at a time: a route is followed only that far.
const MOST_RUNS: usize = 10_000;

impl<'a> Follower<'a> {
    /// At the start of the program.
    pub fn new(machine: &'a Machine, monitor: &'a dyn Monitor) -> Follower<'a> {
        let locals = Box::new(Locals::new(machine));
        let threads = machine.code().threads.len();
        let counts: Vec<usize> = (0..threads).map(|thread| locals.start(thread).len()).collect();
        let states = Expander::new(monitor, &locals, false).start().unwrap_or_default();
        let runs = states
            .into_iter()
            .enumerate()
            .map(|(number, state)| Run {
                state,
                found: Found {
                    starts: super::search::starts_of(number, &counts),
                    steps: Vec::new(),
                    violation: Violation::Stale { thread: 0 },
                },
            })
            .collect();
        Follower { locals, monitor, runs }
    }

    fn pc(&self, run: &Run, thread: usize) -> Pc {
        let number = run.state[self.monitor.shape().thread(thread)] as u32;
        self.locals.local(thread, number).pc
    }

    /// Keeps the runs in which the thread is at the instruction; false (and no change) if there is none.
    pub fn arrive(&mut self, thread: usize, pc: Pc) -> bool {
        let here: Vec<bool> = self.runs.iter().map(|run| self.pc(run, thread) == pc).collect();
        if !here.contains(&true) {
            return false;
        }
        let mut here = here.into_iter();
        self.runs.retain(|_| here.next() == Some(true));
        true
    }

    /// Lets the thread take a step with an outcome of this kind, whatever the values; false if it cannot.
    pub fn step(&mut self, thread: usize, like: Outcome) -> bool {
        let mut expander = Expander::new(self.monitor, &self.locals, false);
        let mut next = Vec::new();
        for run in &self.runs {
            expander.moves(&run.state, thread, |mv, after| {
                if std::mem::discriminant(&mv.outcome) == std::mem::discriminant(&like) && next.len() < MOST_RUNS
                {
                    let mut found = run.found.clone();
                    found.steps.push(Step { thread, outcome: mv.outcome, choice: mv.choice });
                    next.push(Run { state: after.clone(), found });
                }
            });
        }
        if next.is_empty() {
            return false;
        }
        self.runs = next;
        true
    }

    /// A run in which the thread's next access can be stale (or races).
    pub fn confirm(&self, thread: usize, racing: bool) -> Option<Found> {
        let mut expander = Expander::new(self.monitor, &self.locals, false);
        self.runs.iter().find_map(|run| {
            let action = expander.action(&run.state, thread)?.clone();
            let violation = if racing {
                self.monitor.races(&run.state, thread, &action).then_some(Violation::Race { thread })
            } else {
                self.monitor.stale(&run.state, thread, &action).then_some(Violation::Stale { thread })
            };
            Some(Found { violation: violation?, ..run.found.clone() })
        })
    }
}
