//! The names that compilers call: gcc 12, clang 14–19 and rustc, with ThreadSanitizer instrumentation.

pub mod atomics;
pub mod libatomic;
pub mod plain;

use seqcst_model::Mode;

/// C11's memory orders as the compilers number them.
fn mode(order: i32) -> Mode {
    match order & 0x7fff {
        0 => Mode::Relaxed,
        1 | 2 => Mode::Acquire,
        3 => Mode::Release,
        4 => Mode::AcqRel,
        _ => Mode::SeqCst,
    }
}

/// A function of the interface that passes its return address as one more argument to the one that does the work.
///
/// `shim!(name => work, register)`: `register` is where the additional argument goes.
macro_rules! shim {
    ($name:ident => $work:path, $register:literal) => {
        #[doc = "Called by instrumented code."]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn $name() {
            core::arch::naked_asm!(
                $crate::control::registers::first_lines!(),
                concat!("mov ", $register, ", [rsp]"),
                "jmp {work}",
                $crate::control::registers::last_lines!(),
                work = sym $work,
                active = sym $crate::control::ACTIVE,
                save = sym $crate::control::registers::save,
            )
        }
    };
}
pub(crate) use shim;
