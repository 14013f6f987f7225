//! The memory models that a program can be lowered for.

use std::fmt;
use std::str::FromStr;

/// A memory model to check against, by its name on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// Sequential consistency: plain interleaving.
    Sc,
    /// Release/acquire: every access is release or acquire, whatever is written.
    Ra,
    /// RC20: C11 with relaxed, acquire and release accesses, and fences.
    Rc20,
    /// Total store order (x86).
    Tso,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 4] = [Target::Sc, Target::Ra, Target::Rc20, Target::Tso];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Sc => "sc",
            Target::Ra => "ra",
            Target::Rc20 => "rc20",
            Target::Tso => "tso",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is none of the targets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownTarget(String);

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown memory model `{}`: expected sc, ra, rc20 or tso", self.0)
    }
}

impl std::error::Error for UnknownTarget {}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        Target::ALL.into_iter().find(|t| t.name() == name).ok_or_else(|| UnknownTarget(name.to_string()))
    }
}
