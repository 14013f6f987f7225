//! Cancelled threads: who waits, and can be cancelled there, goes on in order to end.
//!
//! Libc keeps the request itself and acts on it where a thread asks (`pthread_testcancel`); its signal doesn't reach the
//! thread here. So it is enough to know who was cancelled.

use crate::spin::Lock;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};
use seqcst_explore::ThreadId;

static SOME: AtomicBool = AtomicBool::new(false);
static CANCELLED: Lock<Vec<ThreadId>> = Lock::new(Vec::new());

/// As long as a thread waits: is it to end?
#[derive(Clone, Copy)]
pub struct Waiting {
    me: ThreadId,
    can_be: bool,
}

/// The running thread is about to wait, in a function where it can be cancelled unless it doesn't want to.
pub fn waiting() -> Waiting {
    unsafe extern "C" {
        fn pthread_setcancelstate(new: c_int, old: *mut c_int) -> c_int;
    }
    const ENABLED: c_int = 0;
    const DISABLED: c_int = 1;
    let mut state = DISABLED;
    // SAFETY: valid arguments; the state is put back.
    unsafe {
        pthread_setcancelstate(DISABLED, &mut state);
        pthread_setcancelstate(state, &mut 0);
    }
    Waiting { me: super::me(), can_be: state == ENABLED }
}

impl Waiting {
    /// Is it to end?
    pub fn is_cancelled(self) -> bool {
        self.can_be && SOME.load(Ordering::Relaxed) && CANCELLED.lock().contains(&self.me)
    }

    /// If it is to end, it does. It holds what its cleanup handlers expect.
    pub fn ends(self) {
        unsafe extern "C" {
            fn pthread_testcancel();
        }
        if self.is_cancelled() {
            // SAFETY: the program asked for it. Nothing in the callers needs to be dropped.
            unsafe { pthread_testcancel() };
        }
    }
}

/// The thread is to end.
pub fn cancel(thread: ThreadId) {
    CANCELLED.lock().push(thread);
    SOME.store(true, Ordering::Relaxed);
}
