//! `hbSC` knowledge: who knows, under SC, of the last write to which location (seed 003 Fig. 5).
//!
//! `SC(τ)`: locations whose last write is `hbSC`-before thread τ. `MSC(x)`, `WSC(x)`: locations whose last write is
//! `hbSC`-before some access to `x`, before the last write to `x`. Each is a set of locations, one bit each. Initially
//! everybody knows all initial writes.

use super::Shape;
use seqcst_model::Loc;

/// Offset of `SC(τ)` in a thread's block.
pub const SC: usize = 1;
/// Offset of `MSC(x)` in a location's block.
pub const MSC: usize = 1;
/// Offset of `WSC(x)` in a location's block.
pub const WSC: usize = 2;

/// The sets, for the watched locations only.
#[derive(Clone, Debug)]
pub struct HbSc {
    /// All watched locations.
    pub watched: u64,
}

impl HbSc {
    pub fn start(&self, shape: &Shape, state: &mut [u64]) {
        for thread in 0..shape.threads {
            state[shape.thread(thread) + SC] = self.watched;
        }
        for x in self.locations(shape) {
            state[shape.location(x) + MSC] = 1 << x.0;
            state[shape.location(x) + WSC] = 1 << x.0;
        }
    }

    /// Does the thread know of the last write to the location?
    pub fn knows(&self, shape: &Shape, state: &[u64], thread: usize, x: Loc) -> bool {
        state[shape.thread(thread) + SC] >> x.0 & 1 == 1
    }

    pub fn read(&self, shape: &Shape, state: &mut [u64], thread: usize, x: Loc) {
        let (t, l) = (shape.thread(thread), shape.location(x));
        state[l + MSC] |= state[t + SC];
        state[t + SC] |= state[l + WSC];
    }

    /// A write or read-modify-write.
    pub fn write(&self, shape: &Shape, state: &mut [u64], thread: usize, x: Loc) {
        let (t, l) = (shape.thread(thread), shape.location(x));
        let bit = 1 << x.0;
        let known = state[t + SC] | state[l + MSC] | bit;
        for other in 0..shape.threads {
            state[shape.thread(other) + SC] &= !bit;
        }
        for y in self.locations(shape) {
            state[shape.location(y) + MSC] &= !bit;
            state[shape.location(y) + WSC] &= !bit;
        }
        state[t + SC] = known;
        state[l + MSC] = known;
        state[l + WSC] = known;
    }

    /// What all running threads know, no location needs to tell anybody: until the next write to such a `y`, the
    /// bit of `y` in `MSC` and `WSC` has no effect, and that write clears it.
    pub fn normalise(&self, shape: &Shape, state: &mut [u64], finished: u64) {
        let mut common = self.watched;
        for thread in 0..shape.threads {
            if finished >> thread & 1 == 1 {
                state[shape.thread(thread) + SC] = 0;
            } else {
                common &= state[shape.thread(thread) + SC];
            }
        }
        for x in self.locations(shape) {
            state[shape.location(x) + MSC] &= !common;
            state[shape.location(x) + WSC] &= !common;
        }
    }

    fn locations(&self, shape: &Shape) -> impl Iterator<Item = Loc> + use<> {
        let watched = self.watched;
        (0..shape.locations as u8).filter(move |x| watched >> x & 1 == 1).map(Loc)
    }
}
