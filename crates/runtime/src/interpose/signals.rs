//! Signals: handlers of the program never run in the middle of the runtime.
//!
//! A signal that comes while its thread is inside the runtime is sent once more and blocked until the thread leaves
//! (`Thread::leave`). So a handler may use atomics and semaphores, and jump out (`siglongjmp`), and finds everything whole.
//! Faults can't wait: their handlers run at once, wherever they happen. A thread that blocks isn't inside the runtime.
//!
//! To this end a handler of ours stands in front of each of the program's. The program sees its own when it asks.

use super::crash;
use crate::control::pending;
use crate::{sys, thread};
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use libc::{sigaction as Action, siginfo_t, sigset_t, ucontext_t};

real! {
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
    fn signal(signal: c_int, handler: usize) -> usize;
    fn __sysv_signal(signal: c_int, handler: usize) -> usize;
}

/// Signals are numbered from 1 to 64.
const SIGNALS: usize = 65;

/// What the program believes is installed. Null: what was there when it started. Never freed: a handler may be using it.
static BELIEVED: [AtomicPtr<Action>; SIGNALS] = [const { AtomicPtr::new(ptr::null_mut()) }; SIGNALS];

thread_local! {
    /// The signals that wait for this thread to leave the runtime, one bit each, as the kernel has it.
    static LATER: Cell<u64> = const { Cell::new(0) };
}

/// The default action.
pub(super) fn no_action() -> Action {
    // SAFETY: all zero is the default action.
    unsafe { mem::zeroed() }
}

/// What the kernel is told in place of the program's action.
fn in_front_of(signal: c_int, action: &Action) -> Action {
    match action.sa_sigaction {
        libc::SIG_IGN => *action,
        libc::SIG_DFL => crash::action(signal).unwrap_or(*action),
        _ => {
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_signal;
            Action { sa_sigaction: handler as usize, sa_flags: action.sa_flags | libc::SA_SIGINFO, ..*action }
        }
    }
}

/// Installs the program's action, and gives what it believed was there.
fn replace(signal: c_int, new: Option<&Action>) -> Result<Action, c_int> {
    let Some(believed) = BELIEVED.get(signal as usize).filter(|_| signal > 0) else {
        return Err(libc::EINVAL);
    };
    let mut there = no_action();
    let kernel = new.map(|new| in_front_of(signal, new));
    let kernel = kernel.as_ref().map_or(ptr::null(), ptr::from_ref);
    let noted = new.map_or(ptr::null_mut(), |new| note(believed, new));
    // What the program believes is changed first: a handler that comes right after looks there.
    let old =
        if new.is_some() { believed.swap(noted, Ordering::AcqRel) } else { believed.load(Ordering::Acquire) };
    // SAFETY: our handler fits its flags; the rest is the program's.
    if unsafe { real::sigaction(signal, kernel, &mut there) } != 0 {
        if new.is_some() {
            believed.store(old, Ordering::Release);
        }
        return Err(errno());
    }
    // SAFETY: never freed.
    Ok(match unsafe { old.as_ref() } {
        Some(old) => *old,
        None if crash::action(signal).is_some_and(|ours| ours.sa_sigaction == there.sa_sigaction) => {
            no_action()
        }
        None => there,
    })
}

/// A copy that stays; programs that install the same again and again need one.
fn note(believed: &AtomicPtr<Action>, new: &Action) -> *mut Action {
    let same = |old: &&mut Action| {
        // SAFETY: a set of signals is made of plain numbers.
        let words = |set: &sigset_t| unsafe { mem::transmute::<sigset_t, [u64; 16]>(*set) };
        old.sa_sigaction == new.sa_sigaction
            && old.sa_flags == new.sa_flags
            && words(&old.sa_mask) == words(&new.sa_mask)
    };
    // SAFETY: never freed, never changed.
    let old = unsafe { believed.load(Ordering::Acquire).as_mut() };
    old.filter(same).map_or_else(|| Box::into_raw(Box::new(*new)), ptr::from_mut)
}

