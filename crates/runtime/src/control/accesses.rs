//! Atomic operations and fences of the program as steps.

use super::scheduler;
use super::settings;
use super::spin::Read;
use crate::atomics::{Done, Operation};
use crate::journal::EventKind;
use core::sync::atomic::Ordering;
use seqcst_explore::{AccessType, FENCES, Kind, Op};
use seqcst_model::Mode;
use seqcst_monitor::clocks::Look;

/// A location, as steps name it: its address, unless there are accesses of different sizes, which may touch the same.
#[inline]
pub fn object(addr: usize) -> u64 {
    (if settings::get().mixed() { addr & !7 } else { addr }) as u64
}

/// An access overlaps one of another size. This execution doesn't know which steps depend on each other: the next ones
/// will.
#[cold]
pub fn overlaps() {
    if let Some(scheduler) = scheduler::get() {
        scheduler.shared.header().mixed.store(1, Ordering::Release);
    }
}

/// An access as a step. Where SC fences are ordered among themselves, SC accesses touch what these touch. Sixteen bytes may be two objects, as far as there is room.
fn step(kind: Kind, operation: &Operation, mode: Mode) -> Op {
    let how = if kind == Kind::Load || kind == Kind::Await { AccessType::Read } else { AccessType::Write };
    let op = Op::new(kind, how, object(operation.addr));
    if mode == Mode::SeqCst && settings::get().orders_sc() {
        op.and(AccessType::Write, FENCES)
    } else if operation.size > 8 && settings::get().mixed() {
        op.and(how, object(operation.addr + 8))
    } else {
        op
    }
}

/// Announces an operation, and returns when it is its turn. `value` is what is there at any time.
#[inline]
pub fn announce(operation: &Operation, value: &impl Fn() -> u64) {
    let &Operation { mode, failure, pc, .. } = operation;
    let strongest = if failure == Mode::SeqCst { failure } else { mode };
    match (operation.what, operation.look) {
        (what, Some(Look::Wait(wanted) | Look::BlockingCas(wanted))) => {
            let kind = if what == EventKind::Load { Kind::Await } else { Kind::Rmw };
            let can = || value() == wanted;
            scheduler::point_when(object(operation.addr), step(kind, operation, mode), pc, false, &can);
        }
        (EventKind::Load, _) => scheduler::point_to_read(step(Kind::Load, operation, mode), pc),
        (EventKind::Rmw, _) => scheduler::point_to_read(step(Kind::Rmw, operation, strongest), pc),
        _ => scheduler::point(step(Kind::Store, operation, mode), pc),
    }
}

/// The operation has happened, and has read this.
#[inline]
pub fn happened(operation: &Operation, done: &Done, read: u64) {
    let Some(scheduler) = scheduler::get() else { return };
    let (addr, size) = (operation.addr, operation.size as u8);
    match *done {
        Done::Read if !matches!(operation.look, Some(Look::Wait(_))) => {}
        // An exchange of a value for the same value: a lock that is taken, for instance.
        Done::Updated(written) if written == read => {
            return scheduler.rewrote(object(addr), Read::Rewritten(addr, size, read));
        }
        _ => return,
    }
    if operation.what == EventKind::Rmw {
        let strongest = if operation.mode == Mode::SeqCst { operation.mode } else { operation.failure };
        scheduler.turned_out(step(Kind::Load, operation, strongest));
    }
    scheduler.read(object(addr), Read::Value(addr, size, read));
}

/// Announces a fence, if it has an order among others.
pub fn fence(mode: Mode, pc: usize) {
    if mode == Mode::SeqCst && settings::get().orders_sc() {
        scheduler::point(Op::new(Kind::Fence, AccessType::Write, FENCES), pc);
    }
}
