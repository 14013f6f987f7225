//! Reads a library from C11 source.
