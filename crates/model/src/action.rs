//! What a thread is about to do, and what came of it.
//!
//! An [`Action`] is a memory instruction with its operands evaluated; an [`Outcome`] is the label of the
//! event it produced. Programs are anything that answers "what can each thread do next?" ([`Program`]): the
//! explorer, the monitors and the oracle all see programs through this one trait.

use crate::Mode;
use std::hash::Hash;

/// A value held by a register or location.
pub type Value = u32;

/// A shared location, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Loc(pub u8);

impl Loc {
    /// The location's number, for indexing.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The kind of a memory instruction, operands evaluated.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Reads any value.
    Load,
    /// Blocks until one of the values can be read; a failed attempt leaves no event.
    Wait(Vec<Value>),
    /// Writes the value.
    Store(Value),
    /// Adds the operand, modulo `modulus`, atomically.
    FetchAdd {
        /// What is added.
        operand: Value,
        /// Values are `0..modulus`.
        modulus: Value,
    },
    /// Replaces the value, atomically.
    Exchange(Value),
    /// Replaces `expected` by `new`; otherwise it is a load of a value other than `expected`.
    Cas {
        /// The value that must be found.
        expected: Value,
        /// The value that replaces it.
        new: Value,
    },
    /// Like [`Op::Cas`], but may also fail (and be a load) when it finds `expected`.
    WeakCas {
        /// The value that must be found.
        expected: Value,
        /// The value that replaces it.
        new: Value,
    },
    /// Blocks until it can replace `expected` by `new`; a failed attempt leaves no event.
    BlockingCas {
        /// The value that must be found.
        expected: Value,
        /// The value that replaces it.
        new: Value,
    },
    /// A fence: no location. For RA and RC20, which have no SC fences, one of mode [`Mode::SeqCst`] is lowered to an acquire fence, a `FetchAdd` of 0 on a hidden location, and a release fence.
    Fence,
}

/// A memory instruction that a thread is about to execute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Action {
    /// What it does.
    pub op: Op,
    /// Where (meaningless for a fence).
    pub loc: Loc,
    /// Its memory order.
    pub mode: Mode,
    /// The memory order of a compare-and-swap that fails, where it isn't simply the read half of `mode`.
    pub failure: Option<Mode>,
    /// The instruction it comes from: an index into the program's table of sites, for reports.
    pub site: u32,
}

/// What an action did: the label of its event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Read the value.
    Read(Value),
    /// Wrote the value.
    Wrote(Value),
    /// Read the first value and replaced it by the second, atomically.
    Updated(Value, Value),
    /// A fence.
    Fenced,
}

impl Outcome {
    /// The value read, if any.
    pub fn value_read(self) -> Option<Value> {
        match self {
            Outcome::Read(v) | Outcome::Updated(v, _) => Some(v),
            _ => None,
        }
    }

    /// The value written, if any.
    pub fn value_written(self) -> Option<Value> {
        match self {
            Outcome::Wrote(v) | Outcome::Updated(_, v) => Some(v),
            _ => None,
        }
    }
}

impl Action {
    /// What the action may do where it finds `found`: nothing if it blocks, two things for a weak
    /// compare-and-swap that may succeed.
    pub fn outcomes(&self, found: Value) -> impl Iterator<Item = Outcome> + use<> {
        let (first, second) = match self.op {
            Op::Load => (Some(Outcome::Read(found)), None),
            Op::Wait(ref values) => (values.contains(&found).then_some(Outcome::Read(found)), None),
            Op::Store(v) => (Some(Outcome::Wrote(v)), None),
            Op::FetchAdd { operand, modulus } => {
                let sum = (u64::from(found) + u64::from(operand)) % u64::from(modulus.max(1));
                (Some(Outcome::Updated(found, sum as Value)), None)
            }
            Op::Exchange(v) => (Some(Outcome::Updated(found, v)), None),
            Op::Cas { expected, new } if found == expected => (Some(Outcome::Updated(found, new)), None),
            Op::Cas { .. } => (Some(Outcome::Read(found)), None),
            Op::WeakCas { expected, new } if found == expected => {
                (Some(Outcome::Updated(found, new)), Some(Outcome::Read(found)))
            }
            Op::WeakCas { .. } => (Some(Outcome::Read(found)), None),
            Op::BlockingCas { expected, new } => {
                ((found == expected).then_some(Outcome::Updated(found, new)), None)
            }
            Op::Fence => (Some(Outcome::Fenced), None),
        };
        first.into_iter().chain(second)
    }

    /// Whether the instruction has any chance to write.
    pub fn may_write(&self) -> bool {
        !matches!(self.op, Op::Load | Op::Wait(_) | Op::Fence)
    }

    /// The mode of the event that `outcome` labels: a failed compare-and-swap keeps only the read half, or has a mode
    /// of its own.
    pub fn mode_of(&self, outcome: Outcome) -> Mode {
        match outcome {
            Outcome::Read(_) => self.failure.unwrap_or(self.mode.read_part()),
            _ => self.mode,
        }
    }
}

/// Where a thread is after a step.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Next<L> {
    /// About to execute the action of this local state (or finished, if it has none).
    At(L),
    /// An assertion at this site failed.
    AssertionFailed(u32),
}

/// Po-earlier events of the same thread (numbered from 0) on which the next action of a thread depends.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Dependencies {
    /// Reads whose value flows into a value that the action writes or compares with.
    pub data: Vec<usize>,
    /// Reads whose value decided a branch on the way to the action.
    pub ctrl: Vec<usize>,
}

/// A concurrent program: what can each thread do next?
///
/// Local steps (assignments, branches) are folded into the memory actions around them.
pub trait Program {
    /// A thread's local state: control and registers.
    type Local: Clone + Eq + Hash + std::fmt::Debug;

    /// The initial value of every location.
    fn initial(&self) -> &[Value];

    /// The number of threads.
    fn threads(&self) -> usize;

    /// The local states in which a thread can start (several after a free choice).
    fn start(&self, thread: usize) -> Vec<Next<Self::Local>>;

    /// The action that the thread is about to execute, or `None` if it is finished.
    fn action(&self, thread: usize, local: &Self::Local) -> Option<Action>;

    /// The local states that the thread can be in after its action had this outcome.
    fn after(&self, thread: usize, local: &Self::Local, outcome: Outcome) -> Vec<Next<Self::Local>>;

    /// What the next action depends on; only the ARM models ask.
    fn dependencies(&self, _thread: usize, _local: &Self::Local) -> Dependencies {
        Dependencies::default()
    }
}
