//! `exec`: what was found so far is summed up before another program takes the place of this one.

use crate::report;
use core::ffi::c_int;

real! {
    fn execv() -> c_int;
    fn execve() -> c_int;
    fn execveat() -> c_int;
    fn execvp() -> c_int;
    fn execvpe() -> c_int;
    fn fexecve() -> c_int;
    fn execl() -> c_int;
    fn execle() -> c_int;
    fn execlp() -> c_int;
}

/// The call may fail and the program go on: there can be another summary at its end.
extern "C" fn before() {
    report::finish();
}

/// Some of these take any number of arguments: all registers that could hold one are kept, and the real function takes
/// the call over as it came.
macro_rules! passed_on {
    ($($name:ident => $real:ident;)*) => {$(
        #[doc = "In front of the function of this name."]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn $name() {
            extern "C" fn address() -> *mut core::ffi::c_void {
                before();
                real::addresses::$real.address()
            }
            core::arch::naked_asm!(
                "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                "call {address}",
                "mov r11, rax",
                "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                "jmp r11",
                address = sym address,
            )
        }
    )*};
}

passed_on! {
    __interpose_execv => execv;
    __interpose_execve => execve;
    __interpose_execveat => execveat;
    __interpose_execvp => execvp;
    __interpose_execvpe => execvpe;
    __interpose_fexecve => fexecve;
    __interpose_execl => execl;
    __interpose_execle => execle;
    __interpose_execlp => execlp;
}
