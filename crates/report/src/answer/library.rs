//! What `seqcst library` has to say besides the verdict.

use super::Place;
use crate::Witness;
use serde::Serialize;

/// A proof, or where it fails.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proof {
    /// What `robust` means: `execution-graph` (no behaviour that SC does not have) or `induced-subgraph` (none besides
    /// failing iterations of loops).
    pub notion: String,
    /// Which clients a proof covers: those of `one` object, of `any-number` of objects, or all where there is one object, as the
    /// library's state is `global`.
    pub objects: String,
    /// Questions that the solver was asked.
    pub questions: usize,
    /// Names of the methods.
    pub methods: Vec<String>,
    /// The proof, class by class.
    pub classes: Vec<Class>,
    /// Loops that were replaced by their last iteration.
    pub loops: Vec<Loop>,
    /// Loops that were not, and why.
    #[serde(skip)]
    pub kept_loops: Vec<Loop>,
    /// With `--mutate`: what is weaker than in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
    /// Whether a client confirms that the library is not robust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<TriedClient>,
    /// For a library that is proved for clients of one object: whether a client of two objects is not robust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_objects: Option<TriedClient>,
}

/// A class of locations.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Class {
    /// Its name.
    pub class: String,
    /// The conditions that hold for it: `destination`, `source`, `fence`, `race-free`.
    pub conditions: Vec<String>,
    /// Derived constraints that the proof needs; with `--explain` only.
    pub constraints: Vec<String>,
    /// Questions that the solver was asked.
    pub questions: usize,
    /// Whether the proof succeeded.
    pub proved: bool,
    /// Why the solver gave up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether part of an execution contradicts the proof.
    #[serde(skip)]
    pub refuted: bool,
    /// Whether it was not looked at, as the library was refuted already.
    #[serde(skip)]
    pub skipped: bool,
}

/// A loop, and what became of it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Loop {
    /// The method that it is in.
    pub method: String,
    /// Where it begins.
    pub place: Place,
    /// What was done, or why nothing.
    pub change: String,
}

/// What is weaker than in the file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mutant {
    /// The change.
    pub change: String,
    /// Where it is.
    pub place: Place,
}

/// What came of the search for a client.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TriedClient {
    /// Whether there is one.
    pub confirmed: bool,
    /// The client.
    #[serde(flatten)]
    pub client: Option<ClientWitness>,
    /// If there is none: how far the search got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A client that does what SC does not allow.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClientWitness {
    /// The calls of each thread.
    pub threads: Vec<Vec<String>>,
    /// What it shows.
    pub shows: String,
    /// The execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// The client as a program for `seqcst check`, which the places in `witness` are of.
    pub program: Program,
}

/// A client as a program for `seqcst check`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Program {
    /// The file that places speak of: `client.tpl`, or the one that `--keep-client` names.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// A client of several libraries.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Composed {
    /// Functions in which threads begin.
    pub threads: Vec<String>,
    /// Calls to libraries, and accesses that count as such.
    pub calls: usize,
    /// SC fences.
    pub fences: usize,
    /// Pairs of calls with no SC fence in between.
    pub missing: Vec<MissingFence>,
    /// Promises that may be broken, in words.
    pub broken: Vec<String>,
    /// Whether all libraries were proved.
    #[serde(skip)]
    pub all_proved: bool,
    /// With `--fix`: whether the client with fences is robust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repaired: Option<bool>,
    /// Whether a client of the same libraries confirms it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<TriedClient>,
    /// With `--fix`: fences that were put in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inserted: Option<usize>,
    /// With `--fix`: calls that still need one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Vec<Unrepaired>>,
    /// With `--fix` and without `-o`: the text of the client with fences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<String>,
}

/// Two calls to different libraries with no SC fence in between.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MissingFence {
    /// The first of them.
    pub earlier: Call,
    /// The other one.
    pub later: Call,
    /// Lines on the way from one to the other.
    pub path: Vec<u32>,
}

/// A call to a library.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Call {
    /// What is called.
    pub call: String,
    /// The library.
    pub library: String,
    /// The function that calls it.
    pub function: String,
    /// The place of the call.
    pub place: Place,
    /// The line there.
    #[serde(skip)]
    pub text: Option<String>,
}

/// A call that still needs a fence.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unrepaired {
    /// The call.
    pub call: Call,
    /// Why there is none.
    pub why: String,
}
