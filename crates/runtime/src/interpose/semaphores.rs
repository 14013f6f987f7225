//! Semaphores: to post releases, to get through a wait acquires.

use super::caller::Caller;
use super::{acquired, objects, release, renewed};
use crate::control::clock::{self, Moment};
use crate::control::steps::{self, Taking};
use crate::control::{self, cancel, locks};
use crate::report::Object;
use crate::sync::Side;
use core::ffi::{c_int, c_uint};
use libc::{clockid_t, sem_t as Semaphore, timespec};
use seqcst_explore::Kind;

real! {
    fn sem_init(semaphore: *mut Semaphore, shared: c_int, value: c_uint) -> c_int;
    fn sem_destroy(semaphore: *mut Semaphore) -> c_int;
    fn sem_post(semaphore: *mut Semaphore) -> c_int;
    fn sem_wait(semaphore: *mut Semaphore) -> c_int;
    fn sem_trywait(semaphore: *mut Semaphore) -> c_int;
    fn sem_timedwait(semaphore: *mut Semaphore, until: *const timespec) -> c_int;
    fn sem_clockwait(semaphore: *mut Semaphore, clock: clockid_t, until: *const timespec) -> c_int;
}

/// Under the scheduler: waits for the turn to take from it, whose life others may have ended meanwhile. False: time is up.
fn turn(semaphore: *const Semaphore, until: Option<Moment>, caller: Caller) -> bool {
    let cancelled = cancel::waiting();
    // SAFETY: the caller's semaphore, which stays while somebody waits for it.
    let can = || unsafe { locks::semaphore(semaphore) } || cancelled.is_cancelled();
    let taken = steps::take(Taking::alone(Kind::Take, semaphore as usize), until, caller.pc(), &can);
    cancelled.ends();
    objects::used(semaphore, Object::Semaphore, caller);
    taken
}

/// Time is up.
fn late() -> c_int {
    // SAFETY: always there.
    unsafe { *libc::__errno_location() = libc::ETIMEDOUT };
    -1
}

unsafe extern "C" fn post(semaphore: *mut Semaphore, caller: Caller) -> c_int {
    let act = || {
        objects::used(semaphore, Object::Semaphore, caller);
        release(semaphore, Side::All, caller);
        // SAFETY: the caller's arguments.
        unsafe { real::sem_post(semaphore) }
    };
    if control::active() {
        return steps::give(steps::change(Kind::Post, semaphore as usize), caller.pc(), act);
    }
    act()
}

unsafe extern "C" fn wait(semaphore: *mut Semaphore, caller: Caller) -> c_int {
    objects::used(semaphore, Object::Semaphore, caller);
    if control::active() {
        turn(semaphore, None, caller);
    }
    // SAFETY: the caller's arguments.
    acquired(unsafe { real::sem_wait(semaphore) }, semaphore, Side::All, caller)
}

unsafe extern "C" fn try_wait(semaphore: *mut Semaphore, caller: Caller) -> c_int {
    objects::used(semaphore, Object::Semaphore, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() {
            let can = || locks::semaphore(semaphore);
            steps::try_take(Taking::alone(Kind::Take, semaphore as usize), caller.pc(), can);
            objects::used(semaphore, Object::Semaphore, caller);
        }
        acquired(real::sem_trywait(semaphore), semaphore, Side::All, caller)
    }
}

unsafe extern "C" fn timed_wait(semaphore: *mut Semaphore, until: *const timespec, caller: Caller) -> c_int {
    objects::used(semaphore, Object::Semaphore, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() && !turn(semaphore, Some(clock::moment(libc::CLOCK_REALTIME, &*until)), caller) {
            return late();
        }
        acquired(real::sem_timedwait(semaphore, until), semaphore, Side::All, caller)
    }
}

unsafe extern "C" fn clock_wait(
    semaphore: *mut Semaphore,
    clock: clockid_t,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    objects::used(semaphore, Object::Semaphore, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() && !turn(semaphore, Some(clock::moment(clock, &*until)), caller) {
            return late();
        }
        acquired(real::sem_clockwait(semaphore, clock, until), semaphore, Side::All, caller)
    }
}

/// In front of `sem_init`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_sem_init(
    semaphore: *mut Semaphore,
    shared: c_int,
    value: c_uint,
) -> c_int {
    // SAFETY: the caller's arguments.
    renewed(unsafe { real::sem_init(semaphore, shared, value) }, semaphore)
}

unsafe extern "C" fn destroy(semaphore: *mut Semaphore, caller: Caller) -> c_int {
    objects::dies(semaphore, Object::Semaphore, caller);
    // SAFETY: the caller's arguments.
    objects::died(unsafe { real::sem_destroy(semaphore) }, semaphore, Object::Semaphore, caller)
}

shims! {
    __interpose_sem_post => post, "rsi";
    __interpose_sem_destroy => destroy, "rsi";
    __interpose_sem_wait => wait, "rsi";
    __interpose_sem_trywait => try_wait, "rsi";
    __interpose_sem_timedwait => timed_wait, "rdx";
    __interpose_sem_clockwait => clock_wait, "rcx";
}
