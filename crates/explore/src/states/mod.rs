//! All reachable states: breadth-first, exact, on several cores.
//!
//! * [`locals`]: thread-local states, numbered as they turn up;
//! * [`expand`]: the successors of a state, with the monitor's word on them;
//! * [`layout`]: states packed into as few bits as they need;
//! * [`tree`]: the visited set, compressed;
//! * [`symmetry`]: interchangeable threads;
//! * [`search`]: the search itself, its limits, and the path to what it found.

mod expand;
mod layout;
mod locals;
mod search;
mod symmetry;
mod tree;

pub use search::{Answer, Found, Limit, Limits, Options, Progress, Step, Violation, check};
