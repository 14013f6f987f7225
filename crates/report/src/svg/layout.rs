//! Where everything goes: boxes in a grid of threads and steps, wires around them.
//!
//! Every step has a grid row of its own, so a wire may leave its box sideways and run along the row through any number
//! of columns without meeting another box; it changes rows in a gutter between two columns, on a track of its own.
//! Wires from initial writes first run in a corridor below these. So no wire ever runs through a box.

use super::boxes::{Graph, Kind, LINE, Node, Wire};
use super::lanes::{self, Run};
use crate::Relation;

/// Space between the drawing and the border.
pub(super) const MARGIN: f64 = 20.0;
/// Space between rows.
const GAP: f64 = 26.0;
/// Distance between tracks in a gutter, and in the corridor below the initial writes.
const PITCH: f64 = 20.0;
const TRACK: f64 = 9.0;
/// Space between a box and the first track.
const SHOULDER: f64 = 30.0;
/// Height of a thread's name.
pub(super) const HEADER: f64 = 26.0;
/// Distance between ports.
const PORT: f64 = 11.0;

/// A point.
pub(super) type Point = (f64, f64);

/// A graph with coordinates.
pub(super) struct Layout {
    pub nodes: Vec<Node>,
    /// Wires with the points they run through; corners are still sharp.
    pub wires: Vec<(Wire, Vec<Point>)>,
    /// By column: name, left, width.
    pub columns: Vec<(String, f64, f64)>,
    /// Top of the threads' names.
    pub header: f64,
    pub width: f64,
    pub bottom: f64,
}

/// How a wire runs.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Straight down to the next box in the column.
    Straight,
    /// Through a gutter; the gutter left of column `c` is `c`.
    Gutter(usize),
    /// Nowhere (between two initial writes).
    None,
}

/// Places a graph, below `top`.
pub(super) fn layout(graph: Graph, top: f64) -> Layout {
    let Graph { mut nodes, wires, columns } = graph;
    let ways = ways(&nodes, &wires, columns.len());
    let ports = ports(&mut nodes, &wires, &ways);
    let tracks_above = wires.iter().filter(|w| from_above(&nodes, w).is_some()).count();

    // Rows.
    let has_initial = nodes.iter().any(|n| n.column.is_none());
    let initial_height = nodes.iter().filter(|n| n.column.is_none()).map(|n| n.h).fold(0.0, f64::max);
    let corridor = top + initial_height + 12.0;
    let header = if has_initial { corridor + tracks_above as f64 * TRACK + 12.0 } else { top };
    let mut y = header + HEADER + GAP;
    for node in &mut nodes {
        if node.column.is_none() {
            node.y = top;
        } else {
            node.y = y;
            y += node.h + GAP;
        }
    }
    let port_y = |wire: usize, node: usize| -> f64 {
        let (slot, slots) = ports[wire][usize::from(wires[wire].to == node)];
        nodes[node].y + nodes[node].h / 2.0 + (slot as f64 - (slots as f64 - 1.0) / 2.0) * PORT
    };

    // Tracks in gutters.
    let mut track = vec![0; wires.len()];
    let mut track_count = vec![0; columns.len() + 1];
    for (gutter, count) in track_count.iter_mut().enumerate() {
        let inside: Vec<usize> = (0..wires.len()).filter(|&i| ways[i] == Way::Gutter(gutter)).collect();
        let runs: Vec<Run> = inside
            .iter()
            .map(|&i| {
                let mut run = Run::default();
                for node in [wires[i].from, wires[i].to] {
                    match nodes[node].column {
                        None => run.late.push(corridor),
                        Some(c) if c < gutter => run.early.push(port_y(i, node)),
                        Some(_) => run.late.push(port_y(i, node)),
                    }
                }
                run
            })
            .collect();
        let (tracks, n) = lanes::assign(&runs);
        *count = n;
        for (&wire, t) in inside.iter().zip(tracks) {
            track[wire] = t;
        }
    }

    // Columns.
    let mut x = MARGIN;
    let mut gutters = Vec::new();
    let mut placed = Vec::new();
    for (c, &count) in track_count.iter().enumerate() {
        let outer = c == 0 || c == columns.len();
        gutters.push(x + if c == 0 { 12.0 } else { SHOULDER });
        x += match (outer, count) {
            (true, 0) => 0.0,
            (true, n) => SHOULDER + 12.0 + (n - 1) as f64 * PITCH,
            (false, 0) => 36.0,
            (false, n) => 2.0 * SHOULDER + (n - 1) as f64 * PITCH,
        };
        if let Some(name) = columns.get(c) {
            let own = nodes.iter().filter(|n| n.column == Some(c));
            let w = own.map(|n| n.w).fold(name.chars().count() as f64 * 8.0 + 28.0, f64::max);
            for node in nodes.iter_mut().filter(|n| n.column == Some(c)) {
                (node.x, node.w) = (x, w);
            }
            placed.push((name.clone(), x, w));
            x += w;
        }
    }
    let width = x + MARGIN;
    let track_x = |wire: usize| match ways[wire] {
        Way::Gutter(g) => gutters[g] + track[wire] as f64 * PITCH,
        _ => 0.0,
    };

    let (right, mut points) = from_initial(&mut nodes, &wires, &track_x, corridor, width - MARGIN);
    for (i, wire) in wires.iter().enumerate() {
        if !points[i].is_empty() || ways[i] == Way::None {
            // Wires from above arrive over the last port.
            if let Some((_, node, reversed)) = from_above(&nodes, wire) {
                let y = nodes[node].y + nodes[node].h / 2.0 + port_offset(&ports[i], usize::from(!reversed));
                let side = side_x(&nodes[node], track_x(i));
                points[i].extend([(track_x(i), y), (side, y)]);
                if reversed {
                    points[i].reverse();
                }
            }
            continue;
        }
        let (a, b) = (&nodes[wire.from], &nodes[wire.to]);
        points[i] = if ways[i] == Way::Straight {
            vec![(a.x + a.w / 2.0, a.y + a.h), (b.x + b.w / 2.0, b.y)]
        } else {
            let x = track_x(i);
            let ya = a.y + a.h / 2.0 + port_offset(&ports[i], 0);
            let yb = b.y + b.h / 2.0 + port_offset(&ports[i], 1);
            vec![(side_x(a, x), ya), (x, ya), (x, yb), (side_x(b, x), yb)]
        };
    }
    let wires = wires.into_iter().zip(points).filter(|(_, p)| p.len() > 1).collect();
    let bottom = if nodes.is_empty() { header + HEADER } else { y.max(header + HEADER + LINE) - GAP + 12.0 };
    Layout { nodes, wires, columns: placed, header, width: width.max(right + MARGIN), bottom }
}

