//! Cells with the interface of [`std::cell`] and loom's: plain accesses, watched for races.

pub use std::cell::{Cell, OnceCell, Ref, RefCell, RefMut};

use crate::rt::{self, site, tag::Tag};
use std::panic::Location;

/// Like [`std::cell::UnsafeCell`]; accesses by [`UnsafeCell::with`] and [`UnsafeCell::with_mut`] are watched for races.
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized> {
    tag: Tag,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A cell with this value. Inside a model this is its first write, which must happen before every other access: so it
    /// isn't `const` (see [`UnsafeCell::new_const`]).
    #[track_caller]
    pub fn new(value: T) -> UnsafeCell<T> {
        let cell = UnsafeCell::new_const(value);
        if rt::inside() {
            rt::access::new_cell(&cell.tag, site::number(Location::caller()));
        }
        cell
    }

    /// A cell with this value, for statics: nobody is said to have written it.
    pub const fn new_const(value: T) -> UnsafeCell<T> {
        UnsafeCell { tag: Tag::new(), value: std::cell::UnsafeCell::new(value) }
    }

    /// The value.
    #[track_caller]
    pub fn into_inner(self) -> T {
        watch(&self.tag, true);
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A pointer, as the standard library gives it. What is done with it is not watched: [`UnsafeCell::with`] and
    /// [`UnsafeCell::with_mut`] are.
    pub const fn get(&self) -> *mut T {
        self.value.get()
    }

    /// The value, for who has the cell for himself.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        watch(&self.tag, true);
        self.value.get_mut()
    }

    /// Reads: the pointer is good for reading until `f` returns.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        self.during(false, || f(self.value.get()))
    }

    /// Writes: the pointer is good for reading and writing until `f` returns.
    #[inline]
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.during(true, || f(self.value.get()))
    }

    /// An access lasts as long as `f`: if other threads run meanwhile, its end is looked at as well.
    #[track_caller]
    fn during<R>(&self, write: bool, f: impl FnOnce() -> R) -> R {
        let before = watch(&self.tag, write);
        let result = f();
        if before.is_some() && rt::world().map(|world| world.trace.steps.len()) != before {
            watch(&self.tag, write);
        }
        result
    }
}

/// An access happens now. Returns how many steps there were before, inside a model.
#[inline]
#[track_caller]
fn watch(tag: &Tag, write: bool) -> Option<usize> {
    let steps = rt::world()?.trace.steps.len();
    rt::access::cell(tag, write, site::number(Location::caller()));
    Some(steps)
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}
