//! The end of a process: the summary, once, and the exit code that says that something was found.
//!
//! `exit` and the return of `main` end in a handler that was registered first, so it runs after the program's own. An
//! exit code can't be changed there, but `exit` can be called again with another: libc goes on with the handlers that
//! are left. `_exit` and `_Exit` run no handlers: they are interposed. `quick_exit` has handlers of its own.
//!
//! While a plan is played, the end of the process is a step, and the last one: nothing but output may come after it. The
//! exit code stays what it is: `seqcst explore` knows of reports by itself.

use crate::{control, options, report, sys};
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

real! {
    fn exit(code: c_int) -> !;
}

unsafe extern "C" {
    fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn __cxa_at_quick_exit(handler: extern "C" fn(*mut c_void), library: *mut c_void) -> c_int;
}

static FINISHED: AtomicBool = AtomicBool::new(false);

pub(super) fn start() {
    // SAFETY: the handlers take any argument.
    unsafe {
        on_exit(at_exit, ptr::null_mut());
        __cxa_at_quick_exit(at_quick_exit, ptr::null_mut());
    }
}

/// The summary. True if errors were reported, and only the first time.
pub fn finish() -> bool {
    !control::server::is_quiet() && !FINISHED.swap(true, Ordering::AcqRel) && report::finish()
}

/// Ends the process as `exit` does.
pub fn end(code: c_int) -> ! {
    // SAFETY: handlers of the program run.
    unsafe { real::exit(code) }
}

/// After a fork, in the child: it has an end of its own.
pub(super) fn fork_child() {
    FINISHED.store(false, Ordering::Release);
}

extern "C" fn at_exit(code: c_int, _: *mut c_void) {
    if control::active() {
        if control::exits(0) {
            sys::exit(code);
        }
        finish();
        return;
    }
    if finish() {
        // SAFETY: inside a handler of `exit`, where libc goes on with the rest of them.
        unsafe { real::exit(options::get().exitcode) }
    }
}

extern "C" fn at_quick_exit(_: *mut c_void) {
    if control::active() {
        control::exits(0);
        finish();
        return;
    }
    if finish() {
        sys::exit(options::get().exitcode);
    }
}

/// In front of `_exit`.
#[unsafe(no_mangle)]
pub extern "C" fn __interpose__exit(code: c_int) -> ! {
    if control::active() {
        control::exits(0);
        finish();
        sys::exit(code);
    }
    sys::exit(if finish() { options::get().exitcode } else { code })
}

/// In front of `_Exit`.
#[unsafe(no_mangle)]
pub extern "C" fn __interpose__Exit(code: c_int) -> ! {
    __interpose__exit(code)
}
