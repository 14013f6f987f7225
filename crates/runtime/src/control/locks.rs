//! Is a lock of libc free? Found out without touching it, from its memory as glibc lays it out.
//!
//! Under the scheduler nobody ever waits inside libc: a thread gets its turn when the lock is free, and then takes it by
//! the real function. So locks need no model: the real ones are their own, also for code that we don't see. Each function
//! says whether the real one would return at once, with success or with an error. `tid` is the thread who asks, as libc
//! numbers it. (glibc 2.36, `nptl/` and `sysdeps/nptl/bits/struct_{mutex,rwlock}.h`, unchanged for long: it is part of
//! its binary interface.)

use core::ffi::c_int;
use libc::{pthread_mutex_t as Mutex, pthread_rwlock_t as RwLock, sem_t as Semaphore};

/// One word of an object.
///
/// # Safety
/// The object is alive and that large.
unsafe fn word<T>(object: *const T, index: usize) -> u32 {
    // SAFETY: the caller's promise. Real functions change it by atomics; this thread alone runs.
    unsafe { object.cast::<u32>().add(index).read_volatile() }
}

/// `pthread_mutex_lock`
///
/// # Safety
/// The mutex is alive.
pub unsafe fn mutex(mutex: *const Mutex, tid: u32) -> bool {
    const ERROR_CHECKING: u32 = 2;
    const RECURSIVE: u32 = 1;
    const ROBUST: u32 = 16;
    const PROTECTED: u32 = 64;
    /// The rest is the priority of a protected mutex.
    const STATE: u32 = (1 << 19) - 1;
    const OWNER_DIED: u32 = 1 << 30;
    const OWNER: u32 = OWNER_DIED - 1;
    // SAFETY: the caller's promise.
    let [lock, owner, kind] = unsafe { [word(mutex, 0), word(mutex, 2), word(mutex, 4)] };
    if owner == tid && matches!(kind & 3, ERROR_CHECKING | RECURSIVE) {
        return true;
    }
    match kind {
        kind if kind & ROBUST != 0 => lock & OWNER == 0 || lock & OWNER_DIED != 0,
        kind if kind & PROTECTED != 0 => lock & STATE == 0,
        _ => lock == 0,
    }
}

/// The state of a read-write lock: readers from here on.
const ONE_READER: u32 = 8;
const WRITING: u32 = 2;
const WRITER: usize = 6;

/// `pthread_rwlock_rdlock`
///
/// # Safety
/// The lock is alive.
pub unsafe fn reading(lock: *const RwLock, tid: u32) -> bool {
    // SAFETY: the caller's promise.
    let [state, writer] = unsafe { [word(lock, 0), word(lock, WRITER)] };
    state & WRITING == 0 || writer == tid
}

/// `pthread_rwlock_wrlock`
///
/// # Safety
/// The lock is alive.
pub unsafe fn writing(lock: *const RwLock, tid: u32) -> bool {
    // SAFETY: the caller's promise.
    let [state, writer] = unsafe { [word(lock, 0), word(lock, WRITER)] };
    state & WRITING == 0 && state < ONE_READER || writer == tid
}

/// `sem_wait`
///
/// # Safety
/// The semaphore is alive.
pub unsafe fn semaphore(semaphore: *const Semaphore) -> bool {
    // SAFETY: the caller's promise.
    unsafe { word(semaphore, 0) > 0 }
}

/// `pthread_spin_lock`
///
/// # Safety
/// The lock is alive.
pub unsafe fn spin(lock: *const c_int) -> bool {
    // SAFETY: the caller's promise.
    unsafe { lock.read_volatile() == 1 }
}

