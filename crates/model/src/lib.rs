//! Events, execution graphs, one short file per memory model, and the brute-force oracle.
//!
//! This crate is the ground everything else is tested against. It does no IO, knows no syntax and no search,
//! and cannot fail.
//!
//! The papers are cited by their numbers in `DESIGN.md`: seed 000 is "Dynamic Robustness Verification against
//! Weak Memory" (Margalit et al.), 001 Sober (Burckhardt, Musuvathi, CAV 2008), 002 RoboCop (Nagar et al.,
//! 2024), 003 Rocker (Lahav, Margalit, PLDI 2019), 004 Fency (2021).

mod action;
pub mod graph;
mod mode;
mod models;
pub mod oracle;
mod relation;
pub mod sample;
mod set;
pub mod store_buffer;

pub use action::{Action, Dependencies, Loc, Next, Op, Outcome, Program, Value};
pub use graph::{Event, Graph};
pub use mode::Mode;
pub use models::{Model, UnknownModel, Violation};
pub use relation::Relation;
pub use set::{MAX_EVENTS, Set};
