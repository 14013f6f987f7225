//! Read-write locks: readers learn from writers and are heard by writers, not by one another.

use super::caller::Caller;
use super::{acquired, objects, release, renewed, threads};
use crate::control::clock::{self, Moment};
use crate::control::steps::{self, Taking};
use crate::control::{self, locks};
use crate::report::Object;
use crate::sync::Side;
use core::ffi::{c_int, c_void};
use libc::{clockid_t, pthread_rwlock_t as RwLock, timespec};
use seqcst_explore::{AccessType, Kind, Op};

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

/// Would a side get the lock at once?
///
/// # Safety
/// The lock is alive.
unsafe fn is_free(lock: *const RwLock, side: Side, tid: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { if side == Side::Readers { locks::reading(lock, tid) } else { locks::writing(lock, tid) } }
}

fn taking(lock: *const RwLock, side: Side) -> Taking {
    let lock = lock as usize;
    if side == Side::Readers { Taking::with_readers(lock) } else { Taking::without_readers(lock) }
}

/// Under the scheduler: waits for the turn to take the lock, whose life others may have ended meanwhile. False: time is up.
fn turn(lock: *const RwLock, side: Side, until: Option<Moment>, caller: Caller) -> bool {
    let tid = threads::tid();
    // SAFETY: the caller's lock, which stays while somebody waits for it.
    let taken = steps::take(taking(lock, side), until, caller.pc(), &|| unsafe { is_free(lock, side, tid) });
    objects::used(lock, Object::RwLock, caller);
    taken
}

/// Under the scheduler: waits for the turn to try.
fn turn_to_try(lock: *const RwLock, side: Side, caller: Caller) {
    let tid = threads::tid();
    // SAFETY: the caller's lock.
    steps::try_take(taking(lock, side), caller.pc(), || unsafe { is_free(lock, side, tid) });
    objects::used(lock, Object::RwLock, caller);
}

/// The functions of one side.
macro_rules! side {
    ($side:ident: $take:ident => $real:ident, $try:ident => $real_try:ident, $timed:ident => $real_timed:ident,
     $clock:ident => $real_clock:ident) => {
        unsafe extern "C" fn $take(lock: *mut RwLock, caller: Caller) -> c_int {
            objects::used(lock, Object::RwLock, caller);
            if control::active() {
                turn(lock, Side::$side, None, caller);
            }
            // SAFETY: the caller's arguments.
            acquired(unsafe { real::$real(lock) }, lock, Side::$side, caller)
        }

        unsafe extern "C" fn $try(lock: *mut RwLock, caller: Caller) -> c_int {
            objects::used(lock, Object::RwLock, caller);
            if control::active() {
                turn_to_try(lock, Side::$side, caller);
            }
            // SAFETY: the caller's arguments.
            acquired(unsafe { real::$real_try(lock) }, lock, Side::$side, caller)
        }

        unsafe extern "C" fn $timed(lock: *mut RwLock, until: *const timespec, caller: Caller) -> c_int {
            objects::used(lock, Object::RwLock, caller);
            // SAFETY: the caller's arguments.
            unsafe {
                if control::active() {
                    let until = clock::moment(libc::CLOCK_REALTIME, &*until);
                    if !turn(lock, Side::$side, Some(until), caller) {
                        return libc::ETIMEDOUT;
                    }
                }
                acquired(real::$real_timed(lock, until), lock, Side::$side, caller)
            }
        }

        unsafe extern "C" fn $clock(
            lock: *mut RwLock,
            clock: clockid_t,
            until: *const timespec,
            caller: Caller,
        ) -> c_int {
            objects::used(lock, Object::RwLock, caller);
            // SAFETY: the caller's arguments.
            unsafe {
                if control::active() && !turn(lock, Side::$side, Some(clock::moment(clock, &*until)), caller)
                {
                    return libc::ETIMEDOUT;
                }
                acquired(real::$real_clock(lock, clock, until), lock, Side::$side, caller)
            }
        }
    };
}

side! { Readers: read => pthread_rwlock_rdlock, try_read => pthread_rwlock_tryrdlock,
timed_read => pthread_rwlock_timedrdlock, clock_read => pthread_rwlock_clockrdlock }
side! { All: write => pthread_rwlock_wrlock, try_write => pthread_rwlock_trywrlock,
timed_write => pthread_rwlock_timedwrlock, clock_write => pthread_rwlock_clockwrlock }

/// One function for both sides: libc itself finds out which one by looking whether the writer is this thread.
unsafe extern "C" fn unlock(lock: *mut RwLock, caller: Caller) -> c_int {
    /// Where glibc keeps the writer's number, `__cur_writer`.
    const WRITER: usize = 24;
    objects::used(lock, Object::RwLock, caller);
    // SAFETY: inside the lock, which this thread holds.
    let writer = unsafe { lock.byte_add(WRITER).cast::<u32>().read_volatile() };
    let side = if writer == threads::tid() { Side::All } else { Side::Readers };
    let act = || {
        release(lock, side, caller);
        // SAFETY: the caller's arguments.
        unsafe { real::pthread_rwlock_unlock(lock) }
    };
    if control::active() {
        let how = if side == Side::Readers { AccessType::Read } else { AccessType::Write };
        return steps::give(Op::new(Kind::Unlock, how, lock as u64), caller.pc(), act);
    }
    act()
}

/// In front of `pthread_rwlock_init`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_pthread_rwlock_init(lock: *mut RwLock, attr: *const c_void) -> c_int {
    // SAFETY: the caller's arguments.
    renewed(unsafe { real::pthread_rwlock_init(lock, attr) }, lock)
}

unsafe extern "C" fn destroy(lock: *mut RwLock, caller: Caller) -> c_int {
    objects::dies(lock, Object::RwLock, caller);
    // SAFETY: the caller's arguments.
    objects::died(unsafe { real::pthread_rwlock_destroy(lock) }, lock, Object::RwLock, caller)
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
    __interpose_pthread_rwlock_destroy => destroy, "rsi";
}
