//! Sets of events and derived relations of a graph, by the letters of the papers (\[RoboCop24] §3.2, \[Fency21]
//! §II.A).

use super::{Event, Graph};
use crate::{Loc, Mode, Relation, Set};

impl<const W: usize> Graph<W> {
    /// The events that satisfy the condition.
    pub fn set(&self, condition: impl Fn(&Event) -> bool) -> Set<W> {
        self.events.iter().enumerate().filter(|(_, event)| condition(event)).map(|(a, _)| a).collect()
    }

    /// `R`: reads, read-modify-writes included.
    pub fn reads(&self) -> Set<W> {
        self.set(Event::is_read)
    }

    /// `W`: writes, read-modify-writes and initialisation included.
    pub fn writes(&self) -> Set<W> {
        self.set(Event::is_write)
    }

    /// `RMW`: read-modify-writes.
    pub fn rmws(&self) -> Set<W> {
        self.set(Event::is_rmw)
    }

    /// `F`: fences.
    pub fn fences(&self) -> Set<W> {
        self.set(Event::is_fence)
    }

    /// The events of this mode.
    pub fn with_mode(&self, mode: Mode) -> Set<W> {
        self.set(|e| e.mode == mode)
    }

    /// `⊒ rel`
    pub fn releases(&self) -> Set<W> {
        self.set(|e| e.mode.is_release())
    }

    /// `⊒ acq`
    pub fn acquires(&self) -> Set<W> {
        self.set(|e| e.mode.is_acquire())
    }

    /// `E_τ`: the events of a thread.
    pub fn thread_events(&self, thread: usize) -> Set<W> {
        self.set(|e| e.thread == Some(thread))
    }

    /// The accesses to a location.
    pub fn accesses(&self, loc: Loc) -> Set<W> {
        self.set(|e| e.loc == Some(loc))
    }

    /// The last write to a location in modification order.
    pub fn last_write(&self, loc: Loc) -> Option<usize> {
        (self.writes() & self.accesses(loc)).iter().find(|&write| self.mo.after(write).is_empty())
    }

    /// The write that a read reads from.
    pub fn source(&self, read: usize) -> Option<usize> {
        (0..self.len()).find(|&write| self.rf.contains(write, read))
    }

    /// `fr = (rf⁻¹ ; mo) \ id`
    pub fn fr(&self) -> Relation<W> {
        let mut fr = Relation::empty(self.len());
        for (write, read) in self.rf.pairs() {
            fr.insert_all(read, self.mo.after(write) - Set::one(read));
        }
        fr
    }

    /// `rfe = rf \ po`
    pub fn rfe(&self) -> Relation<W> {
        &self.rf - &self.po
    }

    /// `rfi = rf ∩ po`
    pub fn rfi(&self) -> Relation<W> {
        &self.rf & &self.po
    }

    /// `coe = mo \ po`
    pub fn coe(&self) -> Relation<W> {
        &self.mo - &self.po
    }

    /// `coi = mo ∩ po`
    pub fn coi(&self) -> Relation<W> {
        &self.mo & &self.po
    }

    /// `fre = fr \ po`
    pub fn fre(&self) -> Relation<W> {
        &self.fr() - &self.po
    }

    /// Program order between accesses to the same location.
    pub fn po_loc(&self) -> Relation<W> {
        self.same_location(&self.po)
    }

    /// What a relation has between accesses to the same location: `r ∩ =loc`.
    pub fn same_location(&self, relation: &Relation<W>) -> Relation<W> {
        let mut same = Relation::empty(self.len());
        for (a, event) in self.events.iter().enumerate() {
            if let Some(loc) = event.loc {
                same.insert_all(a, relation.after(a) & self.accesses(loc));
            }
        }
        same
    }

    /// `po ∪ rf ∪ mo ∪ fr`, the steps of `hbSC`.
    pub fn hb_sc_steps(&self) -> Relation<W> {
        &self.po | &self.rf | &self.mo | self.fr()
    }

    /// `hbSC = (po ∪ rf ∪ mo ∪ fr)⁺`
    pub fn hb_sc(&self) -> Relation<W> {
        self.hb_sc_steps().plus()
    }
}
