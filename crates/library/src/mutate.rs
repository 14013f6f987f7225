//! Weakened copies of a library: every access one step weaker, every fence removed.
