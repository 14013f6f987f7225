//! The syntax tree that both front ends produce: what was written, and where.
//!
//! Trees are compared up to positions ([`At`]), so that printing and parsing again gives an equal tree.

use crate::code::{Binary, Unary};
use crate::values::Values;
use seqcst_model::Mode;
use std::ops::Range;

/// A range of bytes in the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }

    /// From the start of this span to the end of the other.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }

    /// As a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A piece of syntax and where it stands. Equality ignores the position.
#[derive(Clone, Debug)]
pub struct At<T> {
    /// The piece of syntax.
    pub node: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> At<T> {
    /// A piece of syntax at a place.
    pub fn new(node: T, span: Span) -> Self {
        At { node, span }
    }
}

impl<T: PartialEq> PartialEq for At<T> {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

impl<T: Eq> Eq for At<T> {}

/// An identifier.
pub type Name = At<String>;

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The smallest value, if written. Values never wrap then: see [`Program::values`].
    pub min_value: Option<At<i64>>,
    /// The largest value, if written: see [`Program::max_value`].
    pub max_value: Option<At<u32>>,
    /// Shared locations, in the order in which they were declared.
    pub locations: Vec<Location>,
    /// Critical values named by the user: a hint that no engine needs.
    pub tracks: Vec<Track>,
    /// Threads, replicated ones once.
    pub threads: Vec<Thread>,
}

impl Program {
    /// What [`Program::max_value`] is when the program does not say.
    pub const DEFAULT_MAX_VALUE: u32 = 255;

    /// The largest value.
    pub fn max_value(&self) -> u32 {
        self.max_value.as_ref().map_or(Self::DEFAULT_MAX_VALUE, |m| m.node)
    }

    /// The values of a program that passes [`crate::check()`].
    pub fn values(&self) -> Values {
        match &self.min_value {
            Some(min) => Values::exact(min.node, self.max_value()),
            None => Values::wrapping(self.max_value()),
        }
    }
}

/// A shared location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Its name.
    pub name: Name,
    /// Its initial value, if written (0 otherwise).
    pub initial: Option<At<i64>>,
    /// Declared with `na`.
    pub non_atomic: bool,
}

/// `track x: 1, 2;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track {
    /// The location.
    pub location: Name,
    /// Its critical values; `None` for `all`.
    pub values: Option<Vec<At<i64>>>,
}

/// A thread, or several identical ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its name. In a replicated thread the name also stands for the instance's number, from 0.
    pub name: Name,
    /// How many instances, if it is replicated: `fn t[4] { … }`.
    pub count: Option<At<u32>>,
    /// Its registers. All start at 0.
    pub locals: Vec<Name>,
    /// What it does.
    pub body: Block,
}

/// A sequence of statements.
pub type Block = Vec<Stmt>;

/// A statement.
pub type Stmt = At<StmtKind>;

/// What a statement does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StmtKind {
    /// `label:`
    Label(Name),
    /// `goto label;`
    Goto(Name),
    /// `r = e;`
    Assign(Name, Expr),
    /// A memory access or fence, and the register that takes its result.
    Access(Option<Name>, Access),
    /// `if (e) { … } else { … }`; an absent `else` is an empty block.
    If(Expr, Block, Block),
    /// `while (e) { … }`
    While(Expr, Block),
    /// `oneof ({ … } { … });`
    OneOf(Vec<Block>),
    /// `assert(e);`
    Assert(Expr),
    /// `assume(e);`
    Assume(Expr),
    /// `verify(e);` has no effect.
    Verify(Expr),
    /// `skip;`
    Skip,
}

/// A memory access or fence. A mode that was not written is `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// `x.load(mode)`
    Load(Name, Option<At<Mode>>),
    /// `x.naload()`
    NaLoad(Name),
    /// `x.store(e, mode)`
    Store(Name, Expr, Option<At<Mode>>),
    /// `x.nastore(e)`
    NaStore(Name, Expr),
    /// `wait(x, e…, mode)`
    Wait(Name, Vec<Expr>, Option<At<Mode>>),
    /// `FADD(x, e, modes)`
    FetchAdd(Name, Expr, RmwMode),
    /// `exchange(x, e, modes)`
    Exchange(Name, Expr, RmwMode),
    /// `CAS(x, expected, new, modes)` and its variants.
    Cas(CasKind, Box<Cas>),
    /// `lock(x)`
    Lock(Name),
    /// `unlock(x)`
    Unlock(Name),
    /// `fence(mode)`; `fence` alone is an SC fence.
    Fence(At<Mode>),
}

/// The operands of a compare-and-swap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cas {
    /// The location that it accesses.
    pub location: Name,
    /// The value that must be found.
    pub expected: Expr,
    /// The value that replaces it.
    pub new: Expr,
    /// The modes when it succeeds.
    pub mode: RmwMode,
    /// The mode of the load that a failed attempt is, if it is not the read half of `mode`.
    pub failure: Option<At<Mode>>,
}

/// The variants of compare-and-swap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CasKind {
    /// `CAS`: fails only on another value. Gives the value read.
    Strong,
    /// `WCAS`: may also fail on the expected value. Gives 1 if it succeeded and 0 if not.
    Weak,
    /// `BCAS`: blocks until it can succeed. Gives the value read.
    Blocking,
    /// `FCAS`: a weak one that does fail, whatever it finds. Gives the value read.
    Failing,
}

/// The mode of a read-modify-write, as written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum RmwMode {
    /// Nothing written.
    #[default]
    Unwritten,
    /// One mode for both halves: `acq_rel`.
    Whole(At<Mode>),
    /// The read half and the write half: `acq, rel`.
    Halves(At<Mode>, At<Mode>),
}

impl RmwMode {
    /// The one mode that stands for both halves, if something was written.
    pub fn whole(&self) -> Option<Mode> {
        match self {
            RmwMode::Unwritten => None,
            RmwMode::Whole(mode) => Some(mode.node),
            RmwMode::Halves(read, write) => Some(match (read.node, write.node) {
                (Mode::SeqCst, _) | (_, Mode::SeqCst) => Mode::SeqCst,
                (r, w) if r.is_acquire() && w.is_release() => Mode::AcqRel,
                (r, _) if r.is_acquire() => Mode::Acquire,
                (_, w) if w.is_release() => Mode::Release,
                _ => Mode::Relaxed,
            }),
        }
    }
}

/// An expression over registers.
pub type Expr = At<ExprKind>;

/// What an expression is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExprKind {
    /// A number, as written.
    Number(u32),
    /// `true` or `false`
    Bool(bool),
    /// A register, or the number of a replicated thread.
    Name(String),
    /// A unary operator.
    Unary(Unary, Box<Expr>),
    /// A binary operator.
    Binary(Binary, Box<Expr>, Box<Expr>),
}
