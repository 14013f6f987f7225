//! The registers of the program at its last call into the runtime, saved by the shims while a plan is played.
//!
//! One thread runs at a time, so one place is enough. What is saved counts only for the call that comes from the same
//! instruction, once.

use core::cell::UnsafeCell;

/// Where the program called from, and what a call keeps.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Registers {
    /// The return address; 0: nothing is saved.
    pub pc: usize,
    /// Points to the return address.
    pub sp: usize,
    /// rbx, rbp, r12 to r15.
    pub kept: [usize; 6],
}

/// The place.
#[repr(transparent)]
pub struct Saved(UnsafeCell<Registers>);

// SAFETY: used by the running thread alone.
unsafe impl Sync for Saved {}

/// For [`save`], which is assembly code.
pub static SAVED: Saved = Saved(UnsafeCell::new(Registers { pc: 0, sp: 0, kept: [0; 6] }));

/// The registers at the call that returns to `pc`, if they were saved, and only once.
#[inline]
pub fn take(pc: usize) -> Option<Registers> {
    // SAFETY: the running thread alone uses it.
    let saved = unsafe { &mut *SAVED.0.get() };
    let registers = *saved;
    saved.pc = 0;
    (registers.pc == pc).then_some(registers)
}

/// The stack pointer of the program at the call that returns to `pc`, if it was saved and not taken.
#[inline]
pub fn stack_pointer(pc: usize) -> Option<usize> {
    // SAFETY: as above.
    let saved = unsafe { &*SAVED.0.get() };
    (pc != 0 && saved.pc == pc).then_some(saved.sp)
}

/// Jumps here with everything as it was at the call, when a plan is played; returns with all but `r11` as it was.
///
/// # Safety
/// Called by shims, with the return address into the program above its own.
#[unsafe(naked)]
pub unsafe extern "C" fn save() {
    core::arch::naked_asm!(
        "mov r11, [rsp + 8]",
        "mov [rip + {saved}], r11",
        "lea r11, [rsp + 8]",
        "mov [rip + {saved} + 8], r11",
        "mov [rip + {saved} + 16], rbx",
        "mov [rip + {saved} + 24], rbp",
        "mov [rip + {saved} + 32], r12",
        "mov [rip + {saved} + 40], r13",
        "mov [rip + {saved} + 48], r14",
        "mov [rip + {saved} + 56], r15",
        "ret",
        saved = sym SAVED,
    )
}

/// The first lines of a shim: saves the registers while a plan is played. Needs the operands `active` and `save`.
macro_rules! first_lines {
    () => {
        "cmp byte ptr [rip + {active}], 0\njne 3f\n2:"
    };
}

/// Its last lines, after a jump.
macro_rules! last_lines {
    () => {
        "3: call {save}\njmp 2b"
    };
}

pub(crate) use {first_lines, last_lines};
