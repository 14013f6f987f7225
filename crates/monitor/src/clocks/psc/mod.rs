//! The partial SC order of RC11 on thread clocks (\[Lahav17]; `docs/theory.md`, "SC accesses"): what SC accesses and SC fences
//! rule out beyond happens-before. The plain form, with the same names, is
//! [`Rc11LocationClocks`](super::Rc11LocationClocks).
//!
//! Nothing is kept, and hardly anything costs, until there is an SC access or an SC fence: a [`Thread`] that comes after no
//! SC event is idle, and a location that none came to has no [`Place`].
//!
//! *Where plain accesses are not seen.* Between SC events of different threads, happens-before begins and ends at
//! other locations than theirs, so it matters whether a thread did something else in between. Only a caller who tells
//! every event ([`Location::exact`](super::run::Location::exact)) can know; for others there is something plain between
//! any two. Likewise for SC reads of a location whose last write is weaker: which SC accesses to it happen before is kept
//! only where locations are numbered, and elsewhere all accesses to it count. That only misses.

mod cover;
mod place;
mod thread;

pub use cover::Known;
pub(super) use place::Place;
pub(super) use thread::{Access, Thread};
