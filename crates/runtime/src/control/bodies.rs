//! How threads take turns: as fibers on one kernel thread, or by handing over between kernel threads.

use super::fibers::{self, Fiber};
use super::handoff::Baton;

/// What carries a thread.
pub enum Body {
    /// A stack that its kernel thread lends to the runner.
    Fiber(Fiber),
    /// A kernel thread.
    Baton(Baton),
}

/// The environment variable that says `handoff` where fibers are not wanted.
pub const VARIABLE: &str = "SEQCST_EXPLORE_THREADS";

impl Body {
    /// The first thread, which runs.
    pub fn first() -> Body {
        let wanted = crate::options::variable(VARIABLE).is_none_or(|value| value != "handoff");
        if wanted && fibers::are_possible() {
            Body::Fiber(Fiber::of_runner())
        } else {
            Body::Baton(Baton::new())
        }
    }

    /// A thread of the same kind that will be created.
    pub fn another(&self) -> Body {
        match self {
            Body::Fiber(_) => Body::Fiber(Fiber::new()),
            Body::Baton(_) => Body::Baton(Baton::new()),
        }
    }

    /// On a new kernel thread: returns when it is its turn.
    ///
    /// # Safety
    /// `body` belongs to this thread and stays where it is for good.
    pub unsafe fn lend(body: *mut Body) {
        // SAFETY: the caller's promise.
        unsafe {
            match &mut *body {
                Body::Fiber(fiber) => Fiber::lend(fiber),
                Body::Baton(baton) => baton.lend(),
            }
        }
    }

    /// Goes on with another thread, until it is this one's turn again.
    ///
    /// # Safety
    /// `from` is the running thread, `to` is another, of the same kind.
    #[inline]
    pub unsafe fn switch(from: *mut Body, to: *mut Body) {
        // SAFETY: the caller's promise.
        unsafe {
            match (&mut *from, &mut *to) {
                (Body::Fiber(from), Body::Fiber(to)) => Fiber::switch(from, to),
                (Body::Baton(from), Body::Baton(to)) => from.switch(to),
                _ => {}
            }
        }
    }

    /// Goes on with another thread for good. Returns on the thread's own kernel thread, when it may really end.
    ///
    /// # Safety
    /// As [`Body::switch`].
    pub unsafe fn leave(from: *mut Body, to: *mut Body) {
        // SAFETY: the caller's promise.
        unsafe {
            match (&mut *from, &mut *to) {
                (Body::Baton(from), Body::Baton(to)) => from.leave(to),
                _ => Body::switch(from, to),
            }
        }
    }

    /// The thread has left: it may really end now.
    pub fn release(&self) {
        match self {
            Body::Fiber(fiber) => fiber.release(),
            Body::Baton(baton) => baton.release(),
        }
    }
}
