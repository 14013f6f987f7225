//! (being written)

use crate::context::Site;
use crate::journal::{Link, What};
use seqcst_model::Mode;

/// An access, as a report shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The thread's number as shown to people.
    pub thread: u32,
    /// What it is.
    pub what: What,
    /// Its memory order. None: plain, or not known.
    pub mode: Option<Mode>,
    /// Location.
    pub addr: usize,
    /// Bytes.
    pub size: u8,
    /// Where in the program.
    pub site: Site,
}

/// An access that could be stale.
pub fn stale(
    _access: &Access,
    _missed: Option<&Access>,
    _older: Option<&Access>,
    _chain: impl FnOnce() -> Vec<Link>,
    _benign: bool,
) {
}

/// A data race.
pub fn race(_now: &Access, _before: &Access, _freed: bool) {}

/// Something isn't supported: said once per text.
pub fn unsupported(_what: &str) {}

/// Summary at exit: true if errors were reported.
pub fn finish() -> bool {
    false
}
