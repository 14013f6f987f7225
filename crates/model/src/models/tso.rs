//! x86-TSO: \[Fency21] §II.B.
//!
//! An RMW is one event in both `R` and `W`, so `xppo` orders it with everything. `F` are the MFENCEs: fences
//! of mode `sc`; other fences do nothing. A failed compare-and-swap is locked too: it arrives as a read of
//! mode `sc` and takes part in `implied` like a successful one. Every other access is plain, whatever its
//! mode.

use super::{Broken, acyclic, irreflexive, sc_per_location};
use crate::graph::Graph;
use crate::{Mode, Relation, Set};

pub(super) fn check<const W: usize>(graph: &Graph<W>) -> Result<(), Broken> {
    let (mo, fr, rfe) = (&graph.mo, graph.fr(), graph.rfe());

    acyclic("sc-per-location", &sc_per_location(graph))?;
    irreflexive("atomicity", &[&fr, mo])?;
    acyclic("ghb", &(xppo(graph) | implied(graph) | rfe | fr | mo))
}

/// `xppo = ((W×W) ∪ (R×W) ∪ (R×R)) ∩ po`
fn xppo<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    let (r, w) = (graph.reads(), graph.writes());
    graph.po.within(w, w) | graph.po.within(r, r | w)
}

/// `implied = po ; [RMW ∪ F] ∪ [RMW ∪ F] ; po`
fn implied<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    let locked = locked(graph);
    graph.po.to(locked) | graph.po.from(locked)
}

fn locked<const W: usize>(graph: &Graph<W>) -> Set<W> {
    graph.rmws() | ((graph.fences() | graph.reads()) & graph.with_mode(Mode::SeqCst))
}
