//! The allocator: blocks that are made and blocks that are given back.
//!
//! What the program frees isn't given to libc at once: it stays in quarantine for a while (`blocks`), where accesses to it
//! are noticed. To free memory is also to write to it: it can race. That is checked if instrumented code frees it itself; a
//! library that isn't instrumented may count references out of sight.

use super::caller::Caller;
use crate::{blocks, memory};
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use core::{mem, ptr};

real! {
    fn posix_memalign(block: *mut *mut c_void, align: usize, size: usize) -> c_int;
    fn aligned_alloc(align: usize, size: usize) -> *mut c_void;
    fn memalign(align: usize, size: usize) -> *mut c_void;
    fn valloc(size: usize) -> *mut c_void;
    fn pvalloc(size: usize) -> *mut c_void;
}

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(many: usize, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
}

/// Larger blocks grow in place, if they can: a copy would cost too much.
const LARGE: usize = 64 << 10;

/// The program's allocator is libc's, with us in front of it.
static LIBC: AtomicBool = AtomicBool::new(true);
/// What `operator delete` is in the end.
static DELETE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    /// A block that `operator delete` was given by instrumented code, and from where: it is about to free it.
    static DELETED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// A program may bring an allocator of its own, which goes before ours.
pub(super) fn start() {
    // SAFETY: the names end in zero bytes.
    unsafe {
        let free = libc::dlsym(libc::RTLD_DEFAULT, c"free".as_ptr());
        let ours: unsafe extern "C" fn() = mem::transmute(__interpose_free as *const c_void);
        LIBC.store(free == ours as *mut c_void, Ordering::Relaxed);
        let delete = libc::dlsym(libc::RTLD_NEXT, c"_ZdlPv".as_ptr());
        DELETE.store(if delete.is_null() { free } else { delete }, Ordering::Relaxed);
    }
}

/// What the allocator has made.
fn made(block: *mut c_void, caller: Caller) -> *mut c_void {
    if !block.is_null() {
        memory::allocated(block as usize, caller.watched());
    }
    block
}

unsafe extern "C" fn malloc(size: usize, caller: Caller) -> *mut c_void {
    // SAFETY: the caller's arguments.
    made(unsafe { __libc_malloc(size) }, caller)
}

unsafe extern "C" fn calloc(many: usize, size: usize, caller: Caller) -> *mut c_void {
    // SAFETY: the caller's arguments.
    made(unsafe { __libc_calloc(many, size) }, caller)
}

/// An alignment is a power of two, and at least this.
fn is_alignment(align: usize, least: usize, caller: Caller) {
    if !align.is_power_of_two() || align < least {
        memory::misaligned(align, caller.pc());
    }
}

unsafe extern "C" fn aligned(block: *mut *mut c_void, align: usize, size: usize, caller: Caller) -> c_int {
    is_alignment(align, size_of::<*mut c_void>(), caller);
    // SAFETY: the caller's arguments; `block` is written if there is one.
    unsafe {
        let result = real::posix_memalign(block, align, size);
        if result == 0 {
            made(*block, caller);
        }
        result
    }
}

unsafe extern "C" fn aligned11(align: usize, size: usize, caller: Caller) -> *mut c_void {
    is_alignment(align, 1, caller);
    // SAFETY: the caller's arguments.
    made(unsafe { real::aligned_alloc(align, size) }, caller)
}

unsafe extern "C" fn aligned_old(align: usize, size: usize, caller: Caller) -> *mut c_void {
    is_alignment(align, 1, caller);
    // SAFETY: the caller's arguments.
    made(unsafe { real::memalign(align, size) }, caller)
}

unsafe extern "C" fn pages(size: usize, caller: Caller) -> *mut c_void {
    // SAFETY: the caller's arguments.
    made(unsafe { real::valloc(size) }, caller)
}

unsafe extern "C" fn whole_pages(size: usize, caller: Caller) -> *mut c_void {
    // SAFETY: the caller's arguments.
    made(unsafe { real::pvalloc(size) }, caller)
}