fn errno() -> c_int {
    // SAFETY: always there.
    unsafe { *libc::__errno_location() }
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: given by the kernel.
    unsafe {
        let fault = crash::action(signal).is_some() && (*info).si_code > 0;
        if !fault && thread::is_inside() {
            wait(signal, info, context.cast());
        } else {
            handle(signal, info, context);
        }
    }
}

/// The same signal will come again, when the thread leaves the runtime.
///
/// # Safety
/// With what the kernel gave.
unsafe fn wait(signal: c_int, info: *mut siginfo_t, context: *mut ucontext_t) {
    let bit = 1u64 << (signal - 1);
    block(libc::SIG_BLOCK, bit);
    // SAFETY: the kernel only reads `info`; the context is what it goes on with.
    unsafe {
        let to = [sys::getpid() as usize, sys::gettid() as usize, signal as usize, info as usize, 0, 0];
        let _ = sys::call(libc::SYS_rt_tgsigqueueinfo as usize, to);
        libc::sigaddset(&mut (*context).uc_sigmask, signal);
    }
    LATER.set(LATER.get() | bit);
    thread::interrupt();
}

/// Blocks or unblocks signals on this thread.
fn block(how: c_int, set: u64) {
    let args = [how as usize, &raw const set as usize, 0, size_of::<u64>(), 0, 0];
    // SAFETY: the kernel only reads the set.
    let _ = unsafe { sys::call(libc::SYS_rt_sigprocmask as usize, args) };
}

/// The thread has left the runtime: the signals that have waited may come.
#[cold]
pub fn deliver() {
    block(libc::SIG_UNBLOCK, LATER.replace(0));
}

/// Calls the program's handler.
///
/// # Safety
/// With what the kernel gave.
unsafe fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let believed = &BELIEVED[signal as usize % SIGNALS];
    // SAFETY: never freed.
    let Some(action) = (unsafe { believed.load(Ordering::Acquire).as_ref() }) else { return };
    if action.sa_flags & libc::SA_RESETHAND != 0 {
        let _ = replace(signal, Some(&no_action()));
    }
    let handler = action.sa_sigaction;
    if handler == libc::SIG_IGN || handler == libc::SIG_DFL {
        return; // just replaced
    }
    pending::handled();
    // SAFETY: the program's handler, called as its flags say.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            mem::transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(handler)(
                signal, info, context,
            );
        } else {
            mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal);
        }
    }
}

/// In front of `sigaction`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        let new = new.as_ref().copied();
        match replace(signal, new.as_ref()) {
            Ok(before) => {
                if let Some(old) = old.as_mut() {
                    *old = before;
                }
                0
            }
            Err(error) => {
                *libc::__errno_location() = error;
                -1
            }
        }
    }
}

/// `signal` in one of its forms.
fn set(signal: c_int, handler: usize, flags: c_int) -> usize {
    let new = Action { sa_sigaction: handler, sa_flags: flags, ..no_action() };
    match replace(signal, Some(&new)) {
        Ok(old) => old.sa_sigaction,
        Err(error) => {
            // SAFETY: always there.
            unsafe { *libc::__errno_location() = error };
            libc::SIG_ERR
        }
    }
}

/// In front of `signal`, `bsd_signal` and `ssignal`.
macro_rules! signal {
    ($($name:ident $flags:expr;)*) => {$(
        #[doc = "In front of the function of this name."]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(signal: c_int, handler: usize) -> usize {
            set(signal, handler, $flags)
        }
    )*};
}

signal! {
    __interpose_signal libc::SA_RESTART;
    __interpose_bsd_signal libc::SA_RESTART;
    __interpose_ssignal libc::SA_RESTART;
    __interpose_sysv_signal libc::SA_RESETHAND | libc::SA_NODEFER;
    __interpose___sysv_signal libc::SA_RESETHAND | libc::SA_NODEFER;
}
