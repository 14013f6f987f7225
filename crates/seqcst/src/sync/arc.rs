//! Shared ownership.
//!
//! The real counter counts. What the model adds is what the counter means to others: every drop of a reference releases,
//! and who drops the last one, or finds that it has the only one, acquires.
//!
//! The order of drops decides who runs the destructor. Mostly that matters to nobody, and then drops are no steps, so that
//! they cost no schedules. As soon as a destructor is seen to do something that the model knows of, or somebody asks
//! whether there are other references, exploration starts anew, with drops as steps. To clone enables and disables nothing:
//! only who asks how many references there are could tell. If somebody does, clones are steps, too.

use super::Weak;
use crate::rt::objects::Counting;
use crate::rt::world::{World, names};
use crate::rt::{self, note, site, site::Site, step, tag::Tag, wait::Wait};
use seqcst_explore::{AccessType, Kind, Object, Op};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync as real;

/// Like [`std::sync::Arc`].
pub struct Arc<T: ?Sized> {
    value: ManuallyDrop<real::Arc<T>>,
    /// The counter's number, the same in all references.
    pub(super) tag: Tag,
}

impl<T> Arc<T> {
    /// The first reference to this value.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::from_std(real::Arc::new(value))
    }

    /// The same, pinned.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: the value never moves.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    /// A value that has weak references to itself.
    #[track_caller]
    pub fn new_cyclic(make: impl FnOnce(&Weak<T>) -> T) -> Arc<T> {
        let tag = new_counter(site::number(Location::caller()));
        let value = real::Arc::new_cyclic(|weak| make(&Weak::from_parts(weak.clone(), tag.copy())));
        Arc { value: ManuallyDrop::new(value), tag }
    }

    /// The value, if this is the only reference.
    ///
    /// # Errors
    /// The reference, if it isn't.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        inspect(&this, Look::Alone("try_unwrap"), site::number(Location::caller()));
        let (value, tag) = this.into_parts();
        real::Arc::try_unwrap(value).map_err(|value| Arc { value: ManuallyDrop::new(value), tag })
    }

    /// The value, if this is the last reference.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        if counter(&this.tag).is_some() {
            rt::here().needs(Counting::Drops);
        }
        release(&this, site::number(Location::caller()));
        real::Arc::into_inner(this.into_parts().0)
    }
}

impl<T: ?Sized> Arc<T> {
    /// A reference that counts in the model, made of one that doesn't. This is the way to unsized values:
    /// `Arc::from_std(std::sync::Arc::new(value) as std::sync::Arc<dyn Trait>)`.
    #[track_caller]
    pub fn from_std(value: real::Arc<T>) -> Arc<T> {
        Arc { value: ManuallyDrop::new(value), tag: new_counter(site::number(Location::caller())) }
    }

    pub(super) fn from_parts(value: real::Arc<T>, tag: Tag) -> Arc<T> {
        Arc { value: ManuallyDrop::new(value), tag }
    }

    fn into_parts(self) -> (real::Arc<T>, Tag) {
        let mut this = ManuallyDrop::new(self);
        let tag = this.tag.copy();
        // SAFETY: `this` isn't used any more, nor dropped.
        (unsafe { ManuallyDrop::take(&mut this.value) }, tag)
    }

    /// A weak reference.
    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        let value = one_more(&this.tag, weak, Location::caller(), || real::Arc::downgrade(&this.value));
        Weak::from_parts(value, this.tag.copy())
    }

    /// How many references there are.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        inspect(this, Look::Strong, site::number(Location::caller()));
        real::Arc::strong_count(&this.value)
    }

    /// How many weak references there are.
    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        inspect(this, Look::Weak, site::number(Location::caller()));
        real::Arc::weak_count(&this.value)
    }

    /// Do they refer to the same value?
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        real::Arc::ptr_eq(&this.value, &other.value)
    }

    /// Where the value is.
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        real::Arc::as_ptr(&this.value)
    }

    /// The value, if this is the only reference.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        inspect(this, Look::Only("get_mut"), site::number(Location::caller()));
        real::Arc::get_mut(&mut this.value)
    }

    /// A plain pointer instead of the reference.
    pub fn into_raw(this: Arc<T>) -> *const T {
        let (value, tag) = this.into_parts();
        let raw = real::Arc::into_raw(value);
        if let Some(world) = rt::world()
            && let Some(id) = tag.id(world.stamp)
        {
            world.raw.insert(raw.cast::<()>().addr(), id);
        }
        raw
    }

    /// The reference that a plain pointer stands for.
    ///
    /// # Safety
    /// As [`std::sync::Arc::from_raw`].
    pub unsafe fn from_raw(raw: *const T) -> Arc<T> {
        let tag = Tag::new();
        if let Some(world) = rt::world()
            && let Some(&id) = world.raw.get(&raw.cast::<()>().addr())
        {
            tag.set(world.stamp, id);
        }
        // SAFETY: promised by the caller.
        Arc { value: ManuallyDrop::new(unsafe { real::Arc::from_raw(raw) }), tag }
    }
}

