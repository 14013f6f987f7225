//! ρ: loops whose failing iterations only read become blocking accesses (seed 002 §5).
