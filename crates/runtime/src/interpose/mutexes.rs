//! Mutexes and spin locks: locking acquires, unlocking releases.
//!
//! Under the scheduler the real functions never wait: a thread gets its turn when the lock is free.
//!
//! A recursive mutex is acquired and released at every level: the inner ones add nothing that isn't so. C11's `mtx_t` is
//! a `pthread_mutex_t`, but its functions reach libc's mutexes by another way.
//!
//! The unwinder's own locks order nothing of the program, and are never held from one step to another: they are no steps.

use super::caller::Caller;
use super::{acquired, objects, release, renewed, threads};
use crate::control::clock::{self, Moment};
use crate::control::steps::{self, Taking};
use crate::control::{self, locks};
use crate::memory;
use crate::report::Object;
use crate::sync::Side;
use core::ffi::{c_int, c_void};
use libc::{clockid_t, pthread_mutex_t as Mutex, timespec};
use seqcst_explore::Kind;

/// `pthread_spinlock_t`
type Spin = c_int;

/// `thrd_timedout`
pub(super) const THRD_TIMEDOUT: c_int = 4;

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

/// Whether a lock of libc can be had without waiting, asked while this thread waits for it.
trait Waitable: Sized + 'static {
    /// # Safety
    /// The lock is alive.
    unsafe fn is_free(lock: *const Self, tid: u32) -> bool;

    /// May it be used?
    fn used(lock: *const Self, caller: Caller);

    /// May it be unlocked?
    fn unlocked(lock: *const Self, caller: Caller);
}

impl Waitable for Mutex {
    unsafe fn is_free(lock: *const Mutex, tid: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { locks::mutex(lock, tid) }
    }

    fn used(lock: *const Mutex, caller: Caller) {
        objects::used(lock, Object::Mutex, caller);
    }

    fn unlocked(lock: *const Mutex, caller: Caller) {
        objects::unlocked(lock, caller);
    }
}

impl Waitable for Spin {
    unsafe fn is_free(lock: *const Spin, _: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { locks::spin(lock) }
    }

    fn used(lock: *const Spin, caller: Caller) {
        memory::used(lock as usize, caller.pc());
    }

    fn unlocked(lock: *const Spin, caller: Caller) {
        Spin::used(lock, caller);
    }
}

/// Waits for the turn to take a lock, whose life others may have ended meanwhile. False: time is up.
fn turn<T: Waitable>(lock: *const T, until: Option<Moment>, caller: Caller) -> bool {
    let tid = threads::tid();
    // SAFETY: the caller's lock, which stays while somebody waits for it.
    let is_free = || unsafe { T::is_free(lock, tid) };
    let taken = steps::take(Taking::alone(Kind::Lock, lock as usize), until, caller.pc(), &is_free);
    T::used(lock, caller);
    taken
}

/// Waits for the turn to try to take a lock. Having it already doesn't help, but for recursive ones.
fn turn_to_try<T: Waitable>(lock: *const T, caller: Caller) {
    let tid = threads::tid();
    // SAFETY: the caller's lock.
    steps::try_take(Taking::alone(Kind::Lock, lock as usize), caller.pc(), || unsafe {
        T::is_free(lock, tid)
    });
    T::used(lock, caller);
}

