//! The finite-state language: syntax (TPL, C litmus), lowering, one-step semantics.

pub mod code;
