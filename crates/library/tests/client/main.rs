//! Bounded clients of libraries, checked exhaustively.

#[path = "../../../proof/tests/rho/ir.rs"]
mod ir;
mod libraries;
mod oracle;
mod programs;
mod random;
mod verdicts;
