//! What is read from a file of LLVM IR: functions as blocks of instructions, with all that matters for memory.

use super::limits::Limits;
pub use super::offset::{Offset, gcd};
use super::types::Layout;
use rustc_hash::FxHashMap;
use seqcst_model::Mode;
use std::ops::Range;

/// A local value of a function: its parameters first, then results of instructions.
pub type Local = u32;

/// The name of a global or a function, by its number in [`Module::symbols`].
pub type Symbol = u32;

/// An operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A parameter or the result of an instruction.
    Local(Local),
    /// The address of a global or a function, and how far behind it.
    Address(Symbol, Offset),
    /// A number.
    Int(i64),
    /// Any other constant, with the symbols that it mentions.
    Constant(Vec<Symbol>),
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Reads memory.
    Load {
        /// The address.
        pointer: Value,
        /// In bytes.
        size: u64,
        /// Its memory order; [`Mode::NonAtomic`] if it is not atomic.
        order: Mode,
        /// `volatile`.
        volatile: bool,
    },
    /// Writes memory.
    Store {
        /// What is written.
        value: Value,
        /// The address.
        pointer: Value,
        /// In bytes.
        size: u64,
        /// Its memory order; [`Mode::NonAtomic`] if it is not atomic.
        order: Mode,
        /// `volatile`.
        volatile: bool,
    },
    /// Reads and writes memory in one step.
    Rmw {
        /// The address.
        pointer: Value,
        /// The operand.
        value: Value,
        /// In bytes.
        size: u64,
        /// The order.
        order: Mode,
        /// Whether memory keeps its value (`or 0`, `add 0`).
        idempotent: bool,
        /// Whether it may be a loop around a compare-and-swap, on ARMv8 (`fadd`, `nand`).
        loops: bool,
    },
    /// Compare and exchange.
    CompareExchange {
        /// The address.
        pointer: Value,
        /// The value it must have.
        expected: Value,
        /// The value it gets.
        new: Value,
        /// In bytes.
        size: u64,
        /// The order if it succeeds.
        success: Mode,
        /// The order if it fails.
        failure: Mode,
        /// Whether it may fail for no reason.
        weak: bool,
    },
    /// A fence between threads.
    Fence(Mode),
    /// A call.
    Call(Box<Call>),
    /// A stack slot.
    Alloca,
    /// An address behind another one.
    Gep {
        /// The address.
        base: Value,
        /// How far behind it.
        offset: Offset,
        /// Indices that are no constants.
        indices: Vec<Local>,
        /// The structure that `base` points at, if the instruction says so.
        of: Option<String>,
    },
    /// The same bits with another type: `bitcast`, `inttoptr`, `ptrtoint`, `freeze`, …
    Copy(Value),
    /// One of several values, by where control came from.
    Phi(Vec<(Value, usize)>),
    /// One of two values.
    Select(Value, Value, Value),
    /// A comparison of two values: the predicate as it is written.
    Compare(String, Value, Value),
    /// A field of a value.
    Extract(Value, Vec<u32>),
    /// `va_arg`: reads memory of the caller.
    Compute(Vec<Value>),
    /// An instruction that is not known to the reader: it may do anything.
    Unknown(String, Vec<Value>),
    /// The last instruction of a basic block.
    Terminator(Terminator),
}

/// The terminator of a basic block: where control goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Terminator {
    /// To one block.
    Jump(usize),
    /// To the first if the value is true, else to the second.
    Branch(Value, usize, usize),
    /// By a value: the blocks, the default first.
    Switch(Value, Vec<usize>),
    /// Back to the caller.
    Return(Option<Value>),
    /// A call whose exception goes to the second block.
    Invoke(Box<Call>, usize, usize),
    /// Out of the function by an exception.
    Resume,
    /// Nowhere: `unreachable`, or out of the thread.
    Leave,
    /// Anywhere in these (`indirectbr`, `callbr`, `catchswitch`).
    Any(Vec<usize>),
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Who is called.
    pub callee: Callee,
    /// The arguments.
    pub arguments: Vec<Value>,
    /// What it may touch, as far as attributes say so.
    pub limits: Limits,
    /// What it returns is the address of memory that has not escaped (`noalias`).
    pub fresh: bool,
    /// It throws no exception.
    pub nounwind: bool,
    /// The arguments that do not escape (`nocapture`, `captures(none)`).
    pub lent: Positions,
    /// The arguments that are numbers, and so no pointers.
    pub numbers: Positions,
    /// It gives back a number or nothing, and so no pointer.
    pub gives_number: bool,
}

/// Some of the arguments of a function, by position.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Positions(u64);

impl Positions {
    /// Adds one. Those beyond the 64th are never in it.
    pub fn insert(&mut self, position: usize) {
        self.0 |= 1u64.checked_shl(position as u32).unwrap_or(0);
    }

    /// Whether it is in.
    pub fn has(self, position: usize) -> bool {
        position < 64 && self.0 >> position & 1 == 1
    }

    /// Those in either.
    pub fn or(self, other: Positions) -> Positions {
        Positions(self.0 | other.0)
    }
}

/// Who is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function by its name.
    Direct(Symbol),
    /// The function that a value points at.
    Indirect(Value),
    /// Inline assembly: the text, the constraints.
    Assembly(String, String),
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Its result.
    pub result: Option<Local>,
    /// What it does.
    pub op: Op,
    /// Where it stands in the text.
    pub span: Range<usize>,
    /// The number of its place in the source (`!dbg !17`).
    pub debug: Option<u32>,
}

