//! Control flow of a thread: who comes before whom, loops and how deep they are nested.

use super::inline::Body;
use super::module::{End, Op};

/// A graph of rooms.
pub struct Flow {
    /// Where control can go from each room.
    pub next: Vec<Vec<usize>>,
    /// Where it can come from.
    pub before: Vec<Vec<usize>>,
    /// How many loops each room is in.
    pub depth: Vec<u32>,
}

impl Flow {
    /// The flow of a thread; what cannot be reached has no edges.
    pub fn new(body: &Body) -> Flow {
        let mut next: Vec<Vec<usize>> = body
            .rooms
            .iter()
            .map(|room| match room.steps.last().map(|step| &step.op) {
                Some(Op::End(end)) => successors(end, body.rooms.len()),
                _ => Vec::new(),
            })
            .collect();
        let reached = reachable(&next, &[0]);
        for (room, edges) in next.iter_mut().enumerate() {
            if !reached[room] {
                edges.clear();
            }
        }
        let mut before = vec![Vec::new(); next.len()];
        for (room, edges) in next.iter().enumerate() {
            for &to in edges {
                before[to].push(room);
            }
        }
        let mut depth = vec![0; next.len()];
        let all: Vec<usize> = (0..next.len()).filter(|&room| reached[room]).collect();
        nest(&next, all, &mut depth);
        Flow { next, before, depth }
    }

    /// Whether a room may be entered more than once.
    pub fn repeats(&self, room: usize) -> bool {
        self.depth.get(room).is_some_and(|depth| *depth > 0)
    }

    /// The rooms that can be reached from these, themselves included.
    pub fn from(&self, rooms: &[usize]) -> Vec<bool> {
        reachable(&self.next, rooms)
    }
}

fn successors(end: &End, rooms: usize) -> Vec<usize> {
    end.successors().into_iter().filter(|&room| room < rooms).collect()
}

fn reachable(next: &[Vec<usize>], from: &[usize]) -> Vec<bool> {
    let mut reached = vec![false; next.len()];
    let mut work: Vec<usize> = from.iter().copied().filter(|&room| room < next.len()).collect();
    while let Some(room) = work.pop() {
        if !std::mem::replace(&mut reached[room], true) {
            work.extend(&next[room]);
        }
    }
    reached
}

/// Counts loops: a strongly connected part is one; without the ways back to where it is entered, it may have others in it.
fn nest(next: &[Vec<usize>], rooms: Vec<usize>, depth: &mut [u32]) {
    let mut work: Vec<(Vec<usize>, Option<usize>)> = vec![(rooms, None)];
    while let Some((rooms, cut)) = work.pop() {
        for part in components(next, &rooms, cut) {
            let first = part[0];
            if part.len() == 1 && (Some(first) == cut || !next[first].contains(&first)) {
                continue;
            }
            part.iter().for_each(|&room| depth[room] += 1);
            // The room with the smallest number comes first in the text, which is where loops are entered.
            let head = part.iter().copied().min().unwrap_or(first);
            work.push((part, Some(head)));
        }
    }
}

/// Strongly connected parts of some rooms, with no edge into `cut` (Tarjan's algorithm, without recursion).
fn components(next: &[Vec<usize>], rooms: &[usize], cut: Option<usize>) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut inside = vec![false; next.len()];
    rooms.iter().for_each(|&room| inside[room] = true);
    let mut index = vec![NEW; next.len()];
    let mut low = vec![NEW; next.len()];
    let mut on_stack = vec![false; next.len()];
    let (mut stack, mut out, mut count) = (Vec::new(), Vec::new(), 0);
    for &root in rooms {
        if index[root] != NEW {
            continue;
        }
        let mut calls: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((room, edge)) = calls.pop() {
            if edge == 0 {
                (index[room], low[room]) = (count, count);
                count += 1;
                stack.push(room);
                on_stack[room] = true;
            }
            let mut called = false;
            for (i, &to) in next[room].iter().enumerate().skip(edge) {
                if !inside[to] || Some(to) == cut {
                    continue;
                }
                if index[to] == NEW {
                    calls.push((room, i + 1));
                    calls.push((to, 0));
                    called = true;
                    break;
                }
                if on_stack[to] {
                    low[room] = low[room].min(low[to]);
                }
            }
            if called {
                continue;
            }
            if let Some(&(parent, _)) = calls.last() {
                low[parent] = low[parent].min(low[room]);
            }
            if low[room] == index[room] {
                let mut part = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    part.push(member);
                    if member == room {
                        break;
                    }
                }
                out.push(part);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_in_loops() {
        // 0 → 1 → 2 → 2, 2 → 1, 1 → 3
        let next = vec![vec![1], vec![2, 3], vec![2, 1], vec![]];
        let mut depth = vec![0; 4];
        nest(&next, vec![0, 1, 2, 3], &mut depth);
        assert_eq!(depth, [0, 1, 2, 0]);
    }
}
