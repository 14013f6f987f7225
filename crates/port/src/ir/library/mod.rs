//! Functions of libraries: what they do to memory, as far as that is known.
//!
//! What stands in no row of the tables may read and write everything that other threads can see, and orders nothing. Names stand
//! there one by one: a pattern would take in functions that programs call by such names themselves.
//!
//! * `libraries`: the libraries of C, C++ and Rust;
//! * `intrinsics`: LLVM's own.

mod intrinsics;
mod libraries;

use super::barrier;
use super::limits::{Limits, Reach};
use crate::program::Kind;
use seqcst_model::Mode;

/// What a function does to the memory of its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing.
    None,
    /// Nothing, and it does not return.
    Ends,
    /// It returns memory that has not escaped.
    Allocates,
    /// It returns memory that has not escaped, and has written there.
    AllocatesFilled,
    /// The same with what is in the memory that the first argument points at.
    Duplicates,
    /// The same, and that memory goes back: its use is an error from then on.
    Reallocates,
    /// It reads and writes what its arguments point at, and keeps no pointer.
    Arguments,
    /// It reads and writes what its arguments point at, and tells others what it has found there.
    Sends,
    /// One access to what the argument with this number points at.
    Access(usize, Kind, Mode),
    /// It copies: to the first argument from the second, as many bytes as the third says.
    Copies,
    /// It fills the first argument, as many bytes as the third says.
    Fills,
    /// It may call the argument with this number, without arguments.
    Calls(usize),
    /// It starts a thread: the number of the argument that is the function, and of the function's argument.
    Starts(usize, usize),
    /// It starts a thread with what its arguments from this number on point at. The function is somewhere in there.
    Launches(usize),
    /// It starts a thread with what the pointer points at that the argument with this number points at, and leaves null there.
    Takes(usize),
    /// It waits for a thread, and reads and writes what its arguments point at.
    Joins,
    /// It returns its first argument.
    Returns,
    /// Fences, and nothing else: [`barriers`](super::barrier::barriers) says which.
    Orders,
    /// It reads what its arguments point at, may write there if so, and may keep pointers in there.
    Behind {
        /// Whether it writes.
        writes: bool,
    },
    /// It reads anything, and writes nothing.
    Reads,
    /// Anything.
    Unknown,
}

impl Effect {
    /// What a function does of which only this is known.
    pub fn within(limits: Limits) -> Effect {
        match limits {
            Limits { reach: Reach::Nothing, .. } => Effect::None,
            Limits { reach: Reach::Arguments, writes } => Effect::Behind { writes },
            Limits { reach: Reach::Anything, writes: false } => Effect::Reads,
            Limits { reach: Reach::Anything, writes: true } => Effect::Unknown,
        }
    }

    /// Whether it may leave by an exception: known by attributes only, or not at all, or a thread that can't be had.
    pub fn may_throw(self) -> bool {
        let of_threads = matches!(self, Effect::Launches(_) | Effect::Takes(_) | Effect::Joins);
        of_threads
            || matches!(
                self,
                Effect::Unknown | Effect::Calls(_) | Effect::Ends | Effect::Reads | Effect::Behind { .. }
            )
    }

    /// Whether it starts a thread.
    pub fn starts(self) -> bool {
        matches!(self, Effect::Starts(..) | Effect::Launches(_) | Effect::Takes(_))
    }

    /// Whether it returns memory that has not escaped.
    pub fn allocates(self) -> bool {
        matches!(self, Effect::Allocates | Effect::AllocatesFilled | Effect::Duplicates | Effect::Reallocates)
    }
}

/// What a function does, by its name.
pub fn effect(name: &str) -> Effect {
    let table = if name.starts_with("llvm.") { intrinsics::TABLE } else { libraries::TABLE };
    let row = table.iter().find(|(names, _)| names.split_whitespace().any(|known| fits(known, name)));
    row.map_or(Effect::Unknown, |(_, effect)| *effect)
}

/// The argument that is a `FILE`, if there is one: the library locks what is behind it itself.
pub fn stream(name: &str) -> Option<usize> {
    let row =
        libraries::STREAMS.iter().find(|(names, _)| names.split_whitespace().any(|known| known == name));
    row.map(|(_, argument)| *argument)
}

/// Whether a function has its first argument called when the program ends.
pub fn at_exit(name: &str) -> bool {
    matches!(name, "atexit" | "at_quick_exit" | "on_exit" | "__cxa_atexit")
}

/// The argument that a function has called whenever a thread ends.
pub fn at_thread_end(name: &str) -> Option<usize> {
    match name {
        "pthread_key_create" | "tss_create" => Some(1),
        "__cxa_thread_atexit" | "__cxa_thread_atexit_impl" => Some(0),
        _ => fits("*3std3sys12thread_local*destructors*register", name).then_some(1),
    }
}

/// Whether a function has others called when a signal comes, in the middle of what a thread does.
pub fn on_signals(name: &str) -> bool {
    ["signal", "sigaction", "bsd_signal", "sysv_signal", "__sysv_signal", "sigset", "timer_create"]
        .contains(&name)
}

/// The argument that a function calls while it runs, and not later.
pub fn calls_meanwhile(name: &str) -> Option<usize> {
    match name {
        "lfind" | "lsearch" | "bsearch" => Some(4),
        "qsort" | "qsort_r" | "scandir" => Some(3),
        "tsearch" | "tfind" | "tdelete" | "__cxa_throw" => Some(2),
        "twalk" | "tdestroy" | "ftw" | "nftw" => Some(1),
        _ => None,
    }
}

