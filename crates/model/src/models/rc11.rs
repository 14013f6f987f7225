//! RC11: \[Lahav17] §3 and Fig. 3 (there `mo` and `rb` are `mo` and `fr`), with SC accesses and SC fences as events of
//! their own.
//!
//! Everything but SC is as in `rc20.rs`: happens-before, coherence, atomicity, no cycle of `po ∪ rf`. On top, the
//! *partial SC order* `psc` has no cycle. It is as strong as every compiler's mapping to hardware makes SC accesses, and no
//! stronger; the differences from RC20's SC fence and from C++20's text are in `docs/theory.md`, "SC accesses".

use super::{Broken, acyclic, rc20};
use crate::graph::Graph;
use crate::{Mode, Relation};

pub(super) fn check<const W: usize>(graph: &Graph<W>) -> Result<(), Broken> {
    let hb = &rc20::hb(graph);
    rc20::axioms(graph, hb)?;
    if graph.with_mode(Mode::SeqCst).is_empty() {
        return Ok(());
    }
    acyclic("psc", &psc(graph, hb))
}

/// The partial SC order: `psc = psc_base ∪ psc_F`
pub(super) fn psc<const W: usize>(graph: &Graph<W>, hb: &Relation<W>) -> Relation<W> {
    psc_base(graph, hb) | psc_fences(graph, hb)
}

/// `psc_base = ([E^sc] ∪ [F^sc] ; hb?) ; scb ; ([E^sc] ∪ hb? ; [F^sc])`
fn psc_base<const W: usize>(graph: &Graph<W>, hb: &Relation<W>) -> Relation<W> {
    let sc = graph.with_mode(Mode::SeqCst);
    let fences = sc & graph.fences();
    let accesses = Relation::identity(graph.len(), sc);
    let from = &accesses | &hb.maybe().from(fences);
    let to = &accesses | &hb.maybe().to(fences);
    from.seq(&scb(graph, hb)).seq(&to)
}

/// SC-before: `scb = po ∪ po≠ ; hb ; po≠ ∪ hb ∩ =loc ∪ mo ∪ fr`, with `po≠ = po \ po_loc`: a fence differs from everything.
fn scb<const W: usize>(graph: &Graph<W>, hb: &Relation<W>) -> Relation<W> {
    let elsewhere = &graph.po - &graph.po_loc();
    let here = graph.same_location(hb);
    &graph.po | &elsewhere.seq(hb).seq(&elsewhere) | here | &graph.mo | graph.fr()
}

/// `psc_F = [F^sc] ; (hb ∪ hb ; eco ; hb) ; [F^sc]`, with `eco = (rf ∪ mo ∪ fr)⁺`.
fn psc_fences<const W: usize>(graph: &Graph<W>, hb: &Relation<W>) -> Relation<W> {
    let fences = graph.fences() & graph.with_mode(Mode::SeqCst);
    let eco = (&graph.rf | &graph.mo | graph.fr()).plus();
    (hb | &hb.seq(&eco).seq(hb)).within(fences, fences)
}
