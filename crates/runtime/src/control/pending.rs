//! Signals from one thread of the program to another: they wait for the other's next turn.
//!
//! The kernel would give them to the thread that the other one once was, and not to the one that runs in its place.

use crate::spin::Lock;
use crate::sys;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};
use seqcst_explore::ThreadId;

/// Signals that wait: for whom, and which.
static PENDING: Lock<Vec<(ThreadId, c_int)>> = Lock::new(Vec::new());
/// How many there are.
static COUNT: AtomicU32 = AtomicU32::new(0);
/// Signals that were handled so far.
static HANDLED: AtomicU32 = AtomicU32::new(0);

/// A signal for a thread.
pub fn send(thread: ThreadId, signal: c_int) {
    PENDING.lock().push((thread, signal));
    COUNT.fetch_add(1, Ordering::Relaxed);
    if let Some(scheduler) = super::scheduler::get() {
        scheduler.interrupt(thread);
    }
}

/// Is there one for the thread, among those that `which` says?
pub fn is_there(thread: ThreadId, which: impl Fn(c_int) -> bool) -> bool {
    COUNT.load(Ordering::Relaxed) > 0
        && PENDING.lock().iter().any(|&(whose, signal)| whose == thread && which(signal))
}

/// The running thread gets its signals, as if it had sent them itself: handlers run right here.
#[inline]
pub fn deliver() {
    if COUNT.load(Ordering::Relaxed) > 0 {
        deliver_to(super::me());
    }
}

#[cold]
fn deliver_to(thread: ThreadId) {
    loop {
        let signal = {
            let mut pending = PENDING.lock();
            let Some(at) = pending.iter().position(|&(whose, _)| whose == thread) else { return };
            pending.remove(at).1
        };
        COUNT.fetch_sub(1, Ordering::Relaxed);
        raise(signal);
    }
}

/// Sends a signal to the thread that runs, whichever thread of the program that is.
pub fn raise(signal: c_int) {
    let args = [sys::getpid() as usize, sys::gettid() as usize, signal as usize, 0, 0, 0];
    // SAFETY: no memory involved.
    let _ = unsafe { sys::call(libc::SYS_tgkill as usize, args) };
}

/// A handler of the program runs.
pub fn handled() {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

/// How many handlers have run: who waits for any signal looks at it.
pub fn count_handled() -> u32 {
    HANDLED.load(Ordering::Relaxed)
}
