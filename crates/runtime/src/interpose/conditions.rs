//! Condition variables: a wait releases the mutex and acquires it again. To signal orders nothing by itself.
//!
//! Under the scheduler nobody waits in libc: who waits for which signal is kept in [`queues`]. A wait is three steps: to
//! give the mutex back and begin to wait, to be woken (or late), to take the mutex again.
//!
//! A thread that is cancelled while it waits gets the mutex back before its cleanup handlers run: one of ours, the
//! innermost, acquires it.

use super::caller::Caller;
use super::mutexes::{self, THRD_TIMEDOUT};
use super::{acquire, objects, release, renewed};
use crate::control::clock::{self, Moment};
use crate::control::steps::{self, Taking};
use crate::control::{self, cancel, queues};
use crate::report::Object;
use crate::sync::Side;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use libc::{clockid_t, pthread_cond_t as Condition, pthread_mutex_t as Mutex, timespec};
use seqcst_explore::{AccessType, Kind};

real! {
    fn pthread_cond_wait(condition: *mut Condition, mutex: *mut Mutex) -> c_int;
    fn pthread_cond_timedwait(condition: *mut Condition, mutex: *mut Mutex, until: *const timespec) -> c_int;
    fn pthread_cond_clockwait(condition: *mut Condition, mutex: *mut Mutex, clock: clockid_t, until: *const timespec) -> c_int;
    fn cnd_wait(condition: *mut Condition, mutex: *mut Mutex) -> c_int;
    fn cnd_timedwait(condition: *mut Condition, mutex: *mut Mutex, until: *const timespec) -> c_int;
    fn pthread_cond_signal(condition: *mut Condition) -> c_int;
    fn pthread_cond_broadcast(condition: *mut Condition) -> c_int;
    fn cnd_signal(condition: *mut Condition) -> c_int;
    fn cnd_broadcast(condition: *mut Condition) -> c_int;
    fn pthread_cond_init(condition: *mut Condition, attr: *const c_void) -> c_int;
    fn pthread_cond_destroy(condition: *mut Condition) -> c_int;
    fn cnd_init(condition: *mut Condition) -> c_int;
    fn cnd_destroy(condition: *mut Condition);
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

/// A wait under the scheduler.
///
/// # Safety
/// As the real functions.
unsafe fn turns(
    condition: *mut Condition,
    mutex: *mut Mutex,
    until: Option<Moment>,
    caller: Caller,
) -> c_int {
    let (name, pc) = (condition as usize, caller.pc());
    control::point(steps::change(Kind::Wait, name).and(AccessType::Write, mutex as u64), pc);
    objects::used(condition, Object::Condition, caller); // others may have ended its life meanwhile
    release(mutex, Side::All, caller);
    // SAFETY: the caller's promise.
    let result = unsafe { mutexes::unlock_within(mutex) };
    if result != 0 {
        return result;
    }
    let ticket = queues::enter(name, queues::ANY);
    let cancelled = cancel::waiting();
    steps::take(Taking::alone(Kind::Wake, name), until, pc, &|| {
        queues::can_go(name, ticket) || cancelled.is_cancelled()
    });
    let woken = queues::leave(name, ticket);
    control::changed(name); // a signal fewer for the others
    // SAFETY: the caller's promise.
    let result = unsafe { mutexes::lock_again(mutex, caller) };
    acquire(mutex, Side::All, caller);
    cancelled.ends();
    if result == 0 && !woken { libc::ETIMEDOUT } else { result }
}

/// C11's functions have names of their own for results.
fn in_c11(result: c_int) -> c_int {
    const THRD_ERROR: c_int = 2;
    match result {
        0 => 0,
        libc::ETIMEDOUT => THRD_TIMEDOUT,
        _ => THRD_ERROR,
    }
}

unsafe extern "C" fn wait(condition: *mut Condition, mutex: *mut Mutex, caller: Caller) -> c_int {
    objects::used(condition, Object::Condition, caller);
    objects::unlocked(mutex, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() {
            return turns(condition, mutex, None, caller);
        }
        waiting(mutex, caller, || real::pthread_cond_wait(condition, mutex))
    }
}

unsafe extern "C" fn timed_wait(
    condition: *mut Condition,
    mutex: *mut Mutex,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    objects::used(condition, Object::Condition, caller);
    objects::unlocked(mutex, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() {
            return clock_turns(condition, mutex, clock_of(condition), until, caller);
        }
        waiting(mutex, caller, || real::pthread_cond_timedwait(condition, mutex, until))
    }
}

unsafe extern "C" fn clock_wait(
    condition: *mut Condition,
    mutex: *mut Mutex,
    clock: clockid_t,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    objects::used(condition, Object::Condition, caller);
    objects::unlocked(mutex, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() {
            return clock_turns(condition, mutex, clock, until, caller);
        }
        waiting(mutex, caller, || real::pthread_cond_clockwait(condition, mutex, clock, until))
    }
}

unsafe extern "C" fn wait11(condition: *mut Condition, mutex: *mut Mutex, caller: Caller) -> c_int {
    objects::used(condition, Object::Condition, caller);
    objects::unlocked(mutex, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() {
            return in_c11(turns(condition, mutex, None, caller));
        }
        waiting(mutex, caller, || real::cnd_wait(condition, mutex))
    }
}

unsafe extern "C" fn timed_wait11(
    condition: *mut Condition,
    mutex: *mut Mutex,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    objects::used(condition, Object::Condition, caller);
    objects::unlocked(mutex, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() {
            return in_c11(clock_turns(condition, mutex, libc::CLOCK_REALTIME, until, caller));
        }
        waiting(mutex, caller, || real::cnd_timedwait(condition, mutex, until))
    }
}

/// A wait with a deadline, under the scheduler.
///
/// # Safety
/// As the real functions.
unsafe fn clock_turns(
    condition: *mut Condition,
    mutex: *mut Mutex,
    clock: clockid_t,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if !clock::is_valid(&*until) {
            return libc::EINVAL;
        }
        turns(condition, mutex, Some(clock::moment(clock, &*until)), caller)
    }
}

