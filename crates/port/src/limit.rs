//! A limit in time: work that takes too long ends, and says what it was at.

use std::fmt;
use std::time::{Duration, Instant};

/// Until when work may go on; without a limit by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Deadline(Option<Instant>);

/// The limit was met: nothing was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfTime {
    /// What was being done.
    pub doing: &'static str,
}

impl Deadline {
    /// So much time from now on.
    pub fn after(time: Duration) -> Deadline {
        Deadline(Instant::now().checked_add(time))
    }

    /// An error once it has passed.
    pub(crate) fn check(self, doing: &'static str) -> Result<(), OutOfTime> {
        match self.left() {
            Some(Duration::ZERO) => Err(OutOfTime { doing }),
            _ => Ok(()),
        }
    }

    /// How much time is left, if there is a limit.
    pub fn left(self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
    }
}

impl fmt::Display for OutOfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "out of time while {}", self.doing)
    }
}

impl std::error::Error for OutOfTime {}
