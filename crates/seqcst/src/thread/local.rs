//! Thread-local values, made by [`thread_local!`](crate::thread_local).

use crate::rt;
use std::any::Any;
use std::cell::RefCell;
use std::ptr::NonNull;

/// A thread-local value, like [`std::thread::LocalKey`].
#[derive(Debug)]
pub struct LocalKey<T: 'static> {
    start: fn() -> T,
    /// Keys are told apart by their addresses, so they need some.
    _place: u8,
}

/// The value is gone, like [`std::thread::AccessError`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessError;

impl std::fmt::Display for AccessError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

type Values = Vec<(usize, Box<dyn Any>)>;

std::thread_local! {
    /// Values of real threads.
    static OUTSIDE: RefCell<Values> = const { RefCell::new(Vec::new()) };
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(start: fn() -> T) -> LocalKey<T> {
        LocalKey { start, _place: 0 }
    }

    /// The value of the running thread, made when first asked for.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        let key = std::ptr::from_ref(self).addr();
        let value = find::<T>(key).unwrap_or_else(|| {
            let value = Box::new((self.start)());
            let there = NonNull::from(&*value);
            with_values(|values| values.push((key, value)));
            there
        });
        // SAFETY: values are boxed and stay until their thread ends.
        f(unsafe { value.as_ref() })
    }

    /// The same; nothing is ever destroyed before its last use.
    ///
    /// # Errors
    /// Never.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> std::result::Result<R, AccessError> {
        Ok(self.with(f))
    }
}

fn find<T: 'static>(key: usize) -> Option<NonNull<T>> {
    with_values(|values| {
        let (_, value) = values.iter().find(|(other, _)| *other == key)?;
        value.downcast_ref::<T>().map(NonNull::from)
    })
}

fn with_values<R>(f: impl FnOnce(&mut Values) -> R) -> R {
    match rt::world() {
        Some(world) => f(&mut world.me().locals),
        None => OUTSIDE.with(|values| f(&mut values.borrow_mut())),
    }
}

/// The running thread of a model ends: its values are dropped, which may make others.
pub fn drop_all() {
    loop {
        let values = std::mem::take(&mut rt::here().me().locals);
        if values.is_empty() {
            return;
        }
        drop(values);
    }
}

/// Declares thread-local values, like [`std::thread_local!`]: inside a model, each of its threads has its own.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = const $start:block $(; $($rest:tt)*)?) => {
        $crate::thread_local!($(#[$attribute])* $visible static $name: $type = $start $(; $($rest)*)?);
    };
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $start:expr $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $visible static $name: $crate::thread::LocalKey<$type> = $crate::thread::LocalKey::new(|| $start);
        $($crate::thread_local!($($rest)*);)?
    };
}
