//! Is this concurrent library robust for every client? A C11 front end, an induction over SC executions, SMT (seed 002).

pub mod code;
