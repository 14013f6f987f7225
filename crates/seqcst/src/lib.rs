//! Tests of concurrent Rust code, in process.
#![allow(unsafe_code)] // coroutines, cells, and types with the interface of the standard library's

mod builder;
pub mod cell;
mod exploration;
pub mod hint;
mod report;
mod rt;
pub mod sync;
pub mod thread;

pub use builder::{Builder, Model, Strategy};
pub use exploration::Exploration;
pub use report::Problem;

/// Explores the executions of a closure as [`Builder::new`] has it, and panics with a report if something is wrong.
///
/// # Panics
/// If something is wrong: an access that could be stale, a race, a panic, a deadlock, too many steps.
#[track_caller]
pub fn model(f: impl Fn()) {
    Builder::new().check(f);
}
