//! What tests and chores share.
//!
//! * [`corpus`]: the programs of `corpus/`, with what their headers say;
//! * [`drawn`]: how many random inputs tests draw, and which.
//!
//! No engine is known here, so that every crate can use it in its tests.

pub mod corpus;
pub mod drawn;
