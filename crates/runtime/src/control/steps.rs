//! The steps of locks and their like: what is announced, who waits for what.
//!
//! Each function here is called with the scheduler active, before the monitors hear of anything: others run until it
//! returns.

use super::clock::{self, Moment};
use seqcst_explore::{AccessType, Kind, Op};

/// A step that changes an object.
pub fn change(kind: Kind, object: usize) -> Op {
    Op::new(kind, AccessType::Write, object as u64)
}

/// How a step takes an object.
#[derive(Clone, Copy)]
pub struct Taking {
    kind: Kind,
    how: AccessType,
    object: usize,
    /// How it looks at the object if it takes it in vain.
    in_vain: AccessType,
}

impl Taking {
    /// For itself alone.
    pub fn alone(kind: Kind, object: usize) -> Taking {
        Taking { kind, how: AccessType::Write, object, in_vain: AccessType::Read }
    }

    /// A read-write lock, with other readers.
    pub fn with_readers(object: usize) -> Taking {
        Taking { how: AccessType::Read, ..Taking::alone(Kind::Lock, object) }
    }

    /// A read-write lock, without readers: for who tries in vain it matters that readers come and go.
    pub fn without_readers(object: usize) -> Taking {
        Taking { in_vain: AccessType::Write, ..Taking::alone(Kind::Lock, object) }
    }

    fn op(self) -> Op {
        Op::new(self.kind, self.how, self.object as u64)
    }

    /// A step that may also be made when the object can't be taken: not one that waits as long as it takes.
    fn impatient(self) -> Op {
        let kind = if self.kind == Kind::Lock { Kind::TryLock } else { self.kind };
        Op { kind, ..self.op() }
    }

    /// It only looked.
    fn is_in_vain(self) {
        let kind = if self.kind == Kind::Wake { Kind::Wake } else { Kind::TryLock };
        super::turned_out(Op::new(kind, self.in_vain, self.object as u64));
    }
}

/// Its turn comes when the object can be taken, or when time is up: false. The caller then takes it, at once.
pub fn take(taking: Taking, until: Option<Moment>, pc: usize, can: &dyn Fn() -> bool) -> bool {
    let Some(until) = until else {
        super::point_when(taking.object, taking.op(), pc, can);
        return true;
    };
    let taken = super::point_or_timeout(taking.object, taking.impatient(), pc, can);
    if !taken {
        taking.is_in_vain();
        clock::reach(until);
    }
    taken
}

/// Looks whether the object can be taken, and takes it.
pub fn try_take(taking: Taking, pc: usize, can: impl FnOnce() -> bool) {
    super::point(taking.impatient(), pc);
    if !can() {
        taking.is_in_vain();
    }
}

/// Gives the object back by `act`, when it is its turn.
pub fn give<T>(op: Op, pc: usize, act: impl FnOnce() -> T) -> T {
    super::point(op, pc);
    let result = act();
    super::changed(op.objects[0] as usize);
    result
}
