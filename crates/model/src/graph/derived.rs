//! Sets of events and derived relations of a graph, by the letters of the papers (seed 002 §3.2, seed 004
//! §II.A).

use super::{Event, Graph};
use crate::{Loc, Mode, Relation, Set};

impl Graph {
    /// The events that satisfy the condition.
    pub fn set(&self, condition: impl Fn(&Event) -> bool) -> Set {
        Set(self.events.iter().enumerate().fold(0, |set, (a, event)| set | u64::from(condition(event)) << a))
    }

    /// `R`: reads, read-modify-writes included.
    pub fn reads(&self) -> Set {
        self.set(Event::is_read)
    }

    /// `W`: writes, read-modify-writes and initialisation included.
    pub fn writes(&self) -> Set {
        self.set(Event::is_write)
    }

    /// `RMW`: read-modify-writes.
    pub fn rmws(&self) -> Set {
        self.set(Event::is_rmw)
    }

    /// `F`: fences.
    pub fn fences(&self) -> Set {
        self.set(Event::is_fence)
    }

    /// The events of this mode.
    pub fn with_mode(&self, mode: Mode) -> Set {
        self.set(|e| e.mode == mode)
    }

    /// `⊒ rel`
    pub fn releases(&self) -> Set {
        self.set(|e| e.mode.is_release())
    }

    /// `⊒ acq`
    pub fn acquires(&self) -> Set {
        self.set(|e| e.mode.is_acquire())
    }

    /// `E_τ`: the events of a thread.
    pub fn thread_events(&self, thread: usize) -> Set {
        self.set(|e| e.thread == Some(thread))
    }

    /// The accesses to a location.
    pub fn accesses(&self, loc: Loc) -> Set {
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
    pub fn fr(&self) -> Relation {
        let mut fr = Relation::empty(self.len());
        for (write, read) in self.rf.pairs() {
            fr.insert_all(read, self.mo.after(write) - Set::one(read));
        }
        fr
    }

    /// `rfe = rf \ po`
    pub fn rfe(&self) -> Relation {
        &self.rf - &self.po
    }

    /// `rfi = rf ∩ po`
    pub fn rfi(&self) -> Relation {
        &self.rf & &self.po
    }

    /// `coe = mo \ po`
    pub fn coe(&self) -> Relation {
        &self.mo - &self.po
    }

    /// `coi = mo ∩ po`
    pub fn coi(&self) -> Relation {
        &self.mo & &self.po
    }

    /// `fre = fr \ po`
    pub fn fre(&self) -> Relation {
        &self.fr() - &self.po
    }

    /// Program order between accesses to the same location.
    pub fn po_loc(&self) -> Relation {
        let mut po_loc = Relation::empty(self.len());
        for (a, event) in self.events.iter().enumerate() {
            if let Some(loc) = event.loc {
                po_loc.insert_all(a, self.po.after(a) & self.accesses(loc));
            }
        }
        po_loc
    }

    /// `po ∪ rf ∪ mo ∪ fr`, the steps of `hbSC`.
    pub fn hb_sc_steps(&self) -> Relation {
        &self.po | &self.rf | &self.mo | self.fr()
    }

    /// `hbSC = (po ∪ rf ∪ mo ∪ fr)⁺`
    pub fn hb_sc(&self) -> Relation {
        self.hb_sc_steps().plus()
    }
}
