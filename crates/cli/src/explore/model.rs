//! `seqcst explore FILE.tpl`: a finite-state program.

use super::Stop;
use super::answer::Answer;
use crate::flags::ExploreFlags;

/// Explores it.
pub fn run(_flags: &ExploreFlags) -> Result<Answer, Stop> {
    Err(Stop::BadInput("not yet".to_owned()))
}
