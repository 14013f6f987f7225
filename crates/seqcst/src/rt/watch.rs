//! What accesses mean to the monitor and to the race detector.

use super::note::{Finding, Stale};
use super::objects::{Counting, Touch};
use super::site::Site;
use super::world::World;
use seqcst_explore::{Found, Kind, Op, ThreadId};
use seqcst_model::{Mode, Model};
use seqcst_monitor::clocks::run::{self, Attempt};
use seqcst_monitor::clocks::{self, Hidden, Look, Slot};

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
        run::orders_sc(self.model)
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

impl Access {
    /// As the monitor sees it. A weak compare-and-swap may fail for no reason: then it is a load.
    fn attempt(&self) -> Attempt {
        let &Access { look, mode, failure, rmw, .. } = self;
        let mode = if rmw && look == Look::Load { failure } else { mode };
        Attempt { look, mode, failure, rmw }
    }
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
        parent.renew_child(child_views, child as Slot);
    }

    /// A fence.
    pub fn watch_fence(&mut self, mode: Mode) {
        if !self.watch.on {
            return;
        }
        self.tasks[self.current as usize].views.fence(mode, &mut self.watch.hidden);
    }

    /// Before an atomic access: could it be stale?
    #[inline]
    pub fn watch_before(&mut self, atomic: u32, access: &Access) {
        if !self.watch.on {
            return;
        }
        let views = &mut self.tasks[self.current as usize].views;
        let place = self.atomics.get(atomic);
        if access.mode == Mode::SeqCst || access.failure == Mode::SeqCst {
            views.before_sc(&mut self.watch.hidden);
        }
        let stale = views.check(&place.location, access.attempt(), |_| 0);
        if let Some(stale) = stale {
            self.note_stale(atomic, access, stale);
        }
    }

    /// After an atomic access: what is known now?
    #[inline]
    pub fn watch_after(&mut self, atomic: u32, access: &Access, done: Done, old: u64) {
        if !self.watch.on {
            return;
        }
        if access.rmw
            && done == Done::Read
            && let Some(Finding::Stale(stale)) = self.watch.findings.last_mut()
            && stale.step == self.trace.steps.len() as u32
        {
            stale.failed_on = Some(old);
        }
        let views = &mut self.tasks[self.current as usize].views;
        let place = self.atomics.get(atomic);
        let (location, site) = (&mut place.location, access.site);
        match done {
            Done::Read if access.rmw => views.failed_cas(location, access.failure, site),
            Done::Read => views.load(location, access.failure, site),
            Done::Stored(value) => views.store(location, access.mode, value, site),
            Done::Updated(value) => views.rmw(location, access.mode, value, site),
        };
        // Between two atomic accesses there is always something plain: a local variable, at least.
        views.plain();
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
        if task.dropping > 0 {
            self.needed = self.needed.max(Counting::Drops);
        }
        let views = &task.views;
        let touch = Touch { slot: views.slot(), epoch: views.epoch(), site };
        let state = self.cells.get(cell);
        let open = |old: &&Touch| old.epoch > views.cur().get(old.slot);
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
        let touch = Touch { slot: views.slot(), epoch: views.epoch(), site };
        let place = self.atomics.get(atomic);
        let mut accesses = place.location.accesses();
        let open = accesses.find(|(slot, last, _)| last.time > views.cur().get(*slot));
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
        let write = |number| place.location.write(number).copied();
        let (missed, older) = (write(stale.missed), write(stale.known));
        let choices = (stale.known..stale.missed).filter_map(write).map(|write| write.value).collect();
        let (thread, step) = (self.current, self.trace.steps.len() as u32);
        let past = self.me().past;
        let finding =
            Stale { thread, step, past, atomic, access: *access, missed, older, choices, failed_on: None };
        self.found.push(Found::Stale(u64::from(access.site)));
        self.watch.findings.push(Finding::Stale(finding));
    }
}
