//! `membarrier(2)`: a fence in every thread of the process, so that a compiler barrier is enough where speed matters.
//!
//! Between the beginning and the end of the call every other thread makes a fence somewhere, each at a moment of its own. What
//! the caller did before happens before what they do after it, and what they did before it happens before what the caller
//! does next. Who was not running has made its fence by not running.
//!
//! Under `seqcst explore` these fences are steps, one for each thread, in any order and with steps of others in between:
//! if they were made at once, that would be more than the kernel promises to two threads that are not the caller.
//!
//! The other threads hear of it before they do anything else ([`thread::fence_in`]).

use crate::control::{self, threads};
use crate::{atomics, thread};
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};
use seqcst_model::Mode;
use seqcst_monitor::clocks::run::Message;
use std::sync::Arc;

/// This process gets the fences that any process sends to all who want them.
static RECEIVES: AtomicBool = AtomicBool::new(false);

/// A call that succeeded.
pub fn called(command: c_int, pc: usize) {
    match command {
        libc::MEMBARRIER_CMD_GLOBAL
        | libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED
        | libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE => everywhere(pc),
        libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED => RECEIVES.store(true, Ordering::Relaxed),
        libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED if RECEIVES.load(Ordering::Relaxed) => everywhere(pc),
        // For other processes: in this one it is a fence of the caller.
        libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED => atomics::fence(Mode::SeqCst, pc),
        // Questions, registrations, and the command that restarts sequences (rseq), which promises no order.
        _ => {}
    }
}

fn everywhere(pc: usize) {
    let Some(me) = thread::entering() else { return };
    me.busy = true;
    if control::active() {
        threads::about_to_fence(pc);
    }
    atomics::fence_here(me, Mode::SeqCst, pc);
    let mut others = thread::others(me);
    let mut message = Message::default();
    me.views.release(&mut message);
    let message = Arc::new(message);
    while !others.is_empty() {
        let next = if control::active() { threads::fence_in_one(&others, pc) } else { 0 };
        thread::fence_in(me, others.remove(next), &message);
        atomics::fence_here(me, Mode::SeqCst, pc);
    }
    me.leave();
}
