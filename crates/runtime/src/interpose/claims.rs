//! What programs say about themselves to race detectors: the *dynamic annotations* that headers use where ThreadSanitizer is
//! on (`AnnotateHappensBefore` and its kin), `__tsan_acquire`, `__tsan_mutex_*` and the interface for fibers.
//!
//! A claim that something comes before something else is believed: it counts as known in happens-before and concludes
//! nothing under SC, so it can hide a violation and never make one ([`Side::Loose`]). Accesses that are to be ignored
//! aren't looked at for races, plain ones and atomic ones; atomic accesses stay what they are otherwise, and are asked
//! whether they could be stale. Synchronisation is never ignored, since it is there.
//!
//! What needs nothing here does nothing, as in ThreadSanitizer's own runtime.

use super::caller::Caller;
use crate::spin::Lock;
use crate::sync::{self, Side};
use crate::{memory, thread};
use core::cell::Cell;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Memory whose races are harmless: from where, how much.
static BENIGN: Lock<Vec<(usize, usize)>> = Lock::new(Vec::new());
static RANGES: AtomicUsize = AtomicUsize::new(0);

/// Has the program said that races here are harmless?
pub fn is_benign(addr: usize, size: usize) -> bool {
    let touches = |&(from, many): &(usize, usize)| from < addr + size && addr < from + many;
    RANGES.load(Ordering::Relaxed) > 0 && BENIGN.lock().iter().any(touches)
}

/// Memory begins a new life: what was said about it doesn't hold any longer.
pub fn forget(addr: usize, size: usize) {
    if RANGES.load(Ordering::Relaxed) > 0 {
        let mut ranges = BENIGN.lock();
        ranges.retain(|&(from, _)| from.wrapping_sub(addr) >= size);
        RANGES.store(ranges.len(), Ordering::Relaxed);
    }
}

fn benign(addr: usize, size: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    let mut ranges = BENIGN.lock();
    if !ranges.contains(&(addr, size)) {
        ranges.push((addr, size));
    }
    RANGES.store(ranges.len(), Ordering::Relaxed);
    drop(ranges);
    thread.leave();
}

/// Reads and writes of the current thread that aren't looked at, one begin or end more.
fn ignore(reads: i32, writes: i32) {
    if let Some(thread) = thread::entering() {
        thread.ignored.reads = thread.ignored.reads.saturating_add_signed(reads);
        thread.ignored.writes = thread.ignored.writes.saturating_add_signed(writes);
    }
}

/// Functions with a place in the source (file, line) and these arguments. The claims that mean nothing have none.
macro_rules! claims {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        #[doc = "A dynamic annotation."]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_file: *const c_char, _line: c_int $(, $argument: $type)*) $body
    )*};
}

