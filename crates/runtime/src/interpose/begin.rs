//! The beginning of the program: under `seqcst explore` it stops there, before `main`.

use crate::control::server::{self, Main};
use core::ffi::{c_char, c_int, c_void};

type Function = extern "C" fn();

real! {
    fn __libc_start_main(
        main: Main,
        count: c_int,
        arguments: *mut *mut c_char,
        init: Option<Function>,
        fini: Option<Function>,
        loader_fini: Option<Function>,
        stack_end: *mut c_void,
    ) -> c_int;
}

/// In front of `__libc_start_main`, which every program begins with.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose___libc_start_main(
    main: Main,
    count: c_int,
    arguments: *mut *mut c_char,
    init: Option<Function>,
    fini: Option<Function>,
    loader_fini: Option<Function>,
    stack_end: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments. The environment comes behind the arguments and a null pointer.
    unsafe {
        let main = server::instead_of(main, arguments.add(count as usize + 1));
        real::__libc_start_main(main, count, arguments, init, fini, loader_fini, stack_end)
    }
}
