//! Questions to Z3: SMT-LIB text over a pipe, several processes at once, each with limits of time and memory.
//!
//! * [`Pool`]: deals out questions to workers as they get free;
//! * `session`: one process that is asked question after question, and started again when it dies;
//! * `process`: the process and its pipes, which never block one another;
//! * [`formula`]: what is asked, typed; `expression`: the answers, taken apart.

mod expression;
pub mod formula;
mod pool;
mod process;
mod session;

pub use pool::Pool;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A satisfiability problem.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Question {
    /// Shown in error messages.
    pub name: String,
    /// Commands that declare or define what assertions speak of; forgotten after the question.
    pub declarations: Vec<String>,
    /// Terms that must hold, each with a label. Those with the same label stand or fall together in a core; an empty label
    /// never shows up in one.
    pub assertions: Vec<(String, String)>,
    /// Terms whose values are wanted if there is a model.
    pub evaluate: Vec<String>,
}

/// What became of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The assertions contradict one another.
    Unsat {
        /// Labels of assertions that do so already, in the order of the question; empty unless cores are wanted.
        core: Vec<String>,
    },
    /// There is a model.
    Sat {
        /// The terms of [`Question::evaluate`] with their values: `true`, `-3`, `E!val!0`.
        values: Vec<(String, String)>,
    },
    /// Nothing is known.
    Unknown {
        /// The solver's reason, or the limit that was reached.
        why: String,
    },
}

/// What becomes of a statement whose proof is that the solver finds contradictions in all of some questions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decided {
    /// It is proved.
    Yes,
    /// It cannot be proved so.
    No,
    /// A question has no answer, for that reason.
    Unknown(String),
}

impl Decided {
    /// What the answers say together.
    pub fn of(answers: &[Answer]) -> Decided {
        let unknown = answers.iter().find_map(|answer| match answer {
            Answer::Unknown { why } => Some(why.clone()),
            _ => None,
        });
        match unknown {
            _ if answers.iter().any(|answer| matches!(answer, Answer::Sat { .. })) => Decided::No,
            Some(why) => Decided::Unknown(why),
            None => Decided::Yes,
        }
    }

    /// Is it proved? If that is not known, `doubt` takes the reason, unless it has one.
    pub fn is_yes(self, doubt: &mut Option<String>) -> bool {
        if let Decided::Unknown(why) = &self {
            doubt.get_or_insert_with(|| why.clone());
        }
        self == Decided::Yes
    }
}

/// Options of the solver.
#[derive(Clone, Debug)]
pub struct Options {
    /// Z3; `SEQCST_Z3`, or else `z3` on the search path, if none is named.
    pub program: Option<PathBuf>,
    /// Questions that are worked at together.
    pub workers: usize,
    /// Limit for one question.
    pub time_limit: Duration,
    /// For one worker, in megabytes.
    pub memory_limit: u32,
    /// Say of contradictions which labels they need. Takes longer.
    pub want_cores: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            program: None,
            workers: 2,
            time_limit: Duration::from_secs(20),
            memory_limit: 2048,
            want_cores: false,
        }
    }
}

/// The oldest version that will do: earlier ones have no `check-sat-assuming` to rely on.
const OLDEST: (u32, u32) = (4, 8);

/// Why a solver is of no use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// It cannot be started.
    Missing {
        /// What was tried.
        program: String,
        /// What the system says.
        why: String,
    },
    /// It is a Z3 from before 4.8.
    TooOld {
        /// Which program.
        program: String,
        /// What it says of itself.
        version: String,
    },
    /// It is another solver.
    NotZ3 {
        /// Which program.
        program: String,
        /// What it says of itself.
        name: String,
    },
    /// It does not answer as a solver would.
    Broken {
        /// Which program.
        program: String,
        /// What it did.
        what: String,
    },
    /// It did not understand a question: a mistake of ours.
    Misunderstood {
        /// The question's name.
        question: String,
        /// What it says.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Missing { program, why } => write!(
                f,
                "cannot run the solver {program}: {why}; install Z3 (apt install z3) or name it with --solver or SEQCST_Z3"
            ),
            Error::TooOld { program, version } => write!(
                f,
                "the solver {program} is Z3 {version}; {}.{} or later is needed",
                OLDEST.0, OLDEST.1
            ),
            Error::NotZ3 { program, name } => write!(f, "the solver {program} is {name}, not Z3"),
            Error::Broken { program, what } => {
                write!(f, "the solver {program} does not work as Z3 does: {what}")
            }
            Error::Misunderstood { question, message } => {
                write!(f, "the solver did not understand the question `{question}`: {message}")
            }
        }
    }
}

impl std::error::Error for Error {}
