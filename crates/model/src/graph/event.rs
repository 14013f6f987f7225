//! Events: \[Rocker19] Def. 4.1 and 4.2, with the modes and fences of \[RoboCop24] §3.2.

use crate::{Action, Loc, Mode, Outcome, Value};
use std::fmt;

/// One memory event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    /// The thread it belongs to; none for an initialisation write.
    pub thread: Option<usize>,
    /// Its number in its thread, from 0; for an initialisation write, the number of its location.
    pub index: usize,
    /// The location it accesses; none for a fence.
    pub loc: Option<Loc>,
    /// Its memory order.
    pub mode: Mode,
    /// What it did.
    pub outcome: Outcome,
    /// The instruction it comes from.
    pub site: u32,
}

impl Event {
    /// The initialisation write of a location.
    pub fn initial(loc: Loc, value: Value) -> Event {
        let (index, mode, outcome) = (loc.index(), Mode::Relaxed, Outcome::Wrote(value));
        Event { thread: None, index, loc: Some(loc), mode, outcome, site: u32::MAX }
    }

    /// The event that `action` produces with this outcome as the event number `index` of its thread.
    pub fn of(thread: usize, index: usize, action: &Action, outcome: Outcome) -> Event {
        let loc = (outcome != Outcome::Fenced).then_some(action.loc);
        let mode = action.mode_of(outcome);
        Event { thread: Some(thread), index, loc, mode, outcome, site: action.site }
    }

    /// Whether it reads (a read-modify-write does).
    pub fn is_read(&self) -> bool {
        self.outcome.value_read().is_some()
    }

    /// Whether it writes (a read-modify-write does).
    pub fn is_write(&self) -> bool {
        self.outcome.value_written().is_some()
    }

    /// Whether it is a read-modify-write.
    pub fn is_rmw(&self) -> bool {
        matches!(self.outcome, Outcome::Updated(..))
    }

    /// Whether it is a fence.
    pub fn is_fence(&self) -> bool {
        self.outcome == Outcome::Fenced
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.thread {
            Some(thread) => write!(f, "{thread}.{}:", self.index)?,
            None => write!(f, "init:")?,
        }
        let (loc, mode) = (self.loc.map_or(0, |loc| loc.0), self.mode);
        match self.outcome {
            Outcome::Read(v) => write!(f, "R{mode}(x{loc},{v})"),
            Outcome::Wrote(v) => write!(f, "W{mode}(x{loc},{v})"),
            Outcome::Updated(v, w) => write!(f, "RMW{mode}(x{loc},{v},{w})"),
            Outcome::Fenced => write!(f, "F{mode}"),
        }
    }
}
