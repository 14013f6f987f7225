//! Several libraries in one client: an SC fence between calls to different ones (seed 002 §6).
