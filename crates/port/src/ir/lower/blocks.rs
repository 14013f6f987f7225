//! The graph of one thread: basic block by basic block, with the two outcomes of a compare-and-swap told apart.

use super::events::Events;
use super::{Lower, NOWHERE, ThreadContext};
use crate::ir::code::FunctionId;
use crate::ir::inline::{Site, Step};
use crate::ir::module::{Op, Terminator, Value};
use crate::ir::pointers::Pointers;
use crate::program::{CasOutcome, Edge, Kind, Node, NodeKind};

impl Lower<'_> {
    /// The nodes of one block: its first one. Where its last one leads to goes into `ends`.
    pub(super) fn block(
        &mut self,
        context: &mut ThreadContext,
        block: usize,
        graph: &mut Graph,
        ends: &mut Vec<(usize, usize)>,
    ) -> usize {
        let body = context.body;
        let steps = &body.blocks[block].steps;
        let depth = context.flow.depth[block];
        let mut chain = Chain::default();
        if block == 0 || context.flow.predecessors[block].len() > 1 {
            let first = steps.iter().find(|step| !matches!(step.op, Op::Phi(_))).map(|step| step.site);
            if let Some(site) = first {
                let node = self.node(NodeKind::Nothing, site, depth);
                chain.push(graph, node, None);
            }
        }
        let split = split(steps, &context.pointers);
        let common = split.map_or(steps.len(), |split| split.at + 1);
        self.steps(context, block, 0..common, graph, &mut chain);
        let Some(split) = split.filter(|_| chain.last.is_some_and(|last| graph.is_cas(last))) else {
            if common < steps.len() {
                self.steps(context, block, common..steps.len(), graph, &mut chain);
            }
            self.finish(context, block, graph, &mut chain, ends);
            return chain.first.unwrap_or_default();
        };
        // What follows a compare-and-swap, once for success and once for failure.
        for (when, to, edge) in [
            (CasOutcome::Success, split.success, split.edges.0),
            (CasOutcome::Failure, split.failure, split.edges.1),
        ] {
            let mut branch = Chain { first: chain.first, last: chain.last, when };
            self.steps(context, block, common..steps.len() - 1, graph, &mut branch);
            let site = match steps[steps.len() - 1].site {
                Site::Before { function, block, .. } => {
                    let to = self.target(function, block, edge);
                    Site::Edge { function, from: block, to }
                }
                edge => edge,
            };
            let node = self.node(NodeKind::Nothing, site, depth);
            let node = branch.push(graph, node, None);
            ends.push((node, to));
        }
        chain.first.unwrap_or_default()
    }

    /// The block that an edge leads to, in the text.
    fn target(&self, function: FunctionId, block: u32, edge: usize) -> u32 {
        let block = self.code.function(function).and_then(|f| f.blocks.get(block as usize));
        block.and_then(|block| block.successors().get(edge).copied()).unwrap_or_default() as u32
    }

    fn steps(
        &mut self,
        context: &mut ThreadContext,
        block: usize,
        range: std::ops::Range<usize>,
        graph: &mut Graph,
        chain: &mut Chain,
    ) {
        let body = context.body;
        let depth = context.flow.depth[block];
        for index in range {
            let step = &body.blocks[block].steps[index];
            if matches!(step.op, Op::Terminator(_)) {
                continue;
            }
            let counts = context.window.is_none_or(|window| window(block, index));
            context.at = (block, index);
            let Events { all, again } = if counts { self.events(context, step) } else { Events::default() };
            let left_out = std::mem::take(&mut context.left_out);
            if again || left_out || all.is_empty() && step.mark {
                let node = self.node(NodeKind::Nothing, step.site, depth);
                let node = chain.push(graph, node, None);
                graph.left_out.extend(left_out.then_some(node));
            }
            let first = graph.nodes.len();
            for (n, what) in all.into_iter().enumerate() {
                let mut node = self.node(what, step.site, depth);
                // Within an instruction there is no place for a fence.
                if again || n > 0 {
                    node.tag = NOWHERE;
                }
                chain.push(graph, node, Some((block, index)));
            }
            if again && let Some(last) = chain.last {
                graph.nodes[last].next.push(Edge::to(first));
            }
        }
    }

    /// The end of a block.
    fn finish(
        &mut self,
        context: &ThreadContext,
        block: usize,
        graph: &mut Graph,
        chain: &mut Chain,
        ends: &mut Vec<(usize, usize)>,
    ) {
        let Some(last) = context.body.blocks[block].steps.last() else { return };
        let depth = context.flow.depth[block];
        let node = self.node(NodeKind::Nothing, last.site, depth);
        let node = chain.push(graph, node, None);
        let Op::Terminator(end) = &last.op else { return };
        let targets = end.successors();
        // Out of a call by an exception that is nowhere in the text: a step where nothing can be put.
        let implicit = matches!(end, Terminator::Any(_)) && !self.is_jump(last.site);
        for (edge, to) in targets.into_iter().enumerate() {
            let mut from = node;
            if implicit && edge > 0 {
                let through = Node { depth, tag: NOWHERE, ..Node::default() };
                let number = graph.add(through, None);
                graph.nodes[node].next.push(Edge::to(number));
                from = number;
            }
            ends.push((from, to));
        }
    }

    /// Whether an instruction of the text says where control goes, and is no call.
    fn is_jump(&self, site: Site) -> bool {
        let Site::Before { function, block, index } = site else { return false };
        let block = self.code.function(function).and_then(|f| f.blocks.get(block as usize));
        let op = block.and_then(|block| block.body.get(index as usize)).map(|instruction| &instruction.op);
        op.is_some_and(|op| matches!(op, Op::Terminator(_)) && op.call().is_none())
    }
}

