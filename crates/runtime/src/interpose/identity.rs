//! Who am I? Under the scheduler processes and threads have the same numbers in every execution: numbers that the kernel
//! never gives, so that they name nobody else.

use crate::control;
use core::ffi::c_int;

real! {
    fn getpid() -> c_int;
    fn gettid() -> c_int;
}

/// The process, and its first thread. The kernel's numbers end at 2^22.
const PROCESS: c_int = 5_000_000;

/// The number of this process, if that is asked for by the number we gave.
pub(super) fn process(number: c_int) -> c_int {
    if number == PROCESS && control::active() { crate::sys::getpid() as c_int } else { number }
}

/// The thread that we gave this number.
pub(super) fn thread(number: c_int) -> Option<u32> {
    (control::active() && number >= PROCESS).then(|| (number - PROCESS) as u32)
}

/// In front of `getpid`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_getpid() -> c_int {
    // SAFETY: no arguments.
    if control::active() { PROCESS } else { unsafe { real::getpid() } }
}

/// In front of `gettid`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_gettid() -> c_int {
    // SAFETY: no arguments.
    if control::active() { PROCESS + control::me() as c_int } else { unsafe { real::gettid() } }
}
