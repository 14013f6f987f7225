//! Condition variables: a wait releases the mutex and acquires it again. To signal orders nothing by itself.
//!
//! A thread that is cancelled while it waits gets the mutex back before its cleanup handlers run: one of ours, the
//! innermost, acquires it.

use super::caller::Caller;
use super::{acquire, release};
use crate::sync::Side;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use libc::{clockid_t, pthread_cond_t as Condition, pthread_mutex_t as Mutex, timespec};

real! {
    fn pthread_cond_wait(condition: *mut Condition, mutex: *mut Mutex) -> c_int;
    fn pthread_cond_timedwait(condition: *mut Condition, mutex: *mut Mutex, until: *const timespec) -> c_int;
    fn pthread_cond_clockwait(condition: *mut Condition, mutex: *mut Mutex, clock: clockid_t, until: *const timespec) -> c_int;
    fn cnd_wait(condition: *mut Condition, mutex: *mut Mutex) -> c_int;
    fn cnd_timedwait(condition: *mut Condition, mutex: *mut Mutex, until: *const timespec) -> c_int;
}

/// `struct _pthread_cleanup_buffer`, which libc links into a list.
#[repr(C)]
struct Cleanup {
    routine: extern "C" fn(*mut c_void),
    argument: *mut c_void,
    cancel_type: c_int,
    previous: *mut c_void,
}

unsafe extern "C" {
    fn _pthread_cleanup_push(
        buffer: *mut Cleanup,
        routine: extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
    fn _pthread_cleanup_pop(buffer: *mut Cleanup, execute: c_int);
}

/// What a cleanup handler must know.
struct Waiting {
    mutex: *mut Mutex,
    caller: Caller,
}

extern "C" fn waited(waiting: *mut c_void) {
    // SAFETY: on the stack of `waiting` below, which is still there when handlers run.
    let Waiting { mutex, caller } = unsafe { waiting.cast::<Waiting>().read() };
    acquire(mutex, Side::All, caller);
}

fn waiting(mutex: *mut Mutex, caller: Caller, real: impl FnOnce() -> c_int) -> c_int {
    release(mutex, Side::All, caller);
    let mut waiting = Waiting { mutex, caller };
    let mut cleanup = MaybeUninit::uninit();
    // SAFETY: pushed and popped in the same function; both objects outlive the call between.
    unsafe {
        _pthread_cleanup_push(cleanup.as_mut_ptr(), waited, (&raw mut waiting).cast());
        let result = real();
        _pthread_cleanup_pop(cleanup.as_mut_ptr(), 1);
        result
    }
}

unsafe extern "C" fn wait(condition: *mut Condition, mutex: *mut Mutex, caller: Caller) -> c_int {
    // SAFETY: the caller's arguments.
    waiting(mutex, caller, || unsafe { real::pthread_cond_wait(condition, mutex) })
}

unsafe extern "C" fn timed_wait(
    condition: *mut Condition,
    mutex: *mut Mutex,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the caller's arguments.
    waiting(mutex, caller, || unsafe { real::pthread_cond_timedwait(condition, mutex, until) })
}

unsafe extern "C" fn clock_wait(
    condition: *mut Condition,
    mutex: *mut Mutex,
    clock: clockid_t,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the caller's arguments.
    waiting(mutex, caller, || unsafe { real::pthread_cond_clockwait(condition, mutex, clock, until) })
}

unsafe extern "C" fn wait11(condition: *mut Condition, mutex: *mut Mutex, caller: Caller) -> c_int {
    // SAFETY: the caller's arguments.
    waiting(mutex, caller, || unsafe { real::cnd_wait(condition, mutex) })
}

unsafe extern "C" fn timed_wait11(
    condition: *mut Condition,
    mutex: *mut Mutex,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the caller's arguments.
    waiting(mutex, caller, || unsafe { real::cnd_timedwait(condition, mutex, until) })
}

shims! {
    __interpose_pthread_cond_wait => wait, "rdx";
    __interpose_pthread_cond_timedwait => timed_wait, "rcx";
    __interpose_pthread_cond_clockwait => clock_wait, "r8";
    __interpose_cnd_wait => wait11, "rdx";
    __interpose_cnd_timedwait => timed_wait11, "rcx";
}
