//! Events, execution graphs, one short file per memory model, and the brute-force oracle.
//!
//! This crate is the ground everything else is tested against. It does no IO, knows no syntax and no search, and
//! cannot fail.

mod action;
pub mod graph;
mod mode;
mod models;
pub mod oracle;
pub mod relation;
pub mod sample;
pub mod store_buffer;

pub use action::{Action, Dependencies, Loc, Next, Op, Outcome, Program, Value};
pub use graph::{Event, Graph};
pub use mode::Mode;
pub use models::{Model, UnknownModel, Violation};
pub use relation::{Relation, Set};
