//! What may guard plain accesses that were left out (`--atomics-only`).
//!
//! A program without a data race has something that orders its plain accesses: a release and an acquire, a lock, a fence. Where
//! one thread writes to a flag behind plain accesses, another reads it before such, and nothing orders one of the two, the flag
//! may be all that there is: then there is a data race, and what was left out counts.

use super::{Graph, Lower};
use crate::graph::reachable;
use crate::ir::inline::{Note, Reason, Site};
use crate::program::{Access, Aliases, Kind, Node, NodeKind};
use seqcst_model::Mode;

/// An access that may guard plain ones.
pub(super) struct Guard {
    location: usize,
    site: Site,
    /// Others may see by its write that plain accesses before it are done.
    tells: bool,
    /// It may see so, before plain accesses behind it.
    sees: bool,
    /// Nothing orders it with them.
    loose: Option<Reason>,
}

impl Lower<'_> {
    /// Looks for them in one thread.
    pub(super) fn guards(&mut self, graph: &Graph) {
        if graph.left_out.is_empty() {
            return;
        }
        let nodes = &graph.nodes;
        let many = nodes.len();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); many];
        for (number, node) in nodes.iter().enumerate() {
            node.next.iter().for_each(|edge| before[edge.to].push(number));
        }
        let next = |node: usize| nodes[node].next.iter().map(|edge| edge.to).collect::<Vec<_>>();
        let plain = || graph.left_out.iter().copied();
        let behind = reachable(many, plain(), next);
        let ahead = reachable(many, plain(), |node| before[node].clone());
        // The same, no further than to what orders them.
        let until = |stop: bool, next: Vec<usize>| if stop { Vec::new() } else { next };
        let loosely_behind = reachable(many, plain(), |node| until(releases(&nodes[node]), next(node)));
        let loosely_ahead =
            reachable(many, plain(), |node| until(acquires(&nodes[node]), before[node].clone()));
        for (number, node) in nodes.iter().enumerate() {
            let NodeKind::Access(access) = &node.kind else { continue };
            let Some(&site) = self.sites.get(node.tag as usize) else { continue };
            let tells = access.kind != Kind::Load && behind.contains(number);
            let sees = access.kind != Kind::Store && ahead.contains(number);
            let loose = tells && loosely_behind.contains(number) && !releases(node)
                || sees && loosely_ahead.contains(number) && !acquires(node);
            let loose = loose.then_some(reason(access));
            if tells || sees {
                self.guards.push(Guard { location: access.location, site, tells, sees, loose });
            }
        }
    }

    /// Notes about those that another thread, or another call, has the other part of.
    pub(super) fn warnings(&self) -> Vec<Note> {
        let met = |a: &Guard, b: &Guard| self.classes.may(a.location, b.location);
        let suspicious = |guard: &&Guard| {
            guard.loose.is_some()
                && self.guards.iter().any(|other| {
                    (guard.tells && other.sees || guard.sees && other.tells) && met(guard, other)
                })
        };
        let locations = self.classes.locations();
        let found = self.guards.iter().filter(suspicious).filter_map(|guard| {
            let name = locations.get(guard.location)?.name.clone();
            Some(Note { site: guard.site, reason: guard.loose?, name })
        });
        found.collect()
    }
}

fn reason(access: &Access) -> Reason {
    if access.order == Mode::NonAtomic { Reason::VolatileFlag } else { Reason::RelaxedFlag }
}

/// Whether what is before it is done when what it writes, or what is behind it, is seen.
fn releases(node: &Node) -> bool {
    let is = |order: Mode| matches!(order, Mode::Release | Mode::AcqRel | Mode::SeqCst);
    match &node.kind {
        NodeKind::Access(access) => access.kind != Kind::Load && is(access.order),
        NodeKind::Fence(order) => is(*order),
        NodeKind::StoreFence => true,
        _ => false,
    }
}

/// Whether what is behind it comes after what it reads, or what is before it.
fn acquires(node: &Node) -> bool {
    let is = |order: Mode| matches!(order, Mode::Acquire | Mode::AcqRel | Mode::SeqCst);
    match &node.kind {
        NodeKind::Access(access) => access.kind != Kind::Store && is(access.order),
        NodeKind::Fence(order) => is(*order),
        _ => false,
    }
}
