//! Waiting in the kernel: for pipes, sockets and their like.
//!
//! A thread that would have to wait there gets no turn until what it waits for is ready. Whoever sends something may
//! change that. If nobody has a turn, others may still send something, outside of this process: then the process really
//! waits ([`wait_for_one`]).

use super::cancel;
use super::clock::Moment;
use super::steps::{self, Taking};
use crate::spin::Lock;
use crate::sys;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use libc::{S_IFMT, pollfd, stat};
use seqcst_explore::{Kind, Object, ThreadId};

/// The kernel as an object: one for all files, since which of them belong together is not to be known.
pub const KERNEL: Object = 2;

/// Who waits.
static WAITING: Lock<Vec<Waiter>> = Lock::new(Vec::new());

struct Waiter {
    thread: ThreadId,
    pc: usize,
    /// For which files. None at all: for a signal.
    files: Vec<pollfd>,
}

/// Is one of the files ready, now or within this time in milliseconds (-1: ever)? Errors and ends of files count.
fn poll(files: &mut [pollfd], patience: c_int) -> bool {
    let args = [files.as_mut_ptr() as usize, files.len(), patience as usize, 0, 0, 0];
    // SAFETY: the kernel writes into the entries only.
    unsafe { sys::call(libc::SYS_poll as usize, args) }.is_ok_and(|ready| ready > 0)
}

/// Is one of the files ready?
pub fn is_ready(files: &[pollfd]) -> bool {
    poll(&mut files.to_vec(), 0)
}

/// Does a read or a write of this file reach other threads, and can it wait for them? Pipes, sockets and what has no name
/// (`eventfd`, `epoll`), as opposed to files and devices.
pub fn is_shared(file: c_int) -> bool {
    let is_one = |status: &stat| matches!(status.st_mode & S_IFMT, libc::S_IFIFO | libc::S_IFSOCK | 0);
    status(file).as_ref().is_some_and(is_one)
}

/// Is it one of the kernel's devices for randomness, `/dev/random` or `/dev/urandom`?
pub fn is_random(file: c_int) -> bool {
    let devices = [libc::makedev(1, 8), libc::makedev(1, 9)];
    let is_one =
        |status: &stat| status.st_mode & S_IFMT == libc::S_IFCHR && devices.contains(&status.st_rdev);
    status(file).as_ref().is_some_and(is_one)
}

fn status(file: c_int) -> Option<stat> {
    let mut status = MaybeUninit::uninit();
    // SAFETY: filled in if the call succeeds.
    unsafe { (libc::fstat(file, status.as_mut_ptr()) == 0).then(|| status.assume_init()) }
}

/// Would a call that can't be done now fail instead of waiting?
pub fn is_impatient(file: c_int) -> bool {
    // SAFETY: no memory involved.
    let flags = unsafe { libc::fcntl(file, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_NONBLOCK != 0
}

/// Waits for its turn, which comes when one of the files is ready or a signal is there, as `also` says. False: time is up.
pub fn turn(files: Vec<pollfd>, also: &dyn Fn() -> bool, until: Option<Moment>, pc: usize) -> bool {
    let me = super::me();
    WAITING.lock().push(Waiter { thread: me, pc, files: files.clone() });
    let cancelled = cancel::waiting();
    let can = || also() || is_ready(&files) || cancelled.is_cancelled();
    let ready = steps::take(Taking::alone(Kind::Take, KERNEL as usize), until, pc, &can);
    WAITING.lock().retain(|waiter| waiter.thread != me);
    if cancelled.is_cancelled() {
        drop(files);
        cancelled.ends();
    }
    ready
}

/// Nobody has a turn: really waits, if somebody waits in the kernel. True: something may have changed. `first` is told who
/// waits, and where: if it takes too long, that is where the program hangs.
pub fn wait_for_one(first: impl FnOnce(ThreadId, usize)) -> bool {
    const EVER: c_int = -1;
    let mut files: Vec<pollfd> = {
        let waiting = WAITING.lock();
        let Some(waiter) = waiting.first() else { return false };
        first(waiter.thread, waiter.pc);
        waiting.iter().flat_map(|waiter| &waiter.files).copied().collect()
    };
    poll(&mut files, EVER); // or until a signal comes
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe() {
        let mut ends = [0; 2];
        // SAFETY: room for two.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let files = [pollfd { fd: ends[0], events: libc::POLLIN, revents: 0 }];
        assert!(is_shared(ends[0]) && !is_impatient(ends[0]) && !is_ready(&files));
        sys::write_all(ends[1], b"x").unwrap();
        assert!(is_ready(&files));
        let mut byte = [0];
        assert_eq!(sys::read(ends[0], &mut byte), Ok(1));
        assert!(!is_ready(&files));
        sys::close(ends[1]);
        assert!(is_ready(&files), "the end of a file");
        sys::close(ends[0]);
        assert!(is_ready(&files), "an error");
        assert!(!is_shared(ends[0]));
        let null = sys::open(c"/dev/null", sys::O_RDONLY).unwrap();
        assert!(!is_shared(null) && !is_random(null));
        sys::close(null);
        let random = sys::open(c"/dev/urandom", sys::O_RDONLY).unwrap();
        assert!(!is_shared(random) && is_random(random));
        sys::close(random);
        assert!(!is_ready(&[]));
    }
}
