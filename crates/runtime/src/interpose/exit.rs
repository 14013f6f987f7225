//! The end of a process: the summary, once, and the exit code that says that something was found.
//!
//! `exit` and the return of `main` end in a handler that was registered first, so it runs after the program's own. An
//! exit code can't be changed there, but `exit` can be called again with another: libc goes on with the handlers that
//! are left. `_exit` and `_Exit` run no handlers: they are interposed. `quick_exit` has handlers of its own.

use crate::{options, report, sys};
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

real! {
    fn exit(code: c_int) -> !;
}

unsafe extern "C" {
    fn __cxa_atexit(
        handler: extern "C" fn(*mut c_void),
        argument: *mut c_void,
        library: *mut c_void,
    ) -> c_int;
    fn __cxa_at_quick_exit(handler: extern "C" fn(*mut c_void), library: *mut c_void) -> c_int;
}

static FINISHED: AtomicBool = AtomicBool::new(false);

pub(super) fn start() {
    // SAFETY: the handlers take any argument.
    unsafe {
        __cxa_atexit(at_exit, ptr::null_mut(), ptr::null_mut());
        __cxa_at_quick_exit(at_quick_exit, ptr::null_mut());
    }
}

/// The summary. True if errors were reported, and only the first time.
pub(super) fn finish() -> bool {
    !FINISHED.swap(true, Ordering::AcqRel) && report::finish()
}

/// After a fork, in the child: it has an end of its own.
pub(super) fn fork_child() {
    FINISHED.store(false, Ordering::Release);
}

extern "C" fn at_exit(_: *mut c_void) {
    if finish() {
        // SAFETY: inside a handler of `exit`, where libc goes on with the rest of them.
        unsafe { real::exit(options::get().exitcode) }
    }
}

extern "C" fn at_quick_exit(_: *mut c_void) {
    if finish() {
        sys::exit(options::get().exitcode);
    }
}

/// In front of `_exit`.
#[unsafe(no_mangle)]
pub extern "C" fn __interpose__exit(code: c_int) -> ! {
    sys::exit(if finish() { options::get().exitcode } else { code })
}

/// In front of `_Exit`.
#[unsafe(no_mangle)]
pub extern "C" fn __interpose__Exit(code: c_int) -> ! {
    __interpose__exit(code)
}
