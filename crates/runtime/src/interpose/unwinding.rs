//! Calls back into the program that may never return: by a C++ exception, a Rust panic, or the end of the thread.
//!
//! The runtime itself never unwinds and has no landing pads, so foreign unwinding passes through its frames. Where
//! something must happen all the same, the frame below has a *personality*: a function that the unwinder calls when it
//! comes by.

use core::arch::naked_asm;
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;

/// What is to be done if a call doesn't return.
struct Frame {
    act: fn(usize),
    object: usize,
    outer: *const Frame,
}

thread_local! {
    static INNERMOST: Cell<*const Frame> = const { Cell::new(ptr::null()) };
}

/// Calls `function(first, second)`. Should it not return, calls `act(object)` on the way out.
///
/// # Safety
/// `function` can be called like that.
pub unsafe fn call(function: usize, first: usize, second: usize, act: fn(usize), object: usize) {
    let frame = Frame { act, object, outer: INNERMOST.get() };
    INNERMOST.set(&raw const frame);
    // SAFETY: the caller's promise.
    unsafe { passing(first, second, function) };
    INNERMOST.set(frame.outer);
}

#[unsafe(naked)]
unsafe extern "C" fn passing(first: usize, second: usize, function: usize) {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}", // relative to here, four bytes
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call rdx",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
        personality = sym personality,
    )
}

/// The unwinder comes by twice: once to look for a handler, once to unwind. There is never a handler here.
extern "C" fn personality(_version: c_int, actions: c_int, _class: u64, _: *const (), _: *const ()) -> c_int {
    const UNWINDS: c_int = 2;
    const CONTINUE: c_int = 8;
    if actions & UNWINDS != 0 {
        // SAFETY: the frame of the innermost call, which is being unwound only now.
        let Frame { act, object, outer } = unsafe { INNERMOST.get().read() };
        INNERMOST.set(outer);
        act(object);
    }
    CONTINUE
}
