//! Says to seqcst what a program waits for. No annotation is ever required; some make verdicts more exact.
//!
//! A load in a loop that waits for a value can be stale for a while, and nothing comes of it but a longer wait. seqcst
//! recognises such loops as they run, when it has the evidence. A program can also say so, with functions that stand for
//! the whole loop:
//!
//! * [`wait_until`] blocks until a location has a value;
//! * [`blocking_compare_exchange`] blocks until it can replace a value by another;
//! * [`compare_exchange`] is a strong compare-and-swap, which fails only because of the value. (Instrumentation can't
//!   tell it from a weak one, so the standard library's is taken for weak.)
//!
//! Under `cargo seqcst` they call the runtime; otherwise they are plain loops and operations, inlined.
//!
//! ```
//! use seqcst_annotate::wait_until;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! static READY: AtomicBool = AtomicBool::new(false);
//!
//! std::thread::scope(|scope| {
//!     scope.spawn(|| READY.store(true, Ordering::Release));
//!     wait_until(&READY, true, Ordering::Acquire);
//! });
//! ```

#![no_std]
#![allow(unsafe_code)] // calls of the runtime's C functions

mod atomics;
#[cfg(seqcst)]
mod runtime;

pub use atomics::Atomic;
use core::sync::atomic::Ordering;

/// Blocks until the location has this value; reads it with this ordering.
///
/// A stale value can only make the wait longer, so it is no violation.
///
/// # Panics
/// If the ordering is `Release` or `AcqRel`, like `load`.
#[inline(always)]
#[track_caller]
pub fn wait_until<A: Atomic>(location: &A, value: A::Value, ordering: Ordering) {
    assert!(
        !matches!(ordering, Ordering::Release | Ordering::AcqRel),
        "there is no such thing as a release load"
    );
    location.wait_until(value, ordering);
}

/// Blocks until the location has the value `old`, and replaces it by `new` in the same step.
///
/// Attempts that find another value are no events: a stale value can only make the wait longer.
#[inline(always)]
pub fn blocking_compare_exchange<A: Atomic>(location: &A, old: A::Value, new: A::Value, ordering: Ordering) {
    location.blocking_compare_exchange(old, new, ordering);
}

/// A strong compare-and-swap: replaces `old` by `new`, or fails with the value found, which is never `old`.
///
/// # Errors
/// The value that was found, if it is not `old`.
///
/// # Panics
/// If the ordering of failure is `Release` or `AcqRel`, like the standard library's.
#[inline(always)]
#[track_caller]
pub fn compare_exchange<A: Atomic>(
    location: &A,
    old: A::Value,
    new: A::Value,
    success: Ordering,
    failure: Ordering,
) -> Result<A::Value, A::Value> {
    assert!(
        !matches!(failure, Ordering::Release | Ordering::AcqRel),
        "there is no such thing as a release failure"
    );
    location.strong_compare_exchange(old, new, success, failure)
}
