//! Functions of libc that the scheduler must know of, and that are called as the program calls them, with any number of
//! arguments.
//!
//! Under the scheduler a thread that comes back in the same state, having only read, goes round in circles. What is changed
//! inside of libc (what `rand` keeps, what `snprintf` writes) isn't part of the state that is compared, nor a write that is
//! seen. So who calls such a function has done something. Output needs nothing: no loop can see it.
//!
//! A part of a thread's stack can become the stack of a coroutine, or of signals. From then on its stack pointer doesn't tell
//! what of the stack is in use.

use super::real::Real;
use crate::control::{self, stacks};
use core::ffi::c_void;

/// The thread is about to call something that changes something out of sight. Where is it?
extern "C" fn changes(real: &Real, _: usize) -> *mut c_void {
    if control::active() {
        control::effect();
    }
    real.address()
}

/// The thread is about to call `makecontext`.
extern "C" fn makes_context(real: &Real, context: *const libc::ucontext_t) -> *mut c_void {
    // SAFETY: the caller's argument.
    if control::active()
        && let Some(context) = unsafe { context.as_ref() }
    {
        stacks::lends(context.uc_stack.ss_sp as usize);
    }
    real.address()
}

/// The thread is about to call `sigaltstack`.
extern "C" fn sets_stack(real: &Real, stack: *const libc::stack_t) -> *mut c_void {
    // SAFETY: the caller's argument.
    if control::active()
        && let Some(stack) = unsafe { stack.as_ref() }
    {
        stacks::lends(stack.ss_sp as usize);
    }
    real.address()
}

/// `before: name => real;` for each function. `before` is given the first argument, too.
macro_rules! passes {
    ($($before:ident: $name:ident => $real:ident;)*) => {
        real! { $(fn $real();)* }

        $(
            #[doc = "In front of the function of this name."]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub extern "C" fn $name() {
                core::arch::naked_asm!(
                    // All that arguments may be in. So the stack is aligned as well.
                    "push rax", "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9",
                    "sub rsp, 128",
                    "movups [rsp], xmm0", "movups [rsp + 16], xmm1",
                    "movups [rsp + 32], xmm2", "movups [rsp + 48], xmm3",
                    "movups [rsp + 64], xmm4", "movups [rsp + 80], xmm5",
                    "movups [rsp + 96], xmm6", "movups [rsp + 112], xmm7",
                    "mov rsi, rdi",
                    "lea rdi, [rip + {real}]",
                    "call {before}",
                    "mov r11, rax",
                    "movups xmm0, [rsp]", "movups xmm1, [rsp + 16]",
                    "movups xmm2, [rsp + 32]", "movups xmm3, [rsp + 48]",
                    "movups xmm4, [rsp + 64]", "movups xmm5, [rsp + 80]",
                    "movups xmm6, [rsp + 96]", "movups xmm7, [rsp + 112]",
                    "add rsp, 128",
                    "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi", "pop rax",
                    "jmp r11",
                    real = sym real::addresses::$real,
                    before = sym $before,
                )
            }
        )*
    };
}

passes! {
    changes: __interpose_rand => rand;
    changes: __interpose_rand_r => rand_r;
    changes: __interpose_random => random;
    changes: __interpose_drand48 => drand48;
    changes: __interpose_erand48 => erand48;
    changes: __interpose_lrand48 => lrand48;
    changes: __interpose_nrand48 => nrand48;
    changes: __interpose_mrand48 => mrand48;
    changes: __interpose_jrand48 => jrand48;
    changes: __interpose_sprintf => sprintf;
    changes: __interpose_snprintf => snprintf;
    changes: __interpose_vsprintf => vsprintf;
    changes: __interpose_vsnprintf => vsnprintf;
    changes: __interpose___sprintf_chk => __sprintf_chk;
    changes: __interpose___snprintf_chk => __snprintf_chk;
    changes: __interpose___vsprintf_chk => __vsprintf_chk;
    changes: __interpose___vsnprintf_chk => __vsnprintf_chk;
    changes: __interpose_sscanf => sscanf;
    changes: __interpose_vsscanf => vsscanf;
    changes: __interpose___isoc99_sscanf => __isoc99_sscanf;
    changes: __interpose___isoc99_vsscanf => __isoc99_vsscanf;
    changes: __interpose___isoc23_sscanf => __isoc23_sscanf;
    changes: __interpose___isoc23_vsscanf => __isoc23_vsscanf;
    changes: __interpose_strtok => strtok;
    changes: __interpose_strtok_r => strtok_r;
    changes: __interpose_strsep => strsep;
    changes: __interpose_fread => fread;
    changes: __interpose_fgets => fgets;
    changes: __interpose_fgetc => fgetc;
    changes: __interpose_getc => getc;
    changes: __interpose_getchar => getchar;
    changes: __interpose_getline => getline;
    makes_context: __interpose_makecontext => makecontext;
    sets_stack: __interpose_sigaltstack => sigaltstack;
}
