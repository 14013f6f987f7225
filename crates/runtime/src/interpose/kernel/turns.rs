//! Calls that can wait in the kernel, under the scheduler: they get their turn when they don't have to.
//!
//! What a call waits for depends on its arguments. Where it has a deadline, that is logical, and the real call is told not
//! to wait. Files and devices need no turns: they are always ready, and the order of accesses to them is not explored.

use crate::control::clock::{self, Moment};
use crate::control::descriptors::{self, KERNEL};
use crate::control::{self, pending, steps};
use crate::interpose::{chance, identity, threads};
use crate::sys;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use libc::{fd_set, pollfd, timespec, timeval};
use seqcst_explore::Kind;

/// The arguments of a call.
pub(super) type Words = [usize; 6];

/// What a call waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing, and nobody waits for it.
    Alone,
    /// `write(file, from, size)`: room, as often as it takes.
    Writes,
    /// Room, in a file that is the first argument; flags are this argument.
    Gives(Option<usize>),
    /// Nothing, but somebody may wait for it; the file is the first argument.
    Tells,
    /// `read(file, to, size)`: something to read. Or one of the kernel's devices for randomness.
    Read,
    /// Something to read, in a file that is the first argument; flags are this argument.
    Reads(Option<usize>),
    /// `poll`
    Poll,
    /// `ppoll`
    PollSpec,
    /// `select`
    Select,
    /// `pselect`
    SelectSpec,
    /// `epoll_wait`, `epoll_pwait`
    Epoll,
    /// `kill`, `sigqueue`: a signal to a process.
    Kill,
    /// `raise`: a signal to itself.
    Raise,
    /// `tgkill`: a signal to a thread of a process.
    KillNumber,
    /// `pthread_kill`, `pthread_sigqueue`: a signal to a thread.
    KillThread,
    /// `sigwait`, `sigwaitinfo`: a signal of a set.
    Signal,
    /// `sigtimedwait`
    SignalSpec,
    /// `pause`, `sigsuspend`: any signal that is handled.
    Pause,
}

static NO_TIME: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

const IN: i16 = libc::POLLIN;
const OUT: i16 = libc::POLLOUT;
/// Flags that a message has.
const IMPATIENT: usize = libc::MSG_DONTWAIT as usize;
/// Output of the program itself: nobody in it waits for that.
const STANDARD: [usize; 2] = [1, 2];

/// Waits for the turn. The arguments may be changed so that the real call doesn't wait; a result: it isn't needed.
///
/// # Safety
/// The arguments are those of such a call.
pub(super) unsafe fn turn(way: Way, args: &mut Words, pc: usize) -> Option<isize> {
    let file = args[0] as c_int;
    // SAFETY: the caller's promise.
    unsafe {
        match way {
            Way::Alone => {}
            Way::Read if descriptors::is_random(file) && chance::is_ours() => {
                chance::fill(args[1] as *mut c_void, args[2]);
                return Some(args[2] as isize);
            }
            Way::Writes | Way::Gives(_) | Way::Tells if STANDARD.contains(&args[0]) => {}
            Way::Writes | Way::Gives(_) | Way::Tells | Way::Read | Way::Reads(_)
                if !descriptors::is_shared(file) => {}
            Way::Tells => announce(pc),
            Way::Gives(flags) => for_file(file, OUT, flags.is_some_and(|at| args[at] & IMPATIENT != 0), pc),
            Way::Reads(flags) => for_file(file, IN, flags.is_some_and(|at| args[at] & IMPATIENT != 0), pc),
            Way::Read => for_file(file, IN, false, pc),
            Way::Writes => return bit_by_bit(args, pc),
            Way::Poll => {
                let until = in_milliseconds(args[2] as c_int);
                for_files(polled(args), until, args[2] == 0, pc);
                args[2] = 0;
            }
            Way::PollSpec => {
                for_files(polled(args), in_time(args[2]), is_zero(args[2]), pc);
                args[2] = &raw const NO_TIME as usize;
            }
            Way::Select => {
                let until = (args[4] as *const timeval)
                    .as_ref()
                    .map(|time| timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_usec * 1000 });
                for_files(selected(args), until.as_ref().map(clock::after), is_zero(args[4]), pc);
                args[4] = &raw const NO_TIME as usize; // two words: the same layout
            }
            Way::SelectSpec => {
                for_files(selected(args), in_time(args[4]), is_zero(args[4]), pc);
                args[4] = &raw const NO_TIME as usize;
            }
            Way::Epoll => {
                let until = in_milliseconds(args[3] as c_int);
                for_files(vec![pollfd { fd: file, events: IN, revents: 0 }], until, args[3] == 0, pc);
                args[3] = 0;
            }
            Way::Kill => {
                announce(pc);
                args[0] = identity::process(file) as usize;
            }
            Way::Raise => {
                announce(pc);
                return Some(send(control::me(), file));
            }
            Way::KillNumber => {
                announce(pc);
                return identity::thread(args[1] as c_int).map(|thread| send(thread, args[2] as c_int));
            }
            Way::KillThread => {
                let thread = threads::number(args[0] as libc::pthread_t);
                announce(pc);
                return Some(send(thread, args[1] as c_int));
            }
            Way::Signal => for_signal(args[0], None, pc),
            Way::SignalSpec => {
                for_signal(args[0], in_time(args[2]), pc);
                args[2] = &raw const NO_TIME as usize;
            }
            Way::Pause => {
                let (me, before) = (control::me(), pending::count_handled());
                let also = || pending::is_there(me, |_| true) || pending::count_handled() != before;
                descriptors::turn(Vec::new(), &also, None, pc);
                *libc::__errno_location() = libc::EINTR;
                return Some(-1);
            }
        }
    }
    None
}

