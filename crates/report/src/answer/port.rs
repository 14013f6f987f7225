//! What `seqcst port` has to say besides the verdict.

use super::Place;
use serde::Serialize;

/// Pairs of accesses that the target may reorder, and changes that forbid it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ported {
    /// The machine that the program comes from.
    pub from: String,
    /// The machine that it goes to.
    pub to: String,
    /// The same as `limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many functions threads run.
    pub threads: usize,
    /// The functions that threads run.
    pub functions: Vec<String>,
    /// The files that the program consists of.
    pub files: Vec<String>,
    /// Accesses that were looked at.
    #[serde(skip)]
    pub accesses: usize,
    /// Pairs of accesses at fault, the first 200.
    pub pairs: Vec<Pair>,
    /// How many there are, those included that are not listed.
    pub pairs_total: usize,
    /// Fences; `null` if time was out before these were known.
    pub fences: Option<Fences>,
    /// What makes the program safe.
    pub changes: Vec<Change>,
    /// Whether no cheaper changes would do.
    pub exact: bool,
    /// Whether the program is safe with `changes`.
    pub repaired: bool,
    /// Pairs that no change can order.
    #[serde(skip)]
    pub pairs_left: usize,
    /// Why there are no changes, if time was out.
    #[serde(skip)]
    pub no_repair: Option<String>,
    /// What the answer may be wrong about, and what was treated conservatively.
    pub notes: Vec<Note>,
    /// With `--fix`: files that were written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    /// With `--fix`, for C and C++: the patch for the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_patch: Option<SourcePatch>,
    /// With `--fix`: what there is to say about the patches, in lines.
    #[serde(skip)]
    pub remarks: Vec<String>,
}

/// Two accesses in program order that the target may do in the other order.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pair {
    /// The first in program order.
    pub first: Access,
    /// The second.
    pub second: Access,
    /// The cycle that they are on.
    pub cycle: Vec<Access>,
}

/// An access.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Access {
    /// What it does.
    pub access: String,
    /// To which location.
    pub location: String,
    /// The thread function.
    pub function: String,
    /// Where it is; `null` where that is not known.
    pub place: Option<Place>,
    /// Whether it is its write that counts.
    #[serde(skip)]
    pub writes: bool,
    /// Function and node in the analysed program: the same access has the same.
    #[serde(skip)]
    pub id: (usize, usize),
}

/// How many fences there are, and how many are needed.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fences {
    /// One after every access.
    pub naive: usize,
    /// In the program.
    pub existing: usize,
    /// To be put in.
    pub inserted: usize,
}

/// A change that orders accesses.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    /// The change in words.
    pub change: String,
    /// Where; `null` where that is not known.
    pub place: Option<Place>,
}

/// Something that was treated conservatively, or a warning.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Note {
    /// What programs call it.
    pub kind: String,
    /// Whether the answer may be wrong for it.
    pub warning: bool,
    /// What, in words.
    pub note: String,
    /// How often.
    pub times: usize,
    /// The first place; `null` where that is not known.
    pub place: Option<Place>,
}

/// What came of the patch for the source.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourcePatch {
    /// Whether it was written.
    pub written: bool,
    /// Pairs that the patched source still has at fault, found by asking again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs_left: Option<usize>,
    /// Why there is no patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
