//! Events, execution graphs, one short file per memory model, and the brute-force oracle.
//!
//! This crate is the ground everything else is tested against. It does no IO, knows no syntax and no search, and
//! cannot fail.

mod action;
mod mode;

pub use action::{Action, Dependencies, Loc, Next, Op, Outcome, Program, Value};
pub use mode::Mode;
