//! The stacks of the program's threads while a plan is played: which part of them is in use?
//!
//! One thread runs at a time, and all others have announced a step, so it is known where their stack pointers are: what lies
//! below, down to the stack's end, belongs to functions that have returned. (Without a plan the others run, and nobody
//! knows.) A thread whose stack pointer is elsewhere, on a coroutine's stack or a signal's, is not judged; nor is one of
//! whose stack such a stack is a part.

use super::{scheduler, settings};
use crate::journal::EventKind;
use crate::report::{self, Access, Misuse};
use crate::thread;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use seqcst_explore::ThreadId;

/// A thread's stack.
#[derive(Clone, Copy, Default)]
pub struct Stack {
    /// Its memory; empty if unknown, or given back.
    low: usize,
    high: usize,
    /// The stack pointer when the thread announced its next step.
    pub sp: usize,
    /// Its memory is the program's, which may do with it what it likes as soon as the thread is joined.
    lent: bool,
}

impl Stack {
    /// Is this address on the stack?
    pub fn holds(&self, addr: usize) -> bool {
        (self.low..self.high).contains(&addr)
    }

    /// If this address is on the stack, and out of use: why.
    pub fn misuse(&self, addr: usize, ended: bool) -> Option<Misuse> {
        if !self.holds(addr) {
            return None;
        }
        match ended {
            true => Some(Misuse::EndedThread),
            false => (self.holds(self.sp) && addr < self.sp).then_some(Misuse::EndedFrame),
        }
    }
}

/// Where the first thread's stack is.
static FIRST: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// In the server, once: it takes too long for every execution.
pub fn learn_first(range: Option<(usize, usize)>) {
    if let Some((low, size)) = range {
        FIRST[0].store(low, Relaxed);
        FIRST[1].store(low + size, Relaxed);
    }
}

/// The first thread begins.
pub fn begin_first() {
    set(FIRST[0].load(Relaxed), FIRST[1].load(Relaxed), false);
}

/// The running thread begins, on this stack. `lent`: by the program.
pub fn begin(range: Option<(usize, usize)>, lent: bool) {
    if let Some((low, size)) = range {
        set(low, low + size, lent);
    }
}

fn set(low: usize, high: usize, lent: bool) {
    if let Some(scheduler) = scheduler::get() {
        *scheduler.stack(scheduler.me()) = Stack { low, high, sp: 0, lent };
    }
}

/// A thread was joined: a stack that the program has lent is its own again.
pub fn joined(thread: ThreadId) {
    if let Some(scheduler) = scheduler::get()
        && scheduler.stack(thread).lent
    {
        gone(thread);
    }
}

/// A thread's stack may become anything.
pub fn gone(thread: ThreadId) {
    if let Some(scheduler) = scheduler::get() {
        *scheduler.stack(thread) = Stack::default();
    }
}

/// What begins here becomes a stack of its own. If it is a part of a thread's, that one isn't judged any more.
pub fn lends(addr: usize) {
    if let Some(stack) = scheduler::get().and_then(|scheduler| scheduler.stack_at(addr)) {
        *stack = Stack::default();
    }
}

/// The running thread makes an access: to what is out of use on somebody else's stack? It is inside the runtime.
#[inline]
pub fn look_at(access: &Access) {
    if settings::get().races()
        && let Some(scheduler) = scheduler::get()
        && let Some(misuse) = scheduler.ended_stack(access.addr)
        && !thread::is_blind()
    {
        report::misuse(misuse, access, None, None);
    }
}

/// The same for a function of libc's that uses an object there.
pub fn look_at_object(addr: usize, pc: usize) {
    let Some(thread) = thread::entering() else { return };
    thread.busy = true;
    let site = thread.stack.site(pc);
    look_at(&Access { thread: thread.number, what: EventKind::Acquire, mode: None, addr, size: 0, site });
    thread.leave();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_the_stack_pointer() {
        let stack = Stack { low: 0x1000, high: 0x9000, sp: 0x8000, lent: false };
        let at = |addr| (stack.misuse(addr, false), stack.misuse(addr, true));
        assert_eq!(at(0x0fff), (None, None));
        assert_eq!(at(0x9000), (None, None));
        assert_eq!(at(0x7fff), (Some(Misuse::EndedFrame), Some(Misuse::EndedThread)));
        assert_eq!(at(0x8000), (None, Some(Misuse::EndedThread)));
        // Elsewhere, on a coroutine's stack.
        assert_eq!(Stack { sp: 0xa000, ..stack }.misuse(0x7fff, false), None);
        assert_eq!(Stack::default().misuse(0, true), None);
    }
}
