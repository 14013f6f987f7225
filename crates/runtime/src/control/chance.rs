//! Randomness that is the same in every execution: what a program would get from the kernel.
//!
//! One stream for all, which begins anew with every execution.

use core::sync::atomic::{AtomicU64, Ordering};
use seqcst_model::sample::Random;

static STATE: AtomicU64 = AtomicU64::new(0x5eed);

/// The next number.
pub fn draw() -> u64 {
    Random::new(STATE.fetch_add(Random::STEP, Ordering::Relaxed)).draw()
}

/// Fills memory with random bytes.
pub fn fill(bytes: &mut [u8]) {
    for part in bytes.chunks_mut(size_of::<u64>()) {
        part.copy_from_slice(&draw().to_le_bytes()[..part.len()]);
    }
}

/// A number below `bound`, all alike (but for 2^-32).
pub fn below(bound: u32) -> u32 {
    ((u128::from(draw()) * u128::from(bound)) >> 64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_differ_and_bounds_hold() {
        let mut bytes = [0; 61];
        fill(&mut bytes);
        let zeros = bytes.iter().filter(|&&byte| byte == 0).count();
        assert!(zeros < 8, "{bytes:?}");
        assert_ne!(draw(), draw());
        let mut seen = [false; 6];
        (0..200).for_each(|_| seen[below(6) as usize] = true);
        assert_eq!(seen, [true; 6]);
        assert_eq!(below(0), 0);
        assert_eq!(below(1), 0);
    }
}
