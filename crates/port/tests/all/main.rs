//! The tests of this crate, in one executable: each of its own would link the crate anew.

#[path = "../common/mod.rs"]
mod common;
mod mapping;
mod patch;
mod reader;
mod reader_effects;
mod reader_escape;
mod smoke_fuzz;
mod threads;
mod traps;
mod validate;
