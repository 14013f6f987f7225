//! Plain accesses, and where functions begin and end.

use super::shim;
use crate::{plain, thread};

macro_rules! accesses {
    ($($size:literal: $($name:ident)* ;)*) => {$(
        accesses!(@ $size $($name)*);
    )*};
    (@ $size:literal $read:ident $write:ident $work_read:ident $work_write:ident
        $volatile_read:ident $volatile_write:ident $both:ident $work_both:ident) => {
        extern "C" fn $work_read(addr: usize, pc: usize) {
            sized::<$size>(addr, false, pc);
        }
        extern "C" fn $work_write(addr: usize, pc: usize) {
            sized::<$size>(addr, true, pc);
        }
        extern "C" fn $work_both(addr: usize, pc: usize) {
            sized::<$size>(addr, false, pc);
            sized::<$size>(addr, true, pc);
        }
        shim!($read => $work_read, "rsi");
        shim!($write => $work_write, "rsi");
        shim!($both => $work_both, "rsi");
        shim!($volatile_read => $work_read, "rsi");
        shim!($volatile_write => $work_write, "rsi");
    };
}

accesses! {
    1: __tsan_read1 __tsan_write1 read1 write1 __tsan_volatile_read1 __tsan_volatile_write1 __tsan_read_write1 both1;
    2: __tsan_read2 __tsan_write2 read2 write2 __tsan_volatile_read2 __tsan_volatile_write2 __tsan_read_write2 both2;
    4: __tsan_read4 __tsan_write4 read4 write4 __tsan_volatile_read4 __tsan_volatile_write4 __tsan_read_write4 both4;
    8: __tsan_read8 __tsan_write8 read8 write8 __tsan_volatile_read8 __tsan_volatile_write8 __tsan_read_write8 both8;
    16: __tsan_read16 __tsan_write16 read16 write16 __tsan_volatile_read16 __tsan_volatile_write16 __tsan_read_write16 both16;
}

/// gcc and clang promise natural alignment for these, of 8 for 16 bytes; programs may break the promise.
#[inline]
fn sized<const SIZE: usize>(addr: usize, write: bool, pc: usize) {
    match SIZE {
        16 if addr.is_multiple_of(8) => {
            plain::aligned(addr, 8, write, pc);
            plain::aligned(addr + 8, 8, write, pc);
        }
        1 | 2 | 4 | 8 if addr.is_multiple_of(SIZE) => plain::aligned(addr, SIZE, write, pc),
        _ if write => plain::write(addr, SIZE, pc),
        _ => plain::read(addr, SIZE, pc),
    }
}

macro_rules! unaligned {
    ($($size:literal: $read:ident $write:ident $both:ident $work_read:ident $work_write:ident $work_both:ident;)*) => {$(
        extern "C" fn $work_read(addr: usize, pc: usize) {
            plain::read(addr, $size, pc);
        }
        extern "C" fn $work_write(addr: usize, pc: usize) {
            plain::write(addr, $size, pc);
        }
        extern "C" fn $work_both(addr: usize, pc: usize) {
            plain::read(addr, $size, pc);
            plain::write(addr, $size, pc);
        }
        shim!($read => $work_read, "rsi");
        shim!($write => $work_write, "rsi");
        shim!($both => $work_both, "rsi");
    )*};
}

unaligned! {
    2: __tsan_unaligned_read2 __tsan_unaligned_write2 __tsan_unaligned_read_write2 uread2 uwrite2 uboth2;
    4: __tsan_unaligned_read4 __tsan_unaligned_write4 __tsan_unaligned_read_write4 uread4 uwrite4 uboth4;
    8: __tsan_unaligned_read8 __tsan_unaligned_write8 __tsan_unaligned_read_write8 uread8 uwrite8 uboth8;
    16: __tsan_unaligned_read16 __tsan_unaligned_write16 __tsan_unaligned_read_write16 uread16 uwrite16 uboth16;
}

extern "C" fn read_range(addr: usize, size: usize, pc: usize) {
    plain::read(addr, size, pc);
}
extern "C" fn write_range(addr: usize, size: usize, pc: usize) {
    plain::write(addr, size, pc);
}
shim!(__tsan_read_range => read_range, "rdx");
shim!(__tsan_write_range => write_range, "rdx");

extern "C" fn read_vptr(addr: usize, pc: usize) {
    plain::read(addr, 8, pc);
}
/// C++ sets an object's vptr in each constructor and destructor; setting it to what it is doesn't count.
extern "C" fn update_vptr(addr: usize, new: usize, pc: usize) {
    // SAFETY: the program is about to write there.
    if unsafe { (addr as *const usize).read_volatile() } != new {
        plain::write(addr, 8, pc);
    }
}
shim!(__tsan_vptr_read => read_vptr, "rsi");
shim!(__tsan_vptr_update => update_vptr, "rdx");

/// Called at start, before libc may have set up its environment, and by each library before its own code runs.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_init() {
    crate::start();
    crate::interpose::modules::refresh();
}

extern "C" fn func_entry(pc: usize, sp: usize) {
    if let Some(thread) = thread::entering() {
        thread.stack.enter(pc, sp);
    }
}

/// Entry into a function, called with its return address. The stack pointer is the one with which the function makes
/// all its calls (`Caller::watched` relies on that).
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __tsan_func_entry(_pc: usize) {
    core::arch::naked_asm!("mov rsi, rsp", "jmp {work}", work = sym func_entry)
}

/// Exit from a function.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_func_exit() {
    if let Some(thread) = thread::entering() {
        thread.stack.exit();
    }
}
