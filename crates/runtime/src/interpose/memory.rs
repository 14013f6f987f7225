//! Memory that is given back. What is freed starts anew, so allocating needs no attention.
//!
//! To free memory is to write to it: it can race. That is checked if instrumented code frees it itself; a library that
//! isn't instrumented may count references out of sight.

use super::caller::Caller;
use crate::memory;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use core::{mem, ptr};

real! {
    fn mmap(addr: usize, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> usize;
    fn mmap64(addr: usize, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> usize;
    fn munmap(addr: usize, length: usize) -> c_int;
    fn mremap(addr: usize, old: usize, new: usize, flags: c_int, to: usize) -> usize;
}

unsafe extern "C" {
    fn __libc_free(block: *mut c_void);
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
}

/// The program's allocator is libc's, with us in front of it.
static LIBC: AtomicBool = AtomicBool::new(true);
/// What `operator delete` is in the end.
static DELETE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    /// A block that `operator delete` has dealt with and is about to free.
    static DELETED: Cell<usize> = const { Cell::new(0) };
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

/// A block of the allocator is about to be no more.
fn dies(block: *mut c_void, caller: Caller) {
    // SAFETY: a block of libc's allocator.
    let size = unsafe { libc::malloc_usable_size(block) };
    match caller.watched() {
        Some(pc) => memory::died(block as usize, size, pc),
        None => memory::unmapped(block as usize, size),
    }
}

unsafe extern "C" fn free(block: *mut c_void, caller: Caller) {
    if block.is_null() {
        return;
    }
    if DELETED.replace(0) != block as usize {
        dies(block, caller);
    }
    // SAFETY: the caller's argument.
    unsafe { __libc_free(block) }
}

/// The old block's life is over, also where the new one has the same address.
unsafe extern "C" fn realloc(block: *mut c_void, size: usize, caller: Caller) -> *mut c_void {
    if !block.is_null() {
        dies(block, caller);
    }
    // SAFETY: the caller's arguments.
    unsafe { __libc_realloc(block, size) }
}

unsafe extern "C" fn delete(block: *mut c_void, caller: Caller) {
    if !block.is_null() && LIBC.load(Ordering::Relaxed) && caller.watched().is_some() {
        dies(block, caller);
        DELETED.set(block as usize);
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
    DELETED.set(0);
}

shims! {
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

/// In front of `mmap`. A mapping at a fixed address may replace others.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_mmap(
    addr: usize,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> usize {
    // SAFETY: the caller's arguments.
    mapped(unsafe { real::mmap(addr, length, protection, flags, fd, offset) }, length)
}

/// In front of `mmap64`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_mmap64(
    addr: usize,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> usize {
    // SAFETY: the caller's arguments.
    mapped(unsafe { real::mmap64(addr, length, protection, flags, fd, offset) }, length)
}

/// In front of `munmap`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_munmap(addr: usize, length: usize) -> c_int {
    if addr.is_multiple_of(4096) {
        memory::unmapped(addr, length);
    }
    // SAFETY: the caller's arguments.
    unsafe { real::munmap(addr, length) }
}

/// In front of `mremap`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_mremap(
    addr: usize,
    old: usize,
    new: usize,
    flags: c_int,
    to: usize,
) -> usize {
    memory::unmapped(addr, old);
    // SAFETY: the caller's arguments.
    mapped(unsafe { real::mremap(addr, old, new, flags, to) }, new)
}

fn mapped(addr: usize, length: usize) -> usize {
    if addr != libc::MAP_FAILED as usize {
        memory::born(addr, length);
    }
    addr
}
