//! Which modes fit which kind of access.

use crate::ast::{At, RmwMode};
use crate::error::InputError;
use seqcst_model::Mode;

/// Where a mode stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    Load,
    Wait,
    Store,
    Fence,
    /// The read half of a read-modify-write, when it is written apart.
    ReadHalf,
    /// The write half of a read-modify-write, when it is written apart.
    WriteHalf,
    /// A compare-and-swap that fails.
    Failure,
}

impl Use {
    fn name(self) -> &'static str {
        match self {
            Use::Load => "a load",
            Use::Wait => "a `wait`",
            Use::Store => "a store",
            Use::Fence => "a fence",
            Use::ReadHalf => "the read half of a read-modify-write",
            Use::WriteHalf => "the write half of a read-modify-write",
            Use::Failure => "a failed compare-and-swap",
        }
    }

    fn accepts(self, mode: Mode) -> bool {
        match self {
            Use::Load | Use::Wait | Use::ReadHalf | Use::Failure => {
                matches!(mode, Mode::Relaxed | Mode::Acquire | Mode::SeqCst)
            }
            Use::Store | Use::WriteHalf => matches!(mode, Mode::Relaxed | Mode::Release | Mode::SeqCst),
            Use::Fence => matches!(mode, Mode::Acquire | Mode::Release | Mode::AcqRel | Mode::SeqCst),
        }
    }

    fn choices(self) -> &'static str {
        match self {
            Use::Load | Use::Wait | Use::ReadHalf | Use::Failure => "`rlx`, `acq` or `sc`",
            Use::Store | Use::WriteHalf => "`rlx`, `rel` or `sc`",
            Use::Fence => "`acq`, `rel`, `acq_rel` or `seq_cst`",
        }
    }
}

/// Checks a mode, if one is written.
pub(crate) fn check(mode: Option<&At<Mode>>, place: Use) -> Result<(), InputError> {
    match mode {
        Some(mode) if !place.accepts(mode.node) => {
            let message = format!("{} cannot have mode `{}`", place.name(), mode.node);
            Err(InputError::new(mode.span, message).with_note(format!("it can have {}", place.choices())))
        }
        _ => Ok(()),
    }
}

/// Checks the mode of a read-modify-write: anything as a whole, halves that fit otherwise.
pub(crate) fn check_rmw(mode: &RmwMode) -> Result<(), InputError> {
    if let RmwMode::Halves(read, write) = mode {
        check(Some(read), Use::ReadHalf)?;
        check(Some(write), Use::WriteHalf)?;
    }
    Ok(())
}
