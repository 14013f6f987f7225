//! All reachable states: breadth-first, exact, on several cores.
//!
//! * `locals`: thread-local states, numbered as they turn up;
//! * `expand`: the successors of a state, with the monitor's word on them;
//! * `deadlock`: threads that get stuck, on request;
//! * `follow`: a given run, in another version of a program;
//! * `independence`: steps that commute;
//! * `layout`: states packed into as few bits as they need;
//! * `tree`: the visited set, compressed;
//! * `symmetry`: interchangeable threads;
//! * `search`: the search itself, its limits, and the path to what it found;
//! * `replay`: that path once more, with all its actions.

mod deadlock;
mod expand;
mod follow;
mod independence;
mod layout;
mod locals;
mod replay;
mod search;
mod symmetry;
mod tree;

pub use deadlock::find_stuck;
pub use follow::{Follower, Route, RouteStep, route};
pub(crate) use locals::ways;
pub use replay::{Executed, Replay, replay};
pub use search::{Answer, Found, Limit, Limits, Options, Progress, Step, Violation, check};
