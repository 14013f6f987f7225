//! Online monitors: before an access, could it be stale here? After it, what is known now?
//!
//! A monitor never schedules. It watches an SC run of a program, from whatever source, and keeps just enough of the
//! run's execution graph to recognise a non-robustness witness (`docs/theory.md`, "Definitions").

pub mod clocks;
pub mod finite;
