//! The libraries of C, C++ and Rust.

use super::Effect;
use crate::program::Kind;
use seqcst_model::Mode;

const fn takes(argument: usize) -> Effect {
    Effect::Access(argument, Kind::Rmw, Mode::Acquire)
}

const fn tries(argument: usize) -> Effect {
    Effect::Access(argument, Kind::Cas, Mode::Acquire)
}

const fn gives(argument: usize) -> Effect {
    Effect::Access(argument, Kind::Rmw, Mode::Release)
}

const fn both(argument: usize) -> Effect {
    Effect::Access(argument, Kind::Rmw, Mode::AcqRel)
}

/// Names and what they do. `*` stands for anything, and is for names that are mangled.
pub const TABLE: &[(&str, Effect)] = &[
    // Memory of its own.
    ("malloc aligned_alloc memalign valloc", Effect::Allocates),
    ("calloc", Effect::AllocatesFilled),
    ("strdup strndup", Effect::Duplicates),
    ("realloc", Effect::Reallocates),
    ("free cfree", Effect::None),
    ("_Znwm _Znwj _ZnwmRKSt9nothrow_t _ZnwjRKSt9nothrow_t", Effect::Allocates),
    ("_Znam _Znaj _ZnamRKSt9nothrow_t _ZnajRKSt9nothrow_t", Effect::Allocates),
    ("_ZnwmSt11align_val_t _ZnwmSt11align_val_tRKSt9nothrow_t", Effect::Allocates),
    ("_ZnamSt11align_val_t _ZnamSt11align_val_tRKSt9nothrow_t", Effect::Allocates),
    (
        "_ZdlPv _ZdlPvm _ZdlPvj _ZdlPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdlPvRKSt9nothrow_t",
        Effect::None,
    ),
    (
        "_ZdaPv _ZdaPvm _ZdaPvj _ZdaPvSt11align_val_t _ZdaPvmSt11align_val_t _ZdaPvRKSt9nothrow_t",
        Effect::None,
    ),
    ("__rust_alloc", Effect::Allocates),
    ("__rust_alloc_zeroed", Effect::AllocatesFilled),
    ("__rust_realloc", Effect::Reallocates),
    ("__rust_dealloc __rust_no_alloc_shim_is_unstable*", Effect::None),
    // The end.
    ("abort exit _Exit _exit __assert_fail __stack_chk_fail", Effect::Ends),
    ("_ZSt9terminatev _ZSt*__throw_*", Effect::Ends),
    // Threads.
    ("pthread_create", Effect::Starts(2, 3)),
    ("thrd_create", Effect::Starts(1, 2)),
    ("_ZNSt6thread15_M_start_thread*", Effect::Takes(1)),
    ("*3std3sys*6Thread3new*", Effect::Launches(1)),
    ("pthread_join thrd_join _ZNSt6thread4joinEv *3std3sys*6Thread4join*", Effect::Joins),
    ("pthread_exit thrd_exit", Effect::Ends),
    ("pthread_detach pthread_self pthread_equal pthread_cancel pthread_testcancel", Effect::None),
    ("thrd_detach thrd_current thrd_equal thrd_yield", Effect::None),
    ("pthread_setcancelstate pthread_setcanceltype pthread_setname_np pthread_getname_np", Effect::Arguments),
    (
        "pthread_setaffinity_np pthread_getaffinity_np pthread_setschedparam pthread_getschedparam",
        Effect::Arguments,
    ),
    ("pthread_sigmask pthread_getcpuclockid thrd_sleep nanosleep clock_nanosleep", Effect::Arguments),
    (
        "pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate pthread_attr_getdetachstate",
        Effect::Arguments,
    ),
    ("pthread_attr_setstacksize pthread_attr_getstacksize pthread_attr_setguardsize", Effect::Arguments),
    ("pthread_attr_setscope pthread_attr_setschedpolicy pthread_attr_setschedparam", Effect::Arguments),
    ("pthread_attr_setinheritsched pthread_attr_setaffinity_np pthread_getattr_np", Effect::Arguments),
    ("sched_yield usleep sleep", Effect::None),
    // What others have kept has escaped where it was passed to them.
    ("pthread_getspecific pthread_key_delete tss_get tss_delete", Effect::None),
    ("pthread_once call_once", Effect::Calls(1)),
    // Locks: glibc takes them with an acquire read-modify-write and gives them back with a release one.
    ("pthread_mutex_lock mtx_lock pthread_spin_lock sem_wait", takes(0)),
    ("pthread_rwlock_rdlock pthread_rwlock_wrlock", takes(0)),
    ("pthread_mutex_trylock pthread_mutex_timedlock pthread_mutex_clocklock", tries(0)),
    ("mtx_trylock mtx_timedlock pthread_spin_trylock sem_trywait sem_timedwait sem_clockwait", tries(0)),
    ("pthread_rwlock_tryrdlock pthread_rwlock_trywrlock", tries(0)),
    ("pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock", tries(0)),
    ("pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock", tries(0)),
    ("pthread_mutex_unlock mtx_unlock pthread_rwlock_unlock sem_post", gives(0)),
    ("pthread_spin_unlock", Effect::Access(0, Kind::Store, Mode::Release)),
    ("pthread_barrier_wait", both(0)),
    ("pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait cnd_wait cnd_timedwait", both(1)),
    ("pthread_cond_signal pthread_cond_broadcast cnd_signal cnd_broadcast sem_getvalue", Effect::Arguments),
    (
        "pthread_mutex_init pthread_mutex_destroy pthread_mutex_consistent mtx_init mtx_destroy",
        Effect::Arguments,
    ),
    ("pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_settype", Effect::Arguments),
    (
        "pthread_mutexattr_setpshared pthread_mutexattr_setprotocol pthread_mutexattr_setrobust",
        Effect::Arguments,
    ),
    ("pthread_cond_init pthread_cond_destroy cnd_init cnd_destroy", Effect::Arguments),
    ("pthread_condattr_init pthread_condattr_destroy pthread_condattr_setclock", Effect::Arguments),
    ("pthread_condattr_setpshared", Effect::Arguments),
    ("pthread_rwlock_init pthread_rwlock_destroy", Effect::Arguments),
    ("pthread_rwlockattr_init pthread_rwlockattr_destroy pthread_rwlockattr_setpshared", Effect::Arguments),
    ("pthread_spin_init pthread_spin_destroy", Effect::Arguments),
    ("pthread_barrier_init pthread_barrier_destroy", Effect::Arguments),
    (
        "pthread_barrierattr_init pthread_barrierattr_destroy pthread_barrierattr_setpshared",
        Effect::Arguments,
    ),
    ("sem_init sem_destroy sem_close sem_unlink", Effect::Arguments),
    // What the C library does with its arguments. What is returned may point into one of them.
    ("memcmp memchr memrchr memmem memset bzero bcmp explicit_bzero", Effect::Arguments),
    ("strlen strnlen strcmp strncmp strcasecmp strncasecmp strcoll strxfrm", Effect::Arguments),
    ("strchr strrchr strchrnul strstr strcasestr strpbrk strspn strcspn", Effect::Arguments),
    ("strcpy strncpy stpcpy stpncpy strcat strncat strlcpy strlcat strerror strerror_r", Effect::Arguments),
    // There may be addresses in what they copy, and these put one there.
    ("memcpy memmove mempcpy memccpy bcopy", Effect::Behind { writes: true }),
    (
        "strtol strtoul strtoll strtoull strtod strtof strtold strtok_r strsep",
        Effect::Behind { writes: true },
    ),
    ("printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf", Effect::Arguments),
    ("puts fputs fputc putc fread fgets fgetc getc fflush ferror feof perror", Effect::Arguments),
    ("putchar getchar", Effect::None),
    // Whoever reads what is written here may find addresses in it.
    ("write fwrite syscall", Effect::Sends),
    ("read clock_gettime gettimeofday timespec_get time getenv atoi atol atoll atof", Effect::Arguments),
    ("rand random", Effect::None),
    ("__errno_location", Effect::Allocates),
    ("__cxa_begin_catch __cxa_end_catch __gxx_personality_v0", Effect::None),
    // Rust's library: waiting, and what it does when a program fails.
    ("*3std6thread*9yield_now *3std6thread*5sleep", Effect::None),
    ("*3std3sys12thread_local*destructors*register", Effect::None),
    ("*3std7process5abort *4core9panicking* *4core5slice5index*_fail*", Effect::Ends),
    ("*4core6option13*failed* *4core6result13unwrap_failed*", Effect::Ends),
    ("*5alloc5alloc18handle_alloc_error* *5alloc7raw_vec*handle_error*", Effect::Ends),
    ("*7___rustc12___rust_alloc", Effect::Allocates),
    ("*7___rustc19___rust_alloc_zeroed", Effect::AllocatesFilled),
    ("*7___rustc14___rust_dealloc *7___rustc*___rust_no_alloc_shim_is_unstable*", Effect::None),
    ("*7___rustc14___rust_realloc", Effect::Reallocates),
];

/// Functions of streams, and which argument is one.
pub const STREAMS: &[(&str, usize)] = &[
    ("fprintf vfprintf fflush fgetc getc ferror feof", 0),
    ("fputs fputc putc", 1),
    ("fgets", 2),
    ("fwrite fread", 3),
];
