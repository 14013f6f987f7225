//! Crashes: the summary is printed, then happens what would have happened.
//!
//! Signals that mean a crash get a handler of ours as long as the program has none ([`super::signals`] sees to that).
//! A thread whose stack is full needs another one for the handler, so each thread gets a small one. (The summary needs more
//! room and finds it by itself.)

use super::exit;
use super::signals::no_action;
use crate::sys;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use libc::{sigaction as Action, siginfo_t, stack_t};

real! {
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
    fn sigaltstack(new: *const stack_t, old: *mut stack_t) -> c_int;
}

const CRASHES: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// Room for a signal frame and a handler; the largest frames (AMX) are about 11 KiB.
const SMALL: usize = 32 << 10;
/// The thread that crashed first.
static CRASHED: AtomicU32 = AtomicU32::new(0);
/// The signal that it crashed with.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Longer than any summary takes. If it takes longer, a lock was lost in the crash.
const PATIENCE: u32 = 10;

thread_local! {
    static SMALL_STACK: Cell<*mut u8> = const { Cell::new(ptr::null_mut()) };
}

pub(super) fn start() {
    watch();
}

/// Crashes are noticed from now on, where the program doesn't itself.
pub fn watch() {
    for signal in CRASHES {
        let mut now = no_action();
        // SAFETY: valid arguments.
        let known = unsafe { real::sigaction(signal, ptr::null(), &mut now) } == 0;
        if known
            && now.sa_sigaction == libc::SIG_DFL
            && let Some(ours) = action(signal)
        {
            // SAFETY: the handler fits its flags.
            unsafe { real::sigaction(signal, &ours, ptr::null_mut()) };
        }
    }
}

/// Crashes are nobody's business from now on.
pub fn ignore() {
    for signal in CRASHES {
        let mut now = no_action();
        // SAFETY: valid arguments.
        let known = unsafe { real::sigaction(signal, ptr::null(), &mut now) } == 0;
        if known && action(signal).is_some_and(|ours| ours.sa_sigaction == now.sa_sigaction) {
            by_default(signal);
        }
    }
}

/// What stands in for the default action of a signal that means a crash.
pub(super) fn action(signal: c_int) -> Option<Action> {
    let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_crash;
    let flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    let ours = Action { sa_sigaction: handler as usize, sa_flags: flags, ..no_action() };
    CRASHES.contains(&signal).then_some(ours)
}

/// A small stack for handlers on this thread, unless it has one.
pub(super) fn give_stack() {
    let mut now = mem::MaybeUninit::<stack_t>::uninit();
    // SAFETY: valid arguments; the memory stays until `take_stack`.
    unsafe {
        if real::sigaltstack(ptr::null(), now.as_mut_ptr()) == 0
            && now.assume_init().ss_flags & libc::SS_DISABLE != 0
        {
            let memory = Box::into_raw(Box::<[u8]>::new_uninit_slice(SMALL)).cast::<u8>();
            let stack = stack_t { ss_sp: memory.cast(), ss_flags: 0, ss_size: SMALL };
            real::sigaltstack(&stack, ptr::null_mut());
            SMALL_STACK.set(memory);
        }
    }
}

/// The thread ends.
pub(super) fn take_stack() {
    let memory = SMALL_STACK.replace(ptr::null_mut());
    if memory.is_null() {
        return;
    }
    let mut now = mem::MaybeUninit::<stack_t>::uninit();
    // SAFETY: valid arguments; the kernel doesn't use the memory any more when it is freed.
    unsafe {
        real::sigaltstack(ptr::null(), now.as_mut_ptr());
        if now.assume_init().ss_sp == memory.cast() {
            let none = stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            real::sigaltstack(&none, ptr::null_mut());
        }
        drop(Box::from_raw(ptr::slice_from_raw_parts_mut(memory.cast::<mem::MaybeUninit<u8>>(), SMALL)));
    }
}

extern "C" fn on_crash(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let me = sys::gettid();
    match CRASHED.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            SIGNAL.store(signal, Ordering::Release);
            sum_up();
        }
        Err(thread) if thread == me => {} // while summing up
        Err(_) => loop {
            // The process ends soon.
            sys::sched_yield();
        },
    }
    by_default(signal);
    // SAFETY: given by the kernel.
    let code = unsafe { (*info).si_code };
    // A fault happens again when the handler returns; a signal that was sent is sent again.
    const BY_KERNEL: c_int = 0;
    if code <= BY_KERNEL {
        // SAFETY: no memory involved.
        let _ = unsafe {
            sys::call(
                libc::SYS_tgkill as usize,
                [sys::getpid() as usize, me as usize, signal as usize, 0, 0, 0],
            )
        };
    }
}

fn by_default(signal: c_int) {
    // SAFETY: valid arguments.
    unsafe { real::sigaction(signal, &no_action(), ptr::null_mut()) };
}

fn sum_up() {
    let handler: extern "C" fn(c_int) = give_up;
    let alarm = Action { sa_sigaction: handler as usize, ..no_action() };
    // SAFETY: valid arguments.
    unsafe {
        real::sigaction(libc::SIGALRM, &alarm, ptr::null_mut());
        let mut set = mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
        libc::alarm(PATIENCE);
        exit::finish();
        libc::alarm(0);
    }
}

/// The summary hangs: end without it.
extern "C" fn give_up(_: c_int) {
    let signal = SIGNAL.load(Ordering::Acquire);
    by_default(signal);
    // SAFETY: valid arguments.
    unsafe {
        let mut set = mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
        let _ = sys::call(libc::SYS_kill as usize, [sys::getpid() as usize, signal as usize, 0, 0, 0, 0]);
    }
}
