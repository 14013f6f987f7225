//! The dynamic monitor for C11's happens-before: thread clocks and access history (`docs/theory.md`, "Dynamic monitors").
//!
//! The paper's algorithm (\[RSAN25], Fig. 4) keeps clocks indexed by *location*, which costs as much per access as there
//! are locations. The same knowledge fits in clocks indexed by *thread*: a [`Thread`] has the views `sc`, `cur`, `rel`
//! and `acq` as ordinary vector clocks, and each [`Location`] remembers at which local time which thread read or wrote
//! which of its writes. What a thread knows of a location under a view is then the newest remembered write whose time
//! the view covers. `location_clocks` is the paper's form, and a test holds the two equal.
//!
//! `psc` is what SC accesses and fences add under RC11. [`tso`] is the monitor for x86, in the same form. [`run`] is what sources of runs hold: the monitor of whatever model.
//!
//! Every operation touches one thread and one location, so that a caller who owns the two (by a lock per location)
//! needs no other lock.

mod clock;
mod location;
mod location_clocks;
mod psc;
mod record;
pub mod run;
mod thread;
pub mod tso;
mod writes;

pub use clock::Clock;
pub use location::{Location, Look, Stale};
pub use location_clocks::LocationClocks;
pub use location_clocks::rc11::{Cover, Rc11LocationClocks, Rule};
pub use record::Did;
pub use thread::{Hidden, Message, Thread};
pub use writes::Write;

/// A place in a clock: one live thread at a time.
pub type Slot = u16;
/// A thread's local time. It passes whenever a thread lets others see what it knows.
pub type Time = u32;
/// Where in the program an access happened: a number that only the caller understands.
pub type Site = u32;
