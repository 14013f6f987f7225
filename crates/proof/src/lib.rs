//! Proofs that libraries are robust for every client: an induction over SC executions, with an SMT solver (\[RoboCop24]).
//!
//! * [`rho`]: loops whose failing iterations only read become blocking accesses;
//! * [`prove`]: proof obligations for every class of locations;
//! * [`solver`]: questions to Z3.

pub mod prove;
pub mod rho;
pub mod solver;