claims! {
    __interpose_AnnotateIgnoreReadsBegin() { ignore(1, 0) }
    __interpose_AnnotateIgnoreReadsEnd() { ignore(-1, 0) }
    __interpose_AnnotateIgnoreWritesBegin() { ignore(0, 1) }
    __interpose_AnnotateIgnoreWritesEnd() { ignore(0, -1) }
    __interpose_AnnotateIgnoreSyncBegin() {}
    __interpose_AnnotateIgnoreSyncEnd() {}
    __interpose_AnnotateEnableRaceDetection(_on: c_int) {}
    __interpose_AnnotateBenignRace(at: usize, _why: *const c_char) { benign(at, 1) }
    __interpose_AnnotateBenignRaceSized(at: usize, size: usize, _why: *const c_char) { benign(at, size) }
    __interpose_WTFAnnotateBenignRaceSized(at: usize, size: usize, _why: *const c_char) { benign(at, size) }
    __interpose_AnnotateExpectRace(at: usize, _why: *const c_char) { benign(at, 1) }
    __interpose_AnnotateFlushExpectedRaces() {}
    __interpose_AnnotateNewMemory(at: usize, size: usize) { memory::born(at, size) }
    __interpose_AnnotateMemoryIsInitialized(_at: usize, _size: usize) {}
    __interpose_AnnotateMemoryIsUninitialized(_at: usize, _size: usize) {}
    __interpose_AnnotatePublishMemoryRange(_at: usize, _size: usize) {}
    __interpose_AnnotateUnpublishMemoryRange(_at: usize, _size: usize) {}
    __interpose_AnnotateTraceMemory(_at: usize) {}
    __interpose_AnnotateFlushState() {}
    __interpose_AnnotateNoOp(_at: usize) {}
    __interpose_AnnotateThreadName(_name: *const c_char) {}
    __interpose_AnnotateCondVarSignal(_at: usize) {}
    __interpose_AnnotateCondVarSignalAll(_at: usize) {}
    __interpose_AnnotateCondVarWait(_at: usize, _lock: usize) {}
    __interpose_AnnotateMutexIsUsedAsCondVar(_at: usize) {}
    __interpose_AnnotateMutexIsNotPHB(_at: usize) {}
    __interpose_AnnotatePCQCreate(_at: usize) {}
    __interpose_AnnotatePCQDestroy(_at: usize) {}
    __interpose_AnnotatePCQPut(_at: usize) {}
    __interpose_AnnotatePCQGet(_at: usize) {}
    __interpose_AnnotateRWLockCreate(lock: usize) { sync::forget(lock) }
    __interpose_AnnotateRWLockCreateStatic(_lock: usize) {}
    __interpose_AnnotateRWLockDestroy(lock: usize) { sync::forget(lock) }
}

extern "C" fn before(_file: *const c_char, _line: c_int, at: usize, caller: Caller) {
    sync::release(at, Side::Loose, caller.pc());
}

extern "C" fn after(_file: *const c_char, _line: c_int, at: usize, caller: Caller) {
    sync::acquire(at, Side::Loose, caller.pc());
}

/// Who writes has the lock alone.
fn side(reads: bool) -> Side {
    if reads { Side::Readers } else { Side::All }
}

extern "C" fn locked(_file: *const c_char, _line: c_int, lock: usize, writes: c_int, caller: Caller) {
    sync::acquire(lock, side(writes == 0), caller.pc());
}

extern "C" fn unlocks(_file: *const c_char, _line: c_int, lock: usize, writes: c_int, caller: Caller) {
    sync::release(lock, side(writes == 0), caller.pc());
}

extern "C" fn acquired(at: usize, caller: Caller) {
    sync::acquire(at, Side::Loose, caller.pc());
}

extern "C" fn releases(at: usize, caller: Caller) {
    sync::release(at, Side::Loose, caller.pc());
}

/// Flags of `__tsan_mutex_…`, as in `sanitizer/tsan_interface.h`.
const READ_LOCK: c_uint = 1 << 3;
const TRY_LOCK_FAILED: c_uint = 1 << 5;

extern "C" fn mutex_locked(lock: usize, flags: c_uint, _levels: c_int, caller: Caller) {
    ignore(-1, -1);
    if flags & TRY_LOCK_FAILED == 0 {
        sync::acquire(lock, side(flags & READ_LOCK != 0), caller.pc());
    }
}

extern "C" fn mutex_unlocks(lock: usize, flags: c_uint, caller: Caller) -> c_int {
    sync::release(lock, side(flags & READ_LOCK != 0), caller.pc());
    ignore(1, 1);
    1
}

shims! {
    __interpose_AnnotateHappensBefore => before, "rcx";
    __interpose_AnnotateHappensAfter => after, "rcx";
    __interpose_WTFAnnotateHappensBefore => before, "rcx";
    __interpose_WTFAnnotateHappensAfter => after, "rcx";
    __interpose_AnnotateRWLockAcquired => locked, "r8";
    __interpose_AnnotateRWLockReleased => unlocks, "r8";
    __interpose___tsan_acquire => acquired, "rsi";
    __interpose___tsan_release => releases, "rsi";
    __interpose___tsan_mutex_post_lock => mutex_locked, "rcx";
    __interpose___tsan_mutex_pre_unlock => mutex_unlocks, "rdx";
}

/// Functions with these arguments.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {$(
        #[doc = "A function of ThreadSanitizer's interface for programs."]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
    )*};
}

