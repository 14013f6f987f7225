//! The project's one source of random numbers: splitmix64 (Steele, Lea, Flood, OOPSLA 2014), small and deterministic.

/// A stream of random numbers, the same for the same seed everywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Random(u64);

impl Random {
    /// What each number adds to the state. So `Random::new(seed + n * STEP)` is the stream of `seed` after `n` numbers.
    pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The stream of this seed.
    #[inline]
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Another stream, which depends on where this one is: for a second choice at the same step.
    #[inline]
    pub const fn beside(self) -> Random {
        Random(!self.0)
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Random::STEP);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`; 0 if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw() % n.max(1) as u64) as usize
    }

    /// The same by multiplication, which is faster than [`Random::below`] and gives other numbers.
    #[inline]
    pub fn pick(&mut self, n: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// True once in `n` times.
    #[inline]
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the published generator: seeds in saved replays and reports mean the same for ever.
    #[test]
    fn the_sequence_is_that_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([random.draw(), random.draw(), random.draw()], expected);
        assert_eq!(random, Random::new(1_234_567_u64.wrapping_add(Random::STEP.wrapping_mul(3))));
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(1);
        let mut seen = [[false; 6]; 2];
        for _ in 0..200 {
            seen[0][random.below(6)] = true;
            seen[1][random.pick(6) as usize] = true;
        }
        assert_eq!(seen, [[true; 6]; 2]);
        assert_eq!((random.below(0), random.below(1), random.pick(0), random.pick(1)), (0, 0, 0, 0));
        assert_ne!(random.draw(), random.beside().draw());
    }
}