/// The clock that a condition variable was made for.
///
/// # Safety
/// It is alive.
unsafe fn clock_of(condition: *const Condition) -> clockid_t {
    /// Where glibc keeps it: the second bit of `__wrefs`.
    const FLAGS: usize = 36;
    const MONOTONIC: u32 = 2;
    // SAFETY: the caller's promise.
    let flags = unsafe { condition.byte_add(FLAGS).cast::<u32>().read_volatile() };
    if flags & MONOTONIC != 0 { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME }
}

/// `work => real, how many` for each function that signals.
macro_rules! signals {
    ($($work:ident => $real:ident, $many:expr;)*) => {$(
        unsafe extern "C" fn $work(condition: *mut Condition, caller: Caller) -> c_int {
            if control::active() {
                let name = condition as usize;
                steps::give(steps::change(Kind::Signal, name), caller.pc(), || {
                    objects::used(condition, Object::Condition, caller);
                    queues::signal(name, $many);
                });
                return 0;
            }
            objects::used(condition, Object::Condition, caller);
            // SAFETY: the caller's arguments.
            unsafe { real::$real(condition) }
        }
    )*};
}

signals! {
    signal => pthread_cond_signal, 1;
    broadcast => pthread_cond_broadcast, usize::MAX;
    signal11 => cnd_signal, 1;
    broadcast11 => cnd_broadcast, usize::MAX;
}

/// While threads wait that nobody has signalled, the real calls wait for them: they aren't made.
unsafe extern "C" fn destroy(condition: *mut Condition, caller: Caller) -> c_int {
    if !objects::dies(condition, Object::Condition, caller) {
        return libc::EBUSY;
    }
    // SAFETY: the caller's arguments.
    objects::died(unsafe { real::pthread_cond_destroy(condition) }, condition, Object::Condition, caller)
}

unsafe extern "C" fn destroy11(condition: *mut Condition, caller: Caller) {
    if objects::dies(condition, Object::Condition, caller) {
        // SAFETY: the caller's arguments.
        unsafe { real::cnd_destroy(condition) };
        objects::died(0, condition, Object::Condition, caller);
    }
}

/// In front of `pthread_cond_init`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_pthread_cond_init(
    condition: *mut Condition,
    attr: *const c_void,
) -> c_int {
    // SAFETY: the caller's arguments.
    renewed(unsafe { real::pthread_cond_init(condition, attr) }, condition)
}

/// In front of `cnd_init`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_cnd_init(condition: *mut Condition) -> c_int {
    // SAFETY: the caller's arguments.
    renewed(unsafe { real::cnd_init(condition) }, condition)
}

shims! {
    __interpose_pthread_cond_destroy => destroy, "rsi";
    __interpose_cnd_destroy => destroy11, "rsi";
    __interpose_pthread_cond_wait => wait, "rdx";
    __interpose_pthread_cond_timedwait => timed_wait, "rcx";
    __interpose_pthread_cond_clockwait => clock_wait, "r8";
    __interpose_pthread_cond_signal => signal, "rsi";
    __interpose_pthread_cond_broadcast => broadcast, "rsi";
    __interpose_cnd_wait => wait11, "rdx";
    __interpose_cnd_timedwait => timed_wait11, "rcx";
    __interpose_cnd_signal => signal11, "rsi";
    __interpose_cnd_broadcast => broadcast11, "rsi";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks() {
        for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            let (mut attr, mut condition) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            // SAFETY: initialised before use.
            unsafe {
                libc::pthread_condattr_init(attr.as_mut_ptr());
                libc::pthread_condattr_setclock(attr.as_mut_ptr(), clock);
                assert_eq!(libc::pthread_cond_init(condition.as_mut_ptr(), attr.as_ptr()), 0);
                assert_eq!(clock_of(condition.as_ptr()), clock);
            }
        }
    }
}
