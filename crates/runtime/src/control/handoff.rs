//! Threads that hand the turn over, for processors without fibers: every thread runs on its own kernel thread and
//! sleeps while it isn't its turn.

use super::park::{self, Sleep};

/// A thread.
pub struct Baton {
    turn: Sleep,
    end: Sleep,
}

impl Baton {
    /// A thread.
    pub const fn new() -> Baton {
        Baton { turn: Sleep::new(), end: Sleep::new() }
    }

    /// On a new thread: waits for its first turn.
    pub fn lend(&self) {
        self.turn.sleep();
    }

    /// Goes on with another thread, until it is this one's turn again.
    pub fn switch(&self, to: &Baton) {
        to.turn.wake();
        self.turn.sleep();
    }

    /// Goes on with another thread for good; returns when this one may really end.
    pub fn leave(&self, to: &Baton) {
        to.turn.wake();
        park::block_signals();
        self.end.sleep();
    }

    /// The thread may really end.
    pub fn release(&self) {
        self.end.wake();
    }
}
