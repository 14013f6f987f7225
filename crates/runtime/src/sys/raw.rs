//! Functions of libc that std calls inside the runtime, and that the runtime stands in front of: straight to the kernel.
//!
//! The build of the runtime object redirects the runtime's own references to the functions here.

use super::call;
use core::ffi::{c_int, c_long, c_void};

/// As libc returns errors.
fn result(result: Result<usize, i32>) -> isize {
    result.map_or_else(
        |error| {
            // SAFETY: always there.
            unsafe { *libc::__errno_location() = error };
            -1
        },
        |value| value as isize,
    )
}

/// `syscall`
///
/// # Safety
/// As the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __seqcst_raw_syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    // SAFETY: the caller's promise.
    result(unsafe { call(number as usize, [a, b, c, d, e, f]) }) as c_long
}

macro_rules! direct {
    ($($(#[$doc:meta])* $name:ident $number:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As the function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            let mut args = [0; 6];
            for (to, from) in args.iter_mut().zip([$($argument as usize),*] as [usize; _]) {
                *to = from;
            }
            // SAFETY: the caller's promise.
            result(unsafe { call(libc::$number as usize, args) }) as $result
        }
    )*};
}

direct! {
    /// `clock_gettime`
    __seqcst_raw_clock_gettime SYS_clock_gettime(clock: c_int, time: *mut c_void) -> c_int;
    /// `nanosleep`
    __seqcst_raw_nanosleep SYS_nanosleep(time: *const c_void, left: *mut c_void) -> c_int;
    /// `sched_yield`
    __seqcst_raw_sched_yield SYS_sched_yield() -> c_int;
    /// `getrandom`
    __seqcst_raw_getrandom SYS_getrandom(buffer: *mut c_void, size: usize, flags: u32) -> isize;
    /// `getpid`
    __seqcst_raw_getpid SYS_getpid() -> c_int;
    /// `gettid`
    __seqcst_raw_gettid SYS_gettid() -> c_int;
}
