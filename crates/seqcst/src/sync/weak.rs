//! Weak references.

use super::arc::{Arc, acquire, counter};
use crate::rt::world::{names, op};
use crate::rt::{here, note, site, step, tag::Tag, wait::Wait};
use seqcst_explore::{AccessType, Kind};
use std::panic::Location;
use std::sync as real;

/// Like [`std::sync::Weak`].
pub struct Weak<T: ?Sized> {
    value: real::Weak<T>,
    tag: Tag,
}

impl<T> Weak<T> {
    /// Refers to nothing.
    #[must_use]
    pub const fn new() -> Weak<T> {
        Weak { value: real::Weak::new(), tag: Tag::new() }
    }
}

impl<T: ?Sized> Weak<T> {
    pub(super) fn from_parts(value: real::Weak<T>, tag: Tag) -> Weak<T> {
        Weak { value, tag }
    }

    /// A reference, if there is still one. Unlike a clone this is a step that counts: it decides who drops the last one.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let Some(id) = counter(&self.tag) else {
            return Some(Arc::from_parts(self.value.upgrade()?, self.tag.copy()));
        };
        here().ask_about_drops();
        let site = site::number(Location::caller());
        let found = op(Kind::Rmw, AccessType::Write, names::COUNTER, id);
        let value = step(site, found, Wait::Nothing, |world| {
            let value = self.value.upgrade();
            note(world, || format!("upgrade to r{id}: {}", if value.is_some() { "done" } else { "gone" }));
            if value.is_none() {
                return (op(Kind::Load, AccessType::Read, names::COUNTER, id), None);
            }
            world.counters.get(id).strong += 1;
            acquire(world, id);
            (found, value)
        });
        Some(Arc::from_parts(value?, self.tag.copy()))
    }

    /// How many references there are.
    pub fn strong_count(&self) -> usize {
        self.value.strong_count()
    }

    /// How many weak references there are.
    pub fn weak_count(&self) -> usize {
        self.value.weak_count()
    }

    /// Do they refer to the same value?
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.value.ptr_eq(&other.value)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Weak<T> {
        Weak { value: self.value.clone(), tag: self.tag.copy() }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> std::fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(Weak)")
    }
}
