//! Is this code safe to move to a weaker machine, and which fences make it so?
//!
//! Seed 004 (Fency, 2021): a program is M–K robust if everything that it does on machine K, it could also do on the
//! stronger machine M. The analysis is static. A front end turns code into a [`program::Program`], control-flow graphs
//! of memory accesses; `mapping` says which instructions a compiler makes of them on each machine ([`machine`]).
//!
//! Text in, data out: this crate does no IO, and it cannot panic.

mod bits;
pub mod change;
pub mod count;
mod critical;
mod cycles;
mod depends;
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
