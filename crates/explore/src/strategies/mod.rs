//! The strategies, one file each.

mod bounded;
mod bounded_dpor;
mod dpor;
mod minimize;
mod order;
mod pct;
mod races;
mod random;
mod replay;

pub use bounded::Bounded;
pub use bounded_dpor::BoundedDpor;
pub use dpor::Dpor;
pub use minimize::{Minimized, minimize};
pub use pct::Pct;
pub use random::RandomWalk;
pub use replay::Replay;
