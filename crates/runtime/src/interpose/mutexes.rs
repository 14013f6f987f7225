//! Mutexes and spin locks: locking acquires, unlocking releases.
//!
//! A recursive mutex is acquired and released at every level: the inner ones add nothing that isn't so. C11's `mtx_t` is
//! a `pthread_mutex_t`, but its functions reach libc's mutexes by another way.

use super::caller::Caller;
use super::{acquired, release, renewed};
use crate::sync::Side;
use core::ffi::{c_int, c_void};
use libc::{clockid_t, pthread_mutex_t as Mutex, timespec};

/// `pthread_spinlock_t`
type Spin = c_int;

real! {
    fn pthread_mutex_init(mutex: *mut Mutex, attr: *const c_void) -> c_int;
    fn pthread_mutex_destroy(mutex: *mut Mutex) -> c_int;
    fn pthread_mutex_lock(mutex: *mut Mutex) -> c_int;
    fn pthread_mutex_trylock(mutex: *mut Mutex) -> c_int;
    fn pthread_mutex_timedlock(mutex: *mut Mutex, until: *const timespec) -> c_int;
    fn pthread_mutex_clocklock(mutex: *mut Mutex, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut Mutex) -> c_int;
    fn mtx_init(mutex: *mut Mutex, kind: c_int) -> c_int;
    fn mtx_destroy(mutex: *mut Mutex);
    fn mtx_lock(mutex: *mut Mutex) -> c_int;
    fn mtx_trylock(mutex: *mut Mutex) -> c_int;
    fn mtx_timedlock(mutex: *mut Mutex, until: *const timespec) -> c_int;
    fn mtx_unlock(mutex: *mut Mutex) -> c_int;
    fn pthread_spin_init(spin: *mut Spin, shared: c_int) -> c_int;
    fn pthread_spin_destroy(spin: *mut Spin) -> c_int;
    fn pthread_spin_lock(spin: *mut Spin) -> c_int;
    fn pthread_spin_trylock(spin: *mut Spin) -> c_int;
    fn pthread_spin_unlock(spin: *mut Spin) -> c_int;
}

/// `work => real(object, arguments)` for each function that takes, frees or renews a lock.
macro_rules! locks {
    (take $($work:ident => $real:ident($type:ty $(, $argument:ident: $of:ty)*);)*) => {$(
        unsafe extern "C" fn $work(lock: *mut $type $(, $argument: $of)*, caller: Caller) -> c_int {
            // SAFETY: the caller's arguments.
            acquired(unsafe { real::$real(lock $(, $argument)*) }, lock, Side::All, caller)
        }
    )*};
    (free $($work:ident => $real:ident($type:ty);)*) => {$(
        unsafe extern "C" fn $work(lock: *mut $type, caller: Caller) -> c_int {
            release(lock, Side::All, caller);
            // SAFETY: the caller's arguments.
            unsafe { real::$real(lock) }
        }
    )*};
    (renew $($work:ident => $real:ident($type:ty $(, $argument:ident: $of:ty)*);)*) => {$(
        #[doc = "In front of the function of this name."]
        #[doc = "# Safety"]
        #[doc = "As the function."]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $work(lock: *mut $type $(, $argument: $of)*) -> c_int {
            // SAFETY: the caller's arguments.
            renewed(unsafe { real::$real(lock $(, $argument)*) }, lock)
        }
    )*};
}

locks! { take
    lock => pthread_mutex_lock(Mutex);
    try_lock => pthread_mutex_trylock(Mutex);
    timed_lock => pthread_mutex_timedlock(Mutex, until: *const timespec);
    clock_lock => pthread_mutex_clocklock(Mutex, clock: clockid_t, until: *const timespec);
    lock11 => mtx_lock(Mutex);
    try_lock11 => mtx_trylock(Mutex);
    timed_lock11 => mtx_timedlock(Mutex, until: *const timespec);
    spin_lock => pthread_spin_lock(Spin);
    spin_try_lock => pthread_spin_trylock(Spin);
}

locks! { free
    unlock => pthread_mutex_unlock(Mutex);
    unlock11 => mtx_unlock(Mutex);
    spin_unlock => pthread_spin_unlock(Spin);
}

locks! { renew
    __interpose_pthread_mutex_init => pthread_mutex_init(Mutex, attr: *const c_void);
    __interpose_pthread_mutex_destroy => pthread_mutex_destroy(Mutex);
    __interpose_mtx_init => mtx_init(Mutex, kind: c_int);
    __interpose_pthread_spin_init => pthread_spin_init(Spin, shared: c_int);
    __interpose_pthread_spin_destroy => pthread_spin_destroy(Spin);
}

/// In front of `mtx_destroy`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_mtx_destroy(mutex: *mut Mutex) {
    // SAFETY: the caller's arguments.
    unsafe { real::mtx_destroy(mutex) };
    renewed(0, mutex);
}

shims! {
    __interpose_pthread_mutex_lock => lock, "rsi";
    __interpose_pthread_mutex_trylock => try_lock, "rsi";
    __interpose_pthread_mutex_timedlock => timed_lock, "rdx";
    __interpose_pthread_mutex_clocklock => clock_lock, "rcx";
    __interpose_pthread_mutex_unlock => unlock, "rsi";
    __interpose_mtx_lock => lock11, "rsi";
    __interpose_mtx_trylock => try_lock11, "rsi";
    __interpose_mtx_timedlock => timed_lock11, "rdx";
    __interpose_mtx_unlock => unlock11, "rsi";
    __interpose_pthread_spin_lock => spin_lock, "rsi";
    __interpose_pthread_spin_trylock => spin_try_lock, "rsi";
    __interpose_pthread_spin_unlock => spin_unlock, "rsi";
}