/// The call is over: those who wait in the kernel are looked at again.
pub(super) fn over(way: Way) {
    if way != Way::Alone {
        control::changed(KERNEL as usize);
    }
}

/// A step that somebody may wait for.
fn announce(pc: usize) {
    control::point(steps::change(Kind::Post, KERNEL as usize), pc);
}

fn for_file(file: c_int, events: i16, impatient: bool, pc: usize) {
    if impatient || descriptors::is_impatient(file) {
        return announce(pc);
    }
    for_files(vec![pollfd { fd: file, events, revents: 0 }], None, false, pc);
}

/// Returns when one of the files is ready, or late. Who only looks doesn't wait at all, and not even that is a step if it
/// looks at standard input and output, which nobody in the program changes.
fn for_files(files: Vec<pollfd>, until: Option<Moment>, looks: bool, pc: usize) {
    match looks {
        true if files.iter().all(|file| (0..=2).contains(&file.fd)) => {}
        true => announce(pc),
        false => {
            descriptors::turn(files, &|| false, until, pc);
        }
    }
}

/// Writes what there is room for, as often as it takes: readers must come to their turns in between.
///
/// # Safety
/// The arguments of a `write` to a pipe or a socket.
unsafe fn bit_by_bit(args: &mut Words, pc: usize) -> Option<isize> {
    /// What a pipe that is ready has room for.
    const BIT: usize = libc::PIPE_BUF;
    let [file, from, size, ..] = *args;
    let mut written = 0;
    while size - written > BIT && !descriptors::is_impatient(file as c_int) {
        for_file(file as c_int, OUT, false, pc);
        // SAFETY: the caller's promise.
        let result = unsafe { sys::call(libc::SYS_write as usize, [file, from + written, BIT, 0, 0, 0]) };
        control::changed(KERNEL as usize);
        match result {
            Ok(some) => written += some,
            Err(_) if written > 0 => return Some(written as isize),
            Err(error) => {
                // SAFETY: always there.
                unsafe { *libc::__errno_location() = error };
                return Some(-1);
            }
        }
    }
    for_file(file as c_int, OUT, false, pc);
    if written == 0 {
        return None;
    }
    let rest = [file, from + written, size - written, 0, 0, 0];
    // SAFETY: the caller's promise.
    let result = unsafe { sys::call(libc::SYS_write as usize, rest) };
    Some((written + result.unwrap_or(0)) as isize)
}

/// # Safety
/// The arguments of `poll` or `ppoll`.
unsafe fn polled(args: &Words) -> Vec<pollfd> {
    if args[1] == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(args[0] as *const pollfd, args[1]) }.to_vec()
}

/// # Safety
/// The arguments of `select` or `pselect`.
unsafe fn selected(args: &Words) -> Vec<pollfd> {
    let mut files = Vec::new();
    for fd in 0..(args[0] as c_int).clamp(0, libc::FD_SETSIZE as c_int) {
        // SAFETY: the caller's promise.
        let is_in = |set: usize| set != 0 && unsafe { libc::FD_ISSET(fd, set as *const fd_set) };
        let sets = [(args[1], IN), (args[2], OUT), (args[3], libc::POLLPRI)];
        let events = sets.into_iter().filter(|&(set, _)| is_in(set)).fold(0, |all, (_, event)| all | event);
        if events != 0 {
            files.push(pollfd { fd, events, revents: 0 });
        }
    }
    files
}

/// Negative: never.
fn in_milliseconds(time: c_int) -> Option<Moment> {
    let time = i64::from(time);
    (time >= 0).then(|| clock::after(&timespec { tv_sec: time / 1000, tv_nsec: time % 1000 * 1_000_000 }))
}

/// Null: never.
///
/// # Safety
/// A pointer to a time, or null.
unsafe fn in_time(time: usize) -> Option<Moment> {
    // SAFETY: the caller's promise.
    unsafe { (time as *const timespec).as_ref() }.map(clock::after)
}

/// Is it a time of nothing? (Whether in microseconds or nanoseconds.)
///
/// # Safety
/// As [`in_time`].
unsafe fn is_zero(time: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (time as *const timespec).as_ref() }.is_some_and(|time| time.tv_sec == 0 && time.tv_nsec == 0)
}

/// A signal to a thread of ours: it waits there. The running one gets it at once.
fn send(thread: u32, signal: c_int) -> isize {
    if signal != 0 {
        pending::send(thread, signal);
        pending::deliver();
    }
    0
}

/// Waits for one of a set of signals.
///
/// # Safety
/// `set` points to a set of signals.
unsafe fn for_signal(set: usize, until: Option<Moment>, pc: usize) {
    let set = set as *const libc::sigset_t;
    let me = control::me();
    // SAFETY: the caller's promise; the set stays while the thread waits.
    let is_wanted = |signal: c_int| unsafe { libc::sigismember(set, signal) == 1 };
    let also = || pending::is_there(me, is_wanted) || in_kernel(is_wanted);
    descriptors::turn(Vec::new(), &also, until, pc);
    pending::deliver();
}

/// Has the kernel one that is blocked?
fn in_kernel(is_wanted: impl Fn(c_int) -> bool) -> bool {
    const LAST: c_int = 64;
    let mut set = MaybeUninit::uninit();
    // SAFETY: filled in if the call succeeds.
    unsafe {
        libc::sigpending(set.as_mut_ptr()) == 0
            && (1..=LAST).any(|signal| libc::sigismember(set.as_ptr(), signal) == 1 && is_wanted(signal))
    }
}
