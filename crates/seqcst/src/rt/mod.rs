//! Inside: how a thread of the program meets the scheduler and the monitors.
//!
//! Threads are coroutines on one OS thread, so everything here belongs to whoever runs. A thread announces what it is
//! about to do ([`step`]), waits for its turn, does it, and goes on to its next announcement.

pub mod access;
pub mod ends;
pub mod note;
pub mod objects;
pub mod panics;
pub mod site;
pub mod source;
pub mod spin;
pub mod statics;
pub mod tag;
pub mod task;
pub mod wait;
pub mod watch;
pub mod watchdog;
pub mod what_if;
pub mod worker;
pub mod world;

use seqcst_explore::Op;
use site::Site;
use std::cell::Cell;
use wait::Wait;
use world::{Way, World};

thread_local! {
    /// The execution whose coroutine runs on this OS thread.
    static CURRENT: Cell<*mut World> = const { Cell::new(std::ptr::null_mut()) };
}

/// The execution that the caller is a thread of; None outside of any.
///
/// Only for the time until the next call of this function, and of nothing that may call it.
#[inline]
pub fn world<'a>() -> Option<&'a mut World> {
    let current = CURRENT.get();
    // SAFETY: while it is set, the execution exists, and nobody but the running coroutine uses it. Callers keep the
    // reference for a moment only, so that there are never two at a time.
    unsafe { current.as_mut() }
}

/// The execution, for those who know that they are inside.
#[inline]
pub fn here<'a>() -> &'a mut World {
    world().expect("inside of an execution")
}

/// Is the caller a thread of an execution?
#[inline]
pub fn inside() -> bool {
    !CURRENT.get().is_null()
}

/// Announces a step, waits for the turn, takes the step: `act` does it and tells what it turned out to be.
#[inline]
pub fn step<R>(site: Site, op: Op, wait: Wait, act: impl FnOnce(&mut World) -> (Op, R)) -> R {
    if std::thread::panicking() && here().goes_on_unwinding(wait) {
        let world = here();
        let (_, result) = act(world);
        world.stir();
        return result;
    }
    take_turn(&op, site, wait);
    let world = here();
    let (op, result) = act(world);
    world.did(op, site);
    result
}

/// Announces a step and waits for the turn.
#[inline]
fn take_turn(op: &Op, site: Site, wait: Wait) {
    let world = here();
    if world.way != Way::Aborted {
        world.announce(op, site, wait);
        if world.is_my_turn() {
            return;
        }
        worker::switch();
    }
    if here().way == Way::Aborted && !std::thread::panicking() {
        panics::unwind();
    }
}

/// The execution was given up: nothing blocks any more, stacks are unwound.
pub fn is_aborted() -> bool {
    world().is_some_and(|world| world.way == Way::Aborted)
}

/// Writes down what the next step does, if somebody wants to read it.
#[inline]
pub fn note(world: &mut World, text: impl FnOnce() -> String) {
    if world.notes.wanted {
        let step = world.trace.steps.len() as u32;
        world.notes.list.push(note::Note { step, text: text() });
    }
}
