//! Events, execution graphs, one short file per memory model, and the brute-force oracle.
//!
//! This crate is the ground everything else is tested against. It does no IO, knows no syntax and no search,
//! and cannot fail.
//!
//! Papers are cited by keys such as \[Rocker19]; `docs/papers.md` lists them, with the file that has each definition.

mod action;
pub mod graph;
mod mode;
mod models;
pub mod oracle;
pub mod panics;
mod relation;
pub mod sample;
mod set;
pub mod store_buffer;

pub use action::{Action, Dependencies, Loc, Next, Op, Outcome, Program, Value};
pub use graph::{ArmInstructions, Event, Graph};
pub use mode::Mode;
pub use models::{Model, UnknownModel, Violation};
pub use relation::Relation;
pub use set::{MAX_EVENTS, Set};
