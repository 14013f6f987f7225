//! Weak references.

use super::arc::{Arc, acquire, counter, one_more, strong, weak};
use crate::rt::objects::Counting;
use crate::rt::{here, note, site, step, tag::Tag, wait::Wait};
use seqcst_explore::{AccessType, Kind, Object, Op};
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
        here().needs(Counting::Drops);
        let site = site::number(Location::caller());
        let found = Op::new(Kind::Rmw, AccessType::Write, strong(id));
        let value = step(site, found, Wait::Nothing, |world| {
            let value = self.value.upgrade();
            note(world, || format!("upgrade to r{id}: {}", if value.is_some() { "done" } else { "gone" }));
            if value.is_none() {
                return (Op::new(Kind::Load, AccessType::Read, strong(id)), None);
            }
            world.counters.get(id).strong += 1;
            acquire(world, id);
            (found, value)
        });
        Some(Arc::from_parts(value?, self.tag.copy()))
    }

    /// How many references there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.look(&[strong], "strong_count", site::number(Location::caller()));
        self.value.strong_count()
    }

    /// How many weak references there are; none if there is no other one.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.look(&[weak, strong], "weak_count", site::number(Location::caller()));
        self.value.weak_count()
    }

    /// Somebody looks at these counters.
    fn look(&self, at: &[fn(u32) -> Object], name: &str, site: site::Site) {
        let Some(id) = counter(&self.tag) else { return };
        here().needs(Counting::Everything);
        let first = Op::new(Kind::Rmw, AccessType::Write, at[0](id));
        let looked = at[1..].iter().fold(first, |op, which| op.and(AccessType::Write, which(id)));
        step(site, looked, Wait::Nothing, |world| {
            note(world, || format!("Weak::{name} of r{id}"));
            (looked, ())
        });
    }

    /// Do they refer to the same value?
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.value.ptr_eq(&other.value)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        let value = one_more(&self.tag, weak, Location::caller(), || self.value.clone());
        Weak { value, tag: self.tag.copy() }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    /// A step only if drops are: nobody but [`Arc::get_mut`] and who counts could tell.
    fn drop(&mut self) {
        let Some(id) = counter(&self.tag) else { return };
        if here().counting == Counting::Nothing {
            return;
        }
        // Among themselves they may go in any order.
        let dropped = Op::new(Kind::Rmw, AccessType::Read, weak(id));
        step(0, dropped, Wait::Nothing, |world| {
            note(world, || format!("drop a weak r{id}"));
            let counter = world.counters.get(id);
            world.tasks[world.current as usize].views.release(&mut counter.dropped_weak);
            (dropped, ())
        });
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
