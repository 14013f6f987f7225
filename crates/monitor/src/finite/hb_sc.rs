//! `hbSC` knowledge: who knows, under SC, of the last write to which location (\[Rocker19] Fig. 5).
//!
//! `SC(τ)`: locations whose last write is `hbSC`-before thread τ. `MSC(x)`, `WSC(x)`: locations whose last write is
//! `hbSC`-before some access to `x`, before the last write to `x`. Each is a set of locations, one bit each. Initially
//! everybody knows all initial writes.

use super::{Shape, Summary, Use};
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
    /// Locations that take part in `hbSC`: they have `MSC` and `WSC`.
    pub watched: u64,
    /// Locations of which some access can be stale: only these are worth knowing of.
    pub checked: u64,
    /// For every location, who touches it.
    pub users: Vec<Users>,
    /// For every thread, the checked locations that it touches.
    accessed: Vec<u64>,
}

/// The threads that touch a location, as bits.
#[derive(Clone, Copy, Default, Debug)]
pub struct Users {
    /// Threads that may read it.
    pub readers: u64,
    /// Threads that may write it.
    pub writers: u64,
}

impl Users {
    pub fn of(summary: &Summary, x: Loc) -> Users {
        let mut users = Users::default();
        for usage in summary.of(x) {
            users.readers |= u64::from(usage.what != Use::Store) << usage.thread;
            users.writers |= u64::from(usage.what.writes()) << usage.thread;
        }
        users
    }

    pub fn all(self) -> u64 {
        self.readers | self.writers
    }
}

impl HbSc {
    pub fn new(watched: u64, checked: u64, users: Vec<Users>, threads: usize) -> HbSc {
        let accessed = (0..threads).map(|thread| {
            bits(checked).filter(|&y| users[y].all() >> thread & 1 == 1).fold(0, |set, y| set | 1 << y)
        });
        HbSc { watched, checked, accessed: accessed.collect(), users }
    }

    pub fn start(&self, shape: &Shape, state: &mut [u64]) {
        for thread in 0..shape.threads {
            state[shape.thread(thread) + SC] = self.checked;
        }
        for x in self.locations(shape) {
            state[shape.location(x) + MSC] = (1 << x.0) & self.checked;
            state[shape.location(x) + WSC] = (1 << x.0) & self.checked;
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
        let bit = (1 << x.0) & self.checked;
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

    /// Forgets what has no effect until the next write to the location it is about, which clears it anyway:
    /// * `y` in `MSC(x)`, which flows to the writers of `x`, if they all know of `y`; likewise `WSC(x)` and readers;
    /// * `y` anywhere, if all who access `y` know of it.
    pub fn normalise(&self, shape: &Shape, state: &mut [u64], finished: u64) {
        let known_to = |state: &[u64], threads: u64| {
            bits(threads & !finished).fold(u64::MAX, |common, t| common & state[shape.thread(t) + SC])
        };
        let mut settled = 0;
        for y in bits(self.checked) {
            settled |= known_to(state, self.users[y].all()) & 1 << y;
        }
        for x in self.locations(shape) {
            let users = self.users[x.index()];
            state[shape.location(x) + MSC] &= !settled & !known_to(state, users.writers);
            state[shape.location(x) + WSC] &= !settled & !known_to(state, users.readers);
        }
        for thread in 0..shape.threads {
            state[shape.thread(thread) + SC] &=
                if finished >> thread & 1 == 1 { 0 } else { !(settled & !self.accessed[thread]) };
        }
    }

    fn locations(&self, shape: &Shape) -> impl Iterator<Item = Loc> + use<> {
        let watched = self.watched;
        (0..shape.locations as u8).filter(move |x| watched >> x & 1 == 1).map(Loc)
    }
}

/// The elements of a set.
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (first < 64).then_some(first)
    })
}
