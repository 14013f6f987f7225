//! What tests and chores share.
//!
//! * [`corpus`]: the programs of `corpus/`, with what their headers say.
//!
//! No engine is known here, so that every crate can use it in its tests.

pub mod corpus;