/// Whether a function that is known here may have fences or locked instructions in it, besides the access that stands for it.
/// Streams and allocators may, too: nobody relies on the order that their locks give (the assumptions say so).
pub fn may_fence(name: &str) -> bool {
    let wakes = ["pthread_cond_signal", "pthread_cond_broadcast", "cnd_signal", "cnd_broadcast"];
    let others = ["syscall", "pthread_detach", "pthread_cancel", "thrd_detach"];
    effect(name).starts() || effect(name) == Effect::Joins || wakes.contains(&name) || others.contains(&name)
}

/// Whether a function only looks after a lock or the like: there are no pointers of the program in there.
pub fn keeps_locks(name: &str) -> bool {
    let locks = ["mutex", "cond", "rwlock", "spin", "barrier"];
    let of_threads = |rest: &str| locks.iter().any(|lock| rest.starts_with(lock));
    name.strip_prefix("pthread_").is_some_and(of_threads)
        || ["sem_", "mtx_", "cnd_"].iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a name fits a pattern, where `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Inline assembly: whether it can touch memory, by its constraints. Without any text it only keeps the compiler from moving
/// things. A fence that the compiler knows nothing of is no fence for the source, and none that could be left out: anything.
pub fn assembly_touches_memory(text: &str, constraints: &str) -> bool {
    if barrier::assembly(text, "~{memory}").is_some_and(|fences| !fences.is_empty()) {
        return true;
    }
    let says = constraints
        .split(',')
        .any(|part| part == "~{memory}" || part.starts_with("=*") || part.starts_with('*'));
    // What is locked goes to memory, also where the compiler isn't told.
    let locks = || text.split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case("lock"));
    (says && !text.trim().is_empty()) || locks()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert_eq!(effect("malloc"), Effect::Allocates);
        assert_eq!(effect("mallocx"), Effect::Unknown);
        assert_eq!(effect("llvm.memcpy.p0i8.p0i8.i64"), Effect::Copies);
        assert_eq!(effect("llvm.lifetime.start.p0"), Effect::None);
        assert_eq!(effect("llvm.aarch64.ldxr.p0"), Effect::Unknown);
        assert_eq!(effect("_RNvNtCsgEmfK2I1SDS_4core9panicking5panic"), Effect::Ends);
        assert_eq!(effect("_RNvCs123_7___rustc12___rust_alloc"), Effect::Allocates);
        assert_eq!(effect("_RNvNtNtCsgEmfK2I1SDS_4core5slice5index16slice_index_fail"), Effect::Ends);
        assert_eq!(effect("_RNvNtNtCsgEmfK2I1SDS_4core5slice5index3get"), Effect::Unknown);
        assert_eq!(effect("_RNvNtCsjrHSEGnQ3l9_3std7process5abort"), Effect::Ends);
        assert_eq!(effect("_RNvNtCsjrHSEGnQ3l9_3std7process5spawn"), Effect::Unknown);
        assert_eq!(effect("_RNvCs123_7___rustc14___rust_realloc"), Effect::Reallocates);
        assert_eq!(effect("pthread_barrier_init"), Effect::Arguments);
        assert_eq!(effect("do_something"), Effect::Unknown);
    }

    #[test]
    fn names_of_programs() {
        for known in ["memcmp", "strlen", "pthread_cond_signal", "sem_init", "_ZdlPvm", "llvm.umax.i32"] {
            assert_ne!(effect(known), Effect::Unknown, "{known}");
        }
        for own in ["memory_store", "stream_publish", "pthread_pool_push", "sem_ring", "mtx_post", "cnd_tell"]
        {
            assert_eq!(effect(own), Effect::Unknown, "{own}");
        }
        // Operators of the program: `*` and `/`, and `new` and `delete` with arguments of its own.
        for own in ["_ZdeR3Foo", "_ZdvR3FooS0_", "_ZnwmR5Arena", "_ZdlPvR5Arena"] {
            assert_eq!(effect(own), Effect::Unknown, "{own}");
        }
        // They keep what they get, or call it some time.
        for keeps in
            ["pthread_setspecific", "tss_set", "pthread_key_create", "atexit", "strtok", "qsort", "setvbuf"]
        {
            assert_eq!(effect(keeps), Effect::Unknown, "{keeps}");
        }
        assert_eq!(effect("pthread_once"), Effect::Calls(1));
        assert_eq!(stream("fputs"), Some(1));
        assert_eq!(stream("puts"), None);
    }

    #[test]
    fn intrinsics_that_are_not_known() {
        for unknown in ["llvm.vp.load.v2i32.p0", "llvm.x86.sse2.maskmov.dqu", "llvm.masked.new", "llvm.new"] {
            assert_eq!(effect(unknown), Effect::Unknown, "{unknown}");
        }
        for harmless in [
            "llvm.lifetime.end.p0i8",
            "llvm.assume",
            "llvm.expect.i64",
            "llvm.fabs.f64",
            "llvm.objectsize.i64.p0",
        ] {
            assert_eq!(effect(harmless), Effect::None, "{harmless}");
        }
    }

    #[test]
    fn assembly() {
        assert!(assembly_touches_memory("mfence", "~{memory},~{dirflag},~{fpsr}"));
        assert!(assembly_touches_memory("mfence", "~{dirflag},~{fpsr}"));
        assert!(!assembly_touches_memory("", "~{memory}"));
        assert!(assembly_touches_memory("mov", "=*m,r"));
        assert!(assembly_touches_memory("lock; incl ($0)", "r,~{dirflag},~{fpsr},~{flags}"));
        assert!(!assembly_touches_memory("pause", "~{dirflag},~{fpsr},~{flags}"));
    }
}
