//! What `seqcst run` has to say besides the verdict: the sanitizer's reports, of all runs together.

use super::Place;
use serde::{Deserialize, Serialize};

/// Runs of an instrumented program.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Runs {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How often it was run.
    pub runs: u32,
    /// Runs with at least one report that counts as an error.
    pub runs_with_reports: u32,
    /// Distinct reports, in the order in which they were first made.
    pub reports: Vec<Report>,
    /// Runs that ended badly on their own.
    pub failures: Vec<Ended>,
    /// Things that could not be watched.
    pub notes: Vec<String>,
}

impl Runs {
    /// The reports that count as errors.
    pub fn errors(&self) -> impl Iterator<Item = &Report> {
        self.reports.iter().filter(|report| report.error)
    }
}

/// How a run ended badly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ended {
    /// The run's number, from 1.
    pub run: u32,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// It took too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timeout: bool,
}

/// A report of the sanitizer, as its runtime writes it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Report {
    /// `stale`, `race`, `misuse` or `benign-wait`.
    pub kind: String,
    /// For a misuse: which one, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Whether it counts.
    pub error: bool,
    /// `std`, if it lies in Rust's own locks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Occurrences, in all runs.
    pub count: u64,
    /// Runs in which it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// The access that can be stale, the later one of a race, or the misuse.
    pub access: Accessed,
    /// The write that it may miss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<Accessed>,
    /// The earlier access of a race, or what ended the life of what is misused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Accessed>,
    /// The older write that it may see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub older: Option<Accessed>,
    /// For a misuse: where the memory was allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated: Option<Accessed>,
    /// For a race: the memory was freed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed: Option<bool>,
    /// The accesses that force the order under SC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<Vec<Link>>,
    /// A repair to try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
}

impl Report {
    /// The second access: the write that can be missed, the earlier one of a race, or what ended a life.
    pub fn other(&self) -> Option<&Accessed> {
        self.missed.as_ref().or(self.earlier.as_ref())
    }
}

/// An access of a running program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Accessed {
    /// The thread, 0 for the main thread.
    pub thread: u32,
    /// `load`, `store`, …
    pub what: String,
    /// The memory order, or `plain`.
    pub mode: String,
    /// The address.
    pub addr: String,
    /// Bytes.
    pub size: u64,
    /// The variable's name, if it is a global one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Which frame stands for the access.
    pub headline: usize,
    /// The call stack, innermost first.
    pub stack: Vec<Frame>,
}

impl Accessed {
    /// The frame that stands for the access.
    pub fn frame(&self) -> Option<&Frame> {
        self.stack.get(self.headline)
    }
}

/// A frame of a call stack.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// The file, if known.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The executable or shared library.
    pub module: String,
    /// The offset in it.
    pub offset: String,
    /// Inlined into the next frame.
    pub inlined: bool,
    /// The line is only the nearest one that is known: the compiler made one instruction of several places.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub near: bool,
}

impl Frame {
    /// Where it is in the source, if that is known.
    pub fn place(&self) -> Option<Place> {
        let Frame { file, line, column, .. } = self;
        (!file.is_empty()).then(|| Place { file: file.clone(), line: *line, column: *column })
    }
}

/// A step of the chain that forces an order under SC.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Link {
    /// How it is connected to the next.
    pub why: String,
    /// The thread.
    pub thread: u32,
    /// `load`, `store`, …
    pub what: String,
    /// The memory order.
    pub mode: String,
    /// The address.
    pub addr: String,
    /// Bytes.
    pub size: u64,
    /// The variable's name, if it is a global one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
}
