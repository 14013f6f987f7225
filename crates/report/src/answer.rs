//! The answer of a command to one question: the one value that every command makes and every renderer reads.
//!
//! What all commands have in common are fields of [`Answer`]; what only one of them has is in its [`Details`]. JSON is
//! derived from these types: a field here is a field of `docs/json.md`.

mod explore;
mod library;
mod port;
mod run;

pub use explore::{Bound, Explored, FailingExecution, ScheduledStep};
pub use library::{
    Call, Class, ClientWitness, Composed, Loop, MissingFence, Mutant, Program, Proof, TriedClient, Unrepaired,
};
pub use port::{Access, Change, Fences, Note, Pair, Ported, SourcePatch};
pub use run::{Accessed, Ended, Frame, Link, Report, Runs};

use crate::Witness;
use seqcst_model::Model;
use serde::{Serialize, Serializer};
use std::fmt;

/// The version of the JSON form: fields may be added to it, none changes its meaning.
pub const SCHEMA: u32 = 1;

/// What was asked, what the answer is, and why it can be believed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Answer {
    /// The version of this format.
    #[cfg_attr(test, schemars(range(min = 1, max = 1)))]
    pub schema: u32,
    /// The input, as it was given on the command line.
    pub file: String,
    /// The memory model; `port` has two machines instead.
    #[serde(serialize_with = "model_name", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub model: Option<Model>,
    /// The answer in a word.
    pub verdict: Verdict,
    /// For `gave-up`: the limit that was reached, and how far the search got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Wall-clock time.
    #[serde(serialize_with = "microseconds")]
    pub seconds: f64,
    /// What only this command has to say.
    #[serde(flatten)]
    pub details: Details,
    /// What the answer takes for granted.
    pub assumptions: Vec<Assumption>,
    /// What follows from the answer, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved: Option<String>,
    /// What does not follow from it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_proved: Option<String>,
    /// The execution that shows a violation, or part of one for which a proof fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// The command that shows it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

/// What only one command has to say.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Details {
    /// `seqcst check`
    Check(Checked),
    /// `seqcst explore`
    Explore(Box<Explored>),
    /// `seqcst run`
    Run(Runs),
    /// `seqcst library`
    Library(Box<Proof>),
    /// `seqcst library --compose`
    Compose(Box<Composed>),
    /// `seqcst port`
    Port(Box<Ported>),
}

/// How large the state space was.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Checked {
    /// States visited.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Threads of the program.
    pub threads: usize,
}

impl Answer {
    /// An answer with nothing but the verdict.
    pub fn new(file: impl Into<String>, model: Option<Model>, verdict: Verdict, details: Details) -> Answer {
        Answer {
            schema: SCHEMA,
            file: file.into(),
            model,
            verdict,
            limit: None,
            seconds: 0.0,
            details,
            assumptions: Vec::new(),
            proved: None,
            not_proved: None,
            witness: None,
            replay: None,
        }
    }

    /// One line of JSON, without a newline.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// The answer in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every behaviour is a behaviour of SC; nothing else that was looked for was found.
    Robust,
    /// Nothing was found in the executions that were made; others were not.
    NothingFound,
    /// Some behaviour is not a behaviour of SC.
    NotRobust,
    /// No proof was found that every behaviour is one of SC.
    MayBeNonRobust,
    /// Two conflicting accesses to a non-atomic location are not ordered.
    Race,
    /// Memory or an object is used that may not be used, or not so: after a free, for instance.
    Misuse,
    /// An assertion can fail.
    Assertion,
    /// A signal ended the program.
    Crash,
    /// The program ended with an exit code other than 0.
    ExitCode,
    /// Threads can get stuck for ever.
    Deadlock,
    /// Threads can spin for ever.
    Livelock,
    /// A limit was reached first.
    GaveUp,
}

impl Verdict {
    /// A headline's first words.
    pub fn headline(self) -> &'static str {
        match self {
            Verdict::Robust => "robust",
            Verdict::NothingFound => "nothing found",
            Verdict::NotRobust => "not robust",
            Verdict::MayBeNonRobust => "may be non-robust",
            Verdict::Race => "data race",
            Verdict::Misuse => "misuse",
            Verdict::Assertion => "assertion can fail",
            Verdict::Crash => "crash",
            Verdict::ExitCode => "bad exit code",
            Verdict::Deadlock => "deadlock",
            Verdict::Livelock => "livelock",
            Verdict::GaveUp => "gave up",
        }
    }

    /// How a command with this answer ends.
    pub fn status(self) -> Status {
        match self {
            Verdict::Robust | Verdict::NothingFound => Status::Holds,
            Verdict::GaveUp => Status::GaveUp,
            _ => Status::Violation,
        }
    }
}

/// How a command ends: the exit codes of every command. Of several, the greatest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// What was asked for holds.
    Holds,
    /// A limit was reached, or something went wrong inside: nothing is decided.
    GaveUp,
    /// A violation was found.
    Violation,
    /// The input or the command line is at fault.
    BadInput,
}

impl Status {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Status::Holds => 0,
            Status::Violation => 1,
            Status::BadInput => 2,
            Status::GaveUp => 3,
        }
    }
}

/// Something that an answer takes for granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Assumption {
    /// In words.
    Words(String),
    /// In words, with a name for programs.
    Named {
        /// What programs call it.
        name: String,
        /// The same in words.
        words: String,
    },
}

impl Assumption {
    /// The assumption in words.
    pub fn words(&self) -> &str {
        match self {
            Assumption::Words(words) | Assumption::Named { words, .. } => words,
        }
    }
}

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
}

impl fmt::Display for Place {
    /// `file:line:column`, the file relative to the current directory if it is below it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let here = std::env::current_dir().ok().map(|folder| format!("{}/", folder.display()));
        let file = here.and_then(|here| self.file.strip_prefix(&here)).unwrap_or(&self.file);
        let file: String = file.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        match self.column {
            0 => write!(f, "{file}:{}", self.line),
            column => write!(f, "{file}:{}:{column}", self.line),
        }
    }
}

fn model_name<S: Serializer>(model: &Option<Model>, serializer: S) -> Result<S::Ok, S::Error> {
    model.map(Model::name).serialize(serializer)
}

/// Microseconds are enough.
fn microseconds<S: Serializer>(seconds: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let rounded = if seconds.is_finite() { (seconds * 1e6).round() / 1e6 } else { 0.0 };
    rounded.serialize(serializer)
}
