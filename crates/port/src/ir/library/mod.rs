//! Functions of libraries: what they do to memory, as far as that is known.
//!
//! What stands in no row here may read and write everything that other threads can see, and orders nothing.

use super::barrier;
use super::limits::{Limits, Reach};
use crate::program::{Kind, Order};

/// What a function does to the memory of its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing.
    None,
    /// Nothing, and it does not return.
    Ends,
    /// It returns memory that nobody else knows.
    Allocates,
    /// It returns memory that nobody else knows, and has written there.
    AllocatesFilled,
    /// The same with what was in the memory that the first argument points at.
    Reallocates,
    /// It reads and writes what its arguments point at, and keeps no pointer.
    Arguments,
    /// One access to what the argument with this number points at.
    Access(usize, Kind, Order),
    /// It copies: to the first argument from the second, as many bytes as the third says.
    Copies,
    /// It fills the first argument, as many bytes as the third says.
    Fills,
    /// It starts a thread: the number of the argument that is the function, and of the function's argument.
    Starts(usize, usize),
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

    /// Whether it is known by attributes only, or not at all, and may leave by an exception.
    pub fn may_throw(self) -> bool {
        matches!(self, Effect::Unknown | Effect::Ends | Effect::Reads | Effect::Behind { .. })
    }

    /// Whether it returns memory that nobody else knows.
    pub fn allocates(self) -> bool {
        matches!(self, Effect::Allocates | Effect::AllocatesFilled | Effect::Reallocates)
    }
}

