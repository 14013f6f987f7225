//! The steps of locks and their like: what is announced, who waits for what.
//!
//! Each function here is called with the scheduler active, before the monitors hear of anything: others run until it
//! returns.

use super::clock::{self, Moment};
use seqcst_schedule::{How, Kind, Op};

/// A step that changes an object.
pub fn change(kind: Kind, object: usize) -> Op {
    Op::new(kind, How::Write, object as u64)
}

/// Its turn comes when the object can be taken, or when time is up: false. The caller then takes it, at once.
pub fn take(kind: Kind, object: usize, until: Option<Moment>, pc: usize, can: &dyn Fn() -> bool) -> bool {
    let Some(until) = until else {
        super::point_when(object, change(kind, object), pc, can);
        return true;
    };
    let taken = super::point_or_timeout(object, change(impatient(kind), object), pc, can);
    if !taken {
        in_vain(kind, object);
        clock::reach(until);
    }
    taken
}

/// Looks whether the object can be taken, and takes it.
pub fn try_take(kind: Kind, object: usize, pc: usize, can: impl FnOnce() -> bool) {
    super::point(change(impatient(kind), object), pc);
    if !can() {
        in_vain(kind, object);
    }
}

/// The kind of a step that may also be made when the object can't be taken: not one that waits as long as it takes.
fn impatient(kind: Kind) -> Kind {
    if kind == Kind::Lock { Kind::TryLock } else { kind }
}

/// It only looked.
fn in_vain(kind: Kind, object: usize) {
    let kind = if kind == Kind::Wake { Kind::Wake } else { Kind::TryLock };
    super::turned_out(Op::new(kind, How::Read, object as u64));
}

/// Gives the object back by `act`, when it is its turn.
pub fn give<T>(kind: Kind, object: usize, pc: usize, act: impl FnOnce() -> T) -> T {
    super::point(change(kind, object), pc);
    let result = act();
    super::changed(object);
    result
}
