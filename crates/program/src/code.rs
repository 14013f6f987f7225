//! Lowered programs: per thread a flat list of instructions, for one memory model.
//!
//! The front ends produce [`crate::ast`]; lowering turns it into this form, once per memory model, because defaults,
//! SC fences and SC accesses mean different instructions there.

use crate::values::Values;
use seqcst_model::{Loc, Mode, Model, Value};

/// An instruction's index in its thread.
pub type Pc = u32;

/// A register's index in its thread.
pub type Reg = u16;

/// An expression over the registers of a thread, evaluated by [`Values::eval`]; truth is "not 0".
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A constant, as it is stored.
    Const(Value),
    /// A register.
    Reg(Reg),
    /// A unary operator.
    Unary(Unary, Box<Expr>),
    /// A binary operator.
    Binary(Binary, Box<Expr>, Box<Expr>),
}

/// Unary operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// `!e`
    Not,
    /// `-e`
    Neg,
    /// `~e`
    BitNot,
}

/// Binary operators, with C's meaning and precedence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
}

/// A memory instruction's kind, operands not yet evaluated. See [`seqcst_model::Op`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum AccessKind {
    Load,
    Wait(Vec<Expr>),
    Store(Expr),
    FetchAdd(Expr),
    Exchange(Expr),
    Cas {
        expected: Expr,
        new: Expr,
    },
    /// The result register gets 1 if it succeeded and 0 if not.
    WeakCas {
        expected: Expr,
        new: Expr,
    },
    BlockingCas {
        expected: Expr,
        new: Expr,
    },
    Fence,
}

/// A memory instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// Where (`Loc(0)` and meaningless for a fence).
    pub loc: Loc,
    /// Its memory order.
    pub mode: Mode,
    /// The memory order of a compare-and-swap that fails, where it isn't simply the read half of `mode`.
    pub failure: Option<Mode>,
    /// The register that gets the value read (the success flag, for a weak compare-and-swap).
    pub dest: Option<Reg>,
    /// Index into [`Code::sites`].
    pub site: u32,
}

/// An instruction. Execution falls through to the next index unless said otherwise.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Instr {
    /// `reg = expr`
    Assign(Reg, Expr),
    /// Jumps if the expression is not 0.
    Branch(Expr, Pc),
    /// Jumps.
    Jump(Pc),
    /// A free choice among several continuations.
    Choose(Vec<Pc>),
    /// Ends the thread if the expression is 0.
    Assume(Expr),
    /// Fails (at this site) if the expression is 0.
    Assert(Expr, u32),
    /// Fails (at this site) if the expression has no value in [`Code::values`]. What else evaluates it comes later.
    Fits(Expr, u32),
    /// A memory instruction.
    Access(Access),
    /// The thread is finished.
    End,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its name in the source (`t[2]` for the instances of a replicated thread).
    pub name: String,
    /// Its instructions; the first is where it starts, the last is [`Instr::End`].
    pub instrs: Vec<Instr>,
    /// Register names. All registers start at 0.
    pub regs: Vec<String>,
}

/// A shared location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Its name in the source.
    pub name: String,
    /// Its initial value.
    pub initial: Value,
    /// Whether it may only be accessed by non-atomic accesses.
    pub non_atomic: bool,
    /// Whether it is the location behind SC fences, which the user never wrote.
    pub hidden: bool,
}

/// Where an instruction stands in the source, for reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// Byte range in the source text.
    pub span: std::ops::Range<usize>,
    /// What the user wrote, in one line, as printed by the printer: `r = x.load(acq)`.
    pub text: String,
}

/// A lowered program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    /// The memory model that it was lowered for.
    pub model: Model,
    /// Which values there are.
    pub values: Values,
    /// Locations; at most 64, the hidden one included.
    pub locations: Vec<Location>,
    /// Threads; at most 32.
    pub threads: Vec<Thread>,
    /// Where instructions come from.
    pub sites: Vec<Site>,
}

impl Code {
    /// Values are stored as `0..modulus`.
    pub fn modulus(&self) -> Value {
        self.values.modulus()
    }

    /// What cannot be modelled, if what fails at a site is no assertion: a value leaves its range there.
    pub fn why_unmodelled(&self, site: u32) -> Option<String> {
        let is_it = |instr: &Instr| matches!(instr, Instr::Fits(_, other) if *other == site);
        let site = self.sites.get(site as usize)?;
        let found = self.threads.iter().any(|thread| thread.instrs.iter().any(is_it));
        found
            .then(|| format!("`{}` has no value between {}: others are not modelled", site.text, self.values))
    }
}
