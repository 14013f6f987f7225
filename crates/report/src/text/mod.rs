//! Answers as text for a terminal: headline, evidence, effort, and what follows from it.
//!
//! One module for each command, and [`witness`] for what most of them show.

mod check;
mod explore;
mod library;
mod port;
pub(crate) mod run;
mod witness;

pub use run::signal_name;

use crate::format::Style;
use crate::{Answer, Details, Verdict};

/// What a reader wants to see.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Use escape sequences for colors.
    pub color: bool,
    /// Show how a proof was found.
    pub explain: bool,
    /// How many pairs of accesses to show.
    pub pairs: usize,
    /// Sum up several runs.
    pub summary: bool,
}

/// The answer as text, with a newline at its end.
pub fn render(answer: &Answer, options: TextOptions) -> String {
    let style = Style { color: options.color };
    match &answer.details {
        Details::Check(checked) => check::render(answer, checked, style),
        Details::Explore(explored) => explore::render(answer, explored, style),
        Details::Run(runs) => run::render(answer, runs, options),
        Details::Library(proof) => library::proof(answer, proof, options.explain, style),
        Details::Compose(composed) => library::composed(answer, composed, style),
        Details::Port(ported) => port::render(answer, ported, options.pairs, style),
    }
}

/// The verdict's headline in its color.
fn headline(verdict: Verdict, style: Style) -> String {
    let head = verdict.headline();
    match verdict {
        Verdict::Robust | Verdict::NothingFound => style.good(head),
        Verdict::GaveUp => style.warn(head),
        _ => style.bad(head),
    }
}

#[cfg(test)]
mod tests;