/// `pthread_once`
///
/// # Safety
/// The flag is alive.
pub unsafe fn once(flag: *const c_int) -> bool {
    const IN_PROGRESS: c_int = 1;
    // SAFETY: the caller's promise.
    unsafe { flag.read_volatile() & IN_PROGRESS == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::MaybeUninit;

    /// Lets another thread try.
    fn elsewhere(act: impl FnOnce(u32) -> c_int + Send) -> c_int {
        std::thread::scope(|scope| scope.spawn(|| act(crate::sys::gettid())).join().unwrap())
    }

    struct Shared<T>(*mut T);
    // SAFETY: the tests' threads take turns, and locks may be used by several.
    unsafe impl<T> Sync for Shared<T> {}

    const PRIO_INHERIT: c_int = 1;

    /// All that is said of a mutex must be what the real `trylock` does, here and elsewhere.
    #[test]
    fn mutexes() {
        for (kind, robust, protocol) in
            [0, 1, 2, 3].into_iter().flat_map(|kind| [(kind, 0, 0), (kind, 1, 0), (kind, 0, PRIO_INHERIT)])
        {
            let mut memory = MaybeUninit::<Mutex>::uninit();
            let mutex = Shared(memory.as_mut_ptr());
            // SAFETY: initialised before it is used.
            unsafe {
                let mut attr = MaybeUninit::uninit();
                libc::pthread_mutexattr_init(attr.as_mut_ptr());
                libc::pthread_mutexattr_settype(attr.as_mut_ptr(), kind);
                libc::pthread_mutexattr_setrobust(attr.as_mut_ptr(), robust);
                libc::pthread_mutexattr_setprotocol(attr.as_mut_ptr(), protocol);
                assert_eq!(libc::pthread_mutex_init(mutex.0, attr.as_ptr()), 0);
            }
            let agree = |taken: bool| {
                let shared = &mutex;
                elsewhere(|tid| {
                    // SAFETY: alive; who locks it unlocks it.
                    unsafe {
                        let free = super::mutex(shared.0, tid);
                        assert_eq!(free, !taken, "kind {kind}, robust {robust}, protocol {protocol}");
                        let result = libc::pthread_mutex_trylock(shared.0);
                        assert_eq!(result == 0, free);
                        if result == 0 { libc::pthread_mutex_unlock(shared.0) } else { 0 }
                    }
                });
            };
            agree(false);
            // SAFETY: alive.
            unsafe { assert_eq!(libc::pthread_mutex_lock(mutex.0), 0) };
            agree(true);
            // SAFETY: alive.
            unsafe {
                // Recursive ones can be had again, errors come at once, others would wait for ever.
                let at_once = kind & 3 == 1 || kind & 3 == 2;
                assert_eq!(super::mutex(mutex.0, crate::sys::gettid()), at_once, "kind {kind}");
                if at_once {
                    let again = libc::pthread_mutex_lock(mutex.0);
                    assert_eq!(again, if kind == 1 { 0 } else { libc::EDEADLK });
                    if again == 0 {
                        libc::pthread_mutex_unlock(mutex.0);
                    }
                }
                libc::pthread_mutex_unlock(mutex.0);
            }
            agree(false);
            if robust == 1 {
                // Its owner dies: the next one is told so.
                let shared = &mutex;
                // SAFETY: alive.
                elsewhere(|_| unsafe { libc::pthread_mutex_lock(shared.0) });
                // SAFETY: alive.
                unsafe {
                    while !super::mutex(mutex.0, crate::sys::gettid()) {
                        crate::sys::sched_yield(); // (the kernel is on it)
                    }
                    assert_eq!(libc::pthread_mutex_trylock(mutex.0), libc::EOWNERDEAD);
                    libc::pthread_mutex_unlock(mutex.0);
                    assert!(super::mutex(mutex.0, crate::sys::gettid()));
                    // SAFETY: alive. ENOTRECOVERABLE comes at once.
                    assert_eq!(libc::pthread_mutex_lock(mutex.0), libc::ENOTRECOVERABLE);
                }
            }
        }
    }

    #[test]
    fn read_write_locks() {
        let mut memory = libc::PTHREAD_RWLOCK_INITIALIZER;
        let lock = Shared(&raw mut memory);
        let agree = |can_read: bool, can_write: bool| {
            let shared = &lock;
            elsewhere(|tid| {
                // SAFETY: alive; who locks it unlocks it.
                unsafe {
                    assert_eq!((reading(shared.0, tid), writing(shared.0, tid)), (can_read, can_write));
                    let free = |result: c_int| {
                        if result == 0 {
                            libc::pthread_rwlock_unlock(shared.0);
                        }
                        result == 0
                    };
                    assert_eq!(free(libc::pthread_rwlock_tryrdlock(shared.0)), can_read);
                    assert_eq!(free(libc::pthread_rwlock_trywrlock(shared.0)), can_write);
                    assert_eq!(free(libc::pthread_rwlock_tryrdlock(shared.0)), can_read);
                }
                0
            });
        };
        agree(true, true);
        // SAFETY: alive.
        unsafe {
            libc::pthread_rwlock_rdlock(lock.0);
            agree(true, false);
            libc::pthread_rwlock_rdlock(lock.0);
            libc::pthread_rwlock_unlock(lock.0);
            agree(true, false);
            libc::pthread_rwlock_unlock(lock.0);
            agree(true, true);
            libc::pthread_rwlock_wrlock(lock.0);
            agree(false, false);
            let tid = crate::sys::gettid();
            assert!(reading(lock.0, tid) && writing(lock.0, tid), "errors come at once");
            assert_eq!(libc::pthread_rwlock_rdlock(lock.0), libc::EDEADLK);
            assert_eq!(libc::pthread_rwlock_wrlock(lock.0), libc::EDEADLK);
            libc::pthread_rwlock_unlock(lock.0);
            agree(true, true);
        }
    }

    #[test]
    fn semaphores_spin_locks_and_flags() {
        unsafe extern "C" {
            fn pthread_spin_init(lock: *mut c_int, shared: c_int) -> c_int;
            fn pthread_spin_lock(lock: *mut c_int) -> c_int;
            fn pthread_spin_unlock(lock: *mut c_int) -> c_int;
            fn pthread_once(flag: *mut c_int, act: extern "C" fn()) -> c_int;
        }
        // SAFETY: alive.
        unsafe {
            let mut memory = MaybeUninit::uninit();
            libc::sem_init(memory.as_mut_ptr(), 0, 1);
            assert!(semaphore(memory.as_ptr()));
            libc::sem_wait(memory.as_mut_ptr());
            assert!(!semaphore(memory.as_ptr()));
            libc::sem_post(memory.as_mut_ptr());
            assert!(semaphore(memory.as_ptr()));

            let mut lock = 0;
            pthread_spin_init(&mut lock, 0);
            assert!(spin(&lock));
            pthread_spin_lock(&mut lock);
            assert!(!spin(&lock));
            pthread_spin_unlock(&mut lock);
            assert!(spin(&lock));

            static FLAG: core::sync::atomic::AtomicI32 = core::sync::atomic::AtomicI32::new(0);
            extern "C" fn inside() {
                // SAFETY: alive.
                assert!(!unsafe { once(FLAG.as_ptr()) });
            }
            assert!(once(FLAG.as_ptr()));
            pthread_once(FLAG.as_ptr(), inside);
            assert!(once(FLAG.as_ptr()));
        }
    }
}
