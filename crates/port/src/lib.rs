//! Is this code safe to move to a weaker machine, and which fences make it so?
//!
//! \[Fency21]: a program is M–K robust if everything that it does on machine K, it could also do on the
//! stronger machine M. The analysis is static. A front end turns code into a [`program::Program`], control-flow graphs
//! of memory accesses; `mapping` says which instructions a compiler makes of them on each machine ([`machine`]).
//! [`analysis`] has all of it together.
//!
//! Text in, data out: this crate does no IO, and it cannot panic.

pub mod analysis;
mod answer;
mod assumptions;
mod bits;
pub mod change;
pub mod count;
mod critical;
mod cycles;
mod depends;
mod foreign;
mod graph;
pub mod ir;
pub mod limit;
mod lowered;
pub mod machine;
pub mod mapping;
mod order;
mod pairs;
pub mod place;
pub mod program;
pub mod robust;
mod tables;

pub use assumptions::Assumption;
