//! Sources of SC event streams over finite-state programs.
//!
//! [`check`](states::check) visits all reachable states of a program under SC, with a monitor watching, and so decides
//! robustness; [`answer`] puts it into words and confirms it. [`schedules`] executes a program in one schedule after the other. Nothing here knows a memory model: the
//! monitors answer all questions about weak behaviour.

pub mod abstraction;
pub mod answer;
pub mod robustness;
pub mod schedules;
pub mod states;
mod summary;
pub mod witness;

pub use summary::summarise;
