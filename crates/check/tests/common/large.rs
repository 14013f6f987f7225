//! Sketches of programs that are too large for brute force: more accesses, more copies of threads.

use super::Drawn;
use super::sketch::{Size, Sketch};
use std::fmt;

/// A larger [`Sketch`].
#[derive(Clone, Debug)]
pub struct Large(Sketch);

impl fmt::Display for Large {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Drawn for Large {
    fn draw(seed: u64) -> Large {
        Large(Sketch::of_size(seed, Size { least: 10, most: 16, in_thread: 6 }))
    }

    fn smaller(&self) -> Vec<Large> {
        self.0.smaller().into_iter().map(Large).collect()
    }
}
