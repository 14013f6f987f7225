//! The atomics of the standard library, and what is done with them.

use core::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

/// An atomic of the standard library.
pub trait Atomic: sealed::Sealed {
    /// What it holds.
    type Value: Copy;

    #[doc(hidden)]
    fn wait_until(&self, value: Self::Value, ordering: Ordering);

    #[doc(hidden)]
    fn blocking_compare_exchange(&self, old: Self::Value, new: Self::Value, ordering: Ordering);

    #[doc(hidden)]
    fn strong_compare_exchange(
        &self,
        old: Self::Value,
        new: Self::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Self::Value, Self::Value>;
}

mod sealed {
    /// Other types can't be atomics.
    pub trait Sealed {}
}

/// Without the runtime: loops and operations.
#[cfg(not(seqcst))]
macro_rules! methods {
    ($value:ty, $bits:ident, $to:expr, $from:expr) => {
        #[inline]
        fn wait_until(&self, value: $value, ordering: Ordering) {
            while self.load(ordering) != value {
                core::hint::spin_loop();
            }
        }

        #[inline]
        fn blocking_compare_exchange(&self, old: $value, new: $value, ordering: Ordering) {
            while self.compare_exchange_weak(old, new, ordering, Ordering::Relaxed).is_err() {
                core::hint::spin_loop();
            }
        }

        #[inline]
        fn strong_compare_exchange(
            &self,
            old: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            self.compare_exchange(old, new, success, failure)
        }
    };
}

/// With it: calls. `$to` makes a word of a value, `$from` a value of a word.
#[cfg(seqcst)]
macro_rules! methods {
    ($value:ty, $bits:ident, $to:expr, $from:expr) => {
        #[inline(always)]
        fn wait_until(&self, value: $value, ordering: Ordering) {
            crate::runtime::$bits::wait(self.as_ptr().cast(), $to(value), ordering);
        }

        #[inline(always)]
        fn blocking_compare_exchange(&self, old: $value, new: $value, ordering: Ordering) {
            crate::runtime::$bits::bcas(self.as_ptr().cast(), $to(old), $to(new), ordering);
        }

        #[inline(always)]
        fn strong_compare_exchange(
            &self,
            old: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            let at = self.as_ptr().cast();
            crate::runtime::$bits::cas(at, $to(old), $to(new), success, failure).map($from).map_err($from)
        }
    };
}

macro_rules! atomics {
    ($([$($generic:ident)?] $atomic:ty: $value:ty, $bits:ident, $to:expr, $from:expr;)*) => {
        $(
            impl$(<$generic>)? sealed::Sealed for $atomic {}

            impl$(<$generic>)? Atomic for $atomic {
                type Value = $value;
                methods!($value, $bits, $to, $from);
            }
        )*
    };
}

atomics! {
    [] AtomicBool: bool, bits8, u8::from, |word| word != 0;
    [] AtomicU8: u8, bits8, |value| value, |word| word;
    [] AtomicI8: i8, bits8, i8::cast_unsigned, u8::cast_signed;
    [] AtomicU16: u16, bits16, |value| value, |word| word;
    [] AtomicI16: i16, bits16, i16::cast_unsigned, u16::cast_signed;
    [] AtomicU32: u32, bits32, |value| value, |word| word;
    [] AtomicI32: i32, bits32, i32::cast_unsigned, u32::cast_signed;
    [] AtomicU64: u64, bits64, |value| value, |word| word;
    [] AtomicI64: i64, bits64, i64::cast_unsigned, u64::cast_signed;
    [] AtomicUsize: usize, bits64, |value| value as u64, |word| word as usize;
    [] AtomicIsize: isize, bits64, |value| value as u64, |word| word as isize;
    [T] AtomicPtr<T>: *mut T, bits64, |value: *mut T| value.expose_provenance() as u64,
        |word| core::ptr::with_exposed_provenance_mut(word as usize);
}
