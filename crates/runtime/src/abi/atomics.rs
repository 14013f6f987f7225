//! Atomic operations and fences.

use super::{mode, shim};
use crate::atomics::{self, Done, Operation};
use crate::journal::EventKind;
use crate::{control, plain};
use seqcst_model::Mode;
use seqcst_monitor::clocks::Look;

/// A value that atomic instructions work on.
pub trait Word: Copy + PartialEq {
    /// How many bytes.
    const SIZE: usize = size_of::<Self>();
    /// As the monitor keeps values; None: too large to compare.
    const COMPARES: bool = true;
    /// The value, or a hash of it.
    fn bits(self) -> u64;
    /// Reads without asking.
    /// # Safety
    /// The address can be read.
    unsafe fn load(addr: usize) -> Self;
    /// Writes. An ordinary store will do: the next operation takes a lock, which is a full barrier.
    /// # Safety
    /// The address can be written.
    unsafe fn store(addr: usize, new: Self);
    /// Writes if what is there is `old`; returns what was there.
    /// # Safety
    /// The address can be written.
    unsafe fn cas(addr: usize, old: Self, new: Self) -> Self;
    /// Writes `f` of what is there, and returns both.
    /// # Safety
    /// The address can be written.
    #[inline]
    unsafe fn update(addr: usize, f: impl Fn(Self) -> Self) -> (Self, Self) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut old = Self::load(addr);
            loop {
                let found = Self::cas(addr, old, f(old));
                if found == old {
                    return (old, f(old));
                }
                old = found;
            }
        }
    }
}

macro_rules! words {
    ($($word:ty: $atomic:ident;)*) => {$(
        impl Word for $word {
            #[inline]
            fn bits(self) -> u64 {
                self.into()
            }
            #[inline]
            unsafe fn load(addr: usize) -> Self {
                // SAFETY: the caller's promise. x86 doesn't mind if it isn't aligned.
                unsafe { (addr as *const $word).read_volatile() }
            }
            #[inline]
            unsafe fn store(addr: usize, new: Self) {
                // SAFETY: the caller's promise.
                unsafe { (addr as *mut $word).write_volatile(new) }
            }
            #[inline]
            unsafe fn cas(addr: usize, old: Self, new: Self) -> Self {
                use core::sync::atomic::Ordering::SeqCst;
                // SAFETY: the caller's promise.
                let cell = unsafe { &*(addr as *const core::sync::atomic::$atomic) };
                cell.compare_exchange(old, new, SeqCst, SeqCst).unwrap_or_else(|found| found)
            }
        }
    )*};
}

words! { u8: AtomicU8; u16: AtomicU16; u32: AtomicU32; u64: AtomicU64; }

