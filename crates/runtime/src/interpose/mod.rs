//! What stands in front of libc: threads, locks, memory, strings, the ends of a process.
//!
//! A function that stands in front of libc's `X` is called `__interpose_X` here and renamed when the runtime object is
//! made, so that tests interpose nothing. It tells the monitors what they must know and calls the real one.
//! Acquiring comes after the real call, releasing before it.
//!
//! | about | where |
//! |---|---|
//! | threads that begin and end | [`threads`], [`cancel`] |
//! | locks and meeting points | [`mutexes`], [`rwlocks`], [`conditions`], [`barriers`], [`semaphores`], [`once`], [`guards`], [`unwinding`]; how they end: `objects` |
//! | the kernel as a messenger: pipes, sockets, signals; fences in all threads | [`kernel`], [`membarrier`] |
//! | Rust's std, which is not instrumented | [`rust_std`], [`stubs`], [`opaque`] |
//! | C++ exceptions | [`exceptions`] |
//! | memory | [`heap`], [`memory`], [`strings`], [`modules`] |
//! | how processes begin, end and multiply | [`begin`], [`exit`], [`abort`], [`crash`], [`signals`], [`fork`], [`exec`] |
//! | what differs from run to run: time, randomness, numbers of processes; system calls | [`time`], [`chance`], [`identity`], [`syscalls`]; what libc changes out of sight, stacks within stacks: [`passed`] |
//! | what people may say about their program (`seqcst.h`; what race detectors are told) | [`annotations`], [`claims`] |
//!
//! Under `seqcst explore` nobody waits in libc or in the kernel: who would have to wait gets no turn ([`crate::control`]).
//!
//! What needs nothing: `dlopen` (its result depends on who calls
//! it; [`modules`] notices new libraries by themselves), `longjmp` (call stacks mend themselves by the stack pointer),
//! `posix_spawn`, `system`, `popen` (another program).

#[macro_use]
mod real;
#[macro_use]
mod caller;

pub mod abort;
pub mod annotations;
pub mod barriers;
pub mod begin;
pub mod cancel;
pub mod chance;
pub mod claims;
pub mod conditions;
pub mod crash;
pub mod exceptions;
pub mod exec;
pub mod exit;
pub mod fork;
pub mod guards;
pub mod heap;
pub mod identity;
pub mod kernel;
pub mod membarrier;
pub mod memory;
pub mod modules;
pub mod mutexes;
mod objects;
pub mod once;
pub mod opaque;
pub mod passed;
pub mod rust_std;
pub mod rwlocks;
pub mod semaphores;
pub mod signals;
pub mod strings;
pub mod stubs;
pub mod syscalls;
pub mod threads;
pub mod time;
pub mod unwinding;

/// Called once, when the runtime is ready: finds the real functions, and arranges to be told of ends and forks.
pub fn start() {
    let all = [
        abort::look_up,
        barriers::look_up,
        cancel::look_up,
        begin::look_up,
        chance::look_up,
        conditions::look_up,
        crash::look_up,
        exit::look_up,
        exceptions::look_up,
        exec::look_up,
        fork::look_up,
        identity::look_up,
        kernel::look_up,
        heap::look_up,
        memory::look_up,
        modules::look_up,
        mutexes::look_up,
        once::look_up,
        passed::look_up,
        rwlocks::look_up,
        semaphores::look_up,
        signals::look_up,
        strings::look_up,
        syscalls::look_up,
        threads::look_up,
        time::look_up,
    ];
    for look_up in all {
        look_up();
    }
    crate::control::clock::is_logical(); // known from now on, in signal handlers too
    threads::start();
    heap::start();
    exit::start();
    fork::start();
    crash::start();
    modules::refresh();
}

use crate::sync::{self, Side};
use caller::Caller;
use core::ffi::c_int;

/// The thread that calls has acquired an object.
fn acquire<T>(object: *const T, side: Side, caller: Caller) {
    sync::acquire(object as usize, side, caller.pc());
}

/// The thread that calls is about to release an object.
fn release<T>(object: *const T, side: Side, caller: Caller) {
    sync::release(object as usize, side, caller.pc());
}

/// What the real call came to, after acquiring the object if it was taken. Its last owner may have died with it.
fn acquired<T>(result: c_int, object: *const T, side: Side, caller: Caller) -> c_int {
    if result == 0 || result == libc::EOWNERDEAD {
        acquire(object, side, caller);
    }
    if result == libc::EOWNERDEAD {
        acquire(&raw const threads::DEAD_OWNERS, Side::Loose, caller);
    }
    result
}

/// What the real call came to, after forgetting the object if it was made or destroyed.
fn renewed<T>(result: c_int, object: *const T) -> c_int {
    if result == 0 {
        sync::forget(object as usize);
    }
    result
}
