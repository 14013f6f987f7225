//! Threads by name, and tokens: `park` waits for one, `unpark` gives one.

use crate::rt::world::names;
use crate::rt::{self, note, site, step, wait::Wait};
use seqcst_explore::{AccessType, Kind, Op};
use std::panic::Location;
use std::time::Duration;

/// A thread, like [`std::thread::Thread`].
#[derive(Clone, Debug)]
pub struct Thread(Handle);

#[derive(Clone, Debug)]
enum Handle {
    Real(std::thread::Thread),
    Inside(Who, Option<String>),
}

/// A thread of a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Who {
    pub number: u32,
    /// Of this execution.
    pub stamp: u64,
}

/// What tells threads apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Id {
    Real(std::thread::ThreadId),
    Inside(Who),
}

impl Thread {
    pub(super) fn inside(who: Who, name: Option<String>) -> Thread {
        Thread(Handle::Inside(who, name))
    }

    pub(super) fn real(thread: std::thread::Thread) -> Thread {
        Thread(Handle::Real(thread))
    }

    /// Its number: unique.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Handle::Real(real) => Id::Real(real.id()),
            Handle::Inside(who, _) => Id::Inside(*who),
        })
    }

    /// Its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Handle::Real(real) => real.name(),
            Handle::Inside(_, name) => name.as_deref(),
        }
    }

    /// Gives it a token, so that its next or current [`park`] returns.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Handle::Real(real) => real.unpark(),
            Handle::Inside(who, _) => unpark(*who, site::number(Location::caller())),
        }
    }
}

fn unpark(who: Who, site: site::Site) {
    if rt::world().is_none_or(|world| world.stamp != who.stamp) {
        return;
    }
    let number = who.number;
    let op = Op::new(Kind::Post, AccessType::Write, names::token(number));
    step(site, op, Wait::Nothing, |world| {
        world.me().spin.clear();
        let mut handed = std::mem::take(&mut world.tasks[number as usize].handed);
        world.me().views.release(&mut handed);
        let task = &mut world.tasks[number as usize];
        (task.handed, task.token) = (handed, true);
        note(world, || format!("unpark thread {number}"));
        (op, ())
    });
}

/// The running thread.
#[must_use]
pub fn current() -> Thread {
    match rt::world() {
        None => Thread::real(std::thread::current()),
        Some(world) => {
            let who = Who { number: world.current, stamp: world.stamp };
            Thread::inside(who, world.me().name.clone())
        }
    }
}

/// Waits for a token, see [`Thread::unpark`].
#[track_caller]
pub fn park() {
    if rt::inside() {
        wait(false, site::number(Location::caller()));
    } else {
        std::thread::park();
    }
}

/// Waits for a token, or until the time is up: inside a model, that can be at any moment.
#[track_caller]
pub fn park_timeout(time: Duration) {
    if rt::inside() {
        wait(true, site::number(Location::caller()));
    } else {
        std::thread::park_timeout(time);
    }
}

fn wait(timed: bool, site: site::Site) {
    let op = Op::new(Kind::Take, AccessType::Write, names::token(rt::here().current));
    step(site, op, Wait::Token(timed), |world| {
        note(world, || "park".to_owned());
        let task = world.me();
        task.spin.clear();
        if std::mem::take(&mut task.token) {
            task.views.acquire(&task.handed);
        }
        (op, ())
    });
}
