//! Robustness, \[Rocker19] Def. 4.9 and \[RoboCop24] Def. 3.1: every graph of the program that the weaker model
//! allows, graphs of unfinished runs included, is allowed by the stronger one.

use super::traces::Traces;
use super::{Candidate, TooBig, candidates, grow};
use crate::graph::Graph;
use crate::{Model, Program};
use std::ops::ControlFlow;

/// Whether a program is robust.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every graph that the weaker model allows is allowed by the stronger one.
    Robust,
    /// This graph is allowed by the weaker model only.
    NotRobust(Box<Graph>),
    /// The limit was reached before anything was found.
    TooBig,
}

impl Verdict {
    /// Whether it is [`Verdict::Robust`].
    pub fn is_robust(&self) -> bool {
        *self == Verdict::Robust
    }
}

/// Whether every graph that `weaker` allows is allowed by `than`, looking at no more than `limit` graphs.
pub fn robust<P: Program>(program: &P, weaker: Model, than: Model, limit: usize) -> Verdict {
    let Ok(traces) = Traces::of(program) else { return Verdict::TooBig };
    let mut witness = None;
    let result = if weaker.is_causal() {
        grow::all(&traces, limit, &mut |Candidate { graph, .. }| match compare(graph, weaker, than) {
            Compared::OnlyWeaker => {
                witness = Some(Box::new(graph.clone()));
                ControlFlow::Break(())
            }
            Compared::Both => ControlFlow::Continue(grow::Decision::Extend),
            Compared::Neither => ControlFlow::Continue(grow::Decision::Leave),
        })
    } else {
        candidates::all(&traces, candidates::Which::Coherent, limit, &mut |Candidate { graph, .. }| {
            if matches!(compare(graph, weaker, than), Compared::OnlyWeaker) {
                witness = Some(Box::new(graph.clone()));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
    };
    match (witness, result) {
        (Some(graph), _) => Verdict::NotRobust(graph),
        (None, Ok(())) => Verdict::Robust,
        (None, Err(TooBig)) => Verdict::TooBig,
    }
}

enum Compared {
    OnlyWeaker,
    Both,
    /// Or only the stronger, which says nothing about robustness.
    Neither,
}

fn compare(graph: &Graph, weaker: Model, than: Model) -> Compared {
    // Every model here allows what SC allows, and the SC axiom is the cheapest to check: it goes first.
    if than == Model::Sc && graph.hb_sc_steps().is_acyclic() {
        return Compared::Both;
    }
    match weaker.allows(graph) {
        false => Compared::Neither,
        true if than.allows(graph) => Compared::Both,
        true => Compared::OnlyWeaker,
    }
}
