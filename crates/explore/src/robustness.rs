//! Deciding robustness: the plan of the search.
//!
//! 1. A short look at the program as it is: most violations are near the start, most litmus tests are small.
//! 2. Counterexample-guided abstraction (Clarke et al., CAV 2000): forget all data ([`crate::abstraction`]) and search
//!    again. No violation: the program is robust, whatever its data. A violation that the program itself can follow is
//!    real. Otherwise the first step that it cannot follow tells which data must be tracked, and the search is
//!    repeated.
//! 3. What the monitor does not see, failed assertions and clashing non-atomic accesses, is searched for without it:
//!    plain SC states are far fewer than monitored ones.
//! 4. If forgetting does not pay, the program as it is, monitored, all of it.

use crate::abstraction::{Forgetful, Tracked, forget};
use crate::states::{self, Answer, Follower, Found, Limit, Options, Progress, Violation};
use crate::summarise;
use seqcst_monitor::finite::{Monitor, Sc, Summary};
use seqcst_program::code::{Code, Expr, Instr, Pc};
use seqcst_program::semantics::{Machine, successors};

/// Makes the monitor of a memory model for a program.
pub type MakeMonitor<'a> = &'a dyn Fn(&Summary) -> Box<dyn Monitor>;

/// How to decide.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How to search.
    pub search: Options,
    /// Forget data where that helps.
    pub abstraction: bool,
}

/// States to visit before anything clever is tried.
const FIRST_LOOK: u64 = 30_000;
/// States to visit in a program that tracks only some data before giving up on that.
const WORTH_FORGETTING: u64 = 4_000_000;

/// Decides whether the program is robust, free of races and of failing assertions.
pub fn decide(
    machine: &Machine,
    make_monitor: MakeMonitor,
    plan: &Plan,
    report: &(dyn Fn(Progress) + Sync),
) -> Answer {
    let mut work = Work { machine, make_monitor, plan, report, done: None };
    if plan.abstraction {
        if let Some(answer) = work.within(FIRST_LOOK, |work, options| work.monitored(options)) {
            return answer;
        }
        if let Some(answer) = work.forgetfully() {
            return answer;
        }
    }
    let answer = work.monitored(&plan.search.clone());
    work.total(answer)
}

struct Work<'a> {
    machine: &'a Machine,
    make_monitor: MakeMonitor<'a>,
    plan: &'a Plan,
    report: &'a (dyn Fn(Progress) + Sync),
    /// Passes before this one, added up.
    done: Option<Answer>,
}

