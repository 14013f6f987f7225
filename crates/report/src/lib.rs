//! The answer of every command, and how it is shown: text, JSON, SARIF, DOT and SVG. Knows no search.
//!
//! One plain value, [`Answer`], goes in; each renderer is one function: [`render`] (text with source snippets),
//! [`Answer::to_json`] (one line, described in `docs/json.md`), [`to_sarif`] (for editors and code hosts), and
//! [`to_dot`] and [`to_svg`] (the execution graph of its [`Witness`]). All of them are deterministic and total: odd input
//! (edges to nowhere, spans outside of the source) is left out, never a panic.

pub mod answer;
mod dot;
pub mod format;
mod sarif;
mod snippet;
mod svg;
mod table;
mod text;
mod view;
mod witness;
mod words;

#[cfg(test)]
mod samples;

pub use answer::{Answer, Assumption, Checked, Details, Place, Status, Verdict};
pub use dot::to_dot;
pub use sarif::to_sarif;
pub use svg::to_svg;
pub use text::{TextOptions, render, signal_name};
pub use witness::{Edge, Effect, Event, Problem, Relation, Witness};
