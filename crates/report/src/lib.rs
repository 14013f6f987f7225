//! Findings as text, JSON, DOT and SVG. Knows no memory model and no search.

mod finding;

pub use finding::{Edge, Event, Finding, Problem, Relation, Verdict, Witness};