functions! {
    // What a lock does inside of itself isn't looked at for races.
    __interpose___tsan_mutex_create(lock: usize, _flags: c_uint) { sync::forget(lock) }
    __interpose___tsan_mutex_destroy(lock: usize, _flags: c_uint) { sync::forget(lock) }
    __interpose___tsan_mutex_pre_lock(_lock: usize, _flags: c_uint) { ignore(1, 1) }
    __interpose___tsan_mutex_post_unlock(_lock: usize, _flags: c_uint) { ignore(-1, -1) }
    __interpose___tsan_mutex_pre_signal(_lock: usize, _flags: c_uint) { ignore(1, 1) }
    __interpose___tsan_mutex_post_signal(_lock: usize, _flags: c_uint) { ignore(-1, -1) }
    // A callback of the program in the middle of that.
    __interpose___tsan_mutex_pre_divert(_lock: usize, _flags: c_uint) { ignore(-1, -1) }
    __interpose___tsan_mutex_post_divert(_lock: usize, _flags: c_uint) { ignore(1, 1) }
    __interpose___tsan_ignore_thread_begin() { ignore(1, 1) }
    __interpose___tsan_ignore_thread_end() { ignore(-1, -1) }
    __interpose___tsan_flush_memory() {}
    __interpose_RunningOnValgrind() -> c_int { 0 }
    __interpose_ValgrindSlowdown() -> f64 { 10.0 }
    __interpose___tsan_get_current_fiber() -> *mut c_void { fiber() as *mut c_void }
    __interpose___tsan_create_fiber(_flags: c_uint) -> *mut c_void {
        let fiber = new_fiber();
        sync::release(fiber, Side::Loose, 0);
        fiber as *mut c_void
    }
    __interpose___tsan_destroy_fiber(fiber: *mut c_void) {
        sync::forget(fiber as usize);
        // SAFETY: made by `new_fiber`, and the program's last use of it.
        drop(unsafe { Box::from_raw(fiber.cast::<u64>()) });
    }
    // Who goes on with a fiber knows what the one knew that stopped there, on whatever thread.
    __interpose___tsan_switch_to_fiber(fiber: *mut c_void, _flags: c_uint) {
        sync::release(self::fiber(), Side::Loose, 0);
        FIBER.set(fiber as usize);
        sync::acquire(fiber as usize, Side::Loose, 0);
    }
    __interpose___tsan_set_fiber_name(_fiber: *mut c_void, _name: *const c_char) {}
}

/// What kind of detector is this? One that goes by happens-before alone.
/// # Safety
/// A text that ends in a zero byte, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_ThreadSanitizerQuery(query: *const c_char) -> *const c_char {
    // SAFETY: the caller's promise.
    let known = !query.is_null() && unsafe { CStr::from_ptr(query) } == c"pure_happens_before";
    if known { c"1".as_ptr() } else { c"0".as_ptr() }
}

thread_local! {
    /// The fiber that runs on this thread, 0 if nobody has asked.
    static FIBER: Cell<usize> = const { Cell::new(0) };
}

fn new_fiber() -> usize {
    Box::into_raw(Box::new(0u64)) as usize
}

fn fiber() -> usize {
    if FIBER.get() == 0 {
        FIBER.set(new_fiber());
    }
    FIBER.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_until_a_new_life() {
        assert!(!is_benign(0x7000, 8));
        benign(0x7004, 4);
        assert!(is_benign(0x7000, 8) && is_benign(0x7007, 1));
        assert!(!is_benign(0x7000, 4) && !is_benign(0x7008, 8));
        forget(0x7000, 0x100);
        assert!(!is_benign(0x7004, 4));
    }

    #[test]
    fn ignoring_nests() {
        let looks = |write| thread::current().looks_for_races(write);
        thread::current().races = true;
        ignore(1, 0);
        ignore(1, 1);
        assert!(!looks(false) && !looks(true));
        ignore(-1, -1);
        assert!(!looks(false) && looks(true));
        ignore(-1, 0);
        ignore(-1, 0); // one too many
        assert!(looks(false) && looks(true));
    }
}
