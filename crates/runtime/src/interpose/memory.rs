//! Mappings: memory of the kernel's that begins its life and that is given back.

use crate::memory;
use core::ffi::c_int;

real! {
    fn mmap(addr: usize, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> usize;
    fn mmap64(addr: usize, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> usize;
    fn munmap(addr: usize, length: usize) -> c_int;
    fn mremap(addr: usize, old: usize, new: usize, flags: c_int, to: usize) -> usize;
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
