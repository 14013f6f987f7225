//! How an object of the program finds what is known of it in this execution.
//!
//! Objects are numbered in order of first use, execution by execution: a static, or anything else that was made outside,
//! is as good as new in each of them. Tests may run in parallel and share statics, so the number that an object carries is
//! only the quick way; by its address it is found again if another test has overwritten the number.

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of an object, and of the execution in which it has this number; 0: not used yet.
#[derive(Debug, Default)]
pub struct Tag(AtomicU64);

const BITS: u32 = 24;
const MASK: u64 = (1 << BITS) - 1;

static STAMPS: AtomicU64 = AtomicU64::new(1);

/// A number for an execution that no other has.
pub fn next_stamp() -> u64 {
    STAMPS.fetch_add(1, Ordering::Relaxed)
}

impl Tag {
    /// Of a new object.
    pub const fn new() -> Tag {
        Tag(AtomicU64::new(0))
    }

    /// The object is as good as new.
    pub fn clear(&mut self) {
        *self.0.get_mut() = 0;
    }

    /// The same number for another handle of the same object.
    pub fn copy(&self) -> Tag {
        Tag(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }

    /// The execution in which it was used last.
    pub fn stamp(&self) -> u64 {
        self.0.load(Ordering::Relaxed) >> BITS
    }

    /// The number in this execution.
    #[inline]
    pub fn id(&self, stamp: u64) -> Option<u32> {
        let word = self.0.load(Ordering::Relaxed);
        (word >> BITS == stamp).then_some((word & MASK) as u32)
    }

    /// Gives the object its number.
    pub fn set(&self, stamp: u64, id: u32) {
        self.0.store(stamp << BITS | u64::from(id), Ordering::Relaxed);
    }
}

/// Something that is used again in the next execution.
pub trait Renew: Default {
    /// As good as new; keeps its memory.
    fn renew(&mut self);
}

/// What is known of the objects of one kind.
#[derive(Debug)]
pub struct Table<T> {
    items: Vec<T>,
    used: usize,
    /// Where the objects are that were there when they were first used.
    places: FxHashMap<usize, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { items: Vec::new(), used: 0, places: FxHashMap::default() }
    }
}

impl<T: Renew> Table<T> {
    /// No object is known any more.
    pub fn clear(&mut self) {
        self.used = 0;
        self.places.clear();
    }

    /// All objects so far.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items[..self.used].iter()
    }

    /// What is known of this object.
    #[inline]
    pub fn get(&mut self, id: u32) -> &mut T {
        &mut self.items[id as usize]
    }

    /// A new object.
    pub fn add(&mut self, tag: &Tag, stamp: u64) -> u32 {
        let id = self.used;
        assert!(id < MASK as usize, "seqcst: more than 16 million objects in one execution");
        self.used += 1;
        match self.items.get_mut(id) {
            Some(item) => item.renew(),
            None => self.items.push(T::default()),
        }
        tag.set(stamp, id as u32);
        id as u32
    }

    /// The number of this object; `start` if it is new.
    #[inline]
    pub fn find(&mut self, tag: &Tag, stamp: u64, start: impl FnOnce(&mut T)) -> u32 {
        match tag.id(stamp) {
            Some(id) => id,
            None => self.find_slowly(tag, stamp, start),
        }
    }

    fn find_slowly(&mut self, tag: &Tag, stamp: u64, start: impl FnOnce(&mut T)) -> u32 {
        let place = std::ptr::from_ref(tag).addr();
        if tag.stamp() != 0
            && let Some(&id) = self.places.get(&place)
        {
            return id;
        }
        let id = self.add(tag, stamp);
        self.places.insert(place, id);
        start(self.get(id));
        id
    }
}
