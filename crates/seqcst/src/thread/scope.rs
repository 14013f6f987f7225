//! Threads that borrow, like [`std::thread::scope`].

use super::{Inside, Result, Thread, Unheard, join, spawn_inside};
use crate::rt::{self, site};
use std::cell::{OnceCell, RefCell};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::Relaxed;

/// Where scoped threads are started, like [`std::thread::Scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    kind: Kind<'scope, 'env>,
    marker: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

#[derive(Debug)]
enum Kind<'scope, 'env> {
    Real(&'scope std::thread::Scope<'scope, 'env>),
    /// The threads that were started, and whether each panicked and was not joined.
    Inside(RefCell<Vec<(u32, Unheard)>>),
}

// SAFETY: inside a model there is one OS thread; outside, the list isn't used.
unsafe impl Sync for Scope<'_, '_> {}

/// Waits for a scoped thread, like [`std::thread::ScopedJoinHandle`].
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T>(Handle<'scope, T>);

#[derive(Debug)]
enum Handle<'scope, T> {
    Real(std::thread::ScopedJoinHandle<'scope, T>, Thread),
    Inside(Inside<T>),
}

/// Starts threads that may borrow from the caller, and waits for all of them.
///
/// # Panics
/// If one of the threads panicked that nobody joined.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    if !rt::inside() {
        return scope_outside(f);
    }
    let site = site::number(Location::caller());
    let scope = Scope { kind: Kind::Inside(RefCell::default()), marker: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let Kind::Inside(threads) = &scope.kind else { unreachable!("made above") };
    let mut next = 0;
    // Threads may start more of them meanwhile, so the list isn't borrowed while this one waits. Those of an execution that
    // was given up were unwound before this one.
    loop {
        let Some(number) = threads.borrow().get(next).map(|(number, _)| *number) else { break };
        next += 1;
        if !rt::is_aborted() {
            join(number, site);
        }
    }
    let value = result.unwrap_or_else(|payload| resume_unwind(payload));
    assert!(!threads.borrow().iter().any(|(_, unheard)| unheard.load(Relaxed)), "a scoped thread panicked");
    value
}

fn scope_outside<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let place = OnceCell::<Scope<'_, '_>>::new();
    std::thread::scope(|real| {
        let place = std::ptr::from_ref(&place).cast::<OnceCell<Scope<'_, '_>>>();
        // SAFETY: `place` outlives the real scope, whose threads are the only ones to use it.
        let place = unsafe { &*place };
        f(place.get_or_init(|| Scope { kind: Kind::Real(real), marker: PhantomData }))
    })
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match &self.kind {
            Kind::Real(real) => {
                let handle = real.spawn(f);
                let thread = Thread::real(handle.thread().clone());
                ScopedJoinHandle(Handle::Real(handle, thread))
            }
            Kind::Inside(threads) => {
                // SAFETY: `scope` waits for the thread; if the execution is given up, later threads are unwound first.
                let inside = unsafe { spawn_inside(None, f, site::number(Location::caller())) };
                threads.borrow_mut().push((inside.number, inside.unheard.clone()));
                ScopedJoinHandle(Handle::Inside(inside))
            }
        }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread's end.
    ///
    /// # Errors
    /// What it panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Handle::Real(real, _) => real.join(),
            Handle::Inside(inside) => inside.join(),
        }
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Handle::Real(_, thread) => thread,
            Handle::Inside(inside) => &inside.thread,
        }
    }

    /// Has it ended?
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Real(real, _) => real.is_finished(),
            Handle::Inside(inside) => inside.is_finished(),
        }
    }
}
