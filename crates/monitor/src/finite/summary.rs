//! What a program can do to each location: all that a monitor needs to know of it in advance.

use seqcst_model::{Loc, Mode, Value};

/// A kind of access, with the constants it compares with (`None`: some value not known in advance).
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Use {
    Load,
    Wait(Vec<Option<Value>>),
    Store,
    /// An unconditional read-modify-write.
    Update,
    Cas(Option<Value>),
    WeakCas(Option<Value>),
    BlockingCas(Option<Value>),
}

impl Use {
    /// Whether it may write.
    pub fn writes(&self) -> bool {
        !matches!(self, Use::Load | Use::Wait(_))
    }

    /// Whether what it writes, if anything, is written by a read-modify-write.
    pub fn updates(&self) -> bool {
        self.writes() && *self != Use::Store
    }
}

/// An access in the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The thread.
    pub thread: usize,
    /// The location.
    pub loc: Loc,
    /// What it does.
    pub what: Use,
    /// Its memory order.
    pub mode: Mode,
    /// Its memory order if it only reads.
    pub read_mode: Mode,
}

/// Everything a program can do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Number of threads.
    pub threads: usize,
    /// Number of locations.
    pub locations: usize,
    /// Values are `0..modulus`.
    pub modulus: Value,
    /// All accesses.
    pub uses: Vec<Usage>,
    /// All fences: thread and mode.
    pub fences: Vec<(usize, Mode)>,
}

impl Summary {
    /// The accesses to a location.
    pub fn of(&self, loc: Loc) -> impl Iterator<Item = &Usage> {
        self.uses.iter().filter(move |usage| usage.loc == loc)
    }

    /// Whether several threads access the location and somebody writes it: otherwise no access to it can be stale,
    /// and no order between threads comes from it.
    pub fn is_shared(&self, loc: Loc) -> bool {
        let mut threads = self.of(loc).map(|usage| usage.thread);
        let first = threads.next();
        threads.any(|thread| Some(thread) != first) && self.of(loc).any(|usage| usage.what.writes())
    }
}