/// Names, and what they do. A name with `*` stands for all that begin so.
const TABLE: &[(&str, Effect)] = &[
    // LLVM's own.
    ("llvm.memcpy.*", Effect::Copies),
    ("llvm.memmove.*", Effect::Copies),
    ("llvm.memset.*", Effect::Fills),
    ("llvm.threadlocal.address.*", Effect::Returns),
    ("llvm.launder.invariant.group.*", Effect::Returns),
    ("llvm.strip.invariant.group.*", Effect::Returns),
    ("llvm.ptr.annotation.*", Effect::Returns),
    ("llvm.masked.*", Effect::Arguments),
    ("llvm.va_*", Effect::Arguments),
    // Fences are looked at before this table: what is left of them is unknown.
    ("llvm.x86.sse*", Effect::None),
    ("llvm.x86.*", Effect::Unknown),
    ("llvm.aarch64.*", Effect::Unknown),
    ("llvm.arm.*", Effect::Unknown),
    ("llvm.trap", Effect::Ends),
    ("llvm.*", Effect::None),
    // Memory of its own.
    ("malloc", Effect::Allocates),
    ("calloc", Effect::AllocatesFilled),
    ("aligned_alloc", Effect::Allocates),
    ("memalign", Effect::Allocates),
    ("strdup", Effect::AllocatesFilled),
    ("_Znwm*", Effect::Allocates),
    ("_Znam*", Effect::Allocates),
    ("_Znwj*", Effect::Allocates),
    ("_Znaj*", Effect::Allocates),
    ("__rust_alloc", Effect::Allocates),
    ("__rust_alloc_zeroed", Effect::AllocatesFilled),
    ("__rust_realloc", Effect::Reallocates),
    ("realloc", Effect::Reallocates),
    ("free", Effect::None),
    ("_Zd*", Effect::None),
    ("__rust_dealloc", Effect::None),
    ("__rust_no_alloc_shim_is_unstable*", Effect::None),
    // The end.
    ("abort", Effect::Ends),
    ("exit", Effect::Ends),
    ("_Exit", Effect::Ends),
    ("_exit", Effect::Ends),
    ("__assert_fail", Effect::Ends),
    ("__stack_chk_fail", Effect::Ends),
    ("_ZSt9terminatev", Effect::Ends),
    ("_ZSt*__throw_*", Effect::Ends),
    // Threads.
    ("pthread_create", Effect::Starts(2, 3)),
    ("thrd_create", Effect::Starts(1, 2)),
    ("pthread_join", Effect::None),
    ("thrd_join", Effect::None),
    ("pthread_exit", Effect::Ends),
    ("pthread_self", Effect::None),
    ("pthread_detach", Effect::None),
    ("sched_yield", Effect::None),
    ("thrd_yield", Effect::None),
    ("usleep", Effect::None),
    ("sleep", Effect::None),
    ("nanosleep", Effect::Arguments),
    // Locks: glibc takes them with an acquire read-modify-write and gives them back with a release one.
    ("pthread_mutex_lock", Effect::Access(0, Kind::Rmw, Order::Acquire)),
    ("pthread_mutex_trylock", Effect::Access(0, Kind::Cas, Order::Acquire)),
    ("pthread_mutex_timedlock", Effect::Access(0, Kind::Cas, Order::Acquire)),
    ("pthread_mutex_unlock", Effect::Access(0, Kind::Rmw, Order::Release)),
    ("mtx_lock", Effect::Access(0, Kind::Rmw, Order::Acquire)),
    ("mtx_trylock", Effect::Access(0, Kind::Cas, Order::Acquire)),
    ("mtx_unlock", Effect::Access(0, Kind::Rmw, Order::Release)),
    ("pthread_rwlock_rdlock", Effect::Access(0, Kind::Rmw, Order::Acquire)),
    ("pthread_rwlock_wrlock", Effect::Access(0, Kind::Rmw, Order::Acquire)),
    ("pthread_rwlock_try*", Effect::Access(0, Kind::Cas, Order::Acquire)),
    ("pthread_rwlock_unlock", Effect::Access(0, Kind::Rmw, Order::Release)),
    ("pthread_spin_lock", Effect::Access(0, Kind::Rmw, Order::Acquire)),
    ("pthread_spin_trylock", Effect::Access(0, Kind::Cas, Order::Acquire)),
    ("pthread_spin_unlock", Effect::Access(0, Kind::Store, Order::Release)),
    ("sem_wait", Effect::Access(0, Kind::Rmw, Order::Acquire)),
    ("sem_trywait", Effect::Access(0, Kind::Cas, Order::Acquire)),
    ("sem_post", Effect::Access(0, Kind::Rmw, Order::Release)),
    ("pthread_barrier_wait", Effect::Access(0, Kind::Rmw, Order::AcqRel)),
    ("pthread_cond_wait", Effect::Access(1, Kind::Rmw, Order::AcqRel)),
    ("pthread_cond_timedwait", Effect::Access(1, Kind::Rmw, Order::AcqRel)),
    ("pthread_*", Effect::Arguments),
    ("sem_*", Effect::Arguments),
    ("mtx_*", Effect::Arguments),
    ("cnd_*", Effect::Arguments),
    // What the C library does with its arguments.
    ("mem*", Effect::Arguments),
    ("str*", Effect::Arguments),
    ("printf", Effect::Arguments),
    ("fprintf", Effect::Arguments),
    ("sprintf", Effect::Arguments),
    ("snprintf", Effect::Arguments),
    ("vfprintf", Effect::Arguments),
    ("puts", Effect::Arguments),
    ("fputs", Effect::Arguments),
    ("putchar", Effect::None),
    ("fputc", Effect::Arguments),
    ("fwrite", Effect::Arguments),
    ("fflush", Effect::Arguments),
    ("perror", Effect::Arguments),
    ("write", Effect::Arguments),
    ("read", Effect::Arguments),
    ("syscall", Effect::Arguments),
    ("clock_gettime", Effect::Arguments),
    ("gettimeofday", Effect::Arguments),
    ("timespec_get", Effect::Arguments),
    ("time", Effect::Arguments),
    ("rand", Effect::None),
    ("random", Effect::None),
    ("atoi", Effect::Arguments),
    ("getenv", Effect::Arguments),
    ("__errno_location", Effect::Allocates),
    ("__cxa_begin_catch", Effect::None),
    ("__cxa_end_catch", Effect::None),
    ("__gxx_personality_v0", Effect::None),
    // Rust's library: waiting, and what it does when a program fails.
    ("*3std6thread*9yield_now", Effect::None),
    ("*3std6thread*5sleep", Effect::None),
    ("*3std3sys12thread_local*destructors*register", Effect::None),
    ("*3std7process5abort", Effect::Ends),
    ("*4core9panicking*", Effect::Ends),
    ("*4core5slice5index*_fail*", Effect::Ends),
    ("*4core6option13*failed*", Effect::Ends),
    ("*4core6result13unwrap_failed*", Effect::Ends),
    ("*5alloc5alloc18handle_alloc_error*", Effect::Ends),
    ("*5alloc7raw_vec*handle_error*", Effect::Ends),
    ("*7___rustc12___rust_alloc", Effect::Allocates),
    ("*7___rustc19___rust_alloc_zeroed", Effect::AllocatesFilled),
    ("*7___rustc14___rust_dealloc", Effect::None),
    ("*7___rustc14___rust_realloc", Effect::Reallocates),
    ("*7___rustc*___rust_no_alloc_shim_is_unstable*", Effect::None),
];

/// What a function does, by its name.
pub fn effect(name: &str) -> Effect {
    TABLE.iter().find(|(pattern, _)| fits(pattern, name)).map_or(Effect::Unknown, |(_, effect)| *effect)
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
    says && !text.trim().is_empty()
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
    fn assembly() {
        assert!(assembly_touches_memory("mfence", "~{memory},~{dirflag},~{fpsr}"));
        assert!(assembly_touches_memory("mfence", "~{dirflag},~{fpsr}"));
        assert!(!assembly_touches_memory("", "~{memory}"));
        assert!(assembly_touches_memory("mov", "=*m,r"));
        assert!(!assembly_touches_memory("pause", "~{dirflag},~{fpsr},~{flags}"));
    }
}