/// Instructions, the last of which says where control goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Its name.
    pub label: String,
    /// Where its label stands, or where its first instruction does.
    pub at: usize,
    /// What it does.
    pub body: Vec<Instruction>,
}

/// A parameter.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Parameter {
    /// What the address is a multiple of.
    pub align: u64,
    /// It points at a copy of what the caller gives, made by the call (`byval`): how many bytes, 0 if that is not known.
    pub copied: Option<u64>,
}

/// A function with a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: Symbol,
    /// Its parameters, which are the first locals.
    pub parameters: Vec<Parameter>,
    /// Names of locals.
    pub locals: Vec<String>,
    /// The first one is the entry.
    pub blocks: Vec<Block>,
    /// The number of its description in the debug information.
    pub debug: Option<u32>,
    /// No other file can call it (`internal`, `private`).
    pub internal: bool,
    /// Where it begins in the text.
    pub at: usize,
    /// Values that hold pointers to something of a known type: by debug information, the number of that type.
    pub pointees: FxHashMap<Local, u32>,
}

/// A global variable or constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its name.
    pub name: Symbol,
    /// Never written.
    pub constant: bool,
    /// One for each thread.
    pub thread_local: bool,
    /// Unknown to other files (`internal`, `private`).
    pub internal: bool,
    /// The symbols that its initial value mentions.
    pub mentions: Vec<Symbol>,
}

/// Another name for a global or a function, or for a place in one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alias {
    /// For which.
    pub of: Symbol,
    /// How far into it.
    pub offset: Offset,
    /// Unknown to other files.
    pub internal: bool,
}

/// What a declaration says of a function.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Declared {
    /// Where it stands in the text.
    pub at: usize,
    /// What it may touch.
    pub limits: Limits,
    /// What it returns is the address of memory that has not escaped.
    pub fresh: bool,
    /// It throws no exception.
    pub nounwind: bool,
    /// The arguments that it does not keep.
    pub lent: Positions,
}

/// A file of LLVM IR.
#[derive(Clone, Default, Debug)]
pub struct Module {
    /// `source_filename`.
    pub source: String,
    /// `target triple`.
    pub triple: String,
    /// How types lie in memory.
    pub layout: Layout,
    /// Names of globals and functions.
    pub symbols: Vec<String>,
    /// Their numbers.
    pub numbers: FxHashMap<String, Symbol>,
    /// Variables and constants.
    pub globals: FxHashMap<Symbol, Global>,
    /// Functions with bodies.
    pub functions: Vec<Function>,
    /// Where each function stands in `functions`.
    pub bodies: FxHashMap<Symbol, usize>,
    /// Functions that are only declared.
    pub declared: FxHashMap<Symbol, Declared>,
    /// Aliases.
    pub aliases: FxHashMap<Symbol, Alias>,
    /// Attribute groups that say what a function may touch.
    pub limits: FxHashMap<u32, Limits>,
    /// Attribute groups that say that a function throws nothing.
    pub nounwind_groups: Vec<u32>,
    /// Metadata: where the text of each node stands.
    pub metadata: FxHashMap<u32, Range<usize>>,
    /// How many instructions there are.
    pub instructions: usize,
    /// Whether some stores go past the caches (`!nontemporal`).
    pub nontemporal: bool,
}

impl Module {
    /// The number of a name.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.symbols.len() as Symbol;
        self.symbols.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The name behind a number.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.symbols.get(symbol as usize).map_or("", String::as_str)
    }
}

impl Op {
    /// The call in it, if it is one.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Op::Call(call) | Op::Terminator(Terminator::Invoke(call, ..)) => Some(call),
            _ => None,
        }
    }

    /// The values that it uses.
    pub fn operands(&self) -> Vec<&Value> {
        match self {
            Op::Load { pointer, .. } => vec![pointer],
            Op::Store { value, pointer, .. } | Op::Rmw { value, pointer, .. } => vec![value, pointer],
            Op::CompareExchange { pointer, expected, new, .. } => vec![pointer, expected, new],
            Op::Call(call) | Op::Terminator(Terminator::Invoke(call, ..)) => {
                let callee = match &call.callee {
                    Callee::Indirect(value) => Some(value),
                    _ => None,
                };
                call.arguments.iter().chain(callee).collect()
            }
            Op::Gep { base, .. } => vec![base],
            Op::Copy(value) | Op::Extract(value, _) => vec![value],
            Op::Phi(incoming) => incoming.iter().map(|(value, _)| value).collect(),
            Op::Select(a, b, c) => vec![a, b, c],
            Op::Compare(_, a, b) => vec![a, b],
            Op::Compute(values) | Op::Unknown(_, values) => values.iter().collect(),
            Op::Terminator(
                Terminator::Branch(value, ..)
                | Terminator::Switch(value, _)
                | Terminator::Return(Some(value)),
            ) => vec![value],
            Op::Fence(_) | Op::Alloca | Op::Terminator(_) => Vec::new(),
        }
    }
}

impl Block {
    /// Where control goes from here.
    pub fn successors(&self) -> Vec<usize> {
        match self.body.last().map(|last| &last.op) {
            Some(Op::Terminator(end)) => end.successors(),
            _ => Vec::new(),
        }
    }
}

impl Terminator {
    /// Where control can go.
    pub fn successors(&self) -> Vec<usize> {
        match self {
            Terminator::Jump(to) => vec![*to],
            Terminator::Branch(_, yes, no) => vec![*yes, *no],
            Terminator::Switch(_, to) | Terminator::Any(to) => to.clone(),
            Terminator::Invoke(_, normal, exception) => vec![*normal, *exception],
            Terminator::Return(_) | Terminator::Resume | Terminator::Leave => Vec::new(),
        }
    }
}
