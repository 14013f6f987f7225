//! Things that happen once.

use super::lock_id;
use crate::rt::world::{names, op};
use crate::rt::{self, note, site, site::Site, step, tag::Tag, wait::Wait};
use seqcst_explore::{AccessType, Kind};
use std::panic::Location;

/// Like [`std::sync::Once`]. Inside a model it has not happened yet at the beginning of each execution.
#[derive(Debug)]
pub struct Once {
    tag: Tag,
    real: std::sync::Once,
}

/// Like [`std::sync::OnceState`].
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Did an earlier attempt panic?
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

/// What somebody found who came to a [`Once`].
enum Found {
    Done,
    Mine { poisoned: bool },
}

impl Default for Once {
    fn default() -> Once {
        Once::new()
    }
}

impl Once {
    /// It has not happened.
    #[must_use]
    pub const fn new() -> Once {
        Once { tag: Tag::new(), real: std::sync::Once::new() }
    }

    /// Does it, if nobody has; waits if somebody is about to.
    ///
    /// # Panics
    /// If an earlier attempt panicked.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        if rt::inside() {
            self.call_inside(false, site::number(Location::caller()), |_| f());
        } else {
            self.real.call_once(f);
        }
    }

    /// The same, but does it again after a panic.
    #[track_caller]
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        if rt::inside() {
            self.call_inside(true, site::number(Location::caller()), f);
        } else {
            self.real.call_once_force(|state| f(&OnceState { poisoned: state.is_poisoned() }));
        }
    }

    /// Has it happened?
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        if !rt::inside() {
            return self.real.is_completed();
        }
        let (id, site) = (lock_id(&self.tag), site::number(Location::caller()));
        let look = op(Kind::Load, AccessType::Read, names::LOCK, id);
        step(site, look, Wait::Nothing, |world| {
            let lock = world.locks.get(id);
            let done = lock.done;
            if done {
                world.tasks[world.current as usize].views.acquire(&lock.written);
            }
            (look, done)
        })
    }

    fn call_inside(&self, force: bool, site: Site, f: impl FnOnce(&OnceState)) {
        let id = lock_id(&self.tag);
        let poisoned = match begin(id, site) {
            Found::Done => return,
            Found::Mine { poisoned } => poisoned,
        };
        let end = End { id, site, poisoned: true };
        assert!(force || !poisoned, "Once instance has previously been poisoned");
        f(&OnceState { poisoned });
        let mut end = end;
        end.poisoned = false;
    }
}

fn begin(id: u32, site: Site) -> Found {
    let begun = op(Kind::Lock, AccessType::Write, names::LOCK, id);
    step(site, begun, Wait::Free(id), |world| {
        let lock = world.locks.get(id);
        if lock.done {
            world.tasks[world.current as usize].views.acquire(&lock.written);
            note(world, || format!("o{id} is done"));
            return (op(Kind::Load, AccessType::Read, names::LOCK, id), Found::Done);
        }
        let poisoned = lock.poisoned;
        super::take(world, id);
        note(world, || format!("begin o{id}"));
        (begun, Found::Mine { poisoned })
    })
}

/// Done, or left by a panic.
struct End {
    id: u32,
    site: Site,
    poisoned: bool,
}

impl Drop for End {
    fn drop(&mut self) {
        let &mut End { id, site, poisoned } = self;
        let ended = op(Kind::Unlock, AccessType::Write, names::LOCK, id);
        step(site, ended, Wait::Nothing, |world| {
            let lock = world.locks.get(id);
            (lock.done, lock.poisoned) = (!poisoned, poisoned);
            super::give(world, id);
            note(world, || format!("end o{id}"));
            (ended, ())
        });
    }
}
