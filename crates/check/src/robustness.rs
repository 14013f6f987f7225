//! Deciding robustness: the plan of the search.
//!
//! 1. A short look at the program as it is: most violations are near the start, most litmus tests are small.
//! 2. One location at a time: what a monitor keeps to check accesses to one location is independent of what it keeps
//!    for the others, so many small searches do the work of one that is the product of all. For each location:
//!    * counterexample-guided abstraction (Clarke et al., CAV 2000): forget all data ([`crate::abstraction`]) and
//!      search. No violation: no access to this location can be stale, whatever the data. A violation that the program
//!      itself can follow is real. Otherwise the first step that it cannot follow tells which data must be tracked, and
//!      the search is repeated;
//!    * in turns with that, the program as it is, with budgets that grow: whatever ends first decides.
//! 3. What no monitor sees, failed assertions and clashing non-atomic accesses, is searched for without one: plain SC
//!    states are far fewer than monitored ones.
//! 4. On request, threads that get stuck.

use crate::abstraction::{Forgetful, Tracked, forget};
use crate::states::{self, Answer, Follower, Found, Limit, Options, Progress, Violation};
use crate::summarise;
use seqcst_model::{Loc, Model};
use seqcst_monitor::finite::{Monitor, Rc20, Sc, Tso};
use seqcst_program::code::{AccessKind, Code, Expr, Instr, Pc};
use seqcst_program::semantics::Machine;

/// How to decide.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How to search.
    pub search: Options,
    /// Forget data, and check one location at a time, where that helps.
    pub abstraction: bool,
    /// If all is well, look for threads that get stuck.
    pub deadlock: bool,
}

/// States to visit before anything clever is tried.
const FIRST_LOOK: u64 = 30_000;
/// States to visit in the first turn with forgotten data, and how much longer each turn is than the one before.
const FIRST_TURN: u64 = 1_000_000;
const LONGER: u64 = 4;

/// The monitor for the memory model that the program was lowered for; with a `focus`, for accesses to that location
/// only.
pub fn monitor(code: &Code, focus: Option<Loc>) -> Box<dyn Monitor> {
    let summary = summarise(code);
    match code.model {
        Model::Ra | Model::Rc20 | Model::Rc11 => Box::new(Rc20::new(&summary, code.model.has_races(), focus)),
        Model::Tso => Box::new(Tso::new(&summary, focus)),
        // No program is lowered for the last two.
        Model::Sc | Model::ArmV8 | Model::ArmV7 => Box::new(Sc::new(&summary)),
    }
}

/// Whether two enabled conflicting non-atomic accesses are a race (under RC11 and RC20, happens-before decides).
fn clashes(model: Model) -> bool {
    !model.has_races()
}

/// Decides whether the program, lowered for some model, is robust, free of races and of failing assertions.
pub fn decide(machine: &Machine, plan: &Plan, report: &(dyn Fn(Progress) + Sync)) -> Answer {
    let mut work = Work { machine, plan, report, done: Answer::default() };
    let robust = if plan.abstraction { work.everything() } else { work.as_it_is(None, u64::MAX).map(|_| ()) };
    let all = robust.and_then(|()| if plan.deadlock { work.stuck() } else { Ok(()) });
    match all {
        Ok(()) => work.done,
        Err(answer) => *answer,
    }
}

/// The plan without its first step, whatever [`Plan::abstraction`] says: for tests, whose programs are so small that
/// the first look would decide them all.
pub fn decide_location_by_location(
    machine: &Machine,
    plan: &Plan,
    report: &(dyn Fn(Progress) + Sync),
) -> Answer {
    let mut work = Work { machine, plan, report, done: Answer::default() };
    match work.location_by_location() {
        Ok(()) => work.done,
        Err(answer) => *answer,
    }
}

struct Work<'a> {
    machine: &'a Machine,
    plan: &'a Plan,
    report: &'a (dyn Fn(Progress) + Sync),
    /// Passes before this one, added up.
    done: Answer,
}

/// A pass that did not end it all: done (`true`), or out of budget.
type Passed = Result<bool, Box<Answer>>;