impl Word for u128 {
    const COMPARES: bool = false;
    fn bits(self) -> u64 {
        // Both halves: `waits` tells values apart by it.
        (self as u64).wrapping_add(((self >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
    unsafe fn load(addr: usize) -> u128 {
        // SAFETY: the caller's promise; compares with and writes the same.
        unsafe { Self::cas(addr, 0, 0) }
    }
    unsafe fn store(addr: usize, new: u128) {
        // SAFETY: the caller's promise.
        unsafe { Self::update(addr, |_| new) };
    }
    unsafe fn cas(addr: usize, old: u128, new: u128) -> u128 {
        if !addr.is_multiple_of(16) {
            // The instruction would fault, as it would without us: the lock of the location has to do.
            let cell = addr as *mut u128;
            // SAFETY: the caller's promise.
            unsafe {
                let found = cell.read_unaligned();
                if found == old {
                    cell.write_unaligned(new);
                }
                return found;
            }
        }
        let (mut low, mut high) = (old as u64, (old >> 64) as u64);
        // SAFETY: the caller's promise. `rbx` belongs to the compiler, so it is put back.
        unsafe {
            core::arch::asm!(
                "xchg rbx, {new_low}",
                "lock cmpxchg16b [{addr}]",
                "mov rbx, {new_low}",
                addr = in(reg) addr,
                new_low = inout(reg) new as u64 => _,
                in("rcx") (new >> 64) as u64,
                inout("rax") low,
                inout("rdx") high,
            );
        }
        u128::from(low) | u128::from(high) << 64
    }
}

/// A load.
#[inline]
pub fn load<W: Word>(addr: usize, order: i32, pc: usize) -> W {
    let mode = mode(order);
    let operation = Operation {
        addr,
        size: W::SIZE,
        mode,
        failure: mode,
        look: Some(Look::Load),
        what: EventKind::Load,
        pc,
    };
    // SAFETY: the program loads there.
    atomics::perform(
        &operation,
        || unsafe { W::load(addr) }.bits(),
        || {
            let value = unsafe { W::load(addr) };
            (value, Done::Read, value.bits())
        },
    )
}

/// A store.
#[inline]
pub fn store<W: Word>(addr: usize, value: W, order: i32, pc: usize) {
    let mode = mode(order);
    let operation = Operation {
        addr,
        size: W::SIZE,
        mode,
        failure: mode,
        look: Some(Look::Store),
        what: EventKind::Store,
        pc,
    };
    // SAFETY: the program stores there.
    atomics::perform(
        &operation,
        || unsafe { W::load(addr) }.bits(),
        || {
            unsafe { W::store(addr, value) };
            ((), Done::Stored(value.bits()), 0)
        },
    )
}

/// An unconditional read-modify-write; returns what was there.
#[inline]
pub fn update<W: Word>(addr: usize, order: i32, pc: usize, f: impl Fn(W) -> W) -> W {
    let mode = mode(order);
    let operation = Operation {
        addr,
        size: W::SIZE,
        mode,
        failure: mode,
        look: Some(Look::Store),
        what: EventKind::Rmw,
        pc,
    };
    // SAFETY: the program writes there.
    atomics::perform(
        &operation,
        || unsafe { W::load(addr) }.bits(),
        || {
            let (old, new) = unsafe { W::update(addr, &f) };
            (old, Done::Updated(new.bits()), old.bits())
        },
    )
}

/// A compare-and-swap that fails only because of the value; returns what was there.
///
/// clang doesn't tell weak ones from strong ones: a weak one is taken for a strong one, which can only miss.
#[inline]
pub fn cas<W: Word>(addr: usize, old: W, new: W, order: i32, failure: i32, pc: usize) -> W {
    let look = W::COMPARES.then_some(Look::StrongCas(old.bits()));
    let (mode, failure) = (mode(order), mode(failure).read_part());
    let operation = Operation { addr, size: W::SIZE, mode, failure, look, what: EventKind::Rmw, pc };
    // SAFETY: the program writes there.
    atomics::perform(
        &operation,
        || unsafe { W::load(addr) }.bits(),
        || {
            let found = unsafe { W::cas(addr, old, new) };
            let done = if found == old { Done::Updated(new.bits()) } else { Done::Read };
            (found, done, found.bits())
        },
    )
}

/// As [`cas`], for the form that keeps the expected value in the program's memory: tells whether it succeeded, else puts
/// what was there into `old`. These are plain accesses. (Of variables in frames near by compilers say nothing, either.)
/// # Safety
/// `old` can be read, and written unless it succeeds.
#[inline]
pub unsafe fn cas_in<W: Word>(addr: usize, old: *mut W, new: W, order: i32, failure: i32, pc: usize) -> bool {
    let (at, size) = (old as usize, size_of::<W>());
    let is_shared = !is_near(at);
    if is_shared {
        plain::read(at, size, pc);
    }
    // SAFETY: the caller's promise.
    let expected = unsafe { old.read_unaligned() };
    let found = cas(addr, expected, new, order, failure, pc);
    if found != expected {
        if is_shared {
            plain::write(at, size, pc);
        } else if control::active() {
            control::writes(at); // a thread's own variables are near its stack, too
        }
        // SAFETY: the caller's promise.
        unsafe { old.write_unaligned(found) };
    }
    found == expected
}

/// Is it on the stack, not far from here?
fn is_near(addr: usize) -> bool {
    const NEAR: usize = 64 << 10;
    let here = 0u8;
    addr.wrapping_sub(&raw const here as usize) < NEAR
}

/// Waits until the location has this value, and loads it: no event for the attempts before (`wait` of the paper).
pub fn wait<W: Word>(addr: usize, value: W, order: i32, pc: usize) {
    let mode = mode(order);
    let look = W::COMPARES.then_some(Look::Wait(value.bits()));
    let operation = Operation { addr, size: W::SIZE, mode, failure: mode, look, what: EventKind::Load, pc };
    let mut turn = 0;
    // SAFETY: the program loads there.
    while !atomics::perform(
        &operation,
        || unsafe { W::load(addr) }.bits(),
        || {
            let found = unsafe { W::load(addr) };
            let done = if found == value { Done::Read } else { Done::Nothing };
            (found == value, done, found.bits())
        },
    ) {
        crate::thread::pause(&mut turn);
    }
}

/// Waits until the location has the value `old`, and swaps it: no event for the attempts before (`BCAS`).
pub fn blocking_cas<W: Word>(addr: usize, old: W, new: W, order: i32, pc: usize) {
    let mode = mode(order);
    let look = W::COMPARES.then_some(Look::BlockingCas(old.bits()));
    let operation = Operation { addr, size: W::SIZE, mode, failure: mode, look, what: EventKind::Rmw, pc };
    let mut turn = 0;
    // SAFETY: the program writes there.
    while !atomics::perform(
        &operation,
        || unsafe { W::load(addr) }.bits(),
        || {
            let found = unsafe { W::cas(addr, old, new) };
            let done = if found == old { Done::Updated(new.bits()) } else { Done::Nothing };
            (found == old, done, found.bits())
        },
    ) {
        crate::thread::pause(&mut turn);
    }
}

/// The interface for one width. Identifiers can't be pasted together on stable Rust, so the table below spells them out.
macro_rules! interface {
    ($word:ty, $module:ident, $two:literal, $three:literal,
        $load:ident $store:ident $exchange:ident
        $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident) => {
        mod $module {
            use super::*;

            extern "C" fn load(addr: usize, order: i32, pc: usize) -> $word {
                super::load(addr, order, pc)
            }
            extern "C" fn store(addr: usize, value: $word, order: i32, pc: usize) {
                super::store(addr, value, order, pc);
            }
            extern "C" fn exchange(addr: usize, value: $word, order: i32, pc: usize) -> $word {
                super::update(addr, order, pc, |_| value)
            }
            extern "C" fn add(addr: usize, value: $word, order: i32, pc: usize) -> $word {
                super::update(addr, order, pc, |old: $word| old.wrapping_add(value))
            }
            extern "C" fn sub(addr: usize, value: $word, order: i32, pc: usize) -> $word {
                super::update(addr, order, pc, |old: $word| old.wrapping_sub(value))
            }
            extern "C" fn and(addr: usize, value: $word, order: i32, pc: usize) -> $word {
                super::update(addr, order, pc, |old: $word| old & value)
            }
            extern "C" fn or(addr: usize, value: $word, order: i32, pc: usize) -> $word {
                super::update(addr, order, pc, |old: $word| old | value)
            }
            extern "C" fn xor(addr: usize, value: $word, order: i32, pc: usize) -> $word {
                super::update(addr, order, pc, |old: $word| old ^ value)
            }
            extern "C" fn nand(addr: usize, value: $word, order: i32, pc: usize) -> $word {
                super::update(addr, order, pc, |old: $word| !(old & value))
            }
            shim!($load => load, $two);
            shim!($store => store, $three);
            shim!($exchange => exchange, $three);
            shim!($add => add, $three);
            shim!($sub => sub, $three);
            shim!($and => and, $three);
            shim!($or => or, $three);
            shim!($xor => xor, $three);
            shim!($nand => nand, $three);
        }
    };
}

interface!(u8, of_8, "rdx", "rcx",
    __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
    __tsan_atomic8_fetch_add __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and
    __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor __tsan_atomic8_fetch_nand);
interface!(u16, of_16, "rdx", "rcx",
    __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
    __tsan_atomic16_fetch_add __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and
    __tsan_atomic16_fetch_or __tsan_atomic16_fetch_xor __tsan_atomic16_fetch_nand);
interface!(u32, of_32, "rdx", "rcx",
    __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
    __tsan_atomic32_fetch_add __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and
    __tsan_atomic32_fetch_or __tsan_atomic32_fetch_xor __tsan_atomic32_fetch_nand);
interface!(u64, of_64, "rdx", "rcx",
    __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
    __tsan_atomic64_fetch_add __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and
    __tsan_atomic64_fetch_or __tsan_atomic64_fetch_xor __tsan_atomic64_fetch_nand);
interface!(u128, of_128, "rdx", "r8",
    __tsan_atomic128_load __tsan_atomic128_store __tsan_atomic128_exchange
    __tsan_atomic128_fetch_add __tsan_atomic128_fetch_sub __tsan_atomic128_fetch_and
    __tsan_atomic128_fetch_or __tsan_atomic128_fetch_xor __tsan_atomic128_fetch_nand);

/// Compare-and-swap for one width: clang's form returns what was there, gcc's form keeps the expected value in memory.
macro_rules! exchanges {
    ($word:ty, $module:ident, $val:ident $strong:ident $weak:ident) => {
        mod $module {
            use super::*;

            extern "C" fn val(addr: usize, old: $word, new: $word, order: i32, failure: i32, pc: usize) -> $word {
                cas(addr, old, new, order, failure, pc)
            }
            unsafe extern "C" fn strong(
                addr: usize,
                old: *mut $word,
                new: $word,
                order: i32,
                failure: i32,
                pc: usize,
            ) -> bool {
                // SAFETY: the program's variable.
                unsafe { cas_in(addr, old, new, order, failure, pc) }
            }
            shim!($val => val, "r9");
            shim!($strong => strong, "r9");
            shim!($weak => strong, "r9");
        }
    };
}

exchanges!(u8, exchanges_8,
    __tsan_atomic8_compare_exchange_val
    __tsan_atomic8_compare_exchange_strong
    __tsan_atomic8_compare_exchange_weak);
exchanges!(u16, exchanges_16,
    __tsan_atomic16_compare_exchange_val
    __tsan_atomic16_compare_exchange_strong
    __tsan_atomic16_compare_exchange_weak);
exchanges!(u32, exchanges_32,
    __tsan_atomic32_compare_exchange_val
    __tsan_atomic32_compare_exchange_strong
    __tsan_atomic32_compare_exchange_weak);
exchanges!(u64, exchanges_64,
    __tsan_atomic64_compare_exchange_val
    __tsan_atomic64_compare_exchange_strong
    __tsan_atomic64_compare_exchange_weak);

extern "C" fn val_128(addr: usize, old: u128, new: u128, order: i32, failure: i32, pc: usize) -> u128 {
    cas(addr, old, new, order, failure, pc)
}
unsafe extern "C" fn strong_128(
    addr: usize,
    old: *mut u128,
    new: u128,
    order: i32,
    failure: i32,
    pc: usize,
) -> bool {
    // SAFETY: the program's variable.
    unsafe { cas_in(addr, old, new, order, failure, pc) }
}

/// Sixteen bytes, clang's form: registers are used up, the last two arguments go on the stack.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __tsan_atomic128_compare_exchange_val() {
    core::arch::naked_asm!(
        "mov rax, [rsp]",
        "mov r10d, [rsp + 8]",
        "sub rsp, 8",
        "push rax",
        "push r10",
        "call {work}",
        "add rsp, 24",
        "ret",
        work = sym val_128,
    )
}

/// Sixteen bytes, gcc's form.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __tsan_atomic128_compare_exchange_strong() {
    core::arch::naked_asm!("push [rsp]", "call {work}", "add rsp, 8", "ret", work = sym strong_128)
}

/// Sixteen bytes, gcc's form.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __tsan_atomic128_compare_exchange_weak() {
    core::arch::naked_asm!("push [rsp]", "call {work}", "add rsp, 8", "ret", work = sym strong_128)
}

extern "C" fn thread_fence(order: i32, pc: usize) {
    match mode(order) {
        Mode::Relaxed => {}
        mode => atomics::fence(mode, pc),
    }
}
shim!(__tsan_atomic_thread_fence => thread_fence, "rsi");

/// Orders a thread and its signal handlers, which is one thread to us.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_signal_fence(_order: i32) {}
