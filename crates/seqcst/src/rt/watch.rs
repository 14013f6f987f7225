//! What the monitors know: a thread's views, what objects hand on, and what an access means to them.

use super::note::{Finding, Stale};
use super::objects::{Place, Touch};
use super::site::Site;
use super::world::World;
use seqcst_model::Mode;
use seqcst_monitor::clocks::{self, Did, Hidden, Look, Message, Slot, tso};
use seqcst_schedule::{Found, Kind, Op, ThreadId};

/// The memory model that executions are watched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Model {
    /// C11 without load buffering, as in `seqcst check`.
    #[default]
    Rc20,
    /// Release/acquire: every access releases and acquires.
    Ra,
    /// The store buffers of x86.
    Tso,
    /// None: assertions, races and deadlocks only.
    Sc,
}

/// What all threads share.
#[derive(Debug, Default)]
pub struct Watch {
    pub model: Model,
    /// Something is still to be watched in this execution.
    pub on: bool,
    hidden: Hidden,
    /// What was found, in order.
    pub findings: Vec<Finding>,
}

impl Watch {
    /// A new execution.
    pub fn start(&mut self) {
        self.on = true;
        self.hidden.clear();
        self.findings.clear();
    }

    /// An SC access or fence takes part in the order of all of them.
    pub fn orders_sc(&self) -> bool {
        self.model != Model::Tso
    }
}

/// A thread's views.
#[derive(Debug)]
pub struct Views {
    /// For RC20 and RA, and for races under any model.
    pub rc: clocks::Thread,
    /// For TSO.
    tso: tso::Thread,
    with_tso: bool,
}

impl Default for Views {
    fn default() -> Views {
        Views { rc: clocks::Thread::first(0), tso: tso::Thread::first(0), with_tso: false }
    }
}

/// What an object hands on from who releases it to who acquires it.
#[derive(Clone, Debug, Default)]
pub struct Handover {
    rc: Message,
    tso: tso::Message,
}

impl Handover {
    /// Nothing released any more.
    pub fn clear(&mut self) {
        self.rc.clear();
        self.tso.clear();
    }
}

impl Views {
    /// The first thread.
    pub fn first(&mut self, thread: ThreadId, model: Model) {
        self.rc.renew(thread as Slot);
        self.tso = tso::Thread::first(thread as Slot);
        self.with_tso = model == Model::Tso;
    }

    /// Learns all that an ended thread knew.
    pub fn join(&mut self, ended: &Views) {
        self.rc.join(&ended.rc);
        if self.with_tso {
            self.tso.join(&ended.tso);
        }
    }

    /// Acquires an object.
    pub fn acquire(&mut self, from: &Handover) {
        self.rc.acquire(&from.rc);
        if self.with_tso {
            self.tso.acquire(&from.tso);
        }
    }

    /// Releases an object.
    pub fn release(&mut self, into: &mut Handover) {
        self.rc.release(&mut into.rc);
        if self.with_tso {
            self.tso.release(&mut into.tso);
        }
    }

    /// This access happens before what the thread does next.
    fn knows(&self, touch: &Touch) -> bool {
        touch.epoch <= self.rc.cur().get(touch.slot)
    }
}

/// An atomic access.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// What it is called.
    pub name: &'static str,
    pub look: Look,
    pub mode: Mode,
    /// Its mode if it turns out to read only.
    pub failure: Mode,
    /// It reads and writes in one step, if it writes.
    pub rmw: bool,
    pub site: Site,
}

/// What an access did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    Read,
    Stored(u64),
    Updated(u64),
}

impl World {
    /// The views of a new thread.
    pub fn watch_spawn(&mut self, child: ThreadId) {
        let (parents, children) = self.tasks.split_at_mut(child as usize);
        let (parent, child_views) = (&mut parents[self.current as usize].views, &mut children[0].views);
        parent.rc.renew_child(&mut child_views.rc, child as Slot, 0);
        child_views.with_tso = parent.with_tso;
        if parent.with_tso {
            child_views.tso = parent.tso.child(child as Slot, 0);
        }
    }

    /// A fence.
    pub fn watch_fence(&mut self, mode: Mode) {
        if !self.watch.on {
            return;
        }
        let views = &mut self.tasks[self.current as usize].views;
        if self.watch.model != Model::Ra || mode == Mode::SeqCst {
            views.rc.fence(mode, &mut self.watch.hidden);
        }
        if self.watch.model == Model::Tso && mode == Mode::SeqCst {
            views.tso.fence();
        }
    }

