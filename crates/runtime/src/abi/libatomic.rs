//! libatomic's entry points, which compilers call for what they can't do inline: sixteen bytes without `cx16`, and objects
//! of any size.
//!
//! Objects of 1, 2, 4, 8 and 16 bytes are atomics like any other. Larger ones are protected by locks of our own, and
//! synchronise as if every access were SC: no verdict is made on them.

use super::atomics::{self, Word};
use super::shim;
use crate::held::{Held, Hold};
use crate::spin::{Guard, Lock};
use crate::sync::{self, Side};
use core::ptr;

static LOCKS: [Lock<()>; 64] = [const { Lock::new(()) }; 64];

/// Around a fork.
pub fn held() -> &'static dyn Hold {
    static HELD: Held<(), 64> = Held::new(&LOCKS);
    &HELD
}

/// The lock of a large object; what it protects synchronises.
fn locked<T>(addr: usize, pc: usize, act: impl FnOnce() -> T) -> T {
    let _guard: Guard<'_, ()> = LOCKS[(addr >> 6) % LOCKS.len()].lock();
    sync::acquire(addr, Side::All, pc);
    let result = act();
    sync::release(addr, Side::All, pc);
    result
}

macro_rules! by_size {
    ($size:expr, $word:ident => $small:expr, $large:expr) => {
        match $size {
            1 => {
                type $word = u8;
                $small
            }
            2 => {
                type $word = u16;
                $small
            }
            4 => {
                type $word = u32;
                $small
            }
            8 => {
                type $word = u64;
                $small
            }
            16 => {
                type $word = u128;
                $small
            }
            _ => $large,
        }
    };
}

unsafe fn get<W: Word>(from: *const u8) -> W {
    // SAFETY: the caller passes an object of that size.
    unsafe { from.cast::<W>().read_unaligned() }
}

unsafe fn put<W: Word>(to: *mut u8, value: W) {
    // SAFETY: the caller passes an object of that size.
    unsafe { to.cast::<W>().write_unaligned(value) }
}

unsafe extern "C" fn load(size: usize, object: *const u8, to: *mut u8, order: i32, pc: usize) {
    let addr = object as usize;
    // SAFETY: as libatomic's contract says, for all functions here.
    unsafe {
        by_size!(size, W => put(to, atomics::load::<W>(addr, order, pc)),
            locked(addr, pc, || ptr::copy(object, to, size)))
    }
}

unsafe extern "C" fn store(size: usize, object: *mut u8, from: *const u8, order: i32, pc: usize) {
    let addr = object as usize;
    // SAFETY: as above.
    unsafe {
        by_size!(size, W => atomics::store(addr, get::<W>(from), order, pc),
            locked(addr, pc, || ptr::copy(from, object, size)))
    }
}

unsafe extern "C" fn exchange(
    size: usize,
    object: *mut u8,
    from: *const u8,
    to: *mut u8,
    order: i32,
    pc: usize,
) {
    let addr = object as usize;
    // SAFETY: as above.
    unsafe {
        by_size!(size, W => {
            let new = get::<W>(from);
            put(to, atomics::update::<W>(addr, order, pc, |_| new));
        },
        locked(addr, pc, || {
            let new = core::slice::from_raw_parts(from, size).to_vec();
            ptr::copy(object, to, size);
            ptr::copy(new.as_ptr(), object, size);
        }))
    }
}

unsafe extern "C" fn compare_exchange(
    size: usize,
    object: *mut u8,
    expected: *mut u8,
    desired: *const u8,
    success: i32,
    failure: i32,
    pc: usize,
) -> bool {
    let addr = object as usize;
    // SAFETY: as above.
    unsafe {
        by_size!(size, W => {
            atomics::cas_in::<W>(addr, expected.cast(), get::<W>(desired), success, failure, pc)
        },
        locked(addr, pc, || {
            let same = core::slice::from_raw_parts(object, size) == core::slice::from_raw_parts(expected, size);
            if same {
                ptr::copy(desired, object, size);
            } else {
                ptr::copy(object, expected, size);
            }
            same
        }))
    }
}

shim!(__interpose___atomic_load => load, "r8");
shim!(__interpose___atomic_store => store, "r8");
shim!(__interpose___atomic_exchange => exchange, "r9");

/// Six arguments: the seventh goes on the stack.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __interpose___atomic_compare_exchange() {
    core::arch::naked_asm!("push [rsp]", "call {work}", "add rsp, 8", "ret", work = sym compare_exchange)
}

/// The fixed-size names, for sixteen bytes. clang 19 leaves a call of `__atomic_load_16` behind whose result nobody
/// uses, after the instrumented one: it is no event.
#[unsafe(no_mangle)]
pub extern "C" fn __interpose___atomic_load_16(addr: usize, _order: i32) -> u128 {
    // SAFETY: the program loads there.
    unsafe { u128::load(addr) }
}

extern "C" fn store_16(addr: usize, value: u128, order: i32, pc: usize) {
    atomics::store(addr, value, order, pc);
}
extern "C" fn exchange_16(addr: usize, value: u128, order: i32, pc: usize) -> u128 {
    atomics::update(addr, order, pc, |_| value)
}
extern "C" fn add_16(addr: usize, value: u128, order: i32, pc: usize) -> u128 {
    atomics::update(addr, order, pc, |old: u128| old.wrapping_add(value))
}
extern "C" fn sub_16(addr: usize, value: u128, order: i32, pc: usize) -> u128 {
    atomics::update(addr, order, pc, |old: u128| old.wrapping_sub(value))
}
extern "C" fn and_16(addr: usize, value: u128, order: i32, pc: usize) -> u128 {
    atomics::update(addr, order, pc, |old: u128| old & value)
}
extern "C" fn or_16(addr: usize, value: u128, order: i32, pc: usize) -> u128 {
    atomics::update(addr, order, pc, |old: u128| old | value)
}
extern "C" fn xor_16(addr: usize, value: u128, order: i32, pc: usize) -> u128 {
    atomics::update(addr, order, pc, |old: u128| old ^ value)
}
unsafe extern "C" fn compare_exchange_16(
    addr: usize,
    expected: *mut u128,
    desired: u128,
    success: i32,
    failure: i32,
    pc: usize,
) -> bool {
    // SAFETY: libatomic's contract.
    unsafe { atomics::cas_in(addr, expected, desired, success, failure, pc) }
}
shim!(__interpose___atomic_store_16 => store_16, "r8");
shim!(__interpose___atomic_exchange_16 => exchange_16, "r8");
shim!(__interpose___atomic_fetch_add_16 => add_16, "r8");
shim!(__interpose___atomic_fetch_sub_16 => sub_16, "r8");
shim!(__interpose___atomic_fetch_and_16 => and_16, "r8");
shim!(__interpose___atomic_fetch_or_16 => or_16, "r8");
shim!(__interpose___atomic_fetch_xor_16 => xor_16, "r8");

/// The seventh argument goes on the stack.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __interpose___atomic_compare_exchange_16() {
    core::arch::naked_asm!("push [rsp]", "call {work}", "add rsp, 8", "ret", work = sym compare_exchange_16)
}
