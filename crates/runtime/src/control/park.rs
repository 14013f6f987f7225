//! Kernel threads that sleep while it isn't their turn.

use crate::sys;
use core::sync::atomic::{AtomicU32, Ordering};

/// Awake, and nobody minds.
const AWAKE: u32 = 0;
/// Asleep.
const ASLEEP: u32 = 1;
/// Told to wake up, or not to fall asleep.
const CALLED: u32 = 2;
/// Awake, and somebody waits until it sleeps.
const EXPECTED: u32 = 3;

/// Where one kernel thread sleeps and others wake it.
pub struct Sleep(AtomicU32);

impl Sleep {
    /// Awake.
    pub const fn new() -> Sleep {
        Sleep(AtomicU32::new(AWAKE))
    }

    /// As good as asleep: nobody is waited for.
    pub const fn asleep() -> Sleep {
        Sleep(AtomicU32::new(ASLEEP))
    }

    /// Sleeps until woken; not at all, if it was woken before.
    pub fn sleep(&self) {
        let mut before = self.0.load(Ordering::Acquire);
        while before != CALLED {
            match self.0.compare_exchange(before, ASLEEP, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(now) => before = now,
            }
        }
        if before == EXPECTED {
            sys::futex_wake(&self.0, 1);
        }
        while self.0.load(Ordering::Acquire) == ASLEEP {
            sys::futex_wait(&self.0, ASLEEP);
        }
        self.0.store(AWAKE, Ordering::Release);
    }

    /// Wakes the sleeper.
    pub fn wake(&self) {
        if self.0.swap(CALLED, Ordering::AcqRel) == ASLEEP {
            sys::futex_wake(&self.0, 1);
        }
    }

    /// Returns when the other one sleeps.
    #[inline]
    pub fn wait_until_asleep(&self) {
        if self.0.load(Ordering::Acquire) != ASLEEP {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        if self.0.compare_exchange(AWAKE, EXPECTED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            while self.0.load(Ordering::Acquire) == EXPECTED {
                sys::futex_wait(&self.0, EXPECTED);
            }
        }
    }
}

/// This kernel thread gets no signals from now on: handlers of the program would run on it in the middle of something.
/// Only an abort that libc begins by itself may end the process from here.
pub fn block_signals() {
    let all = !(1u64 << (libc::SIGABRT - 1));
    let args = [libc::SIG_SETMASK as usize, &raw const all as usize, 0, size_of::<u64>(), 0, 0];
    // SAFETY: the kernel only reads the set.
    let _ = unsafe { sys::call(libc::SYS_rt_sigprocmask as usize, args) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_not_lost() {
        let (here, there) = (Sleep::new(), Sleep::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..1000 {
                    there.sleep();
                    here.wake();
                }
            });
            for round in 0..1000 {
                if round % 3 == 0 {
                    there.wait_until_asleep();
                }
                there.wake();
                here.sleep();
            }
        });
    }
}
