//! Rust's std: its fast paths are inlined into the program and seen, its slow paths are compiled without instrumentation.
//!
//! The linker's `--wrap` puts a stub ([`super::stubs`]) around each slow path, which calls the functions here. For each
//! kind, what is acquired and released, so that nothing that std orders is missed. More may be ordered than there is:
//!
//! | kind | before | after |
//! |---|---|---|
//! | mutex, rwlock, once (waiting) | touch the lock's word | touch it |
//! | condvar | touch the *mutex* that is released | touch it: it was acquired again |
//! | once (calling) | touch its word; again when the initialiser is done, before others are told | touch it |
//! | barrier | release it | acquire it |
//! | park | touch the thread's token | touch it: `unpark` is inlined and seen |
//! | scope | touch its counter: `scope` itself is inlined and looks at it | |
//!
//! To *touch* ([`opaque::touch`]) is to acquire and release an atomic location as strongly as possible, and there is no
//! verdict on it from then on. To notify a condvar orders nothing.

use super::stubs::Kind;
use super::{opaque, unwinding};
use crate::sync::{self, Side};
use core::arch::naked_asm;
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The word of std's futex-based locks.
const WORD: usize = 4;
/// `ScopeData`: a thread handle, a counter, a flag.
const SCOPE: usize = 24;
/// What a thread handle points to: two counters of `Arc`, then the thread's number, name and token.
const COUNTERS: usize = 16;
const HANDLE: usize = 32;

thread_local! {
    /// What std's handle of this thread points to.
    static THIS_THREAD: Cell<usize> = const { Cell::new(0) };
}

/// A slow path is about to begin, called by the program at `pc`. `kind` is a [`Kind`].
#[unsafe(no_mangle)]
pub extern "C" fn seqcst_std_before(first: usize, second: usize, kind: u32, pc: usize) {
    if kind == Kind::Barrier as u32 {
        sync::release(first, Side::Loose, pc);
    } else {
        touch(first, second, kind);
    }
}

/// A slow path is over.
#[unsafe(no_mangle)]
pub extern "C" fn seqcst_std_after(first: usize, second: usize, kind: u32, pc: usize) {
    if kind == Kind::Barrier as u32 {
        sync::acquire(first, Side::Loose, pc);
    } else if kind != Kind::Scope as u32 {
        touch(first, second, kind); // (a scope may be gone)
    }
}

fn touch(first: usize, second: usize, kind: u32) {
    match kind {
        kind if kind == Kind::Word as u32 => opaque::touch(first, WORD),
        kind if kind == Kind::Condvar as u32 => opaque::touch(second, WORD),
        kind if kind == Kind::Scope as u32 => opaque::touch_range(first, SCOPE),
        kind if kind == Kind::Park as u32 => token(THIS_THREAD.get()),
        // SAFETY: the first argument is a handle, which is one pointer.
        kind if kind == Kind::ParkHandle as u32 => token(unsafe { *(first as *const usize) }),
        _ => {}
    }
}

fn token(thread: usize) {
    if thread != 0 {
        opaque::touch_range(thread + COUNTERS, HANDLE);
    }
}

/// Whether this thread's handle is known.
#[unsafe(no_mangle)]
pub extern "C" fn seqcst_std_knows_thread() -> bool {
    THIS_THREAD.get() != 0
}

/// This thread's handle, which `std::thread::current` has just given and counted: it is given back.
/// # Safety
/// `handle` is such a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seqcst_std_is_thread(handle: *const AtomicUsize) {
    THIS_THREAD.set(handle as usize);
    // SAFETY: points to the counter of an `Arc`. The thread itself keeps it above zero.
    unsafe { (*handle).fetch_sub(1, Ordering::Release) };
}

extern "C" fn touch_once(word: usize) {
    opaque::touch(word, WORD);
}

/// The table of methods of a closure behind a `&mut dyn FnMut(&OnceState)`.
#[repr(C)]
struct Methods {
    drop: usize,
    size: usize,
    align: usize,
    call_once: usize,
    call_mut: unsafe extern "C" fn(*const Closure, usize),
}

/// What stands in for the initialiser: the real closure, and the word that it belongs to.
#[repr(C)]
struct Closure {
    real: usize,
    methods: *const Methods,
    word: usize,
}

static METHODS: Methods = Methods { drop: 0, size: size_of::<Closure>(), align: 8, call_once: 0, call_mut };

/// Calls the real closure, then touches the word, also if it panics: std tells others right after. Before it, once more:
/// std may have waited for another one that panicked.
unsafe extern "C" fn call_mut(closure: *const Closure, state: usize) {
    // SAFETY: made by `seqcst_std_once_call` below; the real closure takes the same argument.
    unsafe {
        let Closure { real, methods, word } = closure.read();
        touch_once(word);
        unwinding::call((*methods).call_mut as usize, real, state, |word| touch_once(word), word);
        touch_once(word);
    }
}

/// `Once::call(&self, bool, &mut dyn FnMut(&OnceState))` with another closure; the real function is in `rax`.
///
/// # Safety
/// Called by a stub, with that function's arguments.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn seqcst_std_once_call() {
    naked_asm!(
        ".cfi_startproc",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbx, -16",
        "sub rsp, 64",
        ".cfi_adjust_cfa_offset 64",
        "mov [rsp], rdx",
        "mov [rsp + 8], rcx",
        "mov [rsp + 16], rdi",
        "mov [rsp + 24], rsi",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "mov [rsp + 48], rax",
        "mov rbx, rdi",
        "call {touch_once}",
        "mov rdi, rbx",
        "mov rsi, [rsp + 24]",
        "mov rdx, rsp",
        "lea rcx, [rip + {methods}]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "call [rsp + 48]",
        "mov rdi, rbx",
        "call {touch_once}",
        "add rsp, 64",
        ".cfi_adjust_cfa_offset -64",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbx",
        "ret",
        ".cfi_endproc",
        touch_once = sym touch_once,
        methods = sym METHODS,
    )
}