/// Nodes, and the steps that they come from.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) origins: Vec<Option<(usize, usize)>>,
    /// Nodes that stand where plain accesses to what others can get at were left out.
    pub(super) left_out: Vec<usize>,
}

impl Graph {
    fn add(&mut self, node: Node, origin: Option<(usize, usize)>) -> usize {
        self.nodes.push(node);
        self.origins.push(origin);
        self.nodes.len() - 1
    }

    fn is_cas(&self, node: usize) -> bool {
        matches!(&self.nodes[node].kind, NodeKind::Access(access) if access.kind == Kind::Cas)
    }
}

/// Nodes one behind the other.
#[derive(Default)]
struct Chain {
    first: Option<usize>,
    last: Option<usize>,
    /// When control goes from the last one to the next.
    when: CasOutcome,
}

impl Chain {
    fn push(&mut self, graph: &mut Graph, node: Node, origin: Option<(usize, usize)>) -> usize {
        let number = graph.add(node, origin);
        if let Some(last) = self.last {
            graph.nodes[last].next.push(Edge { to: number, when: std::mem::take(&mut self.when) });
        }
        self.first.get_or_insert(number);
        self.last = Some(number);
        number
    }
}

/// A compare-and-swap whose outcome decides where the block ends.
#[derive(Clone, Copy)]
struct Split {
    /// The step.
    at: usize,
    /// Where control goes if it succeeds.
    success: usize,
    /// Where control goes if it fails.
    failure: usize,
    /// The numbers of these two edges.
    edges: (usize, usize),
}

/// Whether the compare-and-swap that is being looked at only makes a loop go round once more when it fails: success leaves the
/// innermost loop that it is in, failure does not. Compilers peel loops: then failure leads to such a one, with the same success.
pub(super) fn is_retried(context: &ThreadContext) -> bool {
    let (block, at) = context.at;
    let flow = context.flow;
    let split = |block: usize| split(&context.body.blocks[block].steps, &context.pointers);
    let goes_round = |block: usize, &Split { success, failure, .. }: &Split| {
        flow.depth[success] < flow.depth[block]
            && flow.depth[failure] >= flow.depth[block]
            && (failure == block || flow.after(failure).contains(block))
    };
    split(block).filter(|split| split.at == at).is_some_and(|first| {
        let again = split(first.failure).filter(|again| again.success == first.success);
        goes_round(block, &first) || again.is_some_and(|again| goes_round(first.failure, &again))
    })
}

/// Looks for one: `%r = cmpxchg …; br (extractvalue %r, 1)`, or a comparison of what it read with what it expected.
fn split(steps: &[Step], pointers: &Pointers) -> Option<Split> {
    let Op::Terminator(Terminator::Branch(Value::Local(condition), yes, no)) = &steps.last()?.op else {
        return None;
    };
    let of = |value: &Value, index: u32| match value {
        Value::Local(local) => match pointers.def(*local)? {
            Op::Extract(Value::Local(from), indices) if indices[..] == [index] => Some(*from),
            _ => None,
        },
        _ => None,
    };
    let (from, positive) = match pointers.def(*condition)? {
        Op::Extract(..) => (of(&Value::Local(*condition), 1)?, true),
        Op::Compare(how, a, b) if matches!(how.as_str(), "eq" | "ne") => {
            let from = of(a, 0).or(of(b, 0))?;
            let other = if of(a, 0).is_some() { b } else { a };
            match pointers.def(from)? {
                // One that may fail for no reason can have read what it expected.
                Op::CompareExchange { expected, weak: false, .. } if expected == other => (from, how == "eq"),
                _ => return None,
            }
        }
        _ => return None,
    };
    let at = steps.iter().position(|step| step.result == Some(from))?;
    matches!(steps[at].op, Op::CompareExchange { .. }).then_some(match positive {
        true => Split { at, success: *yes, failure: *no, edges: (0, 1) },
        false => Split { at, success: *no, failure: *yes, edges: (1, 0) },
    })
}
