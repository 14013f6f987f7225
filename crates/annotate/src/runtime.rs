//! The runtime's C functions, as in `seqcst.h`.

use core::sync::atomic::Ordering;

/// C's number for an ordering.
fn number(ordering: Ordering) -> i32 {
    match ordering {
        Ordering::Relaxed => 0,
        Ordering::Acquire => 2,
        Ordering::Release => 3,
        Ordering::AcqRel => 4,
        _ => 5,
    }
}

/// One module for each size of words.
macro_rules! sizes {
    ($($bits:ident: $word:ty, $wait:ident, $bcas:ident, $cas:ident;)*) => {
        $(
            pub mod $bits {
                use core::sync::atomic::Ordering;

                unsafe extern "C" {
                    fn $wait(at: *mut $word, value: $word, order: i32);
                    fn $bcas(at: *mut $word, old: $word, new: $word, order: i32);
                    fn $cas(at: *mut $word, old: &mut $word, new: $word, success: i32, failure: i32) -> bool;
                }

                /// Blocks until the value is there.
                #[inline(always)]
                pub fn wait(at: *mut $word, value: $word, order: Ordering) {
                    // SAFETY: `at` comes from a reference to an atomic of this size.
                    unsafe { $wait(at, value, super::number(order)) }
                }

                /// Blocks until `old` is there, and replaces it.
                #[inline(always)]
                pub fn bcas(at: *mut $word, old: $word, new: $word, order: Ordering) {
                    // SAFETY: as above.
                    unsafe { $bcas(at, old, new, super::number(order)) }
                }

                /// Replaces `old`, or tells what is there.
                #[inline(always)]
                pub fn cas(
                    at: *mut $word,
                    old: $word,
                    new: $word,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$word, $word> {
                    let mut found = old;
                    // SAFETY: as above.
                    let done = unsafe { $cas(at, &mut found, new, super::number(success), super::number(failure)) };
                    if done { Ok(found) } else { Err(found) }
                }
            }
        )*
    };
}

sizes! {
    bits8: u8, seqcst_wait8, seqcst_bcas8, seqcst_cas8;
    bits16: u16, seqcst_wait16, seqcst_bcas16, seqcst_cas16;
    bits32: u32, seqcst_wait32, seqcst_bcas32, seqcst_cas32;
    bits64: u64, seqcst_wait64, seqcst_bcas64, seqcst_cas64;
}
