//! Values that are made when first used, also behind [`lazy_static!`](crate::lazy_static).

use super::OnceLock;
use std::fmt;
use std::ops::Deref;

/// Like [`std::sync::LazyLock`], with a function that can be called again: inside a model, the value is made anew in
/// each execution.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: F,
}

impl<T, F: Fn() -> T> LazyLock<T, F> {
    /// Not made yet.
    pub const fn new(make: F) -> LazyLock<T, F> {
        LazyLock { value: OnceLock::new(), make }
    }

    /// The value.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.value.get_or_make(&this.make)
    }
}

impl<T, F: Fn() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Declares statics that are made when first used, like the crate of this name: inside a model, anew in each execution.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static ref $name:ident: $type:ty = $make:expr; $($rest:tt)*) => {
        $(#[$attribute])*
        $visible static $name: $crate::sync::LazyLock<$type> = $crate::sync::LazyLock::new(|| $make);
        $crate::lazy_static!($($rest)*);
    };
}
