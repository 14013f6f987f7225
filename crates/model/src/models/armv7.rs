//! ARMv7: \[Fency21] §II.B, which takes it from Alglave, Maranget, Tautschnig, "Herding Cats" (TOPLAS 2014):
//! its axioms, `prop` and `ppo`, with ARM's `cc0` (no `po_loc` in it).
//!
//! Stated on the graph in which RMWs are split. There is no ISB in our programs.
//! What is ours:
//! 1. Every fence is a DMB, whatever its mode (unless it is relaxed and orders nothing). Acquire reads and
//!    release writes are plain accesses with a DMB after or before them; of that DMB only the edges from the
//!    acquire read and to the release write are kept (`[R ⊒acq] ; po`, `po ; [W ⊒rel]`). An SC store before
//!    an SC load needs a DMB of its own, which lowering puts there.
//! 2. `rmw` is in `cc0`: the store half of an exclusive pair is performed after its load half. "Herding Cats"
//!    has no exclusives; ARMv8 has the same edge in `aob`.
//! 3. A DMB between LDREX and STREX ([`Graph::arm`]) orders what is before the pair before its store and what follows.
//!    Its load may be before or after the DMB: the loop goes round it.

use super::{Broken, acyclic, irreflexive, sc_per_location};
use crate::graph::Graph;
use crate::{Relation, Set};

pub(super) fn check<const W: usize>(graph: &Graph<W>) -> Result<(), Broken> {
    let (split, origin) = graph.split_rmws();
    axioms(&split).map_err(|broken| broken.in_original(&origin))
}

fn axioms<const W: usize>(graph: &Graph<W>) -> Result<(), Broken> {
    let (co, fre, coe) = (&graph.mo, &graph.fre(), &graph.coe());
    acyclic("sc-per-location", &sc_per_location(graph))?;
    irreflexive("atomicity", &[fre, coe, &graph.rmw.inverse()])?;

    let fence = &fence(graph);
    let ahb = ppo(graph) | fence | graph.rfe();
    acyclic("no-thin-air", &ahb)?;

    let ahb_star = &ahb.star();
    let prop = &prop(graph, fence, ahb_star);
    irreflexive("observation", &[fre, prop, ahb_star])?;
    acyclic("propagation", &(co | prop))
}

/// `po ; [F] ; po ∪ [R ⊒acq] ; po ∪ po ; [W ⊒rel] ∪ po ; [fenced] ; rmw ; po?`, between memory accesses, and
/// `[W] ; po ; [DMB ST] ; po ; [W]`.
fn fence<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    let po = &graph.po;
    let (r, w) = (graph.reads(), graph.writes());
    let dmb = graph.fences() & (graph.acquires() | graph.releases());
    let (acquire, release) = (r & graph.acquires(), w & graph.releases());
    let inside = po.seq(&graph.rmw.from(graph.arm.fenced_rmws)).seq(&po.maybe());
    (po.to(dmb).seq(po) | po.from(acquire) | po.to(release) | inside).within(r | w, r | w)
        | po.within(w, graph.arm.dmb_st).seq(&po.to(w))
}

/// `prop = prop-base ∩ (W×W) ∪ com* ; prop-base* ; ffence ; hb*`, `prop-base = (fence ∪ rfe ; fence) ; hb*`
fn prop<const W: usize>(graph: &Graph<W>, fence: &Relation<W>, ahb_star: &Relation<W>) -> Relation<W> {
    let w = graph.writes();
    let base = (fence | &graph.rfe().seq(fence)).seq(ahb_star);
    let com = &graph.rf | &graph.mo | graph.fr();
    base.within(w, w) | com.star().seq(&base.star()).seq(fence).seq(ahb_star)
}

/// Preserved program order: `ii ∩ (R×R) ∪ ic ∩ (R×W)`, where `i` is the start and `c` the commit of an
/// instruction, as the least solution of
/// ```text
/// ii = ii0 ∪ ci ∪ ic;ci ∪ ii;ii      ii0 = dp ∪ rdw ∪ rfi
/// ic =       ii ∪ cc ∪ ic;cc ∪ ii;ic
/// ci = ci0 ∪ ci;ii ∪ cc;ci           ci0 = detour
/// cc = cc0 ∪ ci ∪ ci;ic ∪ cc;cc      cc0 = dp ∪ ctrl ∪ addr;po ∪ rmw
/// ```
fn ppo<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    let (r, w): (Set<W>, Set<W>) = (graph.reads(), graph.writes());
    let po_loc = &graph.po_loc();
    let dp = &(&graph.addr | &graph.data.to(w));
    let ctrl = &graph.ctrl | &graph.ctrl.seq(&graph.po);
    let rdw = po_loc & &graph.fre().seq(&graph.rfe());
    let detour = po_loc & &graph.coe().seq(&graph.rfe());

    let mut ii = dp | &rdw | graph.rfi();
    let mut ic = Relation::empty(graph.len());
    let mut ci = detour;
    let mut cc = dp | &ctrl | graph.addr.seq(&graph.po) | &graph.rmw;
    loop {
        let new_ii = &ii | &ci | ic.seq(&ci) | ii.seq(&ii);
        let new_ic = &ic | &ii | &cc | ic.seq(&cc) | ii.seq(&ic);
        let new_ci = &ci | &ci.seq(&ii) | cc.seq(&ci);
        let new_cc = &cc | &ci | ci.seq(&ic) | cc.seq(&cc);
        if (&new_ii, &new_ic, &new_ci, &new_cc) == (&ii, &ic, &ci, &cc) {
            return ii.within(r, r) | ic.within(r, w);
        }
        (ii, ic, ci, cc) = (new_ii, new_ic, new_ci, new_cc);
    }
}
