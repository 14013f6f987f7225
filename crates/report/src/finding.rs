//! What an engine found, as plain data: the one input of every renderer.
//!
//! Nothing here knows a memory model or a search: events carry printed labels, relations are lists of named edges.

use serde::Serialize;
use std::ops::Range;

/// The answer for one input.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The input's path, as the user gave it.
    pub file: String,
    /// The input's text, for snippets.
    pub source: String,
    /// The memory model, e.g. `rc20`.
    pub model: String,
    /// The answer.
    pub verdict: Verdict,
    /// States visited.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Names of the threads, in order.
    pub threads: Vec<String>,
    /// The execution that proves a verdict other than robust.
    pub witness: Option<Witness>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every behaviour is a behaviour of SC; no race, no failed assertion.
    Robust,
    /// Some behaviour is not a behaviour of SC.
    NotRobust,
    /// Two conflicting accesses to a non-atomic location are not ordered.
    Race,
    /// An assertion can fail.
    Assertion,
    /// Some thread can get stuck for ever.
    Deadlock,
    /// No proof was found that every behaviour is one of SC; the witness is part of an execution.
    MayBeNonRobust,
    /// A limit was reached first: which, and how far the search got.
    GaveUp(String),
}

/// An execution, and what is wrong with it.
#[derive(Clone, Debug, Serialize)]
pub struct Witness {
    /// All events: initial writes first, then the SC run in order of execution, and last, for a violation of
    /// robustness, the stale access as the weak model allows it.
    pub events: Vec<Event>,
    /// Relations between events, by index into `events`.
    pub edges: Vec<Edge>,
    /// What is wrong.
    pub problem: Problem,
}

/// An event.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// The thread, or `None` for an initial write.
    pub thread: Option<usize>,
    /// Step number in the run, from 1; 0 for an initial write.
    pub step: usize,
    /// What it did, e.g. `W.rel x 1`, `R.acq y 0`, `U.acq_rel z 0→1`, `F.acq`.
    pub label: String,
    /// The location's name, if it has one that the user wrote.
    pub location: Option<String>,
    /// The statement in the source, in one line; empty for an initial write.
    pub text: String,
    /// Where the statement stands in the source.
    #[serde(skip)]
    pub span: Range<usize>,
    /// Line in the source, from 1; 0 for an initial write.
    pub line: usize,
    /// Column in the source, from 1; 0 for an initial write.
    pub column: usize,
    /// Part of the lowering of an SC fence or SC access that the user did not write as such.
    pub hidden: bool,
}

/// A relation's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// Program order (only between neighbours in a thread).
    Po,
    /// Reads-from.
    Rf,
    /// Modification order (only between neighbours).
    Mo,
    /// From-read (to the next write only).
    Fr,
}

/// An edge of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// Index of the first event.
    pub from: usize,
    /// Index of the second event.
    pub to: usize,
    /// Which relation.
    pub relation: Relation,
}

/// What is wrong with the execution.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Problem {
    /// The last event is allowed by the weak model and not by SC.
    Stale {
        /// The stale access: index of the last event.
        access: usize,
        /// The write that SC makes it read from, or lands after: the last write to the location.
        latest: usize,
        /// The older write that the weak model lets it read from, or land right after.
        older: usize,
        /// Whether the access reads (`true`) or only writes (`false`).
        reads: bool,
        /// Whether the access has to wait under SC, because what it finds there is not what it waits for.
        waits: bool,
        /// Edges from `latest` to `access` that order them under SC (a path in `hbSC`); the missing one is the
        /// happens-before from `latest` to `access`.
        path: Vec<Edge>,
        /// The cycle that SC forbids: `path` closed by an edge from `access` back to `latest`.
        cycle: Vec<Edge>,
        /// The SC axiom's and the model's word on it, e.g. `po ∪ rf ∪ mo ∪ fr has a cycle`.
        axiom: String,
    },
    /// Two conflicting accesses that nothing orders.
    Race {
        /// The earlier access.
        first: usize,
        /// The later access: index of the last event.
        second: usize,
    },
    /// Part of an execution, for which a proof fails: nothing makes the newest write known to the access.
    Unproved {
        /// The newest write.
        newest: usize,
        /// The access that may miss it.
        access: usize,
        /// What goes wrong, in words.
        why: String,
    },
    /// An assertion failed after the last event.
    Assertion {
        /// The thread.
        thread: usize,
        /// The assertion in the source.
        text: String,
        /// Where it stands.
        #[serde(skip)]
        span: Range<usize>,
        /// Line in the source, from 1.
        line: usize,
        /// Column in the source, from 1.
        column: usize,
    },
    /// After the last event the thread can never move again.
    Deadlock {
        /// The thread.
        thread: usize,
        /// The statement it is stuck at.
        text: String,
        /// Where it stands.
        #[serde(skip)]
        span: Range<usize>,
        /// Line in the source, from 1.
        line: usize,
        /// Column in the source, from 1.
        column: usize,
    },
}
