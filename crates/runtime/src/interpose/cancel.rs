//! `pthread_cancel`: under the scheduler a thread that waits is told.

use super::caller::Caller;
use super::threads;
use crate::control::descriptors::KERNEL;
use crate::control::{self, cancel, steps};
use core::ffi::c_int;
use libc::pthread_t;
use seqcst_explore::Kind;

real! {
    fn pthread_cancel(thread: pthread_t) -> c_int;
}

unsafe extern "C" fn work(thread: pthread_t, caller: Caller) -> c_int {
    if !control::active() {
        // SAFETY: the caller's argument.
        return unsafe { real::pthread_cancel(thread) };
    }
    control::point(steps::change(Kind::Post, KERNEL as usize), caller.pc());
    cancel::cancel(threads::number(thread));
    control::changed_all();
    // SAFETY: the caller's argument.
    unsafe { real::pthread_cancel(thread) }
}

shims! {
    __interpose_pthread_cancel => work, "rsi";
}
