//! The tests of this crate, in one executable: each of its own would link the crate anew.

#[path = "../common/mod.rs"]
mod common;
mod errors;
mod errors_litmus;
mod litmus;
mod lowering;
mod round_trip;
mod smoke_fuzz;
