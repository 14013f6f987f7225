//! C++ exceptions that several threads own (`std::exception_ptr`, futures): the last owner destroys them.
//!
//! libstdc++ counts the owners out of sight, so who gives up its share releases, and the destructor acquires. There is one
//! object for all exceptions: that orders more than there is, never less. The destructor of an exception is named when it
//! is thrown; ours goes in its place.

use super::caller::Caller;
use crate::spin::Lock;
use crate::sync::{self, Side};
use core::arch::naked_asm;
use core::ffi::c_void;
use core::mem;

real! {
    fn __cxa_throw();
    fn __cxa_init_primary_exception();
    fn __cxa_end_catch();
    fn _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(pointer: *mut c_void);
    fn __cxa_decrement_exception_refcount(exception: *mut c_void);
}

/// Its address names what owners release.
static OWNERS: u8 = 0;

/// The exceptions there are, and the program's destructors for them.
type Exceptions = Vec<(usize, usize)>;
const SHARDS: usize = 16;
static DESTRUCTORS: [Lock<Exceptions>; SHARDS] = [const { Lock::new(Vec::new()) }; SHARDS];

fn shard(exception: usize) -> &'static Lock<Exceptions> {
    &DESTRUCTORS[(exception >> 5) % SHARDS]
}

fn disown(caller: Caller) {
    sync::release(&raw const OWNERS as usize, Side::Loose, caller.pc());
}

/// The last owner destroys an exception.
unsafe extern "C" fn destroy(exception: usize) {
    sync::acquire(&raw const OWNERS as usize, Side::Loose, 0);
    let destructor = {
        let mut exceptions = shard(exception).lock();
        let at = exceptions.iter().position(|&(at, _)| at == exception);
        at.map(|at| exceptions.swap_remove(at).1)
    };
    if let Some(destructor) = destructor {
        // SAFETY: what the program named as the destructor of this exception.
        unsafe { mem::transmute::<usize, unsafe extern "C" fn(usize)>(destructor)(exception) };
    }
}

/// The destructor that goes in the place of the program's, and the function to go on with.
#[repr(C)]
struct Instead {
    destructor: usize,
    real: *mut c_void,
}

fn named(exception: usize, destructor: usize) -> usize {
    if destructor == 0 {
        return 0;
    }
    let mut exceptions = shard(exception).lock();
    exceptions.retain(|&(at, _)| at != exception);
    exceptions.push((exception, destructor));
    destroy as *const () as usize
}

extern "C" fn thrown(exception: usize, destructor: usize) -> Instead {
    Instead { destructor: named(exception, destructor), real: real::addresses::__cxa_throw.address() }
}

extern "C" fn made(exception: usize, destructor: usize) -> Instead {
    let real = real::addresses::__cxa_init_primary_exception.address();
    Instead { destructor: named(exception, destructor), real }
}

/// `(exception, type, destructor)`, with another destructor. The real function takes the call over as it came.
macro_rules! named {
    ($($name:ident => $instead:ident;)*) => {$(
        #[doc = "In front of the function of this name."]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn $name() {
            naked_asm!(
                "push rdi",
                "push rsi",
                "sub rsp, 8",
                "mov rsi, rdx",
                "call {instead}",
                "mov r11, rdx",
                "mov rdx, rax",
                "add rsp, 8",
                "pop rsi",
                "pop rdi",
                "jmp r11",
                instead = sym $instead,
            )
        }
    )*};
}

named! {
    __interpose___cxa_throw => thrown;
    __interpose___cxa_init_primary_exception => made;
}

unsafe extern "C" fn end_catch(caller: Caller) {
    disown(caller);
    // SAFETY: the caller's call.
    unsafe { real::__cxa_end_catch() }
}

unsafe extern "C" fn release_pointer(pointer: *mut c_void, caller: Caller) {
    disown(caller);
    // SAFETY: the caller's argument.
    unsafe { real::_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(pointer) }
}

unsafe extern "C" fn decrement(exception: *mut c_void, caller: Caller) {
    disown(caller);
    // SAFETY: the caller's argument.
    unsafe { real::__cxa_decrement_exception_refcount(exception) }
}

shims! {
    __interpose___cxa_end_catch => end_catch, "rdi";
    __interpose__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv => release_pointer, "rsi";
    __interpose___cxa_decrement_exception_refcount => decrement, "rsi";
}
