//! One-time initialisation: whoever gets past `pthread_once` knows what the initialiser did.
//!
//! The initialiser takes no argument, so what it belongs to is kept in a thread-local. It may end by an exception
//! (`std::call_once`): then the next one that tries knows what it did.

use super::caller::Caller;
use super::{acquire, unwinding};
use crate::sync::{self, Side};
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;

/// `pthread_once_t`, and C11's `once_flag`.
type Flag = c_int;
type Initialiser = extern "C" fn();

real! {
    fn pthread_once(flag: *mut Flag, initialiser: Initialiser) -> c_int;
    fn call_once(flag: *mut Flag, initialiser: Initialiser);
}

#[derive(Clone, Copy)]
struct Call {
    flag: *mut Flag,
    initialiser: Initialiser,
    caller: Caller,
}

thread_local! {
    /// The innermost call on this thread. It may point to a call that an exception has ended; nobody looks then.
    static CALL: Cell<*const Call> = const { Cell::new(ptr::null()) };
}

/// Runs the initialiser of the innermost call.
extern "C" fn initialise() {
    // SAFETY: libc calls this inside a call of `calling` on the same thread, which has set it.
    let Call { flag, initialiser, caller } = unsafe { *CALL.get() };
    acquire(flag, Side::All, caller);
    // SAFETY: it takes no arguments; two do no harm.
    unsafe { unwinding::call(initialiser as usize, 0, 0, done, flag as usize) };
    done(flag as usize);
}

fn done(flag: usize) {
    sync::release(flag, Side::All, 0);
}

fn calling<T>(call: Call, real: impl FnOnce() -> T) -> T {
    let outer = CALL.replace(&raw const call);
    let result = real();
    CALL.set(outer);
    acquire(call.flag, Side::All, call.caller);
    result
}

unsafe extern "C" fn once(flag: *mut Flag, initialiser: Initialiser, caller: Caller) -> c_int {
    // SAFETY: the caller's arguments, but for the initialiser, which calls the caller's.
    calling(Call { flag, initialiser, caller }, || unsafe { real::pthread_once(flag, initialise) })
}

unsafe extern "C" fn once11(flag: *mut Flag, initialiser: Initialiser, caller: Caller) {
    // SAFETY: as above.
    calling(Call { flag, initialiser, caller }, || unsafe { real::call_once(flag, initialise) });
}

shims! {
    __interpose_pthread_once => once, "rdx";
    __interpose_call_once => once11, "rdx";
}
