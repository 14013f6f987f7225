//! Under `seqcst explore` one thread runs at a time, and a plan says which.
//!
//! Before every step a thread *announces* what it is about to do ([`point`] and its relatives) and gets its turn back
//! when the plan says so. While it runs nobody else does, so nothing here needs a lock.
//!
//! Outside of an exploration [`active`] is false, which costs one load.

pub mod accesses;
mod bodies;
pub mod cancel;
pub mod chance;
pub mod clock;
pub mod descriptors;
mod fibers;
pub mod findings;
mod handoff;
pub mod locks;
mod memo;
mod park;
pub mod pending;
pub mod queues;
pub mod registers;
pub mod robust;
mod scheduler;
pub mod server;
pub mod settings;
mod spin;
pub mod stacks;
pub mod steps;
mod streams;
pub mod threads;
mod warm;
mod wire;

use crate::{interpose, thread};
use core::sync::atomic::{AtomicBool, Ordering};
use seqcst_explore::{Kind, Op, ThreadId};

/// Is a plan being played?
pub(crate) static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Does a plan say whose turn it is?
#[inline(always)]
pub fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// Announces `op`; returns when it is this thread's turn. The caller then performs the operation without blocking.
pub fn point(op: Op, pc: usize) {
    guarded(|| match op.kind {
        // May turn out to be in vain, again and again.
        Kind::Lock | Kind::TryLock | Kind::Take => scheduler::point_to_read(op, pc),
        _ => scheduler::point(op, pc),
    });
}

/// The operation turned out differently (a compare-and-swap that failed, a lock that was taken): between [`point`] and
/// the next announcement.
pub fn turned_out(op: Op) {
    if let Some(scheduler) = scheduler::get() {
        scheduler.turned_out(op);
    }
}

/// Announces an operation that can only happen while `can()`; `object` names what it waits for. `can` is called by
/// whoever calls [`changed`], while this thread waits: it must only look at plain state.
pub fn point_when(object: usize, op: Op, pc: usize, can: &dyn Fn() -> bool) {
    guarded(|| scheduler::point_when(object as u64, op, pc, false, can));
}

/// As [`point_when`], but the turn may also come although `can()` is false: time is up. True: `can()` holds.
pub fn point_or_timeout(object: usize, op: Op, pc: usize, can: &dyn Fn() -> bool) -> bool {
    guarded(|| scheduler::point_when(object as u64, op, pc, true, can)).unwrap_or_else(can)
}

/// Does a thread wait for a change of `object`?
pub fn is_waited_for(object: usize) -> bool {
    scheduler::get().is_some_and(|scheduler| scheduler.is_waited_for(object as u64))
}

/// Somebody changed `object`: those who wait for it are looked at again.
pub fn changed(object: usize) {
    if let Some(scheduler) = scheduler::get() {
        scheduler.changed(object as u64);
    }
}

/// Everybody who waits is looked at again.
pub fn changed_all() {
    if let Some(scheduler) = scheduler::get() {
        scheduler.changed_all();
    }
}

/// Offers the turn to others: a yield, a sleep.
pub fn offer(op: Op, pc: usize) {
    guarded(|| scheduler::offer(op, pc));
}

/// The running thread did something that the next round of a loop can see although it is no step: it read a clock or
/// drew a random number. So it doesn't merely spin.
pub fn effect() {
    if let Some(scheduler) = scheduler::get() {
        scheduler.spin().effect();
    }
}

/// The running thread is about to write to this address, by a plain write. On its own stack that is no effect: what is
/// there is part of its state.
#[inline]
pub fn writes(addr: usize) {
    if let Some(scheduler) = scheduler::get() {
        let spin = scheduler.spin();
        if !spin.is_own(addr) {
            spin.effect();
        }
    }
}

/// If the running thread, at the load that it is about to make, reads this value: does it come back to it in the same
/// state, with nothing done but reading? It has done so before, in this execution.
pub fn would_come_back(value: u64) -> bool {
    scheduler::get().is_some_and(|scheduler| scheduler.spin().would_come_back(value))
}

/// The number of the running thread.
pub fn me() -> ThreadId {
    scheduler::get().map_or(0, |scheduler| scheduler.me())
}

/// Calls `act` inside of the runtime: handlers of signals wait. None if a handler is what runs, in the middle of the
/// runtime: there are no turns then.
fn guarded<T>(act: impl FnOnce() -> T) -> Option<T> {
    let thread = thread::entering()?;
    thread.busy = true;
    let result = act();
    thread.leave();
    Some(result)
}

/// The process is about to end: whatever others would still do, they don't. True: at once, for nothing is to be said.
pub fn exits(pc: usize) -> bool {
    guarded(|| scheduler::point(Op::local(Kind::Exit), pc));
    if let Some(scheduler) = scheduler::get() {
        scheduler.close();
    }
    ACTIVE.store(false, Ordering::Relaxed);
    server::is_quiet() && !settings::get().output()
}

/// Nothing happens any more: reports are summed up.
fn finish() {
    ACTIVE.store(false, Ordering::Relaxed);
    if !server::is_quiet() {
        interpose::exit::finish();
    }
}

/// An assertion has failed.
pub fn says(text: &str) {
    if let Some(scheduler) = scheduler::get() {
        scheduler.shared.says(text);
    }
}
