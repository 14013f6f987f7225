//! What a report is about, as plain data: text and JSON are made of this.

use super::frames::{self, Frame};
use super::misuse::Misuse;
use crate::context::Site;
use crate::journal::{EventKind, Link};
use seqcst_model::Mode;

/// Kinds of reports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A robustness violation.
    Stale,
    /// A data race.
    Race,
    /// A violation that can only make a loop wait longer.
    Wait,
    /// Memory or an object is used that may not be used, or not so.
    Misuse(Misuse),
}

impl Kind {
    /// A number for each.
    pub fn number(self) -> u64 {
        match self {
            Kind::Stale => 0,
            Kind::Race => 1,
            Kind::Wait => 2,
            Kind::Misuse(misuse) => 3 + misuse.number(),
        }
    }

    /// Is it of the same kind, whatever the misuse is?
    pub fn is_like(self, other: Kind) -> bool {
        self == other || matches!((self, other), (Kind::Misuse(_), Kind::Misuse(_)))
    }
}

/// An access, as the monitors know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The thread's number as shown to people.
    pub thread: u32,
    /// What it is.
    pub what: EventKind,
    /// Its memory order. None: plain, or not known.
    pub mode: Option<Mode>,
    /// Location. (An allocation: its alignment.)
    pub addr: usize,
    /// Bytes.
    pub size: u8,
    /// Where in the program.
    pub site: Site,
}

/// What a compare-and-swap came to, and what else it could have come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Swap {
    /// What it expects.
    pub expected: u64,
    /// What it found.
    pub found: u64,
    /// What it could have found, without repetition.
    pub old: Vec<u64>,
    /// Its memory order if it fails.
    pub failure: Mode,
}

/// An access with names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The access.
    pub access: Access,
    /// Innermost first.
    pub stack: Vec<Frame>,
    /// The global variable it accesses.
    pub variable: Option<String>,
}

impl Shown {
    /// The frame that stands for the access.
    pub fn headline(&self) -> Option<&Frame> {
        frames::headline(&self.stack)
    }

    /// `file.c:31`
    pub fn place(&self) -> String {
        self.headline().map_or_else(|| "an unknown place".to_owned(), Frame::place)
    }

    /// `file.c:31:12`
    pub fn exact_place(&self) -> String {
        self.headline().map_or_else(|| "?".to_owned(), Frame::exact_place)
    }

    /// The source file, perhaps empty.
    pub fn file(&self) -> String {
        self.headline().map(|frame| frame.file.clone()).unwrap_or_default()
    }
}

/// One step of a chain with names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The access.
    pub link: Link,
    /// The frame that stands for it.
    pub frame: Option<Frame>,
    /// The global variable it accesses.
    pub variable: Option<String>,
}

impl Step {
    /// `file.c:31`
    pub fn place(&self) -> String {
        self.frame.as_ref().map_or_else(|| "an unknown place".to_owned(), Frame::place)
    }

    /// `file.c:31:12`
    pub fn exact_place(&self) -> String {
        self.frame.as_ref().map_or_else(|| "?".to_owned(), Frame::exact_place)
    }
}

/// What becomes of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is printed and counts as an error.
    Error,
    /// It is counted.
    Counted,
    /// It is counted: inside of the locks of Rust's standard library.
    StdLock,
    /// This rule of the suppressions keeps it back.
    Suppressed(usize),
}

/// A distinct pair of source positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// What kind.
    pub kind: Kind,
    /// What becomes of it.
    pub fate: Fate,
    /// Occurrences, as far as they aren't counted by pairs of sites.
    pub count: u64,
    /// The stale access, the later one of a race, or the misuse.
    pub access: Shown,
    /// The missed write, the earlier one of a race, or what ended the life of what is misused.
    pub other: Option<Shown>,
    /// The write that a stale access could read instead, or where memory that is misused was allocated.
    pub older: Option<Shown>,
    /// If the stale access compares and swaps.
    pub swap: Option<Swap>,
    /// The later one of a race frees the memory.
    pub freed: bool,
    /// From the missed write to the stale access.
    pub chain: Vec<Step>,
    /// A sentence, or empty.
    pub repair: String,
}
