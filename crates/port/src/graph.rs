//! Reachability and strongly connected components. Nodes are the numbers below `many`; `next` says where edges lead.

use crate::bits::Bits;

/// The nodes that can be reached from these, themselves included.
pub fn reachable<I: IntoIterator<Item = usize>>(
    many: usize,
    from: impl IntoIterator<Item = usize>,
    next: impl Fn(usize) -> I,
) -> Bits {
    let mut reached = Bits::new(many);
    let mut work: Vec<usize> = from.into_iter().collect();
    while let Some(node) = work.pop() {
        if node < many && reached.insert(node) {
            work.extend(next(node));
        }
    }
    reached
}

/// The strongly connected components of what can be reached from `roots`: Tarjan's algorithm, with a stack of its own.
pub fn components<I: Iterator<Item = usize>>(
    many: usize,
    roots: impl IntoIterator<Item = usize>,
    next: impl Fn(usize) -> I,
) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut index, mut low, mut is_open) = (vec![NEW; many], vec![NEW; many], vec![false; many]);
    let (mut open, mut count, mut components) = (Vec::new(), 0, Vec::new());
    for root in roots {
        let mut calls = Vec::new();
        if index[root] == NEW {
            calls.push((root, next(root)));
        }
        while let Some((node, edges)) = calls.last_mut() {
            let node = *node;
            if index[node] == NEW {
                (index[node], low[node], is_open[node]) = (count, count, true);
                count += 1;
                open.push(node);
            }
            match edges.next() {
                Some(to) if index[to] == NEW => calls.push((to, next(to))),
                Some(to) if is_open[to] => low[node] = low[node].min(index[to]),
                Some(_) => {}
                None => {
                    calls.pop();
                    if let Some(&(parent, _)) = calls.last() {
                        low[parent] = low[parent].min(low[node]);
                    }
                    if low[node] == index[node] {
                        let first = open.iter().rposition(|&other| other == node).unwrap_or_default();
                        let component = open.split_off(first);
                        component.iter().for_each(|&member| is_open[member] = false);
                        components.push(component);
                    }
                }
            }
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_cycles_and_a_tail() {
        // 0 ⇄ 1 → 2 → 3 → 4 → 2, 5 → 0
        let next = [vec![1], vec![0, 2], vec![3], vec![4], vec![2], vec![0]];
        let next = |node: usize| next[node].iter().copied();
        let mut found = components(6, 0..6, next);
        found.iter_mut().for_each(|component| component.sort_unstable());
        assert_eq!(found, [vec![2, 3, 4], vec![0, 1], vec![5]]);
        assert!(reachable(6, [2], next).iter().eq(2..5));
        assert!(reachable(6, [0, 9], next).iter().eq(0..5));
    }
}
