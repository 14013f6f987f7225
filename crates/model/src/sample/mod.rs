//! Random programs, for tests of this and other crates.
//!
//! A [`RandomProgram`] is a small loop-free program with every kind of memory instruction; it prints itself
//! in TPL syntax and [`RandomProgram::lower`]s itself to what one memory model understands. Everything is a
//! function of the seed, on every machine.

mod lower;
mod random;

pub use lower::Lowered;
pub use random::Random;

use crate::{Loc, Mode, Value};
use std::fmt;

/// What locations are called.
const NAMES: [&str; 6] = ["x", "y", "z", "t", "u", "v"];

/// What programs to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// How many threads, at least 1.
    pub threads: usize,
    /// How many statements in all.
    pub statements: usize,
    /// How many locations, 1 to 3.
    pub locations: usize,
    /// Whether the last location is non-atomic.
    pub non_atomic: bool,
    /// Values are `0..modulus`.
    pub modulus: Value,
}

/// A program of straight-line threads with one register `r` each, the value last read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RandomProgram {
    /// Values are `0..modulus`.
    pub modulus: Value,
    /// The number of locations, all 0 at the start.
    pub locations: usize,
    /// Whether the last location is non-atomic.
    pub non_atomic: bool,
    /// The threads.
    pub threads: Vec<Vec<Statement>>,
}

/// A statement of a random program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Statement {
    /// Executed only if the register is not 0.
    pub guarded: bool,
    /// What it does.
    pub kind: Kind,
    /// Where (meaningless for a fence).
    pub loc: Loc,
    /// Its memory order, as written.
    pub mode: Mode,
    /// The order of a compare-and-swap that fails, where it has one of its own.
    pub failure: Option<Mode>,
}

/// What a statement does. Loads, updates and strong compare-and-swaps leave the value read in the register, a
/// weak compare-and-swap leaves 1 if it succeeded and 0 if not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Load,
    Wait(Vec<Value>),
    Store(Operand),
    FetchAdd(Operand),
    Exchange(Operand),
    Cas(Value, Operand),
    WeakCas(Value, Operand),
    BlockingCas(Value, Operand),
    Fence,
}

impl Kind {
    /// Whether it is an atomic read-modify-write, or a failed try at one.
    pub fn is_rmw(&self) -> bool {
        !matches!(self, Kind::Load | Kind::Wait(_) | Kind::Store(_) | Kind::Fence)
    }
}

/// A value written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A constant.
    Const(Value),
    /// The register plus a constant.
    Register(Value),
}

impl RandomProgram {
    /// Draws a program of any shape: 2–4 threads, 4–8 statements, 1–3 locations, values 0–2, no non-atomic
    /// accesses.
    pub fn from_seed(seed: u64) -> RandomProgram {
        let mut random = Random::new(seed);
        let statements = 4 + random.below(5);
        let threads = 2 + random.below(3);
        let locations = [1, 2, 2, 2, 3, 3][random.below(6)];
        RandomProgram::draw(
            &mut random,
            Shape { threads, statements, locations, non_atomic: false, modulus: 3 },
        )
    }

    /// Draws a program of this shape.
    pub fn draw(random: &mut Random, shape: Shape) -> RandomProgram {
        let count = shape.threads.max(1);
        let locations = shape.locations.clamp(1, 3);
        let mut program = RandomProgram {
            modulus: shape.modulus.max(2),
            locations,
            non_atomic: shape.non_atomic,
            threads: vec![Vec::new(); count],
        };
        for number in 0..shape.statements {
            let thread = if number < count { number } else { random.below(count) };
            let statement = program.draw_statement(random);
            program.threads[thread].push(statement);
        }
        program
    }

    /// The same program with about half of its accesses and most of its fences SC, and with orders of their own for
    /// compare-and-swaps that fail.
    #[must_use]
    pub fn mostly_sc(mut self, random: &mut Random) -> RandomProgram {
        for statement in self.threads.iter_mut().flatten().filter(|s| s.mode != Mode::NonAtomic) {
            if random.one_in(2) || statement.kind == Kind::Fence && random.one_in(2) {
                statement.mode = Mode::SeqCst;
            }
            if matches!(statement.kind, Kind::Cas(..) | Kind::WeakCas(..)) && random.one_in(2) {
                statement.failure = Some([Mode::Relaxed, Mode::Acquire, Mode::SeqCst][random.below(3)]);
            }
        }
        self
    }

