//! Where programs get randomness from: under `seqcst explore` it is the same in every execution.
//!
//! `rand` and its relatives are as random as their seeds (but [`super::passed`]). The kernel's devices are read through
//! [`super::kernel`]. Instructions (`rdrand`) and system calls that a program makes by itself can't be stood in front of.

use crate::control::{self, chance, clock};
use core::ffi::{c_int, c_uint, c_void};
use core::slice;

real! {
    fn getrandom(buffer: *mut c_void, size: usize, flags: c_uint) -> isize;
    fn getentropy(buffer: *mut c_void, size: usize) -> c_int;
    fn arc4random() -> u32;
    fn arc4random_buf(buffer: *mut c_void, size: usize);
    fn arc4random_uniform(bound: u32) -> u32;
    fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> u32;
}

/// Is randomness ours to make? As with time, before `main` too.
pub(super) fn is_ours() -> bool {
    let ours = clock::is_logical();
    if ours && control::active() {
        control::effect();
    }
    ours
}

/// Fills a buffer.
///
/// # Safety
/// It can be written.
pub(super) unsafe fn fill(buffer: *mut c_void, size: usize) {
    if size > 0 {
        // SAFETY: the caller's promise.
        chance::fill(unsafe { slice::from_raw_parts_mut(buffer.cast(), size) });
    }
}

/// In front of `getrandom`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_getrandom(buffer: *mut c_void, size: usize, flags: c_uint) -> isize {
    // SAFETY: the caller's arguments.
    unsafe {
        if !is_ours() {
            return real::getrandom(buffer, size, flags);
        }
        fill(buffer, size);
    }
    size as isize
}

/// In front of `getentropy`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_getentropy(buffer: *mut c_void, size: usize) -> c_int {
    const MOST: usize = 256;
    // SAFETY: the caller's arguments.
    unsafe {
        if !is_ours() || size > MOST {
            return real::getentropy(buffer, size);
        }
        fill(buffer, size);
    }
    0
}

/// In front of `arc4random`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_arc4random() -> u32 {
    // SAFETY: no arguments.
    if is_ours() { chance::draw() as u32 } else { unsafe { real::arc4random() } }
}

/// In front of `arc4random_buf`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_arc4random_buf(buffer: *mut c_void, size: usize) {
    // SAFETY: the caller's arguments.
    unsafe { if is_ours() { fill(buffer, size) } else { real::arc4random_buf(buffer, size) } }
}

/// In front of `arc4random_uniform`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_arc4random_uniform(bound: u32) -> u32 {
    // SAFETY: the caller's argument.
    if is_ours() { chance::below(bound) } else { unsafe { real::arc4random_uniform(bound) } }
}

/// In front of libstdc++'s `std::random_device::_M_getval()`, which asks the processor.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose__ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> u32 {
    // SAFETY: the caller's argument.
    if is_ours() { chance::draw() as u32 } else { unsafe { real::_ZNSt13random_device9_M_getvalEv(device) } }
}