impl Work<'_> {
    /// The whole plan. An error is an answer that ends it.
    fn everything(&mut self) -> Result<(), Box<Answer>> {
        if self.as_it_is(None, FIRST_LOOK)? {
            return Ok(());
        }
        self.location_by_location()
    }

    /// The plan without its first step.
    fn location_by_location(&mut self) -> Result<(), Box<Answer>> {
        // What decided the last location is tried first on the next, with room to spare.
        let mut forgetting = true;
        let mut needed = 0;
        let mut helped = Tracked::nothing(self.machine.code());
        for focus in monitor(self.machine.code(), None).checked() {
            let mut budget = FIRST_TURN.max(2 * needed);
            let mut tracked = Some(helped.clone());
            loop {
                let before = self.done.progress.states;
                let decided = match forgetting {
                    true => self.forgetfully(focus, budget, &mut tracked)?,
                    false => self.as_it_is(Some(focus), budget)?,
                };
                if decided {
                    needed = self.done.progress.states - before;
                    helped = tracked.filter(|_| forgetting).unwrap_or(helped);
                    break;
                }
                forgetting = !forgetting;
                budget *= LONGER;
            }
        }
        self.unmonitored()
    }

    fn search(&self, machine: &Machine, focus: Option<Loc>, options: &Options) -> Answer {
        states::check(machine, monitor(machine.code(), focus), options, self.report)
    }

    /// How to search, with a budget of states.
    fn options(&self, budget: u64, clash: bool) -> Options {
        let mut options = Options { clash, ..self.plan.search.clone() };
        let most = options.limits.states.map(|most| most.saturating_sub(self.done.progress.states));
        options.limits.states = Some(most.map_or(budget, |most| most.min(budget)));
        if let Some(time) = &mut options.limits.time {
            *time = time.saturating_sub(self.done.progress.elapsed);
        }
        options
    }

    /// Books a pass. An error if it found something or reached a limit that is not just its budget.
    fn passed(&mut self, answer: Answer) -> Passed {
        let total = self.total(answer);
        let user_limit = match total.limit {
            Some(Limit::States) => {
                self.plan.search.limits.states.is_some_and(|most| total.progress.states >= most)
            }
            other => other.is_some(),
        };
        if total.found.is_some() || user_limit {
            return Err(Box::new(total));
        }
        let complete = total.limit.is_none();
        self.done = Answer { limit: None, ..total };
        Ok(complete)
    }

    /// Adds what earlier passes did.
    fn total(&self, mut answer: Answer) -> Answer {
        answer.progress.states += self.done.progress.states;
        answer.progress.depth = answer.progress.depth.max(self.done.progress.depth);
        answer.progress.memory = answer.progress.memory.max(self.done.progress.memory);
        answer.progress.elapsed += self.done.progress.elapsed;
        answer.transitions += self.done.transitions;
        answer
    }

    /// The program as it is.
    fn as_it_is(&mut self, focus: Option<Loc>, budget: u64) -> Passed {
        let options = self.options(budget, clashes(self.machine.code().model));
        let answer = self.search(self.machine, focus, &options);
        self.passed(answer)
    }

    /// Assertions, values that leave their range, and clashes, under plain SC.
    fn unmonitored(&mut self) -> Result<(), Box<Answer>> {
        let code = self.machine.code();
        let fails = |instr: &Instr| matches!(instr, Instr::Assert(..) | Instr::Fits(..));
        let asserts = code.threads.iter().any(|thread| thread.instrs.iter().any(fails));
        let clash = clashes(self.machine.code().model);
        if asserts || clash && code.locations.iter().any(|l| l.non_atomic) {
            let fenceless = Machine::new(without_fences(code));
            let answer = self.unmonitored_search(&fenceless, clash);
            let answer = match answer.found {
                // A run of the program itself has its fences, too.
                Some(_) => self.unmonitored_search(self.machine, clash),
                None => answer,
            };
            self.passed(answer)?;
        }
        Ok(())
    }

    fn unmonitored_search(&self, machine: &Machine, clash: bool) -> Answer {
        let monitor = Box::new(Sc::new(&summarise(machine.code())));
        states::check(machine, monitor, &self.options(u64::MAX, clash), self.report)
    }

    /// Threads that get stuck, under plain SC.
    fn stuck(&mut self) -> Result<(), Box<Answer>> {
        let limits = self.options(u64::MAX, false).limits;
        let answer = states::find_stuck(self.machine, &limits, self.report);
        self.passed(answer).map(|_| ())
    }

    /// The program with data forgotten, as far as accesses to one location go. What must be tracked is kept for the
    /// next turn; `None`: forgetting does not help.
    fn forgetfully(&mut self, focus: Loc, budget: u64, tracked: &mut Option<Tracked>) -> Passed {
        let code = self.machine.code();
        let start = self.done.progress.states;
        while let Some(kept) = tracked {
            let simple = forget(code, kept);
            let simple_machine = Machine::new(simple.code.clone());
            let left = budget.saturating_sub(self.done.progress.states - start);
            let mut answer = self.search(&simple_machine, Some(focus), &self.options(left, false));
            let Some(found) = answer.found.take() else { return self.passed(answer) };
            match self.follow(&simple, &simple_machine, &found, focus, kept) {
                Followed::Real(found) => answer.found = Some(found),
                Followed::Refined => {}
                Followed::Stuck => *tracked = None,
            }
            self.passed(answer)?;
        }
        Ok(false)
    }

    /// Tries to follow a run of the forgetful program in the program itself.
    fn follow(
        &self,
        simple: &Forgetful,
        simple_machine: &Machine,
        found: &Found,
        focus: Loc,
        tracked: &mut Tracked,
    ) -> Followed {
        let mut monitor = monitor(self.machine.code(), Some(focus));
        loop {
            let mut more = tracked.clone();
            let followed = self.follow_watched(simple, simple_machine, found, &*monitor, &mut more);
            // What a monitor says that had no room for all values is not to be believed.
            if !monitor.overflowed() {
                *tracked = more;
                return followed;
            }
            monitor = monitor.grown();
        }
    }

    fn follow_watched(
        &self,
        simple: &Forgetful,
        simple_machine: &Machine,
        found: &Found,
        monitor: &dyn Monitor,
        tracked: &mut Tracked,
    ) -> Followed {
        let code = self.machine.code();
        let route = states::route(simple_machine, found);
        let origin = |thread: usize, pc: Pc| simple.origin[thread][pc as usize];
        let mut follower = Follower::new(self.machine, monitor);
        let mut refine = |add: &dyn Fn(&mut Tracked)| {
            let before = tracked.clone();
            add(tracked);
            tracked.close(code);
            if *tracked == before { Followed::Stuck } else { Followed::Refined }
        };
        let comparison = |thread: usize, pc: Pc| {
            move |tracked: &mut Tracked| {
                if let Instr::Access(access) = &code.threads[thread].instrs[pc as usize] {
                    tracked.add_access(thread, access);
                }
            }
        };
        for step in &route.steps {
            let pc = origin(step.thread, step.pc);
            if let Err(wrong) = follower.arrive(step.thread, pc) {
                return refine(&|tracked| wrong.iter().for_each(|e| tracked.add_expr(step.thread, e)));
            }
            if !follower.step(step.thread, pc, step.outcome) {
                return refine(&comparison(step.thread, pc));
            }
        }
        let (thread, racing) = match found.violation {
            Violation::Stale { thread } => (thread, false),
            Violation::Race { thread } => (thread, true),
            _ => return Followed::Stuck,
        };
        let pc = origin(thread, route.ends[thread]);
        if let Err(wrong) = follower.arrive(thread, pc) {
            return refine(&|tracked| wrong.iter().for_each(|e| tracked.add_expr(thread, e)));
        }
        match follower.confirm(thread, pc, racing) {
            Some(found) => Followed::Real(found),
            None => refine(&comparison(thread, pc)),
        }
    }
}

/// The program without fences and without accesses to the location behind SC fences: the same under SC, in fewer
/// steps.
fn without_fences(code: &Code) -> Code {
    let mut code = code.clone();
    for instr in code.threads.iter_mut().flat_map(|thread| &mut thread.instrs) {
        if let Instr::Access(access) = instr
            && (access.kind == AccessKind::Fence || code.locations[access.loc.index()].hidden)
        {
            *instr = Instr::Assume(Expr::Const(1));
        }
    }
    code
}

enum Followed {
    /// The program has this run.
    Real(Found),
    /// It has not; more data is tracked now.
    Refined,
    /// It has not, and there is nothing more to track.
    Stuck,
}
