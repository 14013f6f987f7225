//! Reference counting: relaxed increments, release decrements, an acquire fence before the last owner frees (as std's `Arc`).
//@ run: robust

use corpus::{Plain, must, run};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::*, fence};

struct Shared {
    owners: AtomicUsize,
    value: usize,
}

static OBJECT: Plain<*mut Shared> = Plain::new(null_mut());

fn release(it: *mut Shared) {
    // SAFETY: the caller is an owner.
    if unsafe { (*it).owners.fetch_sub(1, Release) } == 1 {
        fence(Acquire);
        // SAFETY: it was the last one.
        drop(unsafe { Box::from_raw(it) });
    }
}

fn body(_: usize) {
    let it = OBJECT.get();
    // SAFETY: every role owns a part.
    unsafe { (*it).owners.fetch_add(1, Relaxed) };
    must(unsafe { (*it).value } == 7);
    release(it);
    must(unsafe { (*it).value } == 7);
    release(it);
}

fn make() {
    OBJECT.set(Box::into_raw(Box::new(Shared { owners: AtomicUsize::new(3), value: 7 })));
}

fn main() {
    make();
    run(3, 100, body, make);
}
