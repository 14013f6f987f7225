//! Condition variables.

use super::{LockResult, MutexGuard, give, lock_id, really, take};
use crate::rt::world::names;
use crate::rt::{self, here, note, site, site::Site, step, tag::Tag, wait::Wait};
use seqcst_explore::{AccessType, Kind, Op};
use std::panic::Location;
use std::time::Duration;

/// Like [`std::sync::Condvar`]. Inside a model a signal goes to any of those who wait, as the schedule has it, and nobody
/// wakes up without a reason.
#[derive(Debug, Default)]
pub struct Condvar {
    tag: Tag,
    real: std::sync::Condvar,
}

/// Was the time up? Like [`std::sync::WaitTimeoutResult`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// The time was up.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Nobody waits.
    #[must_use]
    pub const fn new() -> Condvar {
        Condvar { tag: Tag::new(), real: std::sync::Condvar::new() }
    }

    /// Gives the mutex back, waits for a signal, takes the mutex again.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let mutex = guard.mutex;
        if rt::inside() {
            return self.wait_inside(guard, false, site::number(Location::caller())).0;
        }
        let real = guard.real.take().expect("still taken");
        mutex.guard(None, self.real.wait(real))
    }

    /// The same, but not longer than this. Inside a model the time can be up at any moment.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let mutex = guard.mutex;
        let (guard, late) = if rt::inside() {
            self.wait_inside(guard, true, site::number(Location::caller()))
        } else {
            let real = guard.real.take().expect("still taken");
            let (real, late) = match self.real.wait_timeout(real, time) {
                Ok((real, late)) => (Ok(real), late),
                Err(error) => {
                    let (real, late) = error.into_inner();
                    (Err(std::sync::PoisonError::new(real)), late)
                }
            };
            (mutex.guard(None, real), late.timed_out())
        };
        let late = WaitTimeoutResult(late);
        guard
            .map(|guard| (guard, late))
            .map_err(|error| std::sync::PoisonError::new((error.into_inner(), late)))
    }

    /// Waits as long as the condition holds.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits as long as the condition holds and the time isn't up.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let start = std::time::Instant::now();
        while condition(&mut *guard) {
            let passed = if rt::inside() { Duration::ZERO } else { start.elapsed() };
            let Some(rest) = time.checked_sub(passed) else { return Ok((guard, WaitTimeoutResult(true))) };
            let (again, late) = self.wait_timeout(guard, rest)?;
            guard = again;
            if late.timed_out() {
                let late = condition(&mut *guard);
                return Ok((guard, WaitTimeoutResult(late)));
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    fn wait_inside<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timed: bool,
        site: Site,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        let mutex = guard.mutex;
        let real = guard.real.take();
        let (condvar, lock) = (self.id(), lock_id(&mutex.tag));
        let op = |kind| {
            Op::new(kind, AccessType::Write, names::CONDVAR + u64::from(condvar))
                .and(AccessType::Write, names::LOCK + u64::from(lock))
        };
        let wait = op(Kind::Wait);
        let ticket = step(site, wait, Wait::Nothing, |world| {
            note(world, || format!("wait for c{condvar}, unlock m{lock}"));
            drop(real);
            give(world, lock);
            (wait, world.condvars.get(condvar).draw())
        });
        let wake = op(Kind::Wake);
        let signalled = step(site, wake, Wait::Signal { condvar, ticket, lock, timed }, |world| {
            // Who is late may have to wait for the lock until after a signal, which is none of his then.
            let in_time = world.condvars.get(condvar).is_signalled(ticket);
            let signalled = in_time && !(timed && world.either_way());
            let state = world.condvars.get(condvar);
            if signalled {
                state.wake(ticket)
            } else {
                state.give_up(ticket)
            }
            let why = if signalled { "signalled" } else { "time is up" };
            note(world, || format!("wake up ({why}), lock m{lock}"));
            take(world, lock);
            (wake, signalled)
        });
        (mutex.guard(Some(site), really(|| mutex.real.try_lock())), !signalled)
    }

    fn id(&self) -> u32 {
        let world = here();
        world.condvars.find(&self.tag, world.stamp, |_| ())
    }

    /// Wakes one of those who wait.
    #[track_caller]
    pub fn notify_one(&self) {
        if rt::inside() {
            self.signal(1, site::number(Location::caller()));
        } else {
            self.real.notify_one();
        }
    }

    /// Wakes all who wait.
    #[track_caller]
    pub fn notify_all(&self) {
        if rt::inside() {
            self.signal(usize::MAX, site::number(Location::caller()));
        } else {
            self.real.notify_all();
        }
    }

    fn signal(&self, many: usize, site: Site) {
        let id = self.id();
        let op = Op::new(Kind::Signal, AccessType::Write, names::CONDVAR + u64::from(id));
        step(site, op, Wait::Nothing, |world| {
            note(world, || format!("notify {} of c{id}", if many == 1 { "one" } else { "all" }));
            world.me().spin.clear();
            let condvar = world.condvars.get(id);
            let many = many.min(condvar.waiting.len());
            (0..many).for_each(|_| condvar.signal());
            (op, ())
        });
    }
}
