//! `fork`: the child goes on with one thread, watched like its parent.
//!
//! libc runs our handlers last before the fork and first after it, so that no code of the program runs while the
//! runtime's locks are held.

use super::{barriers, exit, modules, threads};
use crate::spin::{Guard, Lock};
use crate::thread;
use core::array;
use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::ptr;

real! {
    fn fork() -> c_int;
    fn _Fork() -> c_int;
}

type Handler = extern "C" fn();

unsafe extern "C" {
    fn __register_atfork(before: Handler, parent: Handler, child: Handler, library: *mut c_void) -> c_int;
}

pub(super) fn start() {
    // SAFETY: the handlers live as long as the process.
    unsafe { __register_atfork(before, parent, child, ptr::null_mut()) };
}

/// Locks that are taken before a fork and given back after it, in both processes: what they protect is whole then.
pub struct Held<T: 'static, const N: usize> {
    locks: &'static [Lock<T>; N],
    guards: UnsafeCell<[Option<Guard<'static, T>>; N]>,
}

// SAFETY: `guards` is only used by the thread that forks, and only one does at a time: it holds the locks.
unsafe impl<T: Send, const N: usize> Sync for Held<T, N> {}

impl<T, const N: usize> Held<T, N> {
    /// For these locks.
    pub const fn new(locks: &'static [Lock<T>; N]) -> Held<T, N> {
        Held { locks, guards: UnsafeCell::new([const { None }; N]) }
    }
}

/// Something that is held around a fork.
pub trait Hold: Sync {
    /// Before.
    fn take(&self);
    /// After, in parent and child.
    fn give(&self);
}

impl<T: Send, const N: usize> Hold for Held<T, N> {
    fn take(&self) {
        for (i, lock) in self.locks.iter().enumerate() {
            let guard = lock.lock();
            // SAFETY: the lock is held.
            unsafe { (*self.guards.get())[i] = Some(guard) };
        }
    }

    fn give(&self) {
        for i in 0..N {
            // SAFETY: the lock is held.
            let guard = unsafe { (*self.guards.get())[i].take() };
            drop(guard);
        }
    }
}

/// What is held, in the order in which it is taken. None of these is ever taken while a later one is held.
static HELD: [&dyn Hold; 3] = [&LIVES, &BARRIERS, &MODULES];
static LIVES: Held<threads::Lives, { threads::SHARDS }> = Held::new(&threads::LIVES);
static BARRIERS: Held<Vec<barriers::Phases>, 1> = Held::new(array::from_ref(&barriers::BARRIERS));
static MODULES: Held<modules::Known, 1> = Held::new(array::from_ref(&modules::KNOWN));

extern "C" fn before() {
    HELD.iter().for_each(|held| held.take());
}

extern "C" fn parent() {
    HELD.iter().rev().for_each(|held| held.give());
}

extern "C" fn child() {
    parent();
    threads::fork_child();
    exit::fork_child();
    crate::report::fork_child();
    thread::fork_child();
}

/// In front of `vfork`: the child of a real one would use this process's memory, and its `_exit` would sum up here.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_vfork() -> c_int {
    // SAFETY: a child that may do little may do it in a memory of its own.
    unsafe { real::fork() }
}

/// In front of `_Fork`, which runs no handlers.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose__Fork() -> c_int {
    before();
    // SAFETY: no handlers of the program run in between.
    let process = unsafe { real::_Fork() };
    if process == 0 {
        child()
    } else {
        parent()
    }
    process
}
