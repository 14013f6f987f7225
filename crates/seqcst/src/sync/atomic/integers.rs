//! Atomic integers and booleans.

use super::{Call, Ordering, check_failure, check_load, check_store, peek, take};
use crate::rt::{inside, tag::Tag};
use std::fmt;
use std::sync::atomic as real;

/// What atomics of all types have.
macro_rules! atomic {
    ($name:ident, $value:ty, $bits:expr, $of:expr) => {
        #[doc = concat!("Like [`std::sync::atomic::", stringify!($name), "`].")]
        pub struct $name {
            real: real::$name,
            tag: Tag,
        }

        impl $name {
            /// An atomic with this value.
            #[must_use]
            pub const fn new(value: $value) -> $name {
                $name { real: real::$name::new(value), tag: Tag::new() }
            }

            #[inline]
            #[track_caller]
            fn perform(&self, call: Call, act: impl FnOnce($value) -> Option<$value>) -> ($value, bool) {
                let start = || $bits(self.real.load(Ordering::Relaxed));
                let (old, wrote) = call.perform(&self.tag, start, |old| act($of(old)).map($bits));
                ($of(old), wrote)
            }

            /// See [`std::sync::atomic`].
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                check_load(order);
                if !inside() {
                    return self.real.load(order);
                }
                self.perform(Call::load(order), |_| None).0
            }

            /// See [`std::sync::atomic`].
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                check_store(order);
                if !inside() {
                    return self.real.store(value, order);
                }
                self.perform(Call::store(order), |_| Some(value));
            }

            /// See [`std::sync::atomic`].
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                if !inside() {
                    return self.real.swap(value, order);
                }
                self.perform(Call::rmw("swap", order), |_| Some(value)).0
            }

            /// See [`std::sync::atomic`].
            ///
            /// # Errors
            /// The value that was found, if it is not the expected one.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                check_failure(failure);
                if !inside() {
                    return self.real.compare_exchange(current, new, success, failure);
                }
                let call = Call::strong($bits(current), success, failure);
                let (found, done) = self.perform(call, |old| (old == current).then_some(new));
                if done { Ok(found) } else { Err(found) }
            }

            /// See [`std::sync::atomic`]. It does not fail without a reason here, but what it could miss then is watched.
            ///
            /// # Errors
            /// The value that was found, if it is not the expected one.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                check_failure(failure);
                if !inside() {
                    return self.real.compare_exchange_weak(current, new, success, failure);
                }
                let (found, done) =
                    self.perform(Call::weak(success, failure), |old| (old == current).then_some(new));
                if done { Ok(found) } else { Err(found) }
            }

            /// See [`std::sync::atomic`].
            ///
            /// # Errors
            /// The last value, if `update` returns nothing.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut old = self.load(fetch);
                while let Some(new) = update(old) {
                    match self.compare_exchange_weak(old, new, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(found) => old = found,
                    }
                }
                Err(old)
            }

            /// The value, for who has the atomic for himself.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $value {
                if let Some(value) = take(&mut self.tag) {
                    *self.real.get_mut() = $of(value);
                }
                self.real.get_mut()
            }

            /// The value, for who has the atomic for himself, like loom's.
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                f(self.get_mut())
            }

            /// The value.
            #[must_use]
            #[track_caller]
            pub fn into_inner(mut self) -> $value {
                *self.get_mut()
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::new(<$value>::default())
            }
        }

        impl From<$value> for $name {
            fn from(value: $value) -> $name {
                $name::new(value)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let real = self.real.load(Ordering::Relaxed);
                peek(&self.tag).map_or(real, $of).fmt(f)
            }
        }
    };
}

macro_rules! fetch {
    ($name:ident, $value:ty: $($fetch:ident => $new:expr),*) => {
        impl $name {
            $(
                /// See [`std::sync::atomic`].
                #[inline]
                #[track_caller]
                pub fn $fetch(&self, value: $value, order: Ordering) -> $value {
                    if !inside() {
                        return self.real.$fetch(value, order);
                    }
                    let new: fn($value, $value) -> $value = $new;
                    self.perform(Call::rmw(stringify!($fetch), order), |old| Some(new(old, value))).0
                }
            )*
        }
    };
}

macro_rules! integer {
    ($($name:ident, $value:ident;)*) => {
        $(
            atomic!($name, $value, |value: $value| value as u64, |bits: u64| bits as $value);
            fetch!($name, $value:
                fetch_add => |old, value| old.wrapping_add(value),
                fetch_sub => |old, value| old.wrapping_sub(value),
                fetch_and => |old, value| old & value,
                fetch_nand => |old, value| !(old & value),
                fetch_or => |old, value| old | value,
                fetch_xor => |old, value| old ^ value,
                fetch_max => |old, value| old.max(value),
                fetch_min => |old, value| old.min(value)
            );
        )*
    };
}

integer! {
    AtomicU8, u8;
    AtomicU16, u16;
    AtomicU32, u32;
    AtomicU64, u64;
    AtomicUsize, usize;
    AtomicI8, i8;
    AtomicI16, i16;
    AtomicI32, i32;
    AtomicI64, i64;
    AtomicIsize, isize;
}

atomic!(AtomicBool, bool, u64::from, |bits: u64| bits != 0);
fetch!(AtomicBool, bool:
    fetch_and => |old, value| old & value,
    fetch_nand => |old, value| !(old & value),
    fetch_or => |old, value| old | value,
    fetch_xor => |old, value| old ^ value
);
