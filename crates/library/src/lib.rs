//! Is this concurrent library robust for every client? A C11 front end, an induction over SC executions, SMT (seed 002).

pub mod c;
pub mod client;
pub mod code;
pub mod compose;
pub mod mutate;
pub mod prove;
pub mod rho;
pub mod solver;
