//! The library that is linked into instrumented C, C++ and Rust programs (x86-64 Linux).
//!
//! The compilers' ThreadSanitizer instrumentation calls it at every access (`__tsan_*`), and it stands in front of
//! libc's threads, locks and memory. It executes the program's atomics one at a time per location (SC), and asks the
//! monitors of `seqcst-monitor`, before each access, whether it could be stale under RC11, and whether it races.
//!
//! From the outside in:
//! * [`abi`]: what compilers call; [`interpose`]: what stands in front of libc;
//! * [`atomics`], [`plain`], [`sync`], [`memory`]: what happens then: one function per kind of event;
//! * [`thread`], [`places`], [`shadow`], [`chunks`], [`blocks`]: what is known about threads, atomic locations and memory;
//! * [`waits`]: which stale reads only make a thread wait; [`journal`]: what threads did lately, to explain reports;
//! * [`control`]: whose turn it is, under `seqcst explore`;
//! * [`context`]: where in the program; [`report`], [`suppress`], [`options`]: what people see and say;
//! * [`arena`], [`spin`], [`sys`]: memory, locks and system calls that don't depend on libc.

pub mod abi;
pub mod arena;
pub mod atomics;
pub mod blocks;
pub mod chunks;
pub mod context;
pub mod control;
pub mod held;
pub mod interpose;
pub mod journal;
pub mod memory;
pub mod options;
pub mod places;
pub mod plain;
pub mod report;
pub mod shadow;
pub mod spin;
pub mod suppress;
pub mod sync;
pub mod sys;
pub mod thread;
pub mod waits;

use core::sync::atomic::{AtomicU32, Ordering};
use spin::Lock;

/// The version, which also marks a program as instrumented.
#[unsafe(no_mangle)]
pub static seqcst_runtime_version: AtomicU32 = AtomicU32::new(1);

/// Makes the runtime ready, once. Whoever comes first calls it; it works before libc does.
pub fn start() {
    static READY: AtomicU32 = AtomicU32::new(0);
    static STARTING: Lock<()> = Lock::new(());
    if READY.load(Ordering::Acquire) == 1 {
        return;
    }
    let _starting = STARTING.lock();
    if READY.load(Ordering::Acquire) == 0 {
        chunks::init();
        READY.store(1, Ordering::Release);
        if cfg!(feature = "object") {
            report::start();
            interpose::start();
        }
    }
}
