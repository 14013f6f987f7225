//! What is known of the program's objects in one execution.

use super::site::Site;
use super::tag::Renew;
use seqcst_explore::ThreadId;
use seqcst_monitor::clocks::run::{Location, Message};
use seqcst_monitor::clocks::{Slot, Time};

/// So many writes of a location are remembered per thread: more than executions have, mostly.
const HISTORY: usize = 64;

/// An atomic.
#[derive(Debug)]
pub struct Place {
    pub value: u64,
    /// How many writes there were.
    pub version: u32,
    pub location: Location,
}

impl Default for Place {
    fn default() -> Place {
        Place { value: 0, version: 0, location: Location::numbered(0, HISTORY, 0) }
    }
}

impl Renew for Place {
    fn renew(&mut self) {}
}

impl Place {
    /// Its value before the first access.
    pub fn start(&mut self, value: u64) {
        (self.value, self.version) = (value, 0);
        self.location.renew(value);
    }
}

/// An access to a cell, for the race detector.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touch {
    pub slot: Slot,
    pub epoch: Time,
    pub site: Site,
}

/// An `UnsafeCell`: the last write, and the reads since then, one per thread.
#[derive(Debug, Default)]
pub struct CellState {
    pub write: Option<Touch>,
    pub reads: Vec<Touch>,
}

impl Renew for CellState {
    fn renew(&mut self) {
        self.write = None;
        self.reads.clear();
    }
}

/// A mutex, a read-write lock, or a `Once`.
#[derive(Debug, Default)]
pub struct Lock {
    pub writer: Option<ThreadId>,
    pub readers: u32,
    /// What writers hand on.
    pub written: Message,
    /// What readers hand on to writers.
    pub read: Message,
    /// Of a `Once`: it is done.
    pub done: bool,
    /// Of a `Once`: it was left in the middle by a panic.
    pub poisoned: bool,
}

impl Renew for Lock {
    fn renew(&mut self) {
        (self.writer, self.readers, self.done, self.poisoned) = (None, 0, false, false);
        self.written.clear();
        self.read.clear();
    }
}

impl Lock {
    /// Nobody holds it.
    pub fn is_free(&self) -> bool {
        self.writer.is_none() && self.readers == 0
    }
}

/// A condition variable. Everybody who waits draws a ticket; a signal is for one of those who waited before it, and the
/// schedule decides for which.
#[derive(Debug, Default)]
pub struct Condvar {
    pub next: u64,
    /// Tickets of those who wait.
    pub waiting: Vec<u64>,
    /// Signals not taken yet: for tickets below these.
    pub signals: Vec<u64>,
}

impl Renew for Condvar {
    fn renew(&mut self) {
        self.next = 0;
        self.waiting.clear();
        self.signals.clear();
    }
}

impl Condvar {
    /// Begins to wait.
    pub fn draw(&mut self) -> u64 {
        self.next += 1;
        self.waiting.push(self.next - 1);
        self.next - 1
    }

    /// Is there a signal for this ticket?
    pub fn is_signalled(&self, ticket: u64) -> bool {
        self.signals.iter().any(|&below| ticket < below)
    }

    /// Signals one of those who wait; lost if all of them are signalled.
    pub fn signal(&mut self) {
        if self.signals.len() < self.waiting.len() {
            self.signals.push(self.next);
        }
    }

    /// Ends to wait, by a signal.
    pub fn wake(&mut self, ticket: u64) {
        self.waiting.retain(|&waiting| waiting != ticket);
        if let Some(signal) = self.signals.iter().position(|&below| ticket < below) {
            self.signals.remove(signal);
        }
    }

    /// Ends to wait without one. A signal that nobody is left for is lost.
    pub fn give_up(&mut self, ticket: u64) {
        self.waiting.retain(|&waiting| waiting != ticket);
        // Both are in order: who has waited longer can have every signal that others can.
        let mut takers = self.waiting.iter();
        let mut taker = takers.next();
        self.signals.retain(|below| {
            let taken = taker.is_some_and(|ticket| ticket < below);
            if taken {
                taker = takers.next();
            }
            taken
        });
    }
}

/// A channel; the messages themselves are with its ends.
#[derive(Debug, Default)]
pub struct Channel {
    /// What came with each message that is still there.
    pub filled: std::collections::VecDeque<Message>,
    /// Messages received so far.
    pub received: u64,
    /// Messages sent so far.
    pub sent: u64,
    /// How many may be there; None: any number.
    pub room: Option<usize>,
    pub senders: u32,
    pub closed: bool,
    /// What the senders knew when they went.
    pub gone: Message,
    /// What the receiver knew when it met a sender (a channel without room).
    pub met: Message,
}

impl Renew for Channel {
    fn renew(&mut self) {
        self.filled.clear();
        (self.received, self.sent, self.room, self.senders, self.closed) = (0, 0, None, 1, false);
        self.gone.clear();
        self.met.clear();
    }
}

impl Channel {
    /// There is a message, or none will come.
    pub fn can_receive(&self) -> bool {
        !self.filled.is_empty() || self.senders == 0
    }

    /// There is room, or nobody will ever receive. (A channel without room keeps a message until it is taken.)
    pub fn can_send(&self) -> bool {
        self.closed || self.room.is_none_or(|room| self.filled.len() < room.max(1))
    }

    /// The message of this number was received, or will never be.
    pub fn was_taken(&self, number: u64) -> bool {
        self.closed || self.received > number
    }
}

/// A barrier.
#[derive(Debug, Default)]
pub struct Barrier {
    pub arrived: usize,
    pub round: u32,
    /// What all who have come knew.
    pub knows: Message,
    /// What those who pass learn.
    pub passing: Message,
}

impl Renew for Barrier {
    fn renew(&mut self) {
        (self.arrived, self.round) = (0, 0);
        self.knows.clear();
        self.passing.clear();
    }
}

/// Which changes of the counters of `Arc`s are steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Counting {
    /// None: nobody can tell.
    #[default]
    Nothing,
    /// That there is one reference less.
    Drops,
    /// That there is one more, too: somebody wants to know how many there are.
    Everything,
}

/// The counter of an `Arc`.
#[derive(Debug, Default)]
pub struct Counter {
    /// What those who dropped their references knew.
    pub dropped: Message,
    /// The same for weak references.
    pub dropped_weak: Message,
    /// References that are there, for the search of leaks.
    pub strong: u32,
    pub site: Site,
}

impl Renew for Counter {
    fn renew(&mut self) {
        self.dropped.clear();
        self.dropped_weak.clear();
        (self.strong, self.site) = (0, 0);
    }
}
