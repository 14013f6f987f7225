//! Programs that give up: while a plan is played that is a step, and what an assertion says is passed on.

use crate::{control, sys};
use core::ffi::{CStr, c_char, c_uint};

real! {
    fn abort() -> !;
    fn __assert_fail(text: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) -> !;
}

/// In front of `abort`.
#[unsafe(no_mangle)]
pub extern "C" fn __interpose_abort() -> ! {
    if control::active() {
        control::exits(0);
        end_here();
    }
    // SAFETY: no preconditions.
    unsafe { real::abort() }
}

/// The signal comes to the kernel thread that runs, which libc may not know.
fn end_here() {
    let number = [sys::getpid() as usize, sys::gettid() as usize, libc::SIGABRT as usize, 0, 0, 0];
    // SAFETY: the program's handler may run, if it has one.
    let _ = unsafe { sys::call(libc::SYS_tgkill as usize, number) };
}

/// In front of what `assert` calls.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose___assert_fail(
    text: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) -> ! {
    if control::active() {
        let show = |text: *const c_char| match text.is_null() {
            true => "?".into(),
            // SAFETY: the caller's texts.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy(),
        };
        control::exits(0);
        control::says(&format!("{}:{line}: {}: `{}`", show(file), show(function), show(text)));
    }
    // SAFETY: the caller's arguments.
    unsafe { real::__assert_fail(text, file, line, function) }
}
