//! The engine's verdicts, with reductions switched on and off, and a witness behind each violation.

use super::Verdict;
use seqcst_check::abstraction::{Tracked, forget};
use seqcst_check::answer::Source;
use seqcst_check::robustness::{Plan, decide, decide_location_by_location, monitor};
use seqcst_check::states::{self, Answer, Limits, Options, Violation};
use seqcst_check::witness::witness;
use seqcst_model::sample::Random;
use seqcst_model::{Loc, Model};
use seqcst_program::code::Expr;
use seqcst_program::semantics::Machine;
use seqcst_program::{lower, parse};

/// A program, ready to be checked for one model.
pub struct Engine {
    pub machine: Machine,
    pub text: String,
    pub model: Model,
}

/// Which reductions to use.
#[derive(Clone, Copy, Debug)]
pub struct Reductions {
    pub symmetry: bool,
    pub independence: bool,
    pub abstraction: bool,
    pub workers: usize,
}

/// As the command line has them, on one core.
pub const USUAL: Reductions =
    Reductions { symmetry: true, independence: true, abstraction: true, workers: 1 };
/// None of them.
pub const NONE: Reductions =
    Reductions { symmetry: false, independence: false, abstraction: false, workers: 1 };

impl Reductions {
    /// A plan with these.
    pub fn plan(self, deadlock: bool) -> Plan {
        let Reductions { symmetry, independence, abstraction, workers } = self;
        let search = Options { limits: Limits::default(), workers, symmetry, independence, clash: false };
        Plan { search, abstraction, deadlock }
    }
}

impl Engine {
    /// Reads and lowers a TPL program.
    pub fn new(text: &str, model: Model) -> Engine {
        Engine::named("drawn.tpl", text, model)
    }

    /// Reads and lowers a program; its file's name says in what language it is.
    pub fn named(name: &str, text: &str, model: Model) -> Engine {
        let parsed = parse(text.as_bytes(), name).unwrap_or_else(|error| panic!("{error}, in\n{text}"));
        let machine =
            Machine::new(lower(&parsed.program, model).expect("programs are checked against this model"));
        Engine { machine, text: text.to_owned(), model }
    }

    pub fn decide(&self, reductions: Reductions) -> Answer {
        decide(&self.machine, &reductions.plan(false), &|_| ())
    }

    /// The verdict with these reductions, and a witness if there is something to witness.
    pub fn check(&self, reductions: Reductions) -> Result<Verdict, String> {
        self.confirmed(&self.decide(reductions)).map_err(|wrong| format!("{reductions:?}: {wrong}"))
    }

    /// The verdict by counterexample-guided forgetting alone: no first look at the program as it is.
    pub fn check_forgetfully(&self) -> Result<Verdict, String> {
        let answer = decide_location_by_location(&self.machine, &USUAL.plan(false), &|_| ());
        self.confirmed(&answer).map_err(|wrong| format!("one location at a time: {wrong}"))
    }

    /// The verdict if deadlocks are looked for, too.
    pub fn check_deadlock(&self) -> Result<Verdict, String> {
        let answer = decide(&self.machine, &USUAL.plan(true), &|_| ());
        self.confirmed(&answer).map_err(|wrong| format!("with deadlocks: {wrong}"))
    }

    /// A monitor for each location finds what one monitor for all of them finds.
    pub fn is_stale_somewhere(&self) -> bool {
        let code = self.machine.code();
        let all = monitor(code, None).checked();
        all.into_iter().any(|focus| self.search(&self.machine, Some(focus)).found.is_some())
    }

    /// Whether a program with some of the data forgotten is still seen to be not robust, or racy. By what is kept of
    /// them: nothing, or a random part.
    pub fn is_suspicious_without_data(&self, random: Option<&mut Random>) -> bool {
        let code = self.machine.code();
        let mut tracked = Tracked::nothing(code);
        if let Some(random) = random {
            for x in 0..code.locations.len() {
                if random.one_in(2) {
                    tracked.add_location(Loc(x as u8));
                }
            }
            for (thread, part) in code.threads.iter().enumerate() {
                for reg in 0..part.regs.len() {
                    if random.one_in(3) {
                        tracked.add_expr(thread, &Expr::Reg(reg as u16));
                    }
                }
            }
            tracked.close(code);
        }
        let simple = Machine::new(forget(code, &tracked).code);
        self.search(&simple, None).found.is_some()
    }

    fn search(&self, machine: &Machine, focus: Option<Loc>) -> Answer {
        let monitor = monitor(machine.code(), focus);
        states::check(machine, monitor, &USUAL.plan(false).search, &|_| ())
    }

    fn confirmed(&self, answer: &Answer) -> Result<Verdict, String> {
        let Some(found) = &answer.found else {
            return Ok(if answer.limit.is_some() { Verdict::GaveUp } else { Verdict::Robust });
        };
        match witness(&self.machine, Source { file: "test.tpl", text: &self.text }, self.model, found) {
            Ok(_) => Ok(verdict(found.violation)),
            Err(unconfirmed) => Err(format!("{found:?} has no witness: {unconfirmed}")),
        }
    }
}

/// What a violation is called.
pub fn verdict(violation: Violation) -> Verdict {
    match violation {
        Violation::Stale { .. } => Verdict::NotRobust,
        Violation::Race { .. } | Violation::Clash { .. } => Verdict::Race,
        Violation::Failed { .. } => Verdict::Assertion,
        Violation::Stuck { .. } => Verdict::Deadlock,
    }
}
