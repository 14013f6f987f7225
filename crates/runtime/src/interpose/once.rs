//! One-time initialisation: whoever gets past `pthread_once` knows what the initialiser did.
//!
//! The initialiser takes no argument, so what it belongs to is kept in a thread-local. It may end by an exception
//! (`std::call_once`): then the next one that tries knows what it did.
//!
//! Under the scheduler a thread gets its turn when no initialiser is running.

use super::caller::Caller;
use super::{acquire, unwinding};
use crate::control::steps::{self, Taking};
use crate::control::{self, locks};
use crate::sync::{self, Side};
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use seqcst_explore::Kind;

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

/// The initialiser is done, and libc is about to say so.
fn done(flag: usize) {
    if control::active() {
        control::point(steps::change(Kind::Unlock, flag), 0);
    }
    sync::release(flag, Side::All, 0);
}

/// Libc has said so.
fn over(flag: usize) {
    if control::active() {
        control::changed(flag);
    }
}

/// Libc's function of this address, however it ends: by returning, or by an exception.
///
/// # Safety
/// It is `pthread_once` or `call_once`, and the call is the program's.
unsafe fn calling(real: *mut c_void, call: Call) {
    if call.caller.is_unwinder() {
        // SAFETY: the caller's promise.
        return unsafe {
            core::mem::transmute::<*mut c_void, extern "C" fn(*mut Flag, Initialiser)>(real)(
                call.flag,
                call.initialiser,
            )
        };
    }
    if control::active() {
        // SAFETY: the caller's flag, which stays while somebody waits for it.
        let can = || unsafe { locks::once(call.flag) };
        steps::take(Taking::alone(Kind::Lock, call.flag as usize), None, call.caller.pc(), &can);
    }
    let outer = CALL.replace(&raw const call);
    let (flag, initialiser) = (call.flag as usize, initialise as extern "C" fn() as usize);
    // SAFETY: the caller's arguments, but for the initialiser, which calls the caller's.
    unsafe { unwinding::call(real as usize, flag, initialiser, over, flag) };
    over(flag);
    CALL.set(outer);
    acquire(call.flag, Side::All, call.caller);
}

unsafe extern "C" fn once(flag: *mut Flag, initialiser: Initialiser, caller: Caller) -> c_int {
    // SAFETY: the caller's arguments. It always returns 0.
    unsafe { calling(real::addresses::pthread_once.address(), Call { flag, initialiser, caller }) };
    0
}

unsafe extern "C" fn once11(flag: *mut Flag, initialiser: Initialiser, caller: Caller) {
    // SAFETY: the caller's arguments.
    unsafe { calling(real::addresses::call_once.address(), Call { flag, initialiser, caller }) };
}

shims! {
    __interpose_pthread_once => once, "rdx";
    __interpose_call_once => once11, "rdx";
}
