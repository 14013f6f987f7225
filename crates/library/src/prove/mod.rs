//! The proof: conditions of seed 002 for every class of locations, as questions to the solver.
