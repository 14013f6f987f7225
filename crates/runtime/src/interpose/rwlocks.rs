//! Read-write locks: readers learn from writers and are heard by writers, not by one another.

use super::caller::Caller;
use super::{acquired, release, renewed, threads};
use crate::sync::Side;
use core::ffi::{c_int, c_void};
use libc::{clockid_t, pthread_rwlock_t as RwLock, timespec};

real! {
    fn pthread_rwlock_init(lock: *mut RwLock, attr: *const c_void) -> c_int;
    fn pthread_rwlock_destroy(lock: *mut RwLock) -> c_int;
    fn pthread_rwlock_rdlock(lock: *mut RwLock) -> c_int;
    fn pthread_rwlock_tryrdlock(lock: *mut RwLock) -> c_int;
    fn pthread_rwlock_timedrdlock(lock: *mut RwLock, until: *const timespec) -> c_int;
    fn pthread_rwlock_clockrdlock(lock: *mut RwLock, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_wrlock(lock: *mut RwLock) -> c_int;
    fn pthread_rwlock_trywrlock(lock: *mut RwLock) -> c_int;
    fn pthread_rwlock_timedwrlock(lock: *mut RwLock, until: *const timespec) -> c_int;
    fn pthread_rwlock_clockwrlock(lock: *mut RwLock, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_unlock(lock: *mut RwLock) -> c_int;
}

macro_rules! locks {
    ($($work:ident => $real:ident($side:ident $(, $argument:ident: $of:ty)*);)*) => {$(
        unsafe extern "C" fn $work(lock: *mut RwLock $(, $argument: $of)*, caller: Caller) -> c_int {
            // SAFETY: the caller's arguments.
            acquired(unsafe { real::$real(lock $(, $argument)*) }, lock, Side::$side, caller)
        }
    )*};
}

locks! {
    read => pthread_rwlock_rdlock(Readers);
    try_read => pthread_rwlock_tryrdlock(Readers);
    timed_read => pthread_rwlock_timedrdlock(Readers, until: *const timespec);
    clock_read => pthread_rwlock_clockrdlock(Readers, clock: clockid_t, until: *const timespec);
    write => pthread_rwlock_wrlock(All);
    try_write => pthread_rwlock_trywrlock(All);
    timed_write => pthread_rwlock_timedwrlock(All, until: *const timespec);
    clock_write => pthread_rwlock_clockwrlock(All, clock: clockid_t, until: *const timespec);
}

/// One function for both sides: libc itself finds out which one by looking whether the writer is this thread.
unsafe extern "C" fn unlock(lock: *mut RwLock, caller: Caller) -> c_int {
    /// Where glibc keeps the writer's number, `__cur_writer`.
    const WRITER: usize = 24;
    // SAFETY: inside the lock, which this thread holds.
    let writer = unsafe { lock.byte_add(WRITER).cast::<u32>().read_volatile() };
    let side = if writer == threads::tid() { Side::All } else { Side::Readers };
    release(lock, side, caller);
    // SAFETY: the caller's arguments.
    unsafe { real::pthread_rwlock_unlock(lock) }
}

/// In front of `pthread_rwlock_init`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_pthread_rwlock_init(lock: *mut RwLock, attr: *const c_void) -> c_int {
    // SAFETY: the caller's arguments.
    renewed(unsafe { real::pthread_rwlock_init(lock, attr) }, lock)
}

/// In front of `pthread_rwlock_destroy`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_pthread_rwlock_destroy(lock: *mut RwLock) -> c_int {
    // SAFETY: the caller's arguments.
    renewed(unsafe { real::pthread_rwlock_destroy(lock) }, lock)
}

shims! {
    __interpose_pthread_rwlock_rdlock => read, "rsi";
    __interpose_pthread_rwlock_tryrdlock => try_read, "rsi";
    __interpose_pthread_rwlock_timedrdlock => timed_read, "rdx";
    __interpose_pthread_rwlock_clockrdlock => clock_read, "rcx";
    __interpose_pthread_rwlock_wrlock => write, "rsi";
    __interpose_pthread_rwlock_trywrlock => try_write, "rsi";
    __interpose_pthread_rwlock_timedwrlock => timed_write, "rdx";
    __interpose_pthread_rwlock_clockwrlock => clock_write, "rcx";
    __interpose_pthread_rwlock_unlock => unlock, "rsi";
}
