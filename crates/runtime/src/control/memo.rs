//! Answers that take long to find, kept for all copies of the program: memory that they share.
//!
//! To tell whether a finding counts, names must be found for its stacks, which takes longer than a whole execution. So
//! this is asked once per exploration.

use super::warm;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use core::{ptr, slice};

const ENTRIES: usize = 1 << 12;
/// Further from its place an answer isn't looked for.
const STEPS: usize = 16;

/// `key << 1 | answer`; 0: nothing.
static ANSWERS: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// Before the first copy is made.
pub fn start() {
    let memory = warm::shared_memory(ENTRIES * size_of::<AtomicU64>());
    ANSWERS.store(memory.cast(), Ordering::Relaxed);
}

/// A key made of numbers.
pub fn key(parts: impl IntoIterator<Item = usize>) -> u64 {
    let step =
        |hash: u64, part: usize| (hash ^ part as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    parts.into_iter().fold(0x5eed, step)
}

/// The answer for this key, which `find` finds.
pub fn ask(key: u64, find: impl FnOnce() -> bool) -> bool {
    let answers = ANSWERS.load(Ordering::Relaxed);
    if answers.is_null() {
        return find();
    }
    // SAFETY: mapped by `start`, for good.
    let answers = unsafe { slice::from_raw_parts(answers, ENTRIES) };
    let key = key | 1 << 62;
    let places = || (0..STEPS).map(|step| &answers[(key as usize >> 8).wrapping_add(step) % ENTRIES]);
    for place in places() {
        let entry = place.load(Ordering::Relaxed);
        if entry >> 1 == key & (u64::MAX >> 1) {
            return entry & 1 != 0;
        }
    }
    let answer = find();
    let entry = key << 1 | u64::from(answer);
    if let Some(place) = places().find(|place| place.load(Ordering::Relaxed) == 0) {
        place.store(entry, Ordering::Relaxed);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asked_once() {
        assert!(ask(key([1, 2]), || true)); // no memory yet: asked every time
        start();
        for round in 0..3 {
            for (parts, answer) in [([1, 2], true), ([2, 1], false)] {
                let find = || if round == 0 { answer } else { !answer };
                assert_eq!(ask(key(parts), find), answer);
            }
        }
    }
}