    fn draw_statement(&self, random: &mut Random) -> Statement {
        let loc = Loc(random.below(self.locations) as u8);
        let guarded = random.one_in(10);
        if self.non_atomic && loc.index() + 1 == self.locations {
            let kind = if random.one_in(2) { Kind::Load } else { Kind::Store(self.draw_operand(random)) };
            return Statement { guarded, kind, loc, mode: Mode::NonAtomic, failure: None };
        }
        let kind = match random.below(20) {
            0..=5 => Kind::Load,
            6 => Kind::Wait((0..1 + random.below(2)).map(|_| self.draw_value(random)).collect()),
            7..=12 => Kind::Store(self.draw_operand(random)),
            13 => Kind::FetchAdd(self.draw_operand(random)),
            14 => Kind::Exchange(self.draw_operand(random)),
            15 => Kind::Cas(self.draw_value(random), self.draw_operand(random)),
            16 => Kind::WeakCas(self.draw_value(random), self.draw_operand(random)),
            17 => Kind::BlockingCas(self.draw_value(random), self.draw_operand(random)),
            _ => Kind::Fence,
        };
        let mode = match kind {
            Kind::Load | Kind::Wait(_) => [Mode::Relaxed, Mode::Acquire],
            Kind::Store(_) => [Mode::Relaxed, Mode::Release],
            Kind::Fence if random.one_in(2) => [Mode::AcqRel, Mode::SeqCst],
            Kind::Fence => [Mode::Acquire, Mode::Release],
            _ if random.one_in(2) => [Mode::Relaxed, Mode::AcqRel],
            _ => [Mode::Acquire, Mode::Release],
        }[random.below(2)];
        let mode = if random.one_in(12) { Mode::SeqCst } else { mode };
        Statement { guarded, kind, loc, mode, failure: None }
    }

    fn draw_value(&self, random: &mut Random) -> Value {
        random.below(self.modulus as usize) as Value
    }

    fn draw_operand(&self, random: &mut Random) -> Operand {
        if random.one_in(4) {
            Operand::Register(random.below(2) as Value)
        } else {
            Operand::Const(1 + random.below(self.modulus as usize - 1) as Value)
        }
    }
}

impl fmt::Display for RandomProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = &NAMES[..self.locations.min(NAMES.len())];
        let (atomic, plain) = names.split_at(names.len() - usize::from(self.non_atomic && !names.is_empty()));
        writeln!(f, "max_value {};", self.modulus.saturating_sub(1))?;
        if !atomic.is_empty() {
            writeln!(f, "global {};", atomic.join(", "))?;
        }
        if !plain.is_empty() {
            writeln!(f, "na {};", plain.join(", "))?;
        }
        for (number, thread) in self.threads.iter().enumerate() {
            writeln!(f, "\nfn t{number} {{\n    local r;")?;
            for statement in thread {
                match statement.guarded {
                    true => writeln!(f, "    if (r != 0) {{ {statement} }}")?,
                    false => writeln!(f, "    {statement}")?,
                }
            }
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = NAMES.get(self.loc.index()).copied().unwrap_or("?");
        let mode = self.mode;
        let single = if mode == Mode::NonAtomic { String::new() } else { mode.to_string() };
        let comma = if single.is_empty() { "" } else { ", " };
        let both = match mode {
            Mode::AcqRel => "acq, rel",
            Mode::Acquire => "acq, rlx",
            Mode::Release => "rlx, rel",
            Mode::SeqCst => "sc, sc",
            _ => "rlx, rlx",
        };
        let fails = self.failure.map_or(String::new(), |mode| format!(", {mode}"));
        match &self.kind {
            Kind::Load => write!(f, "r = {x}.load({single});"),
            Kind::Wait(values) => {
                let values: Vec<String> = values.iter().map(|value| value.to_string()).collect();
                write!(f, "wait({x}, {}, {mode});", values.join(", "))
            }
            Kind::Store(v) => write!(f, "{x}.store({v}{comma}{single});"),
            Kind::FetchAdd(v) => write!(f, "r = FADD({x}, {v}, {both});"),
            Kind::Exchange(v) => write!(f, "r = exchange({x}, {v}, {both});"),
            Kind::Cas(e, v) => write!(f, "r = CAS({x}, {e}, {v}, {both}{fails});"),
            Kind::WeakCas(e, v) => write!(f, "r = WCAS({x}, {e}, {v}, {both}{fails});"),
            Kind::BlockingCas(e, v) => write!(f, "BCAS({x}, {e}, {v}, {both});"),
            Kind::Fence if mode == Mode::SeqCst => write!(f, "fence;"),
            Kind::Fence => write!(f, "fence({mode});"),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Const(value) => write!(f, "{value}"),
            Operand::Register(0) => write!(f, "r"),
            Operand::Register(value) => write!(f, "r + {value}"),
        }
    }
}
