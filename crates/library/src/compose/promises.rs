//! Does a client keep what its libraries ask of it: that one thread makes all calls of certain methods?

use super::graph::{CallId, Client, FunctionId, NodeId, Step};
use super::interface::Interface;
use std::collections::BTreeSet;

/// Says which promises may be broken, and adds those that cannot be looked into to what is assumed.
pub fn broken(client: &mut Client, libraries: &[Interface]) -> Vec<String> {
    let is_whole = client.functions.iter().any(|function| function.name == "main");
    let mut out = Vec::new();
    for group in libraries.iter().flat_map(|library| &library.one_thread) {
        let mut threads: Vec<String> = Vec::new();
        let mut several = false;
        for root in client.roots() {
            if !calls(client, root).iter().any(|&call| group.contains(&client.calls[call].what)) {
                continue;
            }
            several |= !threads.is_empty() || may_run_twice(client, root);
            threads.push(client.functions[root].name.clone());
        }
        let methods = group.join(", ");
        match (is_whole, several) {
            // Which threads run these functions is for others to say.
            (false, _) if !threads.is_empty() => {
                client.assumptions.push(format!("one thread makes all calls of {methods}"));
            }
            (true, true) => out.push(format!(
                "one thread has to make all calls of {methods}, but there may be several that do, in {}",
                threads.join(", ")
            )),
            _ => {}
        }
    }
    out
}

/// The calls that a thread may make which begins here.
fn calls(client: &Client, root: FunctionId) -> BTreeSet<CallId> {
    let mut seen = BTreeSet::from([root]);
    let mut open = vec![root];
    let mut calls = BTreeSet::new();
    while let Some(function) = open.pop() {
        for node in client.nodes.iter().filter(|node| node.function == function) {
            if let Step::Call(call) = node.step {
                calls.insert(call);
            }
            open.extend(client.entered(node.step).into_iter().filter(|inner| seen.insert(*inner)));
        }
    }
    calls
}

/// May more than one thread begin with this function?
fn may_run_twice(client: &Client, root: FunctionId) -> bool {
    let starts: Vec<NodeId> = (0..client.nodes.len())
        .filter(|&node| client.started(client.nodes[node].step).contains(&root))
        .collect();
    match starts[..] {
        [] => client.functions[root].name != "main",
        // Once, in `main`, in no loop.
        [start] => {
            client.functions[client.nodes[start].function].name != "main" || is_repeated(client, start)
        }
        _ => true,
    }
}

fn is_repeated(client: &Client, node: NodeId) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = client.nodes[node].next.clone();
    while let Some(next) = open.pop() {
        if next == node {
            return true;
        }
        if seen.insert(next) {
            open.extend(&client.nodes[next].next);
        }
    }
    false
}
