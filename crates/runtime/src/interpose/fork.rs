//! `fork`: the child goes on with one thread, watched like its parent.
//!
//! libc runs our handlers last before the fork and first after it, so that no code of the program runs while the
//! runtime's locks are held.

use super::{barriers, exit, modules, threads};
use crate::abi::libatomic;
use crate::held::{Held, Hold};
use crate::{atomics, blocks, chunks, control, places, report, sync, thread};
use core::array;
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

/// The runtime's locks, in the order in which they are taken: none is ever waited for by the holder of a later one.
fn locks() -> [&'static dyn Hold; 9] {
    static RECORDS: Held<threads::ThreadRecords, { threads::SHARDS }> = Held::new(&threads::RECORDS);
    static BARRIERS: Held<Vec<barriers::Phases>, 1> = Held::new(array::from_ref(&barriers::BARRIERS));
    static MODULES: Held<modules::Known, 1> = Held::new(array::from_ref(&modules::KNOWN));
    [
        &RECORDS,
        &BARRIERS,
        &MODULES,
        libatomic::held(),
        thread::held(),
        sync::held(),
        atomics::held(),
        blocks::held(),
        chunks::held(),
    ]
}

extern "C" fn before() {
    threads::tid();
    locks().iter().for_each(|lock| lock.take());
}

extern "C" fn parent() {
    locks().iter().for_each(|lock| lock.give());
}

extern "C" fn child() {
    locks().iter().for_each(|lock| lock.renew());
    places::fork_child();
    threads::fork_child();
    exit::fork_child();
    report::fork_child();
    thread::fork_child();
    control::server::fork_child();
}

/// Copies this process, of which there is one thread, outside of the runtime: no lock is held, and nothing that was
/// found so far is to be told twice.
pub fn copy() -> c_int {
    threads::tid();
    // SAFETY: libc knows of the copy, and no handlers of the program run.
    let process = unsafe { real::_Fork() };
    if process == 0 {
        threads::fork_child();
    }
    process
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
