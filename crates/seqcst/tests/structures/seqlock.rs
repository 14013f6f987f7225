//! A sequence lock around two numbers (Boehm, MSPC 2012).

use seqcst::sync::atomic::{AtomicUsize, Ordering, fence};
use seqcst::thread;

pub struct Seqlock {
    version: AtomicUsize,
    values: [AtomicUsize; 2],
}

impl Seqlock {
    pub fn new() -> Seqlock {
        Seqlock { version: AtomicUsize::new(0), values: [AtomicUsize::new(0), AtomicUsize::new(0)] }
    }

    /// One thread.
    pub fn write(&self, value: usize, publish: Ordering) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.values[0].store(value, Ordering::Relaxed);
        self.values[1].store(value, Ordering::Relaxed);
        self.version.store(version + 2, publish);
    }

    pub fn read(&self) -> (usize, usize) {
        loop {
            let before = self.version.load(Ordering::Acquire);
            if before.is_multiple_of(2) {
                let values = [0, 1].map(|i| self.values[i].load(Ordering::Relaxed));
                fence(Ordering::Acquire);
                if self.version.load(Ordering::Relaxed) == before {
                    return (values[0], values[1]);
                }
            }
            thread::yield_now();
        }
    }
}
