//! C++ statics inside functions: `__cxa_guard_acquire`, `_release`, `_abort`.
//!
//! The compiler inlines a look at the first byte of the guard, and calls these if it is zero. They are written out
//! here, with the states of libstdc++ in the guard's first word, because the program may have none to stand in front of
//! (it is written in C, or has libstdc++ linked in statically).

use super::caller::Caller;
use super::opaque;
use crate::control;
use crate::control::steps::{self, Taking};
use crate::sys;
use core::sync::atomic::{AtomicU32, Ordering};
use seqcst_explore::Kind;

/// The static is there: all that the inlined look asks for.
const DONE: u32 = 1;
const PENDING: u32 = 1 << 8;
const WAITING: u32 = 1 << 16;

/// # Safety
/// `guard` points to a guard variable.
unsafe fn word(guard: *mut u64) -> &'static AtomicU32 {
    // SAFETY: the caller's promise; nothing but atomic accesses to it happen.
    unsafe { &*guard.cast::<AtomicU32>() }
}

/// 1 if the static is to be initialised by the caller, 0 if it is there.
unsafe extern "C" fn acquire(guard: *mut u64, caller: Caller) -> i32 {
    // SAFETY: the caller's promise.
    let word = unsafe { word(guard) };
    if control::active() {
        // The inlined look at the guard was a step in sight; this one waits for who initialises.
        let can = || word.load(Ordering::Relaxed) & PENDING == 0;
        steps::take(Taking::alone(Kind::Lock, guard as usize), None, caller.pc(), &can);
    }
    let result = loop {
        match word.load(Ordering::Acquire) {
            0 if word.compare_exchange(0, PENDING, Ordering::AcqRel, Ordering::Relaxed).is_ok() => break 1,
            state if state & DONE != 0 => break 0,
            PENDING => {
                let _ =
                    word.compare_exchange(PENDING, PENDING | WAITING, Ordering::AcqRel, Ordering::Relaxed);
            }
            0 => {}
            state => sys::futex_wait(word, state),
        }
    };
    opaque::touch(guard as usize, 4);
    result
}

/// The static is there.
unsafe extern "C" fn release(guard: *mut u64, caller: Caller) {
    // SAFETY: the caller has acquired it.
    unsafe { leave(guard, DONE, caller) };
}

/// The initialisation has failed: another thread may try.
unsafe extern "C" fn abort(guard: *mut u64, caller: Caller) {
    // SAFETY: the caller has acquired it.
    unsafe { leave(guard, 0, caller) };
}

unsafe fn leave(guard: *mut u64, state: u32, caller: Caller) {
    if control::active() {
        control::point(steps::change(Kind::Unlock, guard as usize), caller.pc());
    }
    opaque::touch(guard as usize, 4);
    // SAFETY: the caller's promise.
    let word = unsafe { word(guard) };
    if word.swap(state, Ordering::AcqRel) & WAITING != 0 {
        sys::futex_wake(word, i32::MAX as u32);
    }
    if control::active() {
        control::changed(guard as usize);
    }
}

shims! {
    __interpose___cxa_guard_acquire => acquire, "rsi";
    __interpose___cxa_guard_release => release, "rsi";
    __interpose___cxa_guard_abort => abort, "rsi";
}
