//! ρ: which loops are replaced by their last iteration, and which must not be.

mod ir;
mod refused;
mod replaced;
