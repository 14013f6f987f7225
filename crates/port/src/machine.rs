//! Machines, and what their instructions do to memory.
//!
//! Seed 004 §II.B. The analysis sees an instruction as one or more steps: reads, writes and fences. `mapping` says which
//! steps a compiler makes of a C11 access.

use std::fmt;
use std::str::FromStr;

/// A machine, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Machine {
    /// Sequential consistency: everything in program order.
    Sc,
    /// x86 (TSO).
    X86,
    /// ARMv8, other-multi-copy-atomic.
    ArmV8,
    /// ARMv7.
    ArmV7,
}

/// A fence instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Fence {
    /// `dmb ishst`: earlier writes before later writes. ARM only.
    Store,
    /// `dmb ishld`: earlier reads before everything later. ARMv8 only.
    Load,
    /// `mfence`, `dmb ish`: everything.
    Full,
}

/// What a read does besides reading.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Acquire {
    /// Nothing: `ldr`, `ldxr`.
    No,
    /// Before everything later: `ldapr`, RCpc.
    Pc,
    /// The same, and after earlier release writes: `ldar`, `ldaxr`, RCsc.
    Yes,
}

/// One step of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Reads memory.
    Read(Acquire),
    /// Writes memory.
    Write {
        /// After everything earlier: `stlr`, `stlxr`.
        release: bool,
        /// It is the second half of a read-modify-write; the first is the last read before it.
        exclusive: bool,
    },
    /// Orders.
    Fence(Fence),
}

/// What a C11 access or fence becomes: the steps in program order.
///
/// x86's locked instructions have a full fence before and after (seed 004 §II: `implied`), also those that fail to swap; a
/// store by `xchg` is a write with a full fence after it: what it reads, nobody looks at.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Steps {
    /// The steps; of a compare-and-swap, when it succeeds.
    pub success: Vec<Step>,
    /// The steps of a compare-and-swap that fails.
    pub failure: Option<Vec<Step>>,
    /// The steps of a compare-and-swap that succeeds after its store was refused once for no reason, if these are others.
    pub retried: Option<Vec<Step>>,
}

impl Machine {
    /// All machines, the strongest first.
    pub const ALL: [Machine; 4] = [Machine::Sc, Machine::X86, Machine::ArmV8, Machine::ArmV7];

    /// The pairs of seed 004 Theorem 1: from a stronger to a weaker machine.
    pub const PAIRS: [(Machine, Machine); 6] = [
        (Machine::Sc, Machine::X86),
        (Machine::Sc, Machine::ArmV8),
        (Machine::X86, Machine::ArmV8),
        (Machine::Sc, Machine::ArmV7),
        (Machine::X86, Machine::ArmV7),
        (Machine::ArmV8, Machine::ArmV7),
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Machine::Sc => "sc",
            Machine::X86 => "x86",
            Machine::ArmV8 => "armv8",
            Machine::ArmV7 => "armv7",
        }
    }

    /// The fence instructions it has.
    pub fn fences(self) -> &'static [Fence] {
        match self {
            Machine::Sc => &[],
            Machine::X86 => &[Fence::Full],
            Machine::ArmV8 => &[Fence::Store, Fence::Load, Fence::Full],
            Machine::ArmV7 => &[Fence::Store, Fence::Full],
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Machine {
    type Err = String;

    fn from_str(name: &str) -> Result<Machine, String> {
        let found = Machine::ALL.into_iter().find(|machine| machine.name() == name);
        found.ok_or_else(|| format!("no machine is called `{name}` (there are sc, x86, armv8, armv7)"))
    }
}
