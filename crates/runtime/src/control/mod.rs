//! Under `seqcst explore` one thread runs at a time, and a plan says which.
//!
//! Before every step a thread *announces* what it is about to do ([`point`] and its relatives) and gets its turn back
//! when the plan says so. While it runs nobody else does, so nothing here needs a lock.
//!
//! Outside of an exploration [`active`] is false, which costs one load.

use core::sync::atomic::{AtomicBool, Ordering};
use seqcst_schedule::{Op, ThreadId};

static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Does a plan say whose turn it is?
#[inline(always)]
pub fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// Announces `op`; returns when it is this thread's turn. The caller then performs the operation without blocking.
pub fn point(_op: Op, _pc: usize) {}

/// The operation turned out differently (a compare-and-swap that failed, a lock that was taken): between [`point`] and
/// the next announcement.
pub fn turned_out(_op: Op) {}

/// Announces an operation that can only happen while `can()`; `object` names what it waits for. `can` is called by
/// whoever calls [`changed`], while this thread waits: it must only look at plain state.
pub fn point_when(_object: usize, _op: Op, _pc: usize, _can: &dyn Fn() -> bool) {}

/// As [`point_when`], but the turn may also come although `can()` is false: time is up. True: `can()` holds.
pub fn point_or_timeout(_object: usize, _op: Op, _pc: usize, can: &dyn Fn() -> bool) -> bool {
    can()
}

/// Somebody changed `object`: those who wait for it are looked at again.
pub fn changed(_object: usize) {}

/// Offers the turn to others: a yield, a sleep.
pub fn offer(_op: Op, _pc: usize) {}

/// The running thread did something that the next round of a loop can see although it is no step: it read a clock or
/// drew a random number. So it doesn't merely spin.
pub fn effect() {}

/// The number of the running thread.
pub fn me() -> ThreadId {
    0
}
