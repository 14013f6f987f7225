//! Runs watched for any memory model: what sources of runs hold, so that they need to know no model.
//!
//! RC20's clocks run under every model: data races are judged by its happens-before, and local times are its. RA is RC20
//! in which every access acquires and releases. A model with views of its own (TSO) keeps them beside, and is asked
//! instead whether an access could be stale.

use super::{Clock, Did, Hidden, Look, Site, Slot, Stale, Time, Write, location, thread, tso};
use seqcst_model::{Mode, Model};

/// What a thread knows.
#[derive(Clone, Debug)]
pub struct Thread {
    model: Model,
    rc20: thread::Thread,
    tso: tso::Thread,
}

/// What a location remembers.
#[derive(Debug)]
pub struct Location {
    rc20: location::Location,
    history: usize,
    /// Since its first access under TSO.
    tso: Option<Box<tso::Location>>,
}

/// What a synchronisation object hands on from who releases it to who acquires it.
#[derive(Clone, Default, Debug)]
pub struct Message {
    rc20: thread::Message,
    tso: tso::Message,
}

/// Whether SC accesses and SC fences of all threads are ordered among themselves. On x86 a fence is a matter of its
/// thread.
pub fn orders_sc(model: Model) -> bool {
    model != Model::Tso
}

impl Message {
    /// Nothing released any more; keeps its memory.
    pub fn clear(&mut self) {
        self.rc20.clear();
        self.tso.clear();
    }
}

impl Location {
    /// A location with this value, of which `history` moments per thread, and twice as many writes, are remembered.
    pub fn new(value: u64, history: usize) -> Location {
        Location { rc20: location::Location::new(value, history), history, tso: None }
    }

    /// The same as a new location with this value; keeps its memory.
    pub fn renew(&mut self, value: u64) {
        self.rc20.renew(value);
        if let Some(tso) = &mut self.tso {
            tso.renew(value);
        }
    }

    /// The write of this number, as [`Stale`] counts them, if still remembered.
    pub fn write(&self, number: u32) -> Option<&Write> {
        match &self.tso {
            Some(tso) => tso.write(number),
            None => self.rc20.write(number),
        }
    }

    /// The last access of each thread, and its last write.
    pub fn accesses(&self) -> impl Iterator<Item = (Slot, Did, Did)> {
        self.rc20.accesses()
    }

    fn tso(&mut self) -> &mut tso::Location {
        let Location { rc20, history, tso } = self;
        tso.get_or_insert_with(|| {
            let value = rc20.write(rc20.last()).map_or(0, |write| write.value);
            Box::new(tso::Location::new(value, history.saturating_mul(2)))
        })
    }
}

impl Thread {
    /// A thread that is there from the start.
    pub fn first(slot: Slot, model: Model) -> Thread {
        Thread { model, rc20: thread::Thread::first(slot), tso: tso::Thread::first(slot) }
    }

    /// Becomes what [`Thread::first`] makes; keeps its memory.
    pub fn renew(&mut self, slot: Slot, model: Model) {
        self.model = model;
        self.rc20.renew(slot);
        self.tso = tso::Thread::first(slot);
    }

    /// Makes `child` a new thread, created by this one, in a slot that was never used.
    pub fn renew_child(&mut self, child: &mut Thread, slot: Slot) {
        child.model = self.model;
        self.rc20.renew_child(&mut child.rc20, slot, 0);
        if self.is_tso() {
            child.tso = self.tso.child(slot, 0);
        }
    }

    /// Learns all that an ended thread knew.
    pub fn join(&mut self, ended: &Thread) {
        self.rc20.join(&ended.rc20);
        if self.is_tso() {
            self.tso.join(&ended.tso);
        }
    }

    /// The slot.
    pub fn slot(&self) -> Slot {
        self.rc20.slot()
    }

    /// A time that stands for all events since others last heard of the thread: for data races they are the same.
    #[inline]
    pub fn epoch(&self) -> Time {
        self.rc20.epoch()
    }

    /// RC20's happens-before, as far as this thread has come.
    #[inline]
    pub fn cur(&self) -> &Clock {
        self.rc20.cur()
    }

    /// Could the next access be stale? `rmw`: it reads and writes in one step, if it writes.
    #[inline]
    pub fn check(&self, at: &Location, look: Look, rmw: bool) -> Option<Stale> {
        match self.model {
            Model::Rc20 | Model::Ra => self.rc20.check(&at.rc20, look, |_| 0),
            // Locked instructions read memory, not the store buffer.
            Model::Tso if !rmw => self.tso.check(at.tso.as_deref()?, look, |_| 0),
            Model::Tso => None,
            // Under SC no access is stale, and no source takes the others.
            Model::Sc | Model::ArmV8 | Model::ArmV7 => None,
        }
    }

    /// An SC access comes next.
    #[inline]
    pub fn before_sc(&mut self, hidden: &mut Hidden) {
        if orders_sc(self.model) {
            self.rc20.fence(Mode::SeqCst, hidden);
        }
    }

    /// A load.
    #[inline]
    pub fn load(&mut self, at: &mut Location, mode: Mode, site: Site) {
        if self.is_tso() {
            self.tso.load(at.tso());
        }
        self.rc20.load(&mut at.rc20, self.mode(mode), site);
    }

    /// A compare-and-swap that failed; `mode` is the one of failure.
    #[inline]
    pub fn failed_cas(&mut self, at: &mut Location, mode: Mode, site: Site) {
        if self.is_tso() {
            self.tso.locked_load(at.tso());
        }
        self.rc20.load(&mut at.rc20, self.mode(mode), site);
    }

    /// A store.
    #[inline]
    pub fn store(&mut self, at: &mut Location, mode: Mode, value: u64, site: Site) {
        if self.is_tso() {
            self.tso.store(at.tso(), Did { time: self.rc20.time(), site, mode }, value);
        }
        self.rc20.store(&mut at.rc20, self.mode(mode), value, site);
    }

    /// A successful read-modify-write.
    #[inline]
    pub fn rmw(&mut self, at: &mut Location, mode: Mode, value: u64, site: Site) {
        if self.is_tso() {
            self.tso.rmw(at.tso(), Did { time: self.rc20.time(), site, mode }, value);
        }
        self.rc20.rmw(&mut at.rc20, self.mode(mode), value, site);
    }

    /// A fence. Under RA nothing is left for others than SC fences to order, under TSO they do nothing to the buffer.
    pub fn fence(&mut self, mode: Mode, hidden: &mut Hidden) {
        if self.model != Model::Ra || mode == Mode::SeqCst {
            self.rc20.fence(mode, hidden);
        }
        if self.is_tso() && mode == Mode::SeqCst {
            self.tso.fence();
        }
    }

    /// Acquires a synchronisation object.
    pub fn acquire(&mut self, from: &Message) {
        self.rc20.acquire(&from.rc20);
        if self.is_tso() {
            self.tso.acquire(&from.tso);
        }
    }

    /// Releases a synchronisation object.
    pub fn release(&mut self, into: &mut Message) {
        self.rc20.release(&mut into.rc20);
        if self.is_tso() {
            self.tso.release(&mut into.tso);
        }
    }

    #[inline]
    fn is_tso(&self) -> bool {
        self.model == Model::Tso
    }

    /// What an access of this mode counts as.
    #[inline]
    fn mode(&self, mode: Mode) -> Mode {
        match mode {
            Mode::NonAtomic | Mode::SeqCst => mode,
            _ if self.model == Model::Ra => Mode::AcqRel,
            _ => mode,
        }
    }
}

impl Default for Thread {
    fn default() -> Thread {
        Thread::first(0, Model::default())
    }
}
