//! Machines, and what their instructions do to memory.
//!
//! \[Fency21] §II.B. The analysis sees an instruction as one or more steps: reads, writes and fences. `mapping` says which
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
/// x86's locked instructions have a full fence before and after (\[Fency21] §II: `implied`), also those that fail to swap; a
/// store by `xchg` is a write with a full fence after it: what it reads is not used.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Steps {
    /// The steps; of a compare-and-swap, when it succeeds.
    pub success: Vec<Step>,
    /// The steps of a compare-and-swap that fails.
    pub failure: Option<Vec<Step>>,
    /// The steps of a compare-and-swap that succeeds after its store was refused once for no reason, if these are others.
    pub retried: Option<Vec<Step>>,
}

/// How target triples begin; the first that fits counts.
const TRIPLES: [(&str, Machine); 9] = [
    ("x86_64", Machine::X86),
    ("i386", Machine::X86),
    ("i486", Machine::X86),
    ("i586", Machine::X86),
    ("i686", Machine::X86),
    ("aarch64", Machine::ArmV8),
    ("arm64", Machine::ArmV8),
    ("arm", Machine::ArmV7),
    ("thumb", Machine::ArmV7),
];

impl Machine {
    /// All machines, the strongest first.
    pub const ALL: [Machine; 4] = [Machine::Sc, Machine::X86, Machine::ArmV8, Machine::ArmV7];

    /// The pairs of \[Fency21] Theorem 1: from a stronger to a weaker machine.
    pub const PAIRS: [(Machine, Machine); 6] = [
        (Machine::Sc, Machine::X86),
        (Machine::Sc, Machine::ArmV8),
        (Machine::X86, Machine::ArmV8),
        (Machine::Sc, Machine::ArmV7),
        (Machine::X86, Machine::ArmV7),
        (Machine::ArmV8, Machine::ArmV7),
    ];

    /// The pairs of [`Machine::PAIRS`] with this source and this target; without one, with any. A message if there is none.
    pub fn pairs(from: Option<Machine>, to: Option<Machine>) -> Result<Vec<(Machine, Machine)>, String> {
        let fits =
            |pair: &(Machine, Machine)| from.is_none_or(|m| m == pair.0) && to.is_none_or(|m| m == pair.1);
        let pairs: Vec<(Machine, Machine)> = Machine::PAIRS.into_iter().filter(fits).collect();
        match (&pairs[..], from, to) {
            ([], Some(from), Some(to)) if from == to => Err(format!("{from} and {to} are the same machine")),
            // Not that nothing could go wrong: release stores and later acquire loads are in order on ARMv8, not on x86.
            ([], Some(from), Some(to)) => {
                let all = Machine::PAIRS.map(|(from, to)| format!("{from} → {to}")).join(", ");
                Err(format!("unsupported pair {from} → {to}; supported: {all}"))
            }
            ([], ..) => Err("no supported target is weaker than the given source".to_owned()),
            _ => Ok(pairs),
        }
    }

    /// The machine that a target triple of LLVM names, if it is one of these.
    pub fn of_triple(triple: &str) -> Option<Machine> {
        TRIPLES.iter().find(|(prefix, _)| triple.starts_with(prefix)).map(|(_, machine)| *machine)
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use Machine::{ArmV7, ArmV8, Sc, X86};

    #[test]
    fn only_the_pairs_of_the_theorem() {
        assert_eq!(Machine::pairs(None, None), Ok(Machine::PAIRS.to_vec()));
        assert_eq!(Machine::pairs(Some(X86), None), Ok(vec![(X86, ArmV8), (X86, ArmV7)]));
        assert_eq!(Machine::pairs(None, Some(X86)), Ok(vec![(Sc, X86)]));
        assert_eq!(Machine::pairs(Some(X86), Some(X86)), Err("x86 and x86 are the same machine".to_owned()));
        let back = Machine::pairs(Some(ArmV8), Some(X86)).unwrap_err();
        assert!(back.starts_with("unsupported pair armv8 → x86; supported: sc → x86,"), "{back}");
        let none = "no supported target is weaker than the given source";
        assert_eq!(Machine::pairs(Some(ArmV7), None), Err(none.to_owned()));
    }

    #[test]
    fn triples() {
        assert_eq!(Machine::of_triple("arm64-apple-macosx14.0.0"), Some(ArmV8));
        assert_eq!(Machine::of_triple("armv7-unknown-linux-gnueabihf"), Some(ArmV7));
        assert_eq!(Machine::of_triple("riscv64-linux-gnu"), None);
    }
}