fn port_offset(ports: &[(usize, usize); 2], end: usize) -> f64 {
    let (slot, slots) = ports[end];
    (slot as f64 - (slots as f64 - 1.0) / 2.0) * PORT
}

/// The side of a box that faces `x`.
fn side_x(node: &Node, x: f64) -> f64 {
    if x < node.x { node.x } else { node.x + node.w }
}

/// For a wire between an initial write and a step: these two, and whether it runs upwards.
fn from_above(nodes: &[Node], wire: &Wire) -> Option<(usize, usize, bool)> {
    match (nodes[wire.from].column, nodes[wire.to].column) {
        (None, Some(_)) => Some((wire.from, wire.to, false)),
        (Some(_), None) => Some((wire.to, wire.from, true)),
        _ => None,
    }
}

/// Chooses a way for each wire: gutters with little traffic.
fn ways(nodes: &[Node], wires: &[Wire], columns: usize) -> Vec<Way> {
    let mut load = vec![0usize; columns + 1];
    let initials = nodes.iter().filter(|n| n.column.is_none()).count().max(1);
    let mut ways = vec![Way::None; wires.len()];
    // Wires between columns have the least choice, those from initial writes the most.
    let class = |w: &Wire| match (nodes[w.from].column, nodes[w.to].column) {
        (Some(a), Some(b)) if a != b => 0,
        (Some(_), Some(_)) => 1,
        _ => 2,
    };
    let mut order: Vec<usize> = (0..wires.len()).collect();
    order.sort_by_key(|&i| (class(&wires[i]), i));
    for i in order {
        let wire = &wires[i];
        let (low, high) = (wire.from.min(wire.to), wire.from.max(wire.to));
        let choices: Vec<usize> = match (nodes[wire.from].column, nodes[wire.to].column) {
            (Some(a), Some(b)) if a < b => (a + 1..=b).rev().collect(),
            (Some(a), Some(b)) if a > b => (b + 1..=a).collect(),
            (Some(c), Some(_)) => {
                let between = nodes[low + 1..high].iter().any(|n| n.column == Some(c));
                if wire.kind == Kind::Relation(Relation::Po) && !between && wire.from < wire.to {
                    ways[i] = Way::Straight;
                    continue;
                }
                if c == 0 && columns > 1 { vec![0, 1] } else { vec![c + 1, c] }
            }
            (None, None) => continue,
            _ => {
                let Some((initial, step, _)) = from_above(nodes, wire) else { continue };
                let c = nodes[step].column.unwrap_or(0);
                let left = initial as f64 / initials as f64 <= c as f64 / columns.max(1) as f64;
                if left { vec![c, c + 1] } else { vec![c + 1, c] }
            }
        };
        if let Some(&gutter) = choices.iter().min_by_key(|&&g| load[g]) {
            load[gutter] += 1;
            ways[i] = Way::Gutter(gutter);
        }
    }
    ways
}

