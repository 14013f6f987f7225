//! Robust mutexes of a thread that ends without unlocking them: the next owners are told.
//!
//! The kernel does that when a thread really ends, which under the scheduler is later than the thread's last step, and
//! nobody's turn. So it is done here, in steps of its own, as the kernel does it (`exit_robust_list` in
//! `kernel/futex/core.c`).

use super::steps;
use crate::sys;
use core::ptr;
use seqcst_explore::Kind;

/// The head of the list that a thread has registered with the kernel. An empty list points to itself.
#[repr(C)]
struct Head {
    first: *mut Entry,
    /// From an entry to the word of its lock.
    offset: isize,
    pending: *mut Entry,
}

#[repr(C)]
struct Entry {
    next: *mut Entry,
}

const OWNER: u32 = (1 << 30) - 1;
const OWNER_DIED: u32 = 1 << 30;
/// An entry's lowest bit marks a mutex with priorities.
const MARK: usize = 1;

/// Gives up what the running thread holds. `tid` is the thread, as libc numbers it.
pub fn abandon(tid: u32) {
    let (mut head, mut size) = (ptr::null_mut::<Head>(), 0usize);
    let args = [tid as usize, &raw mut head as usize, &raw mut size as usize, 0, 0, 0];
    // SAFETY: the kernel fills in both.
    if unsafe { sys::call(libc::SYS_get_robust_list as usize, args) }.is_err() || head.is_null() {
        return;
    }
    // SAFETY: libc keeps the list whole, and nobody but the running thread uses it.
    unsafe {
        while (*head).first.map_addr(|at| at & !MARK) != head.cast() {
            let entry = (*head).first.map_addr(|at| at & !MARK);
            (*head).first = (*entry).next;
            let word = entry.cast::<u32>().byte_offset((*head).offset);
            if word.read_volatile() & OWNER == tid {
                super::point(steps::change(Kind::Unlock, word as usize), 0);
                word.write_volatile(OWNER_DIED);
                super::changed(word as usize);
            }
        }
    }
}
