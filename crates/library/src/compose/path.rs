//! A path from one call to the next, for people to follow.

use super::flow::Flow;
use super::graph::{CallId, Client, NodeId, Step};
use crate::code::Site;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A path first leaves functions, then enters some: so it never returns to where it did not come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Phase {
    Leaving,
    Entering,
}

/// The places on a shortest path with neither call nor fence, both ends included.
pub fn find(client: &Client, flow: &Flow, earlier: CallId, later: CallId) -> Vec<Site> {
    let is = |node: NodeId, call: CallId| client.nodes[node].step == Step::Call(call);
    let starts = (0..client.nodes.len()).filter(|&node| is(node, earlier));
    let mut from: FxHashMap<(NodeId, Phase), Option<(NodeId, Phase)>> = FxHashMap::default();
    let mut queue: VecDeque<(NodeId, Phase)> = VecDeque::new();
    // The first node is left, never stood on: the path may lead back to it.
    for start in starts.clone() {
        for next in after(client, flow, (start, Phase::Leaving), true) {
            if from.insert(next, None).is_none() {
                queue.push_back(next);
            }
        }
    }
    while let Some(here) = queue.pop_front() {
        if is(here.0, later) {
            let mut way = vec![here.0];
            let mut at = here;
            while let Some(Some(before)) = from.get(&at) {
                way.push(before.0);
                at = *before;
            }
            way.extend(starts.clone().next());
            way.reverse();
            return sites(client, &way);
        }
        for next in after(client, flow, here, false) {
            from.entry(next).or_insert_with(|| {
                queue.push_back(next);
                Some(here)
            });
        }
    }
    vec![client.calls[earlier].site, client.calls[later].site]
}

/// Where a thread, or one that it starts or that waits for it, may go next without a call or fence.
fn after(
    client: &Client,
    flow: &Flow,
    (node, phase): (NodeId, Phase),
    is_start: bool,
) -> Vec<(NodeId, Phase)> {
    let this = &client.nodes[node];
    let mut next: Vec<(NodeId, Phase)> = Vec::new();
    let passes = match this.step {
        Step::Fence => false,
        Step::Call(_) => is_start,
        Step::Enter(function) => flow.is_transparent(client, function),
        _ => true,
    };
    if passes {
        next.extend(this.next.iter().map(|&node| (node, phase)));
    }
    let mut inner = client.entered(this.step);
    inner.extend(client.started(this.step));
    next.extend(inner.into_iter().map(|function| (client.functions[function].entry, Phase::Entering)));
    if phase == Phase::Leaving {
        let function = this.function;
        if client.functions[function].exit == node {
            let calls = (0..client.nodes.len())
                .filter(|&caller| client.entered(client.nodes[caller].step).contains(&function));
            next.extend(calls.flat_map(|caller| &client.nodes[caller].next).map(|&node| (node, phase)));
        }
        if flow.ends.contains(&node) {
            let joins = client.nodes.iter().filter(|node| node.step == Step::Join);
            next.extend(joins.flat_map(|node| &node.next).map(|&node| (node, phase)));
        }
    }
    next
}

/// One place for each line in a row.
fn sites(client: &Client, way: &[NodeId]) -> Vec<Site> {
    let mut out: Vec<Site> = Vec::new();
    for site in way.iter().filter_map(|&node| client.nodes[node].site) {
        match out.last() {
            Some(last) if (last.file, last.line) == (site.file, site.line) => {}
            _ => out.push(site),
        }
    }
    out
}