/// `work => real(object)` for each function that takes, tries, frees or renews a lock.
macro_rules! locks {
    (take $($work:ident => $real:ident($type:ty);)*) => {$(
        unsafe extern "C" fn $work(lock: *mut $type, caller: Caller) -> c_int {
            if caller.is_unwinder() {
                // SAFETY: the caller's arguments.
                return unsafe { real::$real(lock) };
            }
            <$type as Waitable>::used(lock, caller);
            if control::active() {
                turn(lock, None, caller);
            }
            // SAFETY: the caller's arguments.
            acquired(unsafe { real::$real(lock) }, lock, Side::All, caller)
        }
    )*};
    (try $($work:ident => $real:ident($type:ty);)*) => {$(
        unsafe extern "C" fn $work(lock: *mut $type, caller: Caller) -> c_int {
            if caller.is_unwinder() {
                // SAFETY: the caller's arguments.
                return unsafe { real::$real(lock) };
            }
            <$type as Waitable>::used(lock, caller);
            if control::active() {
                turn_to_try(lock, caller);
            }
            // SAFETY: the caller's arguments.
            acquired(unsafe { real::$real(lock) }, lock, Side::All, caller)
        }
    )*};
    (free $($work:ident => $real:ident($type:ty);)*) => {$(
        unsafe extern "C" fn $work(lock: *mut $type, caller: Caller) -> c_int {
            if caller.is_unwinder() {
                // SAFETY: the caller's arguments.
                return unsafe { real::$real(lock) };
            }
            let act = || {
                <$type as Waitable>::unlocked(lock, caller);
                release(lock, Side::All, caller);
                // SAFETY: the caller's arguments.
                unsafe { real::$real(lock) }
            };
            if control::active() {
                return steps::give(steps::change(Kind::Unlock, lock as usize), caller.pc(), act);
            }
            act()
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
    lock11 => mtx_lock(Mutex);
    spin_lock => pthread_spin_lock(Spin);
}

locks! { try
    try_lock => pthread_mutex_trylock(Mutex);
    try_lock11 => mtx_trylock(Mutex);
    spin_try_lock => pthread_spin_trylock(Spin);
}

unsafe extern "C" fn timed_lock(mutex: *mut Mutex, until: *const timespec, caller: Caller) -> c_int {
    objects::used(mutex, Object::Mutex, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() && !turn(mutex, Some(clock::moment(libc::CLOCK_REALTIME, &*until)), caller) {
            return libc::ETIMEDOUT;
        }
        acquired(real::pthread_mutex_timedlock(mutex, until), mutex, Side::All, caller)
    }
}

unsafe extern "C" fn clock_lock(
    mutex: *mut Mutex,
    clock: clockid_t,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    objects::used(mutex, Object::Mutex, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() && !turn(mutex, Some(clock::moment(clock, &*until)), caller) {
            return libc::ETIMEDOUT;
        }
        acquired(real::pthread_mutex_clocklock(mutex, clock, until), mutex, Side::All, caller)
    }
}

unsafe extern "C" fn timed_lock11(mutex: *mut Mutex, until: *const timespec, caller: Caller) -> c_int {
    objects::used(mutex, Object::Mutex, caller);
    // SAFETY: the caller's arguments.
    unsafe {
        if control::active() && !turn(mutex, Some(clock::moment(libc::CLOCK_REALTIME, &*until)), caller) {
            return THRD_TIMEDOUT;
        }
        acquired(real::mtx_timedlock(mutex, until), mutex, Side::All, caller)
    }
}

locks! { free
    unlock => pthread_mutex_unlock(Mutex);
    unlock11 => mtx_unlock(Mutex);
    spin_unlock => pthread_spin_unlock(Spin);
}

locks! { renew
    __interpose_pthread_mutex_init => pthread_mutex_init(Mutex, attr: *const c_void);
    __interpose_mtx_init => mtx_init(Mutex, kind: c_int);
    __interpose_pthread_spin_init => pthread_spin_init(Spin, shared: c_int);
    __interpose_pthread_spin_destroy => pthread_spin_destroy(Spin);
}

unsafe extern "C" fn destroy(mutex: *mut Mutex, caller: Caller) -> c_int {
    objects::dies(mutex, Object::Mutex, caller);
    // SAFETY: the caller's arguments.
    objects::died(unsafe { real::pthread_mutex_destroy(mutex) }, mutex, Object::Mutex, caller)
}

unsafe extern "C" fn destroy11(mutex: *mut Mutex, caller: Caller) {
    objects::dies(mutex, Object::Mutex, caller);
    // SAFETY: the caller's arguments.
    unsafe { real::mtx_destroy(mutex) };
    objects::died(0, mutex, Object::Mutex, caller);
}

/// Who libc says owns a mutex that this thread takes.
pub(super) fn owner() -> u32 {
    /// Where glibc keeps it, `__owner`.
    const OWNER: usize = 8;
    let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
    // SAFETY: a mutex of our own, which nobody else knows.
    unsafe {
        real::pthread_mutex_lock(&mut mutex);
        let owner = (&raw const mutex).byte_add(OWNER).cast::<u32>().read_volatile();
        real::pthread_mutex_unlock(&mut mutex);
        owner
    }
}

/// As part of a wait for a signal, which is the step: gives the mutex back.
///
/// # Safety
/// As the real function.
pub(super) unsafe fn unlock_within(mutex: *mut Mutex) -> c_int {
    // SAFETY: the caller's promise.
    let result = unsafe { real::pthread_mutex_unlock(mutex) };
    control::changed(mutex as usize);
    result
}

/// After a wait for a signal: takes the mutex again, in a step of its own.
///
/// # Safety
/// As the real function.
pub(super) unsafe fn lock_again(mutex: *mut Mutex, caller: Caller) -> c_int {
    turn(mutex, None, caller);
    // SAFETY: the caller's promise.
    unsafe { real::pthread_mutex_lock(mutex) }
}

shims! {
    __interpose_pthread_mutex_lock => lock, "rsi";
    __interpose_pthread_mutex_trylock => try_lock, "rsi";
    __interpose_pthread_mutex_timedlock => timed_lock, "rdx";
    __interpose_pthread_mutex_clocklock => clock_lock, "rcx";
    __interpose_pthread_mutex_unlock => unlock, "rsi";
    __interpose_pthread_mutex_destroy => destroy, "rsi";
    __interpose_mtx_destroy => destroy11, "rsi";
    __interpose_mtx_lock => lock11, "rsi";
    __interpose_mtx_trylock => try_lock11, "rsi";
    __interpose_mtx_timedlock => timed_lock11, "rdx";
    __interpose_mtx_unlock => unlock11, "rsi";
    __interpose_pthread_spin_lock => spin_lock, "rsi";
    __interpose_pthread_spin_trylock => spin_try_lock, "rsi";
    __interpose_pthread_spin_unlock => spin_unlock, "rsi";
}
