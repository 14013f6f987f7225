//! Read-modify-writes as two events, the form in which the ARM models are stated (\[Fency21] §II.A).

use super::{ArmInstructions, Graph};
use crate::set::Set;
use crate::{Outcome, Relation};

impl<const W: usize> Graph<W> {
    /// The same graph with every read-modify-write split into a read and a write joined by `rmw`, and for
    /// each event of the new graph the event of this one it comes from. The read keeps the event's number,
    /// the writes follow at the end. Data dependencies lead to the write, address and control dependencies to both; the
    /// halves keep the event's mode.
    pub fn split_rmws(&self) -> (Graph<W>, Vec<usize>) {
        let mut origin: Vec<usize> = (0..self.len()).collect();
        origin.extend(self.rmws().iter());
        origin.truncate(Set::<W>::MAX);
        let n = origin.len();
        let mut read_half: Vec<usize> = (0..self.len()).collect();
        let mut write_half = read_half.clone();
        let mut split = Graph { rmw: Relation::empty(n), ..Graph::default() };
        for (number, &from) in origin.iter().enumerate() {
            let mut event = self.events[from];
            if let Outcome::Updated(read, written) = event.outcome {
                if number == from {
                    read_half[from] = number;
                    event.outcome = Outcome::Read(read);
                } else {
                    write_half[from] = number;
                    split.rmw.insert(from, number);
                    event.outcome = Outcome::Wrote(written);
                }
            }
            split.events.push(event);
        }
        let both = |a: usize| [read_half[a], write_half[a]];
        let pairs = |r: &Relation<W>, from: &[usize], to: &[usize]| {
            Relation::from_pairs(n, r.pairs().map(|(a, b)| (from[a], to[b])))
        };
        let all_halves = self.po.pairs().flat_map(|(a, b)| both(a).map(|a| both(b).map(|b| (a, b))));
        split.po = Relation::from_pairs(n, all_halves.flatten()) | &split.rmw;
        split.rf = pairs(&self.rf, &write_half, &read_half);
        split.mo = pairs(&self.mo, &write_half, &write_half);
        split.addr = pairs(&self.addr, &read_half, &read_half) | pairs(&self.addr, &read_half, &write_half);
        split.data = pairs(&self.data, &read_half, &write_half);
        split.ctrl = pairs(&self.ctrl, &read_half, &read_half) | pairs(&self.ctrl, &read_half, &write_half);
        let halves = |set: Set<W>| (0..n).filter(|&event| set.contains(origin[event])).collect();
        let ArmInstructions { ldapr, dmb_st, fenced_rmws } = self.arm;
        split.arm = ArmInstructions {
            ldapr: halves(ldapr),
            dmb_st: halves(dmb_st),
            fenced_rmws: halves(fenced_rmws),
        };
        (split, origin)
    }
}
