//! Threads that are created, joined, and that end, while a plan is played.

pub use super::scheduler::Newcomer;

use super::scheduler;
use crate::interpose;
use seqcst_schedule::{How, Kind, Op, ThreadId};

/// A thread is about to be created.
pub fn expect(pc: usize) -> Option<Newcomer> {
    super::guarded(|| scheduler::expect(pc)).flatten()
}

/// The real call is over.
pub fn created(newcomer: Newcomer, success: bool) {
    super::guarded(|| match success {
        true => scheduler::arrives(newcomer.number),
        false => scheduler::forget_last(),
    });
}

/// The new thread, before everything else: returns when it is its turn.
#[inline(never)]
pub fn begin(newcomer: Newcomer) {
    let here = 0usize;
    scheduler::begin(newcomer, &raw const here as usize);
}

/// The running thread is about to end: others may do something before.
pub fn ends() {
    super::guarded(|| {
        let me = super::me();
        scheduler::point(Op::new(Kind::End, How::Write, scheduler::object(me)), 0);
    });
}

/// The running thread has ended. Returns on its own kernel thread, when it may really end.
pub fn leave() {
    scheduler::leave();
}

/// How long somebody who joins a thread will wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Not at all.
    None,
    /// Until some time.
    Some,
    /// For ever.
    All,
}

/// Joins a thread: true if it has ended. Then it really ends now, and the real call won't wait for others.
pub fn join(thread: ThreadId, patience: Patience, pc: usize) -> bool {
    let object = scheduler::object(thread);
    let op = Op::new(Kind::Join, How::Read, object);
    let ended = || scheduler::has_ended(thread);
    let joined = super::guarded(|| match patience {
        Patience::None => {
            scheduler::point_to_read(op, pc);
            if !ended() {
                super::turned_out(Op::new(Kind::TryLock, How::Read, object));
            }
            ended()
        }
        _ => scheduler::point_when(object, op, pc, patience == Patience::Some, &ended),
    });
    let joined = joined.unwrap_or(true);
    if joined {
        scheduler::release(thread);
    }
    joined
}

/// Every thread has ended, the first one by `pthread_exit`: so does the process.
pub fn all_ended() -> ! {
    interpose::exit::end(0)
}
