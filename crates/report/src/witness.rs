//! An execution that shows what is wrong, as plain data: typed events, and relations as lists of edges.

mod json;

use crate::Verdict;
use seqcst_model::{Mode, Model};
use serde::Serialize;
use std::ops::Range;

/// An execution, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The file that the statements are in, as the user named it.
    pub file: String,
    /// Its text, for excerpts.
    pub source: String,
    /// The memory model.
    pub model: Model,
    /// Names of the threads, in order.
    pub threads: Vec<String>,
    /// Whether this is only part of an execution, for which a proof fails: nothing is violated for certain.
    pub is_partial: bool,
    /// All events: initial writes first, then the SC run in order of execution, and last, for a violation of
    /// robustness, the stale access as the weak model allows it.
    pub events: Vec<Event>,
    /// Relations between events, by index into `events`.
    pub edges: Vec<Edge>,
    /// What is wrong.
    pub problem: Problem,
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// The thread, or `None` for an initial write.
    pub thread: Option<usize>,
    /// Step number in the run, from 1; 0 for an initial write.
    pub step: usize,
    /// What it read and wrote; none if that does not matter (in part of an execution).
    pub effect: Option<Effect>,
    /// Its memory order; none for initial writes, and where the model has no orders.
    pub mode: Option<Mode>,
    /// The location's name; none for a fence.
    pub location: Option<String>,
    /// The statement in the source, in one line; empty for an initial write.
    pub text: String,
    /// Where the statement stands in the source.
    pub span: Range<usize>,
    /// Line in the source, from 1; 0 for an initial write.
    pub line: usize,
    /// Column in the source, from 1; 0 for an initial write.
    pub column: usize,
    /// Part of the lowering of an SC fence or SC access that the user did not write as such.
    pub hidden: bool,
}

/// What an event read and wrote, as the user writes values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Read a value.
    Read(i64),
    /// Wrote a value.
    Wrote(i64),
    /// Read a value and wrote another one, atomically.
    Updated(i64, i64),
    /// A fence.
    Fenced,
}

impl Effect {
    /// The value read, if any.
    pub fn value_read(self) -> Option<i64> {
        match self {
            Effect::Read(value) | Effect::Updated(value, _) => Some(value),
            _ => None,
        }
    }

    /// The value written, if any.
    pub fn value_written(self) -> Option<i64> {
        match self {
            Effect::Wrote(value) | Effect::Updated(_, value) => Some(value),
            _ => None,
        }
    }
}

impl Event {
    /// `W.rel x 1`, `R.acq y 0`, `U.acq_rel z 0→1`, `F.acq`; empty if it is not known what the event did.
    pub fn label(&self) -> String {
        let mode = self.mode.map(|mode| format!(".{mode}")).unwrap_or_default();
        let name = self.location.as_deref().unwrap_or_default();
        match self.effect {
            Some(Effect::Read(value)) => format!("R{mode} {name} {value}"),
            Some(Effect::Wrote(value)) => format!("W{mode} {name} {value}"),
            Some(Effect::Updated(old, new)) => format!("U{mode} {name} {old}→{new}"),
            Some(Effect::Fenced) => format!("F{mode}"),
            None => String::new(),
        }
    }

    /// Whether it is a fence.
    pub fn is_fence(&self) -> bool {
        self.effect == Some(Effect::Fenced)
    }
}

/// A relation's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Edge {
    /// Index of the first event.
    pub from: usize,
    /// Index of the second event.
    pub to: usize,
    /// Which relation.
    pub relation: Relation,
}

/// What is wrong with the execution.
#[derive(Clone, Debug)]
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
        span: Range<usize>,
        /// Line in the source, from 1.
        line: usize,
        /// Column in the source, from 1.
        column: usize,
    },
}

impl Witness {
    /// What the execution shows.
    pub fn verdict(&self) -> Verdict {
        match self.problem {
            _ if self.is_partial => Verdict::MayBeNonRobust,
            Problem::Unproved { .. } => Verdict::MayBeNonRobust,
            Problem::Stale { .. } => Verdict::NotRobust,
            Problem::Race { .. } => Verdict::Race,
            Problem::Assertion { .. } => Verdict::Assertion,
            Problem::Deadlock { .. } => Verdict::Deadlock,
        }
    }

    /// `not robust: sb.tpl under rc20`
    pub(crate) fn title(&self) -> String {
        let file = crate::format::one_line(&self.file);
        format!("{}: {file} under {}", self.verdict().headline(), self.model)
    }
}
