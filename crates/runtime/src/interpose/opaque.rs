//! Atomics of the program that code without instrumentation works on too.
//!
//! The fast path of a Rust mutex or of a C++ static is inlined into the program and seen, its slow path is not. Such a
//! location is *blurred*: no verdicts on it, and every access to it, seen or announced here, learns from all before it
//! and is heard by all after it.

use crate::{places, thread};

/// The current thread touches an atomic of `size` bytes (1, 2, 4, 8) out of sight.
pub fn touch(addr: usize, size: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    thread.waits.effect();
    places::with(
        addr,
        size,
        || 0,
        |place, others| {
            place.blurred = true;
            thread.views.blur(&mut place.location);
            let own = core::ptr::from_ref(place);
            others.each(own, |other| thread.views.blur(other));
        },
    );
    thread.leave();
}

/// The current thread touches atomics that lie somewhere in this range.
pub fn touch_range(addr: usize, size: usize) {
    let first = addr & !7;
    for at in (first..addr + size).step_by(8) {
        touch(at, 8);
    }
}
