//! Crashes: the summary is printed, then happens what would have happened.
//!
//! Signals that mean a crash get a handler of ours as long as the program has none. When the program installs one, it
//! replaces ours; when it goes back to the default, ours comes back; and when it asks, it is told what it knows.
//! A thread whose stack is full needs another one for the handler, so each thread gets a small one; the summary needs
//! more room than that and is made on a large one, of which there is a single one.

use super::exit;
use crate::spin::Lock;
use crate::sys;
use core::arch::naked_asm;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};
use libc::{sigaction as Action, siginfo_t, stack_t};

real! {
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
    fn signal(signal: c_int, handler: usize) -> usize;
    fn __sysv_signal(signal: c_int, handler: usize) -> usize;
}

const CRASHES: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// What the program believes is installed for each of them; None: never asked for.
static BELIEVED: Lock<[Option<Action>; CRASHES.len()]> = Lock::new([None; CRASHES.len()]);

/// Room for a signal frame and a handler; the largest frames (AMX) are about 11 KiB.
const SMALL: usize = 32 << 10;
const LARGE: usize = 1 << 20;
static LARGE_STACK: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
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
    LARGE_STACK.store(sys::reserve(LARGE), Ordering::Release);
    for signal in CRASHES {
        let mut now = no_action();
        // SAFETY: valid arguments.
        let known = unsafe { real::sigaction(signal, ptr::null(), &mut now) } == 0;
        if known && now.sa_sigaction == libc::SIG_DFL {
            install(signal);
        }
    }
}

fn no_action() -> Action {
    // SAFETY: all zero is the default action.
    unsafe { mem::zeroed() }
}

fn install(signal: c_int) -> c_int {
    let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_crash;
    let ours = Action {
        sa_sigaction: handler as usize,
        sa_flags: libc::SA_SIGINFO | libc::SA_ONSTACK,
        ..no_action()
    };
    // SAFETY: the handler fits `SA_SIGINFO`.
    unsafe { real::sigaction(signal, &ours, ptr::null_mut()) }
}

/// A small stack for handlers on this thread, unless it has one.
pub(super) fn give_stack() {
    let mut now = mem::MaybeUninit::<stack_t>::uninit();
    // SAFETY: valid arguments; the memory stays until `take_stack`.
    unsafe {
        if libc::sigaltstack(ptr::null(), now.as_mut_ptr()) == 0
            && now.assume_init().ss_flags & libc::SS_DISABLE != 0
        {
            let memory = Box::into_raw(Box::<[u8]>::new_uninit_slice(SMALL)).cast::<u8>();
            let stack = stack_t { ss_sp: memory.cast(), ss_flags: 0, ss_size: SMALL };
            libc::sigaltstack(&stack, ptr::null_mut());
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
        libc::sigaltstack(ptr::null(), now.as_mut_ptr());
        if now.assume_init().ss_sp == memory.cast() {
            let none = stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            libc::sigaltstack(&none, ptr::null_mut());
        }
        drop(Box::from_raw(ptr::slice_from_raw_parts_mut(memory.cast::<mem::MaybeUninit<u8>>(), SMALL)));
    }
}

extern "C" fn on_crash(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let me = sys::gettid();
    match CRASHED.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            SIGNAL.store(signal, Ordering::Release);
            let top = LARGE_STACK.load(Ordering::Acquire).wrapping_add(LARGE);
            // SAFETY: the stack is large, and this thread is the only one to use it.
            unsafe { on_stack(top, sum_up) };
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

/// Calls `act` on another stack.
///
/// # Safety
/// `top` is the upper end of a stack that nobody uses, aligned to 16.
#[unsafe(naked)]
unsafe extern "C" fn on_stack(top: *mut u8, act: extern "C" fn()) {
    naked_asm!("push rbp", "mov rbp, rsp", "mov rsp, rdi", "call rsi", "mov rsp, rbp", "pop rbp", "ret")
}

extern "C" fn sum_up() {
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

/// The place of a signal that means a crash.
fn crash(signal: c_int) -> Option<usize> {
    CRASHES.iter().position(|&crash| crash == signal)
}

/// Installs the program's action for a crash, and gives what it believed was there.
fn replace(place: usize, new: Option<&Action>) -> Result<Action, c_int> {
    let signal = CRASHES[place];
    // A handler that interrupts this must not come back here.
    let _quiet = Quiet::new();
    let mut believed = BELIEVED.lock();
    let old = match believed[place] {
        Some(action) => action,
        None => {
            let mut now = no_action();
            // SAFETY: valid arguments.
            unsafe { real::sigaction(signal, ptr::null(), &mut now) };
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_crash;
            if now.sa_sigaction == handler as usize { no_action() } else { now }
        }
    };
    if let Some(new) = new {
        let result = if new.sa_sigaction == libc::SIG_DFL {
            install(signal)
        } else {
            // SAFETY: the program's action.
            unsafe { real::sigaction(signal, new, ptr::null_mut()) }
        };
        if result != 0 {
            return Err(result);
        }
        believed[place] = Some(*new);
    }
    Ok(old)
}

/// No signals as long as it lives.
struct Quiet(libc::sigset_t);

impl Quiet {
    fn new() -> Quiet {
        // SAFETY: valid arguments.
        unsafe {
            let (mut all, mut old) = (mem::zeroed(), mem::zeroed());
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
            Quiet(old)
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: valid arguments.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, ptr::null_mut()) };
    }
}

/// In front of `sigaction`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        let Some(place) = crash(signal) else { return real::sigaction(signal, new, old) };
        let new = new.as_ref().copied();
        match replace(place, new.as_ref()) {
            Ok(before) => {
                if let Some(old) = old.as_mut() {
                    *old = before;
                }
                0
            }
            Err(result) => result,
        }
    }
}

/// In front of `signal`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_signal(signal: c_int, handler: usize) -> usize {
    match crash(signal) {
        Some(place) => handle(place, handler, libc::SA_RESTART),
        // SAFETY: the caller's arguments.
        None => unsafe { real::signal(signal, handler) },
    }
}

/// In front of `__sysv_signal`, which is `signal` for programs that ask for strict standards.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose___sysv_signal(signal: c_int, handler: usize) -> usize {
    match crash(signal) {
        Some(place) => handle(place, handler, libc::SA_RESETHAND | libc::SA_NODEFER),
        // SAFETY: the caller's arguments.
        None => unsafe { real::__sysv_signal(signal, handler) },
    }
}

fn handle(place: usize, handler: usize, flags: c_int) -> usize {
    let new = Action { sa_sigaction: handler, sa_flags: flags, ..no_action() };
    replace(place, Some(&new)).map_or(libc::SIG_ERR, |old| old.sa_sigaction)
}
