//! The tests of this crate, in one executable: each of its own would link the crate anew.

mod graphs;
mod inclusions;
mod litmus;
mod oracle;
mod relations;
mod store_buffer;
mod wide;
