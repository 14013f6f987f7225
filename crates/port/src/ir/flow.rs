//! Control flow of a thread: predecessors and successors of basic blocks, and how deep loops are nested.

use super::inline::{Block, Body};
use super::module::Op;
use crate::bits::Bits;
use crate::graph::{components, reachable};

/// The control-flow graph of a thread, by the numbers of its blocks.
pub struct Flow {
    /// Where control can go from each block.
    pub successors: Vec<Vec<usize>>,
    /// Where it can come from.
    pub predecessors: Vec<Vec<usize>>,
    /// How many loops each block is in.
    pub depth: Vec<u32>,
}

impl Flow {
    /// The flow of a thread; what cannot be reached has no edges.
    pub fn new(body: &Body) -> Flow {
        let many = body.blocks.len();
        let mut successors: Vec<Vec<usize>> = body.blocks.iter().map(|block| targets(block, many)).collect();
        let reached = reachable(many, [0], |block| successors[block].iter().copied());
        let mut predecessors = vec![Vec::new(); many];
        for (block, edges) in successors.iter_mut().enumerate() {
            if !reached.contains(block) {
                edges.clear();
            }
            edges.iter().for_each(|&to| predecessors[to].push(block));
        }
        let depth = loop_depths(&successors);
        Flow { successors, predecessors, depth }
    }

    /// Whether a block may be entered more than once.
    pub fn repeats(&self, block: usize) -> bool {
        self.depth.get(block).is_some_and(|depth| *depth > 0)
    }

    /// The blocks that can be entered after this one; itself only if it is in a loop.
    pub fn after(&self, block: usize) -> Bits {
        let next = |block: usize| self.successors[block].iter().copied();
        reachable(self.successors.len(), next(block), next)
    }
}

fn targets(block: &Block, many: usize) -> Vec<usize> {
    match block.steps.last().map(|step| &step.op) {
        Some(Op::Terminator(terminator)) => {
            terminator.successors().into_iter().filter(|&to| to < many).collect()
        }
        _ => Vec::new(),
    }
}

/// Counts loops: a strongly connected component is one; without the edges back to where it is entered, it may have others
/// in it.
fn loop_depths(successors: &[Vec<usize>]) -> Vec<u32> {
    let many = successors.len();
    let mut depth = vec![0; many];
    // The components that are still to be taken apart, without the edges into the block where each is entered.
    let mut work: Vec<(Vec<usize>, Option<usize>)> = vec![((0..many).collect(), None)];
    while let Some((blocks, cut)) = work.pop() {
        let mut inside = Bits::new(many);
        blocks.iter().for_each(|&block| _ = inside.insert(block));
        let inside = &inside;
        let next = |block: usize| {
            let edges = successors[block].iter().copied();
            edges.filter(move |&to| inside.contains(to) && Some(to) != cut)
        };
        for component in components(many, blocks.iter().copied(), next) {
            let first = component[0];
            if component.len() == 1 && !next(first).any(|to| to == first) {
                continue;
            }
            component.iter().for_each(|&block| depth[block] += 1);
            // The block with the smallest number comes first in the text, which is where loops are entered.
            let head = component.iter().copied().min();
            work.push((component, head));
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_in_loops() {
        // 0 → 1 → 2 → 2, 2 → 1, 1 → 3
        let next = vec![vec![1], vec![2, 3], vec![2, 1], vec![]];
        assert_eq!(loop_depths(&next), [0, 1, 2, 0]);
    }
}
