//! Lots to draw: the same from the same seed, on every machine.

/// A source of lots (splitmix64).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lots(pub u64);

impl Lots {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `many`, which is not 0.
    pub fn below(&mut self, many: u32) -> u32 {
        (((self.next() >> 32) * u64::from(many)) >> 32) as u32
    }
}
