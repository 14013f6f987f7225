//! Threads that are created, joined, and that end, while a plan is played.

pub use super::scheduler::NewThread;

use super::scheduler;
use super::settings;
use super::spin::Read;
use crate::interpose;
use core::sync::atomic::{AtomicU32, Ordering};
use seqcst_explore::{AccessType, FENCES, Kind, Op, THREADS, ThreadId};

/// A thread is about to be created.
pub fn expect(pc: usize) -> Option<NewThread> {
    super::guarded(|| scheduler::expect(pc)).flatten()
}

/// The real call is over.
pub fn created(newcomer: NewThread, success: bool) {
    super::guarded(|| match success {
        true => scheduler::arrives(newcomer.number),
        false => scheduler::forget_last(),
    });
}

/// The new thread, before everything else: returns when it is its turn. Its stack begins at `base`.
pub fn begin(newcomer: NewThread, base: usize) {
    scheduler::begin(newcomer, base);
}

/// The running thread is about to end: others may do something before.
pub fn ends() {
    super::guarded(|| {
        let me = super::me();
        let op = Op::new(Kind::End, AccessType::Write, scheduler::object(me));
        scheduler::point(op.and(AccessType::Read, THREADS), 0);
    });
}

/// The running thread has ended. Returns on its own kernel thread, when it may really end.
pub fn leave() {
    scheduler::leave();
}

/// How long somebody who joins a thread will wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum JoinTimeout {
    /// Not at all.
    None,
    /// Until some time.
    Some,
    /// For ever.
    All,
}

/// Joins a thread: true if it has ended.
pub fn join(thread: ThreadId, patience: JoinTimeout, pc: usize) -> bool {
    let object = scheduler::object(thread);
    // Who doesn't wait for ever just looks whether it has ended.
    let kind = if patience == JoinTimeout::All { Kind::Join } else { Kind::Load };
    let op = Op::new(kind, AccessType::Read, object);
    let ended = || scheduler::has_ended(thread);
    let joined = super::guarded(|| match patience {
        JoinTimeout::None => {
            scheduler::point_to_read(op, pc);
            if let Some(scheduler) = scheduler::get().filter(|_| !ended()) {
                scheduler.read(object, Read::Same);
            }
            ended()
        }
        _ => scheduler::point_when(object, op, pc, patience == JoinTimeout::Some, &ended),
    });
    joined.unwrap_or(true)
}

/// May one more thread that has ended stay? They cost little, and wait for nothing.
pub fn may_stay() -> bool {
    const MANY: u32 = 64;
    STAYED.fetch_add(1, Ordering::Relaxed) < MANY
}

/// Threads that were joined and are still there.
static STAYED: AtomicU32 = AtomicU32::new(0);

/// A thread that has ended may really end: the real call won't wait for others.
pub fn release(thread: ThreadId) {
    scheduler::release(thread);
}

/// The running thread is about to make a fence in all others, of which it must know which there are.
pub fn about_to_fence(pc: usize) {
    let op = Op::new(Kind::Fence, AccessType::Write, THREADS);
    let ordered = settings::get().orders_sc();
    scheduler::point(if ordered { op.and(AccessType::Write, FENCES) } else { op }, pc);
}

/// The running thread is about to make a fence in one of these: in which?
pub fn fence_in_one(threads: &[ThreadId], pc: usize) -> usize {
    let fence = |thread| Op::new(Kind::Everywhere, AccessType::Read, scheduler::object(thread));
    scheduler::point(fence(threads[0]), pc);
    let chosen = if threads.len() > 1 { scheduler::way(threads.len() as u32) as usize } else { 0 };
    super::turned_out(fence(threads[chosen]));
    chosen
}

/// Every thread has ended, the first one by `pthread_exit`: so does the process.
pub fn all_ended() -> ! {
    interpose::exit::end(0)
}
