//! `syscall`: how Rust's std and C++20's atomics wait for one another (futexes), and what goes around libc's functions.
//!
//! Outside of an exploration nothing happens here: the atomics around a futex are seen. Under the scheduler nobody waits
//! in the kernel: who waits at which word is kept in [`queues`]. To wait is two steps: to compare the word and begin to
//! wait, to be woken (or late).

use super::caller::Caller;
use super::{chance, identity, membarrier, time};
use crate::control::clock::{self, Moment};
use crate::control::steps::{self, Taking};
use crate::control::{self, queues};
use core::ffi::{c_int, c_long, c_void};
use libc::timespec;
use seqcst_explore::{AccessType, Kind, Op};

type Words = [usize; 6];

real! {
    fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long;
}

/// In front of `syscall`. Its seventh argument, if any, is on the stack; ours goes there too.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __interpose_syscall() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov rax, rsp",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "push rax",
        ".cfi_adjust_cfa_offset 8",
        "push [rax + 8]",
        ".cfi_adjust_cfa_offset 8",
        "call {syscall}",
        "add rsp, 24",
        ".cfi_adjust_cfa_offset -24",
        "ret",
        ".cfi_endproc",
        syscall = sym syscall,
    )
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    caller: Caller,
) -> c_long {
    // SAFETY: the caller's arguments.
    unsafe {
        let result = match number {
            libc::SYS_getrandom if chance::is_ours() => {
                chance::fill(a as *mut c_void, b);
                Some(Ok(b as c_long))
            }
            libc::SYS_membarrier => {
                let result = real::syscall(number, a, b, c, d, e, f);
                if result == 0 {
                    membarrier::called(a as c_int, caller.pc());
                    Some(Ok(0))
                } else {
                    Some(if result > 0 { Ok(result) } else { Err(*libc::__errno_location()) })
                }
            }
            _ if control::active() => under_control(number, [a, b, c, d, e, f], caller),
            _ => None,
        };
        match result {
            None => real::syscall(number, a, b, c, d, e, f),
            Some(Ok(value)) => value,
            Some(Err(error)) => {
                *libc::__errno_location() = error;
                -1
            }
        }
    }
}

/// What isn't left to the kernel.
///
/// # Safety
/// As the call.
unsafe fn under_control(number: c_long, args: Words, caller: Caller) -> Option<Result<c_long, c_int>> {
    // SAFETY: the caller's promise.
    unsafe {
        match number {
            libc::SYS_futex => futex(args, caller),
            libc::SYS_sched_yield => {
                time::give_way(caller.pc());
                Some(Ok(0))
            }
            libc::SYS_getpid => Some(Ok(identity::__interpose_getpid().into())),
            libc::SYS_gettid => Some(Ok(identity::__interpose_gettid().into())),
            libc::SYS_clock_gettime => {
                let result = time::__interpose_clock_gettime(args[0] as c_int, args[1] as *mut timespec);
                Some(if result == 0 { Ok(0) } else { Err(*libc::__errno_location()) })
            }
            _ => None,
        }
    }
}

/// The queue at a word: an object of its own, so that it can be told from the word.
fn queue(word: usize) -> usize {
    word | 1 << 62
}

/// None: one of the kinds that are left to the kernel (with priorities; several at once).
///
/// # Safety
/// As the call.
unsafe fn futex(args: Words, caller: Caller) -> Option<Result<c_long, c_int>> {
    let [word, operation, value, time, _, last] = args;
    let clock = if operation as c_int & libc::FUTEX_CLOCK_REALTIME != 0 {
        libc::CLOCK_REALTIME
    } else {
        libc::CLOCK_MONOTONIC
    };
    // SAFETY: the caller's promise. For those that don't wait, `time` is a number.
    let deadline = || unsafe { (time as *const timespec).as_ref() };
    let many = |value: usize| value as u32 as usize;
    match operation as c_int & libc::FUTEX_CMD_MASK {
        libc::FUTEX_WAIT => {
            // A duration, whatever the clock.
            let until = deadline().map(clock::after);
            // SAFETY: the caller's promise.
            Some(unsafe { wait(word, value as u32, queues::ANY, until, caller) })
        }
        libc::FUTEX_WAIT_BITSET => {
            let until = deadline().map(|time| clock::moment(clock, time));
            // SAFETY: the caller's promise.
            Some(unsafe { wait(word, value as u32, last as u32, until, caller) })
        }
        libc::FUTEX_WAKE => Some(wake(word, many(value), queues::ANY, caller)),
        libc::FUTEX_WAKE_BITSET => Some(wake(word, many(value), last as u32, caller)),
        libc::FUTEX_CMP_REQUEUE
            // SAFETY: the caller's promise.
            if unsafe { (word as *const u32).read_volatile() } != last as u32 =>
        {
            Some(Err(libc::EAGAIN))
        }
        // Those who would wait at the other word are woken: anybody may be woken for no reason.
        libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => {
            Some(wake(word, many(value).saturating_add(many(time)), queues::ANY, caller))
        }
        _ => None,
    }
}

/// # Safety
/// The word can be read.
unsafe fn wait(
    word: usize,
    expected: u32,
    bits: u32,
    until: Option<Moment>,
    caller: Caller,
) -> Result<c_long, c_int> {
    let (queue, pc) = (queue(word), caller.pc());
    let looks = Op::new(Kind::Wait, AccessType::Read, control::accesses::object(word));
    control::point(looks.and(AccessType::Write, queue as u64), pc);
    // SAFETY: the caller's promise.
    if unsafe { (word as *const u32).read_volatile() } != expected {
        control::turned_out(looks);
        return Err(libc::EAGAIN);
    }
    let ticket = queues::enter(queue, bits);
    steps::take(Taking::alone(Kind::Wake, queue), until, pc, &|| queues::can_go(queue, ticket));
    let woken = queues::leave(queue, ticket);
    control::changed(queue); // a signal fewer for the others
    if woken { Ok(0) } else { Err(libc::ETIMEDOUT) }
}

fn wake(word: usize, many: usize, bits: u32, caller: Caller) -> Result<c_long, c_int> {
    let queue = queue(word);
    let woken =
        steps::give(steps::change(Kind::Signal, queue), caller.pc(), || queues::signal_to(queue, many, bits));
    Ok(woken as c_long)
}
