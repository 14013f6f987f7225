//! Following a given run in another version of a program.

use super::expand::{Expander, Move};
use super::locals::{Locals, PendingAccess, ways};
use super::search::{Found, RunOfMoves, Violation};
use seqcst_model::{Next, Outcome, Program, Value};
use seqcst_monitor::finite::Monitor;
use seqcst_program::code::{Expr, Pc};
use seqcst_program::semantics::{Local, Machine};

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
    let go = |thread: usize, nexts: Vec<Next<Local>>, choice: usize| match ways(machine, thread, nexts)
        .into_iter()
        .nth(choice)?
        .end
    {
        Next::At(local) => Some(local),
        Next::AssertionFailed(_) => None,
    };
    let mut at: Vec<Option<Local>> = (0..machine.threads())
        .map(|thread| go(thread, machine.start(thread), found.starts[thread]))
        .collect();
    let mut steps = Vec::new();
    for step in &found.steps {
        let Some(local) = at[step.thread].take() else { break };
        steps.push(RouteStep { thread: step.thread, pc: local.pc, outcome: step.outcome });
        at[step.thread] = go(step.thread, machine.after(step.thread, &local, step.outcome), step.choice);
    }
    Route { steps, ends: at.iter().map(|local| local.as_ref().map_or(0, |local| local.pc)).collect() }
}

/// Follows a route, in every way that the program's free choices and data allow.
pub struct Follower<'a> {
    machine: &'a Machine,
    locals: Box<Locals<'a>>,
    monitor: &'a dyn Monitor,
    runs: Vec<Run>,
}

struct Run {
    state: Vec<u64>,
    moves: RunOfMoves,
    /// For every thread, where its local code since its last access begins, and with which registers.
    since: Vec<(Pc, Box<[Value]>)>,
}

/// Runs kept at a time: a route is followed only that far.
const MOST_RUNS: usize = 1_000;

impl<'a> Follower<'a> {
    /// At the start of the program.
    pub fn new(machine: &'a Machine, monitor: &'a dyn Monitor) -> Follower<'a> {
        let locals = Box::new(Locals::new(machine));
        let threads = &machine.code().threads;
        let run = |state| Run {
            state,
            moves: RunOfMoves::new(threads.len()),
            since: threads.iter().map(|thread| (0, vec![0; thread.regs.len()].into())).collect(),
        };
        let runs = Expander::new(monitor, &locals, false).start().into_iter().map(run).collect();
        Follower { machine, locals, monitor, runs }
    }

    fn ahead(&self, run: &Run, thread: usize) -> Vec<PendingAccess> {
        self.locals.ahead(thread, run.state[self.monitor.shape().thread(thread)] as u32)
    }

    fn way(&self, run: &Run, thread: usize, pc: Pc) -> Option<PendingAccess> {
        self.ahead(run, thread).into_iter().find(|ahead| ahead.local.pc == pc)
    }

    /// Keeps the runs in which the thread can be at the access. If there is none, the conditions that would have to
    /// be otherwise for it to get there.
    pub fn arrive(&mut self, thread: usize, pc: Pc) -> Result<(), Vec<&'a Expr>> {
        let here: Vec<bool> = self.runs.iter().map(|run| self.way(run, thread, pc).is_some()).collect();
        if !here.contains(&true) {
            let wrong = |run: &Run| {
                let (since, regs) = &run.since[thread];
                self.machine.wrong_turns(thread, *since, regs, pc)
            };
            return Err(self.runs.iter().filter_map(wrong).min_by_key(Vec::len).unwrap_or_default());
        }
        let mut here = here.into_iter();
        self.runs.retain(|_| here.next() == Some(true));
        Ok(())
    }

    /// Lets the thread execute the access with an outcome of this kind, whatever the values; false if it cannot.
    pub fn step(&mut self, thread: usize, pc: Pc, like: Outcome) -> bool {
        let mut expander = Expander::new(self.monitor, &self.locals, false);
        let mut next = Vec::new();
        for run in &self.runs {
            let here: Vec<PendingAccess> =
                self.ahead(run, thread).into_iter().filter(|ahead| ahead.local.pc == pc).collect();
            expander.moves(&run.state, thread, |mv: Move, after| {
                let Some(ahead) = here.iter().find(|ahead| ahead.way == mv.way) else { return };
                if std::mem::discriminant(&mv.outcome) == std::mem::discriminant(&like)
                    && next.len() < MOST_RUNS
                {
                    let mut moves = run.moves.clone();
                    moves.step(mv);
                    let mut since = run.since.clone();
                    since[thread] = self.machine.resume(thread, &ahead.local, mv.outcome);
                    next.push(Run { state: after.clone(), moves, since });
                }
            });
        }
        if next.is_empty() {
            return false;
        }
        self.runs = next;
        true
    }

    /// A run in which the thread's access can be stale (or races).
    pub fn confirm(&self, thread: usize, pc: Pc, racing: bool) -> Option<Found> {
        let mut expander = Expander::new(self.monitor, &self.locals, false);
        self.runs.iter().find_map(|run| {
            let here = self.ahead(run, thread).into_iter().filter(|ahead| ahead.local.pc == pc);
            let way =
                here.map(|ahead| ahead.way).find(|&way| expander.confirm(&run.state, thread, way, racing))?;
            let mut moves = run.moves.clone();
            for other in 0..self.monitor.shape().threads {
                let place = run.state[self.monitor.shape().thread(other)] as u32;
                moves.choose(other, self.locals.any_way(other, place));
            }
            moves.choose(thread, way);
            Some(moves.found(if racing { Violation::Race { thread } } else { Violation::Stale { thread } }))
        })
    }
}
