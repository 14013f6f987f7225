//! Sequential consistency: \[RoboCop24] §3.2, \[Rocker19] Def. A.7, \[Fency21] §II.B.

use super::{Broken, acyclic};
use crate::graph::Graph;

pub(super) fn check<const W: usize>(graph: &Graph<W>) -> Result<(), Broken> {
    // Atomicity is in it: a write between the two halves of an RMW gives `RMW fr w mo RMW`.
    acyclic("sc", &graph.hb_sc_steps())
}
