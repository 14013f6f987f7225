//! Parallel tracks: which wire runs where in a corridor, so that few wires cross and none overlap.
//!
//! A corridor runs along one axis; each wire covers a span of it on a track of its own, and leaves the track at both
//! ends of the span: towards lower tracks ("early") or towards higher ones ("late"). Gutters between columns are
//! corridors along y, the space below the initial writes is one along x.

/// A wire in a corridor.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// Where it leaves towards lower tracks.
    pub early: Vec<f64>,
    /// Where it leaves towards higher tracks.
    pub late: Vec<f64>,
}

impl Run {
    fn span(&self) -> (f64, f64) {
        let ends = self.early.iter().chain(&self.late);
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &v| (lo.min(v), hi.max(v)))
    }

    fn covers(&self, at: f64) -> bool {
        let (lo, hi) = self.span();
        lo < at && at < hi
    }

    fn overlaps(&self, other: &Run) -> bool {
        let ((a, b), (c, d)) = (self.span(), other.span());
        a <= d + 12.0 && c <= b + 12.0
    }
}

/// Crossings between two wires if `a` has the lower track. Between the two tracks they may even run over each other,
/// which is worse than any number of crossings.
fn crossings(a: &Run, b: &Run) -> usize {
    let over = a.late.iter().flat_map(|x| b.early.iter().map(move |y| (x - y).abs())).filter(|&d| d < 5.0);
    a.late.iter().filter(|&&at| b.covers(at)).count()
        + b.early.iter().filter(|&&at| a.covers(at)).count()
        + 100 * over.count()
}

/// A track for each wire, from 0, and the number of tracks.
pub(super) fn assign(runs: &[Run]) -> (Vec<usize>, usize) {
    let order = order(runs);
    let mut track = vec![0; runs.len()];
    let mut tracks = 0;
    for (i, &run) in order.iter().enumerate() {
        let below = order[..i].iter().filter(|&&other| runs[other].overlaps(&runs[run]));
        track[run] = below.map(|&other| track[other] + 1).max().unwrap_or(0);
        tracks = tracks.max(track[run] + 1);
    }
    (track, tracks)
}

/// An order of the wires with few crossings: local search by moving one wire at a time.
fn order(runs: &[Run]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    let length = |i: usize| runs[i].span().1 - runs[i].span().0;
    // Loops at the low side: short ones first. Loops at the high side: short ones last.
    order.sort_by(|&a, &b| {
        let key = |i: usize| runs[i].late.len() as f64 * 1e6 + length(i) * (1.0 - runs[i].late.len() as f64);
        key(a).total_cmp(&key(b)).then(a.cmp(&b))
    });
    if runs.len() > 40 {
        return order;
    }
    let total = |order: &[usize]| -> usize {
        let pairs = order.iter().enumerate().flat_map(|(i, &a)| order[i + 1..].iter().map(move |&b| (a, b)));
        pairs.map(|(a, b)| crossings(&runs[a], &runs[b])).sum()
    };
    let mut best = total(&order);
    for _ in 0..3 {
        let before = best;
        for from in 0..order.len() {
            for to in 0..order.len() {
                let mut moved = order.clone();
                let run = moved.remove(from);
                moved.insert(to, run);
                let cost = total(&moved);
                if cost < best {
                    (order, best) = (moved, cost);
                }
            }
        }
        if best == before {
            break;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_loops_do_not_cross() {
        let inner = Run { early: vec![20.0, 30.0], late: vec![] };
        let outer = Run { early: vec![10.0, 40.0], late: vec![] };
        assert_eq!(assign(&[outer.clone(), inner.clone()]), (vec![1, 0], 2));
        let mirrored = |r: &Run| Run { early: vec![], late: r.early.clone() };
        assert_eq!(assign(&[mirrored(&outer), mirrored(&inner)]), (vec![0, 1], 2));
    }

    #[test]
    fn wires_that_never_meet_share_a_track() {
        let a = Run { early: vec![0.0], late: vec![10.0] };
        let b = Run { early: vec![50.0], late: vec![60.0] };
        assert_eq!(assign(&[a, b]), (vec![0, 0], 1));
        assert_eq!(assign(&[]), (vec![], 0));
    }
}
