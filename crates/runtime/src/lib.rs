//! The library that is linked into instrumented C, C++ and Rust programs (x86-64 Linux).
//!
//! The compilers' ThreadSanitizer instrumentation calls it at every access (`__tsan_*`), and it stands in front of
//! libc's threads, locks and memory. It executes the program's atomics one at a time per location (SC), and asks the
//! monitors of `seqcst-monitor`, before each access, whether it could be stale under RC20, and whether it races.

pub mod arena;
pub mod context;
pub mod journal;
pub mod options;
pub mod report;
pub mod spin;
pub mod suppress;
pub mod sys;
