//! How many random inputs the randomised tests draw, and which.
//!
//! * `SEQCST_CASES`: how many each of them draws, instead of its usual number; where inputs are large it is a share of that;
//! * `SEQCST_SEED`: the first of them. Inputs are numbered, so that a test over many of them can be cut into slices;
//! * `SEQCST_SLOW=1`: also what takes minutes.

use std::ops::Range;

/// A number from the environment.
pub fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")))
}

/// How many inputs to draw.
pub fn cases(unless_told: u64) -> u64 {
    number("SEQCST_CASES").unwrap_or(unless_told)
}

/// Whether somebody wants another number of inputs than usual.
pub fn is_told() -> bool {
    number("SEQCST_CASES").is_some()
}

/// The first input's number.
pub fn first() -> u64 {
    number("SEQCST_SEED").unwrap_or(0)
}

/// The numbers of so many inputs.
pub fn seeds(cases: u64) -> Range<u64> {
    first()..first() + cases
}

/// Whether to run what takes minutes, too.
pub fn slow_too() -> bool {
    number("SEQCST_SLOW").is_some_and(|slow| slow != 0)
}
