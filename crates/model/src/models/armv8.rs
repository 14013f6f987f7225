//! ARMv8: \[Fency21] §II.B, which follows Pulte et al., "Simplifying ARM concurrency" (POPL 2018).
//!
//! Stated on the graph in which RMWs are split. `L`: writes `⊒ rel`; `A`: reads `⊒ acq` (LDAR, acquire RCsc);
//! `F`: DMB FULL, for fences `⊒ rel` (a C11 release fence is compiled to DMB ISH); `FLD`: DMB LD, for acquire
//! fences. `Q` (LDAPR, acquire RCpc) and `FST` (DMB ST) are in [`Graph::arm`]: C11 programs have none here.
//! There is no ISB.

use super::{Broken, acyclic, irreflexive, sc_per_location};
use crate::graph::Graph;
use crate::{Mode, Relation};

pub(super) fn check<const W: usize>(graph: &Graph<W>) -> Result<(), Broken> {
    let (split, origin) = graph.split_rmws();
    axioms(&split).map_err(|broken| broken.in_original(&origin))
}

fn axioms<const W: usize>(graph: &Graph<W>) -> Result<(), Broken> {
    let (fre, coe) = (&graph.fre(), &graph.coe());
    let ob = obs(graph) | dob(graph) | aob(graph) | bob(graph);

    acyclic("internal", &sc_per_location(graph))?;
    irreflexive("atomicity", &[fre, coe, &graph.rmw.inverse()])?;
    acyclic("external", &ob)
}

/// Observed-by: `rfe ∪ coe ∪ fre`
fn obs<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    graph.rfe() | graph.coe() | graph.fre()
}

/// Dependency-ordered-before: `dp ∪ dp ; rfi ∪ (ctrl ∪ addr ; po) ; [W]` with `dp = addr ∪ data`
fn dob<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    let dp = &graph.addr | &graph.data.to(graph.writes());
    let ctrl = &graph.ctrl | &graph.ctrl.seq(&graph.po);
    let addr_po = graph.addr.seq(&graph.po);
    dp.seq(&graph.rfi()) | dp | (ctrl | addr_po).to(graph.writes())
}

/// Atomic-ordered-before: `rmw ∪ [codom(rmw)] ; rfi ; [A ∪ Q]`
fn aob<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    let a = graph.reads() & (graph.acquires() | graph.arm.ldapr);
    &graph.rmw | &graph.rfi().within(graph.rmw.codomain(), a)
}

/// Barrier-ordered-before:
/// `po ; [F] ; po ∪ [R] ; po ; [FLD] ; po ∪ [W] ; po ; [FST] ; po ; [W] ∪ [L] ; po ; [A] ∪ po ; [L] ∪ [A ∪ Q] ; po ∪
/// po ; [L] ; coi`
fn bob<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    let po = &graph.po;
    let full = graph.fences() & graph.releases();
    let fld = graph.fences() & graph.with_mode(Mode::Acquire);
    let (r, w) = (graph.reads(), graph.writes());
    let (l, a, q) = (w & graph.releases(), r & graph.acquires(), graph.arm.ldapr);

    po.to(full).seq(po)
        | po.within(r, fld).seq(po)
        | po.within(w, graph.arm.dmb_st).seq(&po.to(w))
        | po.within(l, a)
        | po.to(l)
        | po.from(a | q)
        | po.to(l).seq(&graph.coi())
}
