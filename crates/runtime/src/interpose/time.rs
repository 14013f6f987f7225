//! Time and waiting for it: under `seqcst explore` clocks show logical time, and to sleep is to offer the turn to others.
//!
//! Instructions that read a clock (`rdtsc`) can't be stood in front of, nor can system calls that a program makes by
//! itself.

use super::caller::Caller;
use crate::control::{self, cancel, clock};
use core::ffi::{c_int, c_long, c_void};
use libc::{clockid_t, time_t, timespec, timeval};
use seqcst_explore::{Kind, Op};

real! {
    fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int;
    fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int;
    fn time(time: *mut time_t) -> time_t;
    fn clock() -> c_long;
    fn timespec_get(time: *mut timespec, base: c_int) -> c_int;
    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int;
    fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int;
    fn usleep(microseconds: u32) -> c_int;
    fn sleep(seconds: u32) -> u32;
    fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int;
    fn sched_yield() -> c_int;
    fn thrd_yield();
}

/// Looks at a clock, which the next round of a loop can see.
fn look(clock: clockid_t) -> timespec {
    if control::active() {
        control::effect();
    }
    clock::look(clock)
}

/// In front of `clock_gettime`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: the caller's arguments. The real one checks them.
    unsafe {
        let result = real::clock_gettime(clock, time);
        if result == 0 && clock::is_logical() {
            *time = look(clock);
        }
        result
    }
}

/// In front of `gettimeofday`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        let result = real::gettimeofday(time, zone);
        if result == 0 && !time.is_null() && clock::is_logical() {
            let now = look(libc::CLOCK_REALTIME);
            *time = timeval { tv_sec: now.tv_sec, tv_usec: now.tv_nsec / 1000 };
        }
        result
    }
}

/// In front of `time`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_time(time: *mut time_t) -> time_t {
    // SAFETY: the caller's arguments.
    unsafe {
        if !clock::is_logical() {
            return real::time(time);
        }
        let now = look(libc::CLOCK_REALTIME).tv_sec;
        if let Some(time) = time.as_mut() {
            *time = now;
        }
        now
    }
}

/// In front of `clock`: microseconds.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_clock() -> c_long {
    if !clock::is_logical() {
        // SAFETY: no arguments.
        return unsafe { real::clock() };
    }
    let used = look(libc::CLOCK_PROCESS_CPUTIME_ID);
    used.tv_sec * 1_000_000 + used.tv_nsec / 1000
}

/// In front of `timespec_get`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_timespec_get(time: *mut timespec, base: c_int) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        let result = real::timespec_get(time, base);
        if result != 0 && clock::is_logical() {
            *time = look(libc::CLOCK_REALTIME);
        }
        result
    }
}

/// Offers the turn to others; logical time goes on until the sleep is over.
pub(super) fn doze(duration: &timespec, pc: usize) {
    let end = clock::after(duration);
    control::offer(Op::local(Kind::Yield), pc);
    clock::reach(end);
    cancel::waiting().ends();
}

/// A yield.
pub(super) fn give_way(pc: usize) {
    control::offer(Op::local(Kind::Yield), pc);
}

/// A sleep under the scheduler: 0, or an error.
///
/// # Safety
/// As `clock_nanosleep`.
unsafe fn turns(clock: clockid_t, flags: c_int, time: *const timespec, caller: Caller) -> c_int {
    // SAFETY: the caller's promise.
    let time = unsafe { &*time };
    if !clock::is_valid(time) || time.tv_sec < 0 {
        return libc::EINVAL;
    }
    if flags & libc::TIMER_ABSTIME != 0 {
        give_way(caller.pc());
        clock::reach(clock::moment(clock, time));
    } else {
        doze(time, caller.pc());
    }
    0
}

unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() {
            return turns(clock, flags, time, caller);
        }
        real::clock_nanosleep(clock, flags, time, left)
    }
}

unsafe extern "C" fn nanosleep(time: *const timespec, left: *mut timespec, caller: Caller) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        if !control::active() {
            return real::nanosleep(time, left);
        }
        let error = turns(libc::CLOCK_REALTIME, 0, time, caller);
        if error == 0 {
            return 0;
        }
        *libc::__errno_location() = error;
        -1
    }
}

unsafe extern "C" fn thrd_sleep(time: *const timespec, left: *mut timespec, caller: Caller) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        if !control::active() {
            return real::thrd_sleep(time, left);
        }
        if turns(libc::CLOCK_REALTIME, 0, time, caller) == 0 { 0 } else { -2 }
    }
}

unsafe extern "C" fn usleep(microseconds: u32, caller: Caller) -> c_int {
    if !control::active() {
        // SAFETY: the caller's argument.
        return unsafe { real::usleep(microseconds) };
    }
    let (seconds, rest) = (microseconds / 1_000_000, microseconds % 1_000_000);
    doze(&timespec { tv_sec: seconds.into(), tv_nsec: i64::from(rest) * 1000 }, caller.pc());
    0
}

unsafe extern "C" fn sleep(seconds: u32, caller: Caller) -> u32 {
    if !control::active() {
        // SAFETY: the caller's argument.
        return unsafe { real::sleep(seconds) };
    }
    doze(&timespec { tv_sec: seconds.into(), tv_nsec: 0 }, caller.pc());
    0
}

unsafe extern "C" fn sched_yield(caller: Caller) -> c_int {
    if !control::active() {
        // SAFETY: no arguments.
        return unsafe { real::sched_yield() };
    }
    give_way(caller.pc());
    0
}

unsafe extern "C" fn thrd_yield(caller: Caller) {
    if !control::active() {
        // SAFETY: no arguments.
        return unsafe { real::thrd_yield() };
    }
    give_way(caller.pc());
}

shims! {
    __interpose_clock_nanosleep => clock_nanosleep, "r8";
    __interpose_nanosleep => nanosleep, "rdx";
    __interpose_thrd_sleep => thrd_sleep, "rdx";
    __interpose_usleep => usleep, "rsi";
    __interpose_sleep => sleep, "rsi";
    __interpose_sched_yield => sched_yield, "rdi";
    __interpose_pthread_yield => sched_yield, "rdi";
    __interpose_thrd_yield => thrd_yield, "rdi";
}
