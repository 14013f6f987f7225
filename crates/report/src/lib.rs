//! Findings as text, JSON, DOT and SVG. Knows no memory model and no search.
//!
//! One plain value, [`Finding`], goes in; each renderer is one function: [`render`] (text with source snippets; [`explain`]: the witness alone),
//! [`to_json`] (one line, schema in `docs/json.md`), [`to_dot`] and [`to_svg`] (the execution graph). All of them are
//! deterministic and total: odd input (edges to nowhere, spans outside of the source) is left out, never a panic.

mod dot;
mod finding;
mod format;
mod json;
mod snippet;
mod svg;
mod table;
mod text;
mod view;
mod words;

#[cfg(test)]
mod samples;

pub use dot::to_dot;
pub use finding::{Edge, Event, Finding, Problem, Relation, Verdict, Witness};
pub use json::{to_json, to_json_value};
pub use svg::to_svg;
pub use text::{explain, render};
