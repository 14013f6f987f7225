//! The functions behind `seqcst.h`: what people may say about their program.
//!
//! `wait` and `bcas` block until a location has a value, and generate no event before; a strong compare-and-swap fails
//! only because of the value. Monitors look at the values of older writes for them, so a wait that merely takes longer
//! isn't reported. (clang's instrumentation can't tell weak and strong compare-and-swaps apart: hence `seqcst_cas`.)

use super::caller::Caller;
use crate::abi::atomics;

/// One function per size: `wait`, `bcas`, `cas`.
macro_rules! annotations {
    ($($word:ty: $wait:ident $wait_work:ident $bcas:ident $bcas_work:ident $cas:ident $cas_work:ident;)*) => {
        $(
            extern "C" fn $wait_work(addr: usize, value: $word, order: i32, caller: Caller) {
                atomics::wait(addr, value, order, caller.pc());
            }
            extern "C" fn $bcas_work(addr: usize, old: $word, new: $word, order: i32, caller: Caller) {
                atomics::blocking_cas(addr, old, new, order, caller.pc());
            }
            unsafe extern "C" fn $cas_work(
                addr: usize,
                old: *mut $word,
                new: $word,
                order: i32,
                failure: i32,
                caller: Caller,
            ) -> bool {
                // SAFETY: the caller's argument.
                let expected = unsafe { *old };
                let found = atomics::cas(addr, expected, new, order, failure, caller.pc());
                // SAFETY: the caller's argument.
                unsafe { *old = found };
                found == expected
            }
        )*
        shims! {
            $($wait => $wait_work, "rcx"; $bcas => $bcas_work, "r8"; $cas => $cas_work, "r9";)*
        }
    };
}

annotations! {
    u8: seqcst_wait8 wait8 seqcst_bcas8 bcas8 seqcst_cas8 cas8;
    u16: seqcst_wait16 wait16 seqcst_bcas16 bcas16 seqcst_cas16 cas16;
    u32: seqcst_wait32 wait32 seqcst_bcas32 bcas32 seqcst_cas32 cas32;
    u64: seqcst_wait64 wait64 seqcst_bcas64 bcas64 seqcst_cas64 cas64;
}
