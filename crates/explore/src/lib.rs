//! Whose turn is it? Schedules of concurrent programs, whatever the programs are.
//!
//! A *source* runs a program one thread at a time: a TPL program, a Rust closure on coroutines, a C program in a process
//! of its own. At every step a [`Player`] tells it whose turn it is. All choices go on one tape: a [`Plan`] is the
//! beginning of a tape and a way to go on after its end, so that a plan is plain data, fits into shared memory, and can
//! be replayed and shortened. What happened comes back as a [`Trace`]. Between executions a [`Strategy`] looks at traces
//! and makes plans; [`explore`] is the loop around them.
//!
//! Nothing here knows a memory model or a program: a step is an [`Op`], which objects it touches and how.

mod determinism;
mod engine;
mod fairness;
mod fingerprint;
mod op;
mod plan;
mod player;
mod priorities;
pub mod strategies;
mod strategy;
pub mod tape;
mod threads;
mod trace;
pub mod wire;

pub use determinism::Divergence;
pub use engine::{Failing, Failure, Found, Limits, Outcome, Source, Summary, explore};
pub use fingerprint::Fingerprints;
pub use op::{AccessType, FENCES, Kind, Object, Op, THREADS, thread_object};
pub use plan::{CHOICE, Fallback, Plan};
pub use player::{Choice, Player, Record, State};
pub use strategy::{Progress, Strategy};
pub use trace::{Change, End, NOBODY, States, Step, Trace, Waiting};

/// A thread, in order of creation; 0 is the first.
pub type ThreadId = u32;