/// Spreads the ends of wires over the sides of boxes, and makes boxes high enough for them. By wire and end (0 for
/// `from`, 1 for `to`): which port, of how many on that side.
fn ports(nodes: &mut [Node], wires: &[Wire], ways: &[Way]) -> Vec<[(usize, usize); 2]> {
    let mut ports = vec![[(0, 1); 2]; wires.len()];
    for (n, node) in nodes.iter_mut().enumerate() {
        let Some(column) = node.column else { continue };
        for left in [true, false] {
            let mut ends: Vec<(usize, usize, usize)> = Vec::new();
            for (i, wire) in wires.iter().enumerate() {
                let Way::Gutter(gutter) = ways[i] else { continue };
                if (gutter <= column) != left {
                    continue;
                }
                for (end, own, other) in [(0, wire.from, wire.to), (1, wire.to, wire.from)] {
                    if own == n {
                        // Highest other end first; of two wires between the same boxes, keep their order.
                        ends.push((other, i, end));
                    }
                }
            }
            ends.sort_unstable();
            let slots = ends.len();
            node.h = node.h.max(slots as f64 * PORT + 8.0);
            for (slot, (_, wire, end)) in ends.into_iter().enumerate() {
                ports[wire][end] = (slot, slots);
            }
        }
    }
    ports
}

/// Places the initial writes above their wires, and leads these through the corridor to their gutter's track. Gives the
/// right end of the row, and by wire the points so far.
fn from_initial(
    nodes: &mut [Node],
    wires: &[Wire],
    track_x: &dyn Fn(usize) -> f64,
    corridor: f64,
    limit: f64,
) -> (f64, Vec<Vec<Point>>) {
    let mut points = vec![Vec::new(); wires.len()];
    let own = |n: usize, nodes: &[Node]| -> Vec<usize> {
        let mut own: Vec<usize> = (0..wires.len())
            .filter(|&i| from_above(nodes, &wires[i]).is_some_and(|(initial, ..)| initial == n))
            .collect();
        own.sort_by(|&a, &b| track_x(a).total_cmp(&track_x(b)).then(a.cmp(&b)));
        own
    };
    let mut row: Vec<(f64, usize)> = (0..nodes.len())
        .filter(|&n| nodes[n].column.is_none())
        .map(|n| {
            let own = own(n, nodes);
            (own.iter().map(|&i| track_x(i)).sum::<f64>() / own.len().max(1) as f64, n)
        })
        .collect();
    row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // From the left each as near to its wires as it can be; then from the right, back into the drawing; then from the
    // left again, if there is too little room.
    let mut right = MARGIN - 16.0;
    for &(wish, n) in &row {
        nodes[n].w = nodes[n].w.max(own(n, nodes).len() as f64 * 14.0 + 12.0);
        nodes[n].x = (wish - nodes[n].w / 2.0).max(right + 16.0);
        right = nodes[n].x + nodes[n].w;
    }
    let mut left = limit + 16.0;
    for &(_, n) in row.iter().rev() {
        nodes[n].x = nodes[n].x.min(left - 16.0 - nodes[n].w);
        left = nodes[n].x;
    }
    right = MARGIN - 16.0;
    let mut above: Vec<(usize, f64)> = Vec::new();
    for (_, n) in row {
        let own = own(n, nodes);
        nodes[n].x = nodes[n].x.max(right + 16.0);
        right = nodes[n].x + nodes[n].w;
        for (slot, &wire) in own.iter().enumerate() {
            let middle = nodes[n].x + nodes[n].w / 2.0;
            above.push((wire, middle + (slot as f64 - (own.len() as f64 - 1.0) / 2.0) * 14.0));
        }
    }
    let runs: Vec<Run> =
        above.iter().map(|&(wire, x)| Run { early: vec![x], late: vec![track_x(wire)] }).collect();
    let (tracks, _) = lanes::assign(&runs);
    for (&(wire, x), track) in above.iter().zip(tracks) {
        let Some((initial, ..)) = from_above(nodes, &wires[wire]) else { continue };
        let y = corridor + track as f64 * TRACK;
        let start = (x, nodes[initial].y + nodes[initial].h);
        points[wire] = if (x - track_x(wire)).abs() < 1.0 {
            vec![(track_x(wire), start.1)]
        } else {
            vec![start, (x, y), (track_x(wire), y)]
        };
    }
    (right, points)
}