impl Work<'_> {
    /// The program as it is.
    fn monitored(&self, options: &Options) -> Answer {
        let monitor = (self.make_monitor)(&summarise(self.machine.code()));
        states::check(self.machine, monitor, options, self.report)
    }

    /// Runs a pass within a budget of states. `None`: the budget was not enough, and nothing is decided.
    fn within(&mut self, budget: u64, pass: impl Fn(&Self, &Options) -> Answer) -> Option<Answer> {
        let mut options = self.plan.search.clone();
        if options.limits.states.is_none_or(|most| budget < most) {
            options.limits.states = Some(budget);
        } else {
            return Some(self.total(pass(self, &options)));
        }
        let answer = pass(self, &options);
        let out_of_budget = answer.limit == Some(Limit::States);
        let answer = self.total(answer);
        if out_of_budget {
            self.done = Some(answer);
            return None;
        }
        Some(answer)
    }

    /// Adds what earlier passes did.
    fn total(&self, mut answer: Answer) -> Answer {
        if let Some(done) = &self.done {
            answer.progress.states += done.progress.states;
            answer.progress.depth = answer.progress.depth.max(done.progress.depth);
            answer.progress.memory = answer.progress.memory.max(done.progress.memory);
            answer.transitions += done.transitions;
        }
        answer
    }

    /// Step 2 and 3 of the plan. `None`: nothing decided.
    fn forgetfully(&mut self) -> Option<Answer> {
        let code = self.machine.code();
        let mut tracked = Tracked::nothing(code);
        loop {
            let simple = forget(code, &tracked);
            let simple_machine = Machine::new(simple.code.clone());
            let answer = self.within(WORTH_FORGETTING, |work, options| {
                let options = Options { clash: false, ..options.clone() };
                let monitor = (work.make_monitor)(&summarise(&simple.code));
                states::check(&simple_machine, monitor, &options, work.report)
            })?;
            if answer.limit.is_some() {
                return Some(answer);
            }
            let Some(found) = &answer.found else {
                self.done = Some(answer);
                return self.unmonitored();
            };
            match self.follow(&simple, &simple_machine, found, &mut tracked) {
                Followed::Real(found) => return Some(Answer { found: Some(found), ..answer }),
                Followed::Refined => {}
                Followed::Stuck => return None,
            }
            self.done = Some(Answer { found: None, ..answer });
        }
    }

    /// Step 3: assertions and clashes, under plain SC.
    fn unmonitored(&mut self) -> Option<Answer> {
        let code = self.machine.code();
        let has = |test: &dyn Fn(&Instr) -> bool| code.threads.iter().any(|t| t.instrs.iter().any(test));
        let asserts = has(&|instr| matches!(instr, Instr::Assert(..)));
        let clashes = self.plan.search.clash && code.locations.iter().any(|l| l.non_atomic);
        if !asserts && !clashes {
            return self.done.clone();
        }
        let monitor = Box::new(Sc::new(&summarise(code)));
        Some(self.total(states::check(self.machine, monitor, &self.plan.search, self.report)))
    }

    /// Tries to follow a run of the forgetful program in the program itself.
    fn follow(
        &self,
        simple: &Forgetful,
        simple_machine: &Machine,
        found: &Found,
        tracked: &mut Tracked,
    ) -> Followed {
        let code = self.machine.code();
        let route = states::route(simple_machine, found);
        let origin = |thread: usize, pc: Pc| simple.origin[thread][pc as usize];
        let monitor = (self.make_monitor)(&summarise(code));
        let mut follower = Follower::new(self.machine, &*monitor);
        // Where each thread's local code since its last access begins.
        let mut since: Vec<Pc> = vec![0; code.threads.len()];
        let mut refine = |thread: usize, pc: Pc, since: Pc, arrived: bool| {
            let before = tracked.clone();
            if arrived {
                if let Instr::Access(access) = &code.threads[thread].instrs[pc as usize] {
                    tracked.add_access(thread, access);
                }
            } else {
                conditions(code, thread, since).into_iter().for_each(|e| tracked.add_expr(thread, e));
            }
            tracked.close(code);
            if *tracked == before { Followed::Stuck } else { Followed::Refined }
        };
        for step in &route.steps {
            let pc = origin(step.thread, step.pc);
            if !follower.arrive(step.thread, pc) {
                return refine(step.thread, pc, since[step.thread], false);
            }
            if !follower.step(step.thread, step.outcome) {
                return refine(step.thread, pc, since[step.thread], true);
            }
            since[step.thread] = pc + 1;
        }
        let (thread, racing) = match found.violation {
            Violation::Stale { thread } => (thread, false),
            Violation::Race { thread } => (thread, true),
            _ => return Followed::Stuck,
        };
        let pc = origin(thread, route.ends[thread]);
        if !follower.arrive(thread, pc) {
            return refine(thread, pc, since[thread], false);
        }
        match follower.confirm(thread, racing) {
            Some(found) => Followed::Real(found),
            None => refine(thread, pc, since[thread], true),
        }
    }
}

enum Followed {
    /// The program has this run.
    Real(Found),
    /// It has not; more data is tracked now.
    Refined,
    /// It has not, and there is nothing more to track.
    Stuck,
}

/// The conditions that local code evaluates between `start` and the next accesses.
fn conditions(code: &Code, thread: usize, start: Pc) -> Vec<&Expr> {
    let instrs = &code.threads[thread].instrs;
    let mut seen = vec![false; instrs.len()];
    let mut todo = vec![start];
    let mut found = Vec::new();
    while let Some(pc) = todo.pop() {
        if std::mem::replace(&mut seen[pc as usize], true) {
            continue;
        }
        let instr = &instrs[pc as usize];
        match instr {
            Instr::Branch(e, _) | Instr::Assume(e) => found.push(e),
            Instr::Access(access) if access.kind != seqcst_program::code::AccessKind::Fence => continue,
            _ => {}
        }
        todo.extend(successors(instr, pc));
    }
    found
}
