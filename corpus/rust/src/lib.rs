//! The threads of a corpus program: all start each round together and end it together, so that rounds are apart from one
//! another. And data that is not atomic.

use std::cell::{Cell, UnsafeCell};
use std::sync::Barrier;
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs `body(role)` in as many threads as there are roles, round after round; `reset` comes between rounds.
pub fn run(threads: usize, rounds: usize, body: impl Fn(usize) + Sync, reset: impl Fn() + Sync) {
    let (start, end) = (Barrier::new(threads), Barrier::new(threads));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.subsec_nanos());
    std::thread::scope(|scope| {
        for me in 0..threads {
            let (start, end, body, reset, seed) = (&start, &end, &body, &reset, now);
            scope.spawn(move || {
                RANDOM.set(seed.wrapping_add(977 * me as u32));
                for round in 0..rounds {
                    start.wait();
                    dawdle();
                    // Roles go round: none of them is always the first to be woken.
                    body((me + round) % threads);
                    end.wait();
                    if me == 0 {
                        reset();
                    }
                }
            });
        }
    });
}

thread_local! {
    /// What each thread draws from, in every run anew.
    static RANDOM: Cell<u32> = const { Cell::new(1) };
}

/// Takes a while, so that threads meet in many ways and do not run one after the other in the order in which they are woken.
pub fn dawdle() {
    let random = RANDOM.get().wrapping_mul(1664525).wrapping_add(1013904223);
    RANDOM.set(random);
    for _ in 0..random >> 16 {
        std::hint::black_box(());
    }
    if random >> 8 & 1 == 1 {
        std::thread::yield_now();
    }
}

/// For programs that need nothing between rounds.
pub fn nothing() {}

/// The number of threads, from the first argument, at most `most`; 2 without one.
pub fn threads(most: usize) -> usize {
    let given = std::env::args().nth(1).map_or(Some(2), |text| text.parse().ok());
    match given {
        Some(threads) if (2..=most).contains(&threads) => threads,
        _ => std::process::exit(2),
    }
}

/// Ends the program with code 3 if what must hold under SC does not.
#[track_caller]
pub fn must(holds: bool) {
    if !holds {
        eprintln!("wrong result");
        std::process::exit(3);
    }
}

/// Data that is not atomic and that threads share all the same.
pub struct Plain<T>(UnsafeCell<T>);

// SAFETY: none; whoever uses it says what keeps the accesses apart, or is a program that is meant to race.
unsafe impl<T> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    /// A value.
    pub const fn new(value: T) -> Plain<T> {
        Plain(UnsafeCell::new(value))
    }

    /// Reads it.
    #[inline(always)]
    pub fn get(&self) -> T {
        // SAFETY: see above.
        unsafe { self.0.get().read_volatile() }
    }

    /// Writes it.
    #[inline(always)]
    pub fn set(&self, value: T) {
        // SAFETY: see above.
        unsafe { self.0.get().write_volatile(value) }
    }
}
