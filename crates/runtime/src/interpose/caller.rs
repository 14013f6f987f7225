//! Who called an interposed function: the return address, and whether instrumented code called it directly.

use crate::thread;

/// The stack pointer at entry: it points to the return address.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Caller(*const usize);

impl Caller {
    /// The return address into the program.
    #[inline]
    pub fn pc(self) -> usize {
        // SAFETY: made by a shim at entry, when the return address is on top of the stack.
        unsafe { *self.0 }
    }

    /// Is it the unwinder (libgcc)? Its locks are of no concern to the program.
    #[inline]
    pub fn is_unwinder(self) -> bool {
        super::modules::is_unwinder(self.pc())
    }

    /// The return address, if an instrumented function makes the call itself.
    ///
    /// Libraries that aren't instrumented (Rust's std, libstdc++) copy and free memory under locks and counters that
    /// nobody sees: their accesses must not count. A function calls with one and the same stack pointer wherever it is
    /// in its body, so the caller is instrumented if the stack pointer is the one of the latest `__tsan_func_entry`.
    /// (After `alloca` it isn't: such a call doesn't count, which can only miss.)
    #[inline]
    pub fn watched(self) -> Option<usize> {
        let thread = thread::entering()?;
        thread.stack.is_innermost(self.0 as usize).then(|| self.pc())
    }
}

/// Exported functions that pass the stack pointer at entry as one more argument: `shims! { name => work, register; }`,
/// where `register` is the one that the additional argument goes to.
macro_rules! shims {
    ($($name:ident => $work:path, $register:literal;)*) => {$(
        #[doc = "In front of the function of this name."]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn $name() {
            core::arch::naked_asm!(
                $crate::control::registers::first_lines!(),
                concat!("mov ", $register, ", rsp"),
                "jmp {work}",
                $crate::control::registers::last_lines!(),
                work = sym $work,
                active = sym $crate::control::ACTIVE,
                save = sym $crate::control::registers::save,
            )
        }
    )*};
}