impl<T: Clone> Arc<T> {
    /// The value, copied if this isn't the only reference. From weak ones it moves away.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        let site = site::number(Location::caller());
        inspect(this, Look::Only("make_mut"), site);
        if real::Arc::strong_count(&this.value) > 1 {
            *this = Arc::new((**this).clone());
        } else if real::Arc::weak_count(&this.value) > 0 {
            if let Some(id) = counter(&this.tag) {
                rt::here().counters.get(id).strong = 0;
            }
            this.tag = new_counter(site);
        }
        real::Arc::make_mut(&mut this.value)
    }
}

/// A counter with one reference, inside a model.
fn new_counter(site: Site) -> Tag {
    let tag = Tag::new();
    if let Some(world) = rt::world() {
        let id = world.counters.add(&tag, world.stamp);
        let counter = world.counters.get(id);
        (counter.strong, counter.site) = (1, site);
    }
    tag
}

/// The counter's number, if it is of this execution.
pub(super) fn counter(tag: &Tag) -> Option<u32> {
    tag.id(rt::world()?.stamp)
}

/// The number of references, to the strategies.
pub(super) fn strong(id: u32) -> Object {
    names::COUNTER + 2 * Object::from(id)
}

/// The number of weak references.
pub(super) fn weak(id: u32) -> Object {
    strong(id) + 1
}

/// What somebody wants to know of a reference.
enum Look {
    /// Whether there is no other one that isn't weak.
    Alone(&'static str),
    /// Whether there is no other one.
    Only(&'static str),
    /// How many there are.
    Strong,
    /// How many weak ones there are.
    Weak,
}

/// Looks at the counter; who finds that it has the only reference knows what the others knew.
fn inspect<T: ?Sized>(this: &Arc<T>, look: Look, site: Site) {
    let Some(id) = counter(&this.tag) else { return };
    let one = |object| Op::new(Kind::Rmw, AccessType::Write, object);
    let (name, counting, looked) = match look {
        Look::Alone(name) => (name, Counting::Drops, one(strong(id))),
        Look::Only(name) => (name, Counting::Drops, one(strong(id)).and(AccessType::Write, weak(id))),
        Look::Strong => ("strong_count", Counting::Everything, one(strong(id))),
        Look::Weak => ("weak_count", Counting::Everything, one(weak(id))),
    };
    rt::here().needs(counting);
    step(site, looked, Wait::Nothing, |world| {
        note(world, || format!("Arc::{name} of r{id}"));
        if real::Arc::strong_count(&this.value) == 1 {
            acquire(world, id);
            if real::Arc::weak_count(&this.value) == 0 && matches!(look, Look::Only(_)) {
                let counter = world.counters.get(id);
                world.tasks[world.current as usize].views.acquire(&counter.dropped_weak);
            }
        }
        (looked, ())
    });
}

/// Makes a reference, or a weak one.
pub(super) fn one_more<R>(
    tag: &Tag,
    which: fn(u32) -> Object,
    place: &'static Location<'static>,
    make: impl FnOnce() -> R,
) -> R {
    let Some(id) = counter(tag).filter(|_| rt::here().counting == Counting::Everything) else {
        return make();
    };
    // Among themselves they may go in any order.
    let made = Op::new(Kind::Rmw, AccessType::Read, which(id));
    step(site::number(place), made, Wait::Nothing, |world| {
        note(world, || format!("one more of r{id}"));
        (made, make())
    })
}

pub(super) fn acquire(world: &mut World, id: u32) {
    let counter = world.counters.get(id);
    world.tasks[world.current as usize].views.acquire(&counter.dropped);
}

/// Gives a reference away. True: it was the last one.
fn release<T: ?Sized>(this: &Arc<T>, site: Site) -> bool {
    let Some(id) = counter(&this.tag) else { return false };
    let act = |world: &mut World| {
        let is_last = real::Arc::strong_count(&this.value) == 1;
        let counter = world.counters.get(id);
        counter.strong = counter.strong.saturating_sub(1);
        world.tasks[world.current as usize].views.release(&mut counter.dropped);
        if is_last {
            acquire(world, id);
        }
        is_last
    };
    if rt::here().counting == Counting::Nothing {
        return act(rt::here());
    }
    let dropped = Op::new(Kind::Rmw, AccessType::Write, strong(id));
    step(site, dropped, Wait::Nothing, |world| {
        let is_last = act(world);
        note(world, || format!("drop {} r{id}", if is_last { "the last of" } else { "one of" }));
        (dropped, is_last)
    })
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        let is_last = release(self, 0);
        if is_last {
            rt::here().me().dropping += 1;
        }
        // SAFETY: it isn't used any more.
        unsafe { ManuallyDrop::drop(&mut self.value) };
        if is_last {
            rt::here().me().dropping -= 1;
        }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        let value = one_more(&self.tag, strong, Location::caller(), || self.value.clone());
        if let Some(id) = counter(&self.tag) {
            rt::here().counters.get(id).strong += 1;
        }
        Arc { value, tag: self.tag.copy() }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
