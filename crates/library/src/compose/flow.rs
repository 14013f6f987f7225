//! Which calls may be the last ones before a node, with no SC fence since.
//!
//! Within a function, its beginning stands for whatever its callers called last; so every function is looked at once, however
//! often it is called. What callers leave behind is kept beside it, for each function.

use super::Gap;
use super::graph::{CallId, Client, FunctionId, NodeId, Step};
use super::path;
use std::collections::BTreeSet;

/// Calls that may be the last ones, and whether what was last at the beginning of the function may still be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Last {
    /// Can a thread get here?
    pub is_reached: bool,
    /// Is there a path from the beginning of the function with neither call nor fence?
    pub inherits: bool,
    /// Calls that may be the last one before this point, with no SC fence since.
    pub calls: BTreeSet<CallId>,
}

impl Last {
    /// Adds what another one has; did that change anything?
    fn add(&mut self, other: &Last) -> bool {
        let before = (self.is_reached, self.inherits, self.calls.len());
        self.is_reached |= other.is_reached;
        self.inherits |= other.inherits;
        self.calls.extend(&other.calls);
        before != (self.is_reached, self.inherits, self.calls.len())
    }
}

/// What is known of all nodes.
pub struct Flow {
    /// The state before each node.
    before: Vec<Last>,
    /// What callers and creators of a function called last.
    inherited: Vec<BTreeSet<CallId>>,
    /// Where threads end that somebody may wait for.
    pub ends: BTreeSet<NodeId>,
}

impl Flow {
    /// Follows all paths until nothing is new.
    pub fn new(client: &Client) -> Flow {
        let mut flow = Flow {
            before: vec![Last::default(); client.nodes.len()],
            inherited: vec![BTreeSet::new(); client.functions.len()],
            ends: thread_ends(client),
        };
        for function in &client.functions {
            flow.before[function.entry] = Last { is_reached: true, inherits: true, calls: BTreeSet::new() };
        }
        let mut is_new = true;
        while is_new {
            is_new = false;
            for node in 0..client.nodes.len() {
                if !flow.before[node].is_reached {
                    continue;
                }
                is_new |= flow.pass_on(client, node);
                let after = flow.after(client, node);
                for &next in &client.nodes[node].next {
                    is_new |= flow.before[next].add(&after);
                }
            }
        }
        flow
    }

    /// What was called last here, in whatever function.
    fn resolved(&self, client: &Client, node: NodeId) -> BTreeSet<CallId> {
        let last = &self.before[node];
        let mut calls = last.calls.clone();
        if last.inherits {
            calls.extend(&self.inherited[client.nodes[node].function]);
        }
        calls
    }

    /// Gives functions that are called or started what was called last here.
    fn pass_on(&mut self, client: &Client, node: NodeId) -> bool {
        let step = client.nodes[node].step;
        let mut functions = client.entered(step);
        functions.extend(client.started(step));
        let mut is_new = false;
        for function in functions {
            let here = self.resolved(client, node);
            let before = self.inherited[function].len();
            self.inherited[function].extend(here);
            is_new |= self.inherited[function].len() != before;
        }
        is_new
    }

    /// What holds after a node.
    fn after(&self, client: &Client, node: NodeId) -> Last {
        let before = &self.before[node];
        match client.nodes[node].step {
            Step::Nothing | Step::Start(_) | Step::StartAny => before.clone(),
            Step::Fence => Last { is_reached: true, ..Last::default() },
            Step::Call(call) => Last { is_reached: true, inherits: false, calls: BTreeSet::from([call]) },
            step @ (Step::Enter(_) | Step::EnterAny) => {
                let mut after = if step == Step::EnterAny { before.clone() } else { Last::default() };
                for function in client.entered(step) {
                    after.add(&self.through(client, function, before));
                }
                after
            }
            Step::Join => {
                let mut after = before.clone();
                for &end in &self.ends {
                    after.calls.extend(self.resolved(client, end));
                }
                after
            }
        }
    }

    /// What holds after a call of a function of the client.
    fn through(&self, client: &Client, function: FunctionId, before: &Last) -> Last {
        let end = &self.before[client.functions[function].exit];
        let mut after = Last { is_reached: end.is_reached, inherits: false, calls: end.calls.clone() };
        if end.inherits {
            after.add(before);
        }
        after
    }

    /// May a function be passed with neither call nor fence?
    pub fn is_transparent(&self, client: &Client, function: FunctionId) -> bool {
        self.before[client.functions[function].exit].inherits
    }

    /// Pairs of calls to different libraries with no fence in between.
    pub fn gaps(&self, client: &Client) -> Vec<Gap> {
        let mut found: BTreeSet<(CallId, CallId)> = BTreeSet::new();
        for (number, node) in client.nodes.iter().enumerate() {
            let Step::Call(later) = node.step else { continue };
            if !self.before[number].is_reached {
                continue;
            }
            let last = self.resolved(client, number);
            let apart = |earlier: &CallId| !client.calls[*earlier].owner.is(&client.calls[later].owner);
            found.extend(last.into_iter().filter(apart).map(|earlier| (later, earlier)));
        }
        let gap = |(later, earlier): (CallId, CallId)| Gap {
            earlier: client.calls[earlier].clone(),
            later: client.calls[later].clone(),
            path: path::find(client, self, earlier, later),
        };
        let mut gaps: Vec<Gap> = found.into_iter().map(gap).collect();
        gaps.sort_by_key(|gap| (gap.later.site, gap.earlier.site));
        gaps
    }
}

/// Ends of functions that threads begin with, and calls that end a thread.
fn thread_ends(client: &Client) -> BTreeSet<NodeId> {
    let started: BTreeSet<FunctionId> =
        client.nodes.iter().flat_map(|node| client.started(node.step)).collect();
    let exits = started.into_iter().map(|function| client.functions[function].exit);
    exits.chain(client.ends.iter().copied()).collect()
}
