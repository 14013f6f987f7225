//! Release/acquire: \[Rocker19] Def. A.12, with the non-atomic accesses of §6.
//!
//! RA is RC20 with every access release/acquire, so the axioms are those of `rc20.rs`. Between atomic
//! accesses `rf ⊆ hb`, and they come down to Def. A.12: `hb`, `mo ; hb`, `fr ; hb`, `fr ; mo` irreflexive.
//! Modes are ignored, but non-atomic accesses don't synchronise. Fences do nothing.

use super::{Broken, rc20};
use crate::graph::Graph;
use crate::{Mode, Relation};

/// `hb = (po ∪ [atomic] ; rf ; [atomic])⁺`
pub(super) fn hb<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    let atomic = graph.set(|e| e.mode != Mode::NonAtomic);
    (&graph.po | &graph.rf.within(atomic, atomic)).plus()
}

pub(super) fn check<const W: usize>(graph: &Graph<W>) -> Result<(), Broken> {
    rc20::axioms(graph, &hb(graph))
}
