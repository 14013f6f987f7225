//! From points to SVG text: rounded wires, labels where there is room, escaped strings.

use super::boxes::{Kind, Node, Wire};
use super::layout::Point;
use crate::words;

/// Corners are rounded with at most this radius.
const RADIUS: f64 = 20.0;

/// A coordinate with at most one decimal.
pub(super) fn n(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded == rounded.trunc() { format!("{rounded:.0}") } else { format!("{rounded:.1}") }
}

/// Text for XML; characters that XML forbids are dropped.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// The class of a wire.
pub(super) fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Relation(relation) => words::relation(relation),
        Kind::Missing => "no-hb",
    }
}

/// A path through the points with rounded corners.
pub(super) fn path(points: &[Point]) -> String {
    let Some(first) = points.first() else { return String::new() };
    let mut out = format!("M{} {}", n(first.0), n(first.1));
    let last = points.len() - 1;
    for i in 1..last {
        let (before, corner, after) = (points[i - 1], points[i], points[i + 1]);
        // The last segment keeps room for the arrowhead.
        let room_in = if i == 1 { length(before, corner) - 2.0 } else { length(before, corner) / 2.0 };
        let room_out = if i + 1 == last { length(corner, after) - 11.0 } else { length(corner, after) / 2.0 };
        let r = RADIUS.min(room_in).min(room_out).max(0.0);
        let (start, end) = (towards(corner, before, r), towards(corner, after, r));
        out.push_str(&format!("L{} {}", n(start.0), n(start.1)));
        out.push_str(&format!("Q{} {} {} {}", n(corner.0), n(corner.1), n(end.0), n(end.1)));
    }
    out.push_str(&format!("L{} {}", n(points[last].0), n(points[last].1)));
    out
}

fn length(a: Point, b: Point) -> f64 {
    (a.0 - b.0).abs() + (a.1 - b.1).abs()
}

fn towards(from: Point, to: Point, distance: f64) -> Point {
    let whole = length(from, to);
    if whole == 0.0 {
        return from;
    }
    let t = distance / whole;
    (from.0 + (to.0 - from.0) * t, from.1 + (to.1 - from.1) * t)
}

/// A label in the middle of a wire.
pub(super) struct Tag {
    pub text: &'static str,
    pub kind: Kind,
    pub x: f64,
    pub y: f64,
    pub w: f64,
}

/// Places the wires' labels: each on its own wire, over as few others and other labels as possible.
pub(super) fn tags(wires: &[(Wire, Vec<Point>)], nodes: &[Node]) -> Vec<Tag> {
    let mut tags: Vec<Tag> = Vec::new();
    for (i, (wire, points)) in wires.iter().enumerate() {
        let text = match wire.kind {
            Kind::Missing => "no hb",
            Kind::Relation(crate::Relation::Po) if !wire.cycle => continue,
            Kind::Relation(relation) => words::relation(relation),
        };
        let w = text.chars().count() as f64 * 6.0 + 6.0;
        if wire.kind == Kind::Relation(crate::Relation::Po) && points.len() == 2 {
            // Too short for a label on it.
            let (x, y) = (points[0].0 + w / 2.0 + 8.0, (points[0].1 + points[1].1) / 2.0);
            tags.push(Tag { text, kind: wire.kind, x, y, w });
            continue;
        }
        let mut best: Option<(usize, f64, Point)> = None;
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let vertical = a.0 == b.0;
            if length(a, b) < if vertical { 18.0 } else { w + 24.0 } {
                continue;
            }
            for t in [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.12, 0.88] {
                let at = (a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t);
                let around = (at.0 - w / 2.0 - 1.0, at.1 - 8.0, at.0 + w / 2.0 + 1.0, at.1 + 8.0);
                let over_tags = tags
                    .iter()
                    .filter(|o| overlap(around, (o.x - o.w / 2.0, o.y - 7.0, o.x + o.w / 2.0, o.y + 7.0)));
                let over_boxes = nodes.iter().filter(|o| overlap(around, (o.x, o.y, o.x + o.w, o.y + o.h)));
                let over_wires = wires.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, (_, other))| {
                    other.windows(2).filter(|s| overlap(around, bounds(s[0], s[1]))).count()
                });
                let cost = 20 * over_tags.count() + 20 * over_boxes.count() + 3 * over_wires.sum::<usize>();
                let cost = cost + usize::from(!vertical);
                let off = (t - 0.5_f64).abs() - length(a, b) / 1e5;
                if best.is_none_or(|(c, o, _)| (cost, off) < (c, o)) {
                    best = Some((cost, off, at));
                }
            }
        }
        let middle = points[points.len() / 2];
        let (x, y) = best.map_or(middle, |(_, _, at)| at);
        tags.push(Tag { text, kind: wire.kind, x, y, w });
    }
    tags
}

fn bounds(a: Point, b: Point) -> (f64, f64, f64, f64) {
    (a.0.min(b.0), a.1.min(b.1), a.0.max(b.0), a.1.max(b.1))
}

fn overlap(a: (f64, f64, f64, f64), b: (f64, f64, f64, f64)) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}
