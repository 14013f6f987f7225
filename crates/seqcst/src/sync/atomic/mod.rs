//! Atomics with the interface of [`std::sync::atomic`].
//!
//! Inside a model every access is a scheduling point and is watched. Values live with the model: an atomic that was made
//! outside, a static for instance, has the value that it had outside at the beginning of each execution, and again
//! after the last one.

mod integers;
mod pointer;

pub use integers::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;
pub use std::sync::atomic::{Ordering, compiler_fence};

use crate::rt::{self, access::Shape, site, tag::Tag, watch::Access};
use seqcst_model::Mode;
use seqcst_monitor::clocks::Look;
use std::panic::Location;

/// A fence, like [`std::sync::atomic::fence`].
///
/// # Panics
/// If the ordering is `Relaxed`.
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    if rt::inside() {
        rt::access::fence(mode(order), site::number(Location::caller()));
    } else {
        std::sync::atomic::fence(order);
    }
}

fn mode(order: Ordering) -> Mode {
    match order {
        Ordering::Relaxed => Mode::Relaxed,
        Ordering::Acquire => Mode::Acquire,
        Ordering::Release => Mode::Release,
        Ordering::AcqRel => Mode::AcqRel,
        _ => Mode::SeqCst,
    }
}

/// What a mode is called in Rust.
pub(crate) fn ordering_name(mode: Mode) -> &'static str {
    match mode {
        Mode::NonAtomic => "plain",
        Mode::Relaxed => "Relaxed",
        Mode::Acquire => "Acquire",
        Mode::Release => "Release",
        Mode::AcqRel => "AcqRel",
        Mode::SeqCst => "SeqCst",
    }
}

/// What one operation does, apart from its values.
#[derive(Clone, Copy)]
struct Call {
    name: &'static str,
    shape: Shape,
    look: Look,
    success: Ordering,
    failure: Ordering,
}

impl Call {
    fn load(order: Ordering) -> Call {
        Call { name: "load", shape: Shape::Load, look: Look::Load, success: order, failure: order }
    }

    fn store(order: Ordering) -> Call {
        Call {
            name: "store",
            shape: Shape::Store,
            look: Look::Store,
            success: order,
            failure: Ordering::Relaxed,
        }
    }

    fn rmw(name: &'static str, order: Ordering) -> Call {
        Call { name, shape: Shape::Rmw, look: Look::Store, success: order, failure: Ordering::Relaxed }
    }

    fn strong(current: u64, success: Ordering, failure: Ordering) -> Call {
        let look = Look::StrongCas(current);
        Call { name: "compare_exchange", shape: Shape::Rmw, look, success, failure }
    }

    /// It may fail without a reason, and then it is a load.
    fn weak(success: Ordering, failure: Ordering) -> Call {
        Call { name: "compare_exchange_weak", shape: Shape::Rmw, look: Look::Load, success, failure }
    }

    /// Does it inside a model; `act` is given the value, and tells the new one if there is one. Returns the old one,
    /// and whether there is a new one.
    #[inline]
    #[track_caller]
    fn perform(
        self,
        tag: &Tag,
        start: impl FnOnce() -> u64,
        act: impl FnOnce(u64) -> Option<u64>,
    ) -> (u64, bool) {
        let access = Access {
            name: self.name,
            look: self.look,
            mode: mode(self.success),
            failure: mode(self.failure),
            rmw: self.shape == Shape::Rmw,
            site: site::number(Location::caller()),
        };
        rt::access::atomic(tag, start, self.shape, access, act)
    }
}

#[track_caller]
fn check_load(order: Ordering) {
    assert!(
        !matches!(order, Ordering::Release | Ordering::AcqRel),
        "there is no such thing as a release load"
    );
}

#[track_caller]
fn check_store(order: Ordering) {
    assert!(
        !matches!(order, Ordering::Acquire | Ordering::AcqRel),
        "there is no such thing as an acquire store"
    );
}

#[track_caller]
fn check_failure(order: Ordering) {
    assert!(
        !matches!(order, Ordering::Release | Ordering::AcqRel),
        "there is no such thing as a release failure"
    );
}

/// The value inside the model, for those who have the atomic for themselves or don't mean to synchronise.
fn peek(tag: &Tag) -> Option<u64> {
    let world = rt::world()?;
    let id = tag.id(world.stamp)?;
    Some(world.atomics.get(id).value)
}

/// Somebody has the atomic for himself: what others did must have happened before.
#[track_caller]
fn take(tag: &mut Tag) -> Option<u64> {
    let value = peek(tag)?;
    let world = rt::here();
    let id = tag.id(world.stamp)?;
    world.watch_exclusive(id, site::number(Location::caller()));
    tag.clear();
    Some(value)
}
