//! RC20: \[RoboCop24] §3.2 (there `so` is `po`).
//!
//! There are no SC accesses and SC fences here: programs arrive with both lowered (an SC fence is an acquire
//! fence, an acquire-release RMW of a hidden location, and a release fence). A mode that is left at `sc`
//! counts as acquire-release. A non-atomic access is a relaxed one that fences can't synchronise through;
//! races on it are judged by [`hb`].

use super::{Broken, acyclic, irreflexive};
use crate::graph::Graph;
use crate::{Mode, Relation};

/// `hb = (po ∪ sw)⁺`
pub(super) fn hb<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    (&graph.po | &sw(graph)).plus()
}

/// `sw = [⊒rel] ; ([F] ; po)? ; rf⁺ ; (po ; [F])? ; [⊒acq]`, where `rf⁺` runs through RMWs: release
/// sequences.
fn sw<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    let atomic = graph.set(|e| e.mode != Mode::NonAtomic);
    let (po, rf, fences) = (&graph.po, &graph.rf.within(atomic, atomic), graph.fences());
    let from_release = po.from(fences).maybe().from(graph.releases());
    let to_acquire = po.to(fences).maybe().to(graph.acquires());
    from_release.seq(&rf.plus()).seq(&to_acquire)
}

pub(super) fn check<const W: usize>(graph: &Graph<W>) -> Result<(), Broken> {
    axioms(graph, &hb(graph))
}

/// The axioms over any happens-before.
pub(super) fn axioms<const W: usize>(graph: &Graph<W>, hb: &Relation<W>) -> Result<(), Broken> {
    let (po, rf, mo) = (&graph.po, &graph.rf, &graph.mo);
    let fr = &graph.fr();
    let rf_maybe = &rf.maybe();

    irreflexive("atomicity", &[fr, mo])?;
    irreflexive("read-coherence", &[fr, rf_maybe, hb])?;
    irreflexive("write-coherence", &[mo, rf_maybe, &hb.maybe()])?;
    acyclic("no-thin-air", &(po | rf))
}