/// The program gives a block back.
///
/// # Safety
/// The block is not used any more.
unsafe fn release(block: *mut c_void, pc: usize, watched: bool) {
    // SAFETY: asked for blocks of the allocator only.
    let size = || unsafe { libc::malloc_usable_size(block) };
    if memory::freed(block as usize, size, (pc, watched), true) {
        // SAFETY: the caller's promise.
        unsafe { __libc_free(block) };
    }
    while let Some(block) = memory::excess() {
        // SAFETY: nobody may use it any more, and nobody was noticed to.
        unsafe { __libc_free(block as *mut c_void) };
    }
}

unsafe extern "C" fn free(block: *mut c_void, caller: Caller) {
    if block.is_null() {
        return;
    }
    let (deleted, from) = DELETED.replace((0, 0));
    // SAFETY: the caller's argument.
    unsafe {
        match deleted == block as usize {
            true => release(block, from, true),
            false => release(block, caller.pc(), caller.watched().is_some()),
        }
    }
}

/// The old block's life is over, also where the new one has the same address. It stays for a while if the new one has
/// another.
unsafe extern "C" fn realloc(block: *mut c_void, size: usize, caller: Caller) -> *mut c_void {
    // SAFETY: the caller's arguments.
    unsafe {
        if block.is_null() {
            return made(__libc_malloc(size), caller);
        }
        let (pc, watched) = (caller.pc(), caller.watched().is_some());
        if size == 0 {
            release(block, pc, watched);
            return ptr::null_mut();
        }
        let old = if blocks::is_used(block as usize) { libc::malloc_usable_size(block) } else { usize::MAX };
        if old < size && old <= LARGE {
            let new = made(__libc_malloc(size), caller);
            if !new.is_null() {
                ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old);
                release(block, pc, watched);
            }
            return new;
        }
        if !memory::freed(block as usize, || old, (pc, watched), false) {
            return made(__libc_malloc(size), caller);
        }
        let new = __libc_realloc(block, size);
        made(if new.is_null() { block } else { new }, caller);
        new
    }
}

unsafe extern "C" fn delete(block: *mut c_void, caller: Caller) {
    if !block.is_null()
        && LIBC.load(Ordering::Relaxed)
        && let Some(pc) = caller.watched()
    {
        DELETED.set((block as usize, pc));
    }
    let mut real = DELETE.load(Ordering::Relaxed);
    if real.is_null() {
        start();
        real = DELETE.load(Ordering::Relaxed);
    }
    // SAFETY: `operator delete` or `free`: both take a block.
    unsafe {
        let real: unsafe extern "C" fn(*mut c_void) = mem::transmute(real);
        real(block);
    }
    DELETED.set((0, 0));
}

shims! {
    __interpose_malloc => malloc, "rsi";
    __interpose_calloc => calloc, "rdx";
    __interpose_posix_memalign => aligned, "rcx";
    __interpose_aligned_alloc => aligned11, "rdx";
    __interpose_memalign => aligned_old, "rdx";
    __interpose_valloc => pages, "rsi";
    __interpose_pvalloc => whole_pages, "rsi";
    __interpose_free => free, "rsi";
    __interpose_realloc => realloc, "rdx";
    // `operator delete` and `delete[]`: plain, sized, aligned, both, nothrow. All come to the same in libstdc++.
    __interpose__ZdlPv => delete, "rsi";
    __interpose__ZdaPv => delete, "rsi";
    __interpose__ZdlPvm => delete, "rsi";
    __interpose__ZdaPvm => delete, "rsi";
    __interpose__ZdlPvSt11align_val_t => delete, "rsi";
    __interpose__ZdaPvSt11align_val_t => delete, "rsi";
    __interpose__ZdlPvmSt11align_val_t => delete, "rsi";
    __interpose__ZdaPvmSt11align_val_t => delete, "rsi";
    __interpose__ZdlPvRKSt9nothrow_t => delete, "rsi";
    __interpose__ZdaPvRKSt9nothrow_t => delete, "rsi";
}
