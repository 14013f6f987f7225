//! Access modes (memory orders).

use std::fmt;

/// The memory order of an access or fence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Mode {
    /// A plain access to a location that is not atomic: racing on it is an error.
    NonAtomic,
    /// `memory_order_relaxed`
    Relaxed,
    /// `memory_order_acquire`
    Acquire,
    /// `memory_order_release`
    Release,
    /// `memory_order_acq_rel`
    AcqRel,
    /// `memory_order_seq_cst`
    SeqCst,
}

impl Mode {
    /// At least acquire: `⊒ acq`.
    pub fn is_acquire(self) -> bool {
        matches!(self, Mode::Acquire | Mode::AcqRel | Mode::SeqCst)
    }

    /// At least release: `⊒ rel`.
    pub fn is_release(self) -> bool {
        matches!(self, Mode::Release | Mode::AcqRel | Mode::SeqCst)
    }

    /// What is left of the mode when only the read half happens (a failed compare-and-swap).
    pub fn read_part(self) -> Mode {
        match self {
            Mode::AcqRel => Mode::Acquire,
            Mode::Release => Mode::Relaxed,
            other => other,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Mode::NonAtomic => "na",
            Mode::Relaxed => "rlx",
            Mode::Acquire => "acq",
            Mode::Release => "rel",
            Mode::AcqRel => "acq_rel",
            Mode::SeqCst => "sc",
        })
    }
}
