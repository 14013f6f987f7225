//! Tests of concurrent Rust code, in process: all schedules that matter, watched for weak memory and races.
//!
//! [`model`] runs a closure again and again, each time under another schedule. Its threads are coroutines on one OS thread,
//! so that hundreds of thousands of executions per second are possible. All executions are sequentially consistent; at
//! every atomic access a monitor tells whether it could be *stale* under the weak memory model. A test that fails in none of
//! them, and in which no access could be stale, never fails under the weak model either.
//!
//! ```
//! use seqcst::sync::Arc;
//! use seqcst::sync::atomic::{AtomicBool, AtomicUsize, Ordering::{Acquire, Relaxed, Release}};
//! use seqcst::{hint, thread};
//!
//! seqcst::model(|| {
//!     let shared = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
//!     let other = shared.clone();
//!     thread::spawn(move || {
//!         other.0.store(7, Relaxed);
//!         other.1.store(true, Release); // Relaxed is too weak: try it
//!     });
//!     while !shared.1.load(Acquire) {
//!         hint::spin_loop();
//!     }
//!     assert_eq!(shared.0.load(Relaxed), 7);
//! });
//! ```
//!
//! The types have the interfaces of the standard library's, and where loom's differ, loom's too. Code under test switches
//! between them:
//!
//! ```ignore
//! #[cfg(seqcst)]
//! use seqcst::{cell::UnsafeCell, sync::atomic::AtomicUsize, thread};
//! #[cfg(not(seqcst))]
//! use std::{cell::UnsafeCell, sync::atomic::AtomicUsize, thread};
//! ```
//!
//! Outside of a model the types behave like the standard library's. `docs/models.md` has more: options, spin loops, what
//! is not seen, and a comparison with loom and shuttle.

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