    /// Before an atomic access: could it be stale?
    #[inline]
    pub fn watch_before(&mut self, atomic: u32, access: &Access) {
        if !self.watch.on {
            return;
        }
        let views = &mut self.tasks[self.current as usize].views;
        let place = self.atomics.get(atomic);
        if self.watch.model != Model::Tso && (access.mode == Mode::SeqCst || access.failure == Mode::SeqCst) {
            views.rc.fence(Mode::SeqCst, &mut self.watch.hidden);
        }
        let stale = match self.watch.model {
            Model::Rc20 | Model::Ra => views.rc.check(&place.location, access.look, |_| 0),
            Model::Tso if access.rmw => None,
            Model::Tso => views.tso.check(&place.tso, access.look, |_| 0),
            Model::Sc => None,
        };
        if let Some(stale) = stale {
            self.note_stale(atomic, access, stale);
        }
    }

    /// After an atomic access: what is known now?
    #[inline]
    pub fn watch_after(&mut self, atomic: u32, access: &Access, done: Done) {
        if !self.watch.on {
            return;
        }
        let views = &mut self.tasks[self.current as usize].views;
        let place = self.atomics.get(atomic);
        let model = self.watch.model;
        if model == Model::Tso {
            watch_tso(views, place, access, done);
        }
        let strong = |mode| if model == Model::Ra && mode != Mode::SeqCst { Mode::AcqRel } else { mode };
        let (mode, failure) = (strong(access.mode), strong(access.failure));
        match done {
            Done::Read => views.rc.load(&mut place.location, failure, access.site),
            Done::Stored(value) => views.rc.store(&mut place.location, mode, value, access.site),
            Done::Updated(value) => views.rc.rmw(&mut place.location, mode, value, access.site),
        };
    }

    /// A plain access to a cell: true if it doesn't race with those before it.
    pub fn watch_cell(&mut self, cell: u32, write: bool, site: Site) {
        if !self.watch.on {
            return;
        }
        if write {
            self.since_then(&Op::local(Kind::Local), site);
        }
        let task = &self.tasks[self.current as usize];
        self.start_anew |= task.dropping > 0 && !self.drops_matter;
        let views = &task.views;
        let touch = Touch { slot: views.rc.slot(), epoch: views.rc.epoch(), site };
        let state = self.cells.get(cell);
        let open = |old: &&Touch| !views.knows(old);
        let earlier = state.write.as_ref().filter(open).map(|old| (*old, true));
        let earlier =
            earlier.or_else(|| state.reads.iter().filter(|_| write).find(open).map(|old| (*old, false)));
        if write {
            state.reads.clear();
            state.write = Some(touch);
        } else if let Some(old) = state.reads.iter_mut().find(|old| old.slot == touch.slot) {
            *old = touch;
        } else {
            state.reads.push(touch);
        }
        if let Some((old, wrote)) = earlier {
            self.found.push(Found::Race(u64::from(old.site), u64::from(site)));
            let (step, first) = (self.trace.steps.len() as u32, (old, wrote));
            self.watch.findings.push(Finding::Race { first, second: (touch, write), step });
        }
    }

    /// Somebody has an atomic for himself: whatever others did with it must have happened before.
    pub fn watch_exclusive(&mut self, atomic: u32, site: Site) {
        if !self.watch.on {
            return;
        }
        let views = &self.tasks[self.current as usize].views;
        let touch = Touch { slot: views.rc.slot(), epoch: views.rc.epoch(), site };
        let place = self.atomics.get(atomic);
        let mut accesses = place.location.accesses();
        let open = accesses.find(|(slot, last, _)| last.time > views.rc.cur().get(*slot));
        if let Some((slot, last, wrote)) = open {
            let first = Touch { slot, epoch: last.time, site: last.site };
            self.found.push(Found::Race(u64::from(last.site), u64::from(site)));
            let (step, first) = (self.trace.steps.len() as u32, (first, wrote.time == last.time));
            self.watch.findings.push(Finding::Race { first, second: (touch, true), step });
        }
    }

    #[cold]
    fn note_stale(&mut self, atomic: u32, access: &Access, stale: clocks::Stale) {
        let place = self.atomics.get(atomic);
        let write = |number| match self.watch.model {
            Model::Tso => place.tso.write(number).copied(),
            _ => place.location.write(number).copied(),
        };
        let (missed, older) = (write(stale.missed), write(stale.known));
        let choices = (stale.known..stale.missed).filter_map(write).map(|write| write.value).collect();
        let (thread, step) = (self.current, self.trace.steps.len() as u32);
        let past = self.me().past;
        let finding = Stale { thread, step, past, atomic, access: *access, missed, older, choices };
        self.found.push(Found::Stale(u64::from(access.site)));
        self.watch.findings.push(Finding::Stale(finding));
    }
}

fn watch_tso(views: &mut Views, place: &mut Place, access: &Access, done: Done) {
    let did = Did { time: views.rc.time(), site: access.site, mode: access.mode };
    match done {
        Done::Read if !access.rmw => views.tso.load(&mut place.tso),
        Done::Read => views.tso.locked_load(&mut place.tso),
        Done::Stored(value) => views.tso.store(&mut place.tso, did, value),
        Done::Updated(value) => views.tso.rmw(&mut place.tso, did, value),
    }
}
