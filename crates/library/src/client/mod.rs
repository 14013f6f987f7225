//! Bounded clients of a library, as programs for the exhaustive checker.
