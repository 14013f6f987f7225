//! Thread-local states, numbered as they turn up.
//!
//! Where a thread is between two of its accesses, registers included, is one number in a global state. Such a place
//! is kept as the accesses that can come next, several if free choices lie ahead: a choice is made only when the
//! thread moves, which keeps states few. What a thread can do at a place, and where it goes, is computed once and
//! looked up ever after; each worker has its own copy of the tables, so that look-ups take no lock. Threads with the
//! same code share their numbering, which is what makes them interchangeable.
//!
//! Fences are executed on the way: they touch nothing but the thread's own view, so they commute with all that other
//! threads do. Where the ways that lie ahead have different fences, they wait until one is taken.

use super::independence::{Flow, Touched};
use rustc_hash::FxHashMap;
use seqcst_model::{Action, Mode, Next, Op, Outcome, Program};
use seqcst_program::code::{Instr, Thread};
use seqcst_program::semantics::{Local, Machine};
use std::sync::{Arc, Mutex, MutexGuard};

/// An access that can come next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PendingAccess {
    /// Which of the [`ways`] leads there.
    pub way: usize,
    /// The fences on the way that have not been executed yet.
    pub fences: Box<[Mode]>,
    /// The local state at the access.
    pub local: Local,
}

/// Where a thread can be: the accesses that can come next, none if it will never touch memory again.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Place {
    ahead: Vec<PendingAccess>,
    /// The way to the end of the thread, if nothing is ahead.
    end: usize,
}

/// Where a thread goes after an action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goto {
    /// The place, if there is a way that doesn't fail.
    pub place: Option<u32>,
    /// Fences to execute at once.
    pub fences: Box<[Mode]>,
    /// A way into a failed assertion, if there is one.
    pub failed: Option<usize>,
}

#[derive(Default)]
struct Table {
    numbers: FxHashMap<Place, u32>,
    places: Vec<Place>,
}

/// The numbering, shared by all workers.
pub struct Locals<'a> {
    machine: &'a Machine,
    /// For every thread, the first one with the same code.
    class: Vec<usize>,
    tables: Vec<Mutex<Table>>,
    flows: Vec<Flow>,
}

impl<'a> Locals<'a> {
    pub fn new(machine: &'a Machine) -> Locals<'a> {
        let threads = &machine.code().threads;
        let shapes: Vec<Vec<Instr>> = threads.iter().map(shape).collect();
        let class = shapes.iter().map(|s| shapes.iter().position(|other| other == s).unwrap_or(0)).collect();
        let tables = threads.iter().map(|_| Mutex::default()).collect();
        let flows = threads.iter().map(Flow::of).collect();
        Locals { machine, class, tables, flows }
    }

    pub fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// The first thread with the same code.
    pub fn class(&self, thread: usize) -> usize {
        self.class[thread]
    }

    /// Where a thread starts.
    pub fn start(&self, thread: usize) -> Goto {
        let class = self.class[thread];
        self.settle(class, self.machine.start(class))
    }

    /// What lies ahead at a place.
    pub fn ahead(&self, thread: usize, place: u32) -> Vec<PendingAccess> {
        self.table(self.class[thread]).places[place as usize].ahead.clone()
    }

    /// Any way on from a place that doesn't fail.
    pub fn any_way(&self, thread: usize, place: u32) -> usize {
        let table = self.table(self.class[thread]);
        let place = &table.places[place as usize];
        place.ahead.first().map_or(place.end, |ahead| ahead.way)
    }

    fn table(&self, class: usize) -> MutexGuard<'_, Table> {
        self.tables[class].lock().unwrap_or_else(|e| e.into_inner())
    }

    fn number(&self, class: usize, place: Place) -> u32 {
        let mut table = self.table(class);
        if let Some(&number) = table.numbers.get(&place) {
            return number;
        }
        let number = table.places.len() as u32;
        table.places.push(place.clone());
        table.numbers.insert(place, number);
        number
    }

    fn settle(&self, class: usize, nexts: Vec<Next<Local>>) -> Goto {
        let mut failed = None;
        let mut end = None;
        let mut ahead: Vec<PendingAccess> = Vec::new();
        for (number, way) in ways(self.machine, class, nexts).into_iter().enumerate() {
            match way.end {
                Next::AssertionFailed(_) => failed = failed.or(Some(number)),
                // A fence here closes a loop of fences: the thread is as good as finished.
                Next::At(local) if self.access(class, &local).is_none() => end = end.or(Some(number)),
                Next::At(local) => {
                    let fences = way.fences.iter().map(|fence| fence.mode).collect();
                    ahead.push(PendingAccess { way: number, fences, local });
                }
            }
        }
        if ahead.is_empty() {
            let place = end.map(|end| self.number(class, Place { ahead, end }));
            return Goto { place, fences: Box::default(), failed };
        }
        let common = ahead[0].fences.clone();
        let fences = if ahead.iter().all(|other| other.fences == common) {
            ahead.iter_mut().for_each(|ahead| ahead.fences = Box::default());
            common
        } else {
            Box::default()
        };
        // That the thread may also end here adds nothing: it may as well never move again.
        Goto { place: Some(self.number(class, Place { ahead, end: 0 })), fences, failed }
    }

    /// The access at a local state, if it isn't the end.
    fn access(&self, class: usize, local: &Local) -> Option<Action> {
        self.machine.action(class, local).filter(|action| action.op != Op::Fence)
    }
}

/// A way from one access of a thread to its next.
pub struct Way {
    /// The fences in between.
    pub fences: Vec<Action>,
    /// Where it ends: at an access, at the end of the thread, or in a failed assertion.
    pub end: Next<Local>,
}

/// Follows fences to the next access, in every possible way: [`Step::choice`](super::search::Step::choice) is an index
/// into this list.
pub fn ways(machine: &Machine, thread: usize, nexts: Vec<Next<Local>>) -> Vec<Way> {
    let mut found = Vec::new();
    let mut todo: Vec<_> = nexts.into_iter().rev().map(|next| (next, Vec::new(), Vec::new())).collect();
    while let Some((next, fences, passed)) = todo.pop() {
        let Next::At(local) = next else {
            found.push(Way { fences, end: next });
            continue;
        };
        match machine.action(thread, &local) {
            // A loop of fences never ends, and never touches memory either: cut it where it closes.
            Some(action) if action.op == Op::Fence && !passed.contains(&local) => {
                for after in machine.after(thread, &local, Outcome::Fenced).into_iter().rev() {
                    let fences = fences.iter().cloned().chain([action.clone()]).collect();
                    let passed = passed.iter().cloned().chain([local.clone()]).collect();
                    todo.push((after, fences, passed));
                }
            }
            _ => found.push(Way { fences, end: Next::At(local) }),
        }
    }
    found
}

/// The thread's code without source positions.
fn shape(thread: &Thread) -> Vec<Instr> {
    let mut instrs = thread.instrs.clone();
    for instr in &mut instrs {
        match instr {
            Instr::Access(access) => access.site = 0,
            Instr::Assert(_, site) | Instr::Fits(_, site) => *site = 0,
            _ => {}
        }
    }
    instrs
}

/// An access that can come next, with where it leads.
pub struct CachedAccess {
    /// The access and the way to it.
    pub ahead: PendingAccess,
    /// What it does.
    pub action: Action,
    /// Where it goes, for the outcomes seen so far.
    next: Vec<(Outcome, Arc<Goto>)>,
}

/// One worker's copy of the tables.
pub struct LocalsCache<'a> {
    shared: &'a Locals<'a>,
    places: Vec<Vec<Option<Box<Known>>>>,
}

/// What is known of a place.
pub struct Known {
    /// What the thread can do there.
    pub cached_accesses: Box<[CachedAccess]>,
    /// What its next accesses touch.
    pub now: Touched,
    /// What it can touch from here on.
    pub ahead: Touched,
    /// Whether one of its next accesses closes a loop.
    pub closes_loop: bool,
}

impl<'a> LocalsCache<'a> {
    pub fn new(shared: &'a Locals<'a>) -> LocalsCache<'a> {
        LocalsCache { shared, places: shared.class.iter().map(|_| Vec::new()).collect() }
    }

    /// What a thread can do at a place.
    pub fn cached_accesses(&mut self, thread: usize, place: u32) -> &mut [CachedAccess] {
        &mut self.known(thread, place).cached_accesses
    }

    /// What is known of a place.
    pub fn known(&mut self, thread: usize, place: u32) -> &mut Known {
        let shared = self.shared;
        let class = shared.class[thread];
        let places = &mut self.places[class];
        let at = place as usize;
        if places.len() <= at {
            places.resize_with(at + 1, || None);
        }
        places[at].get_or_insert_with(|| {
            let cached = |ahead: PendingAccess| {
                let action = shared.access(class, &ahead.local)?;
                Some(CachedAccess { ahead, action, next: Vec::new() })
            };
            let cached_accesses: Box<[CachedAccess]> =
                shared.ahead(class, place).into_iter().filter_map(cached).collect();
            let flow = &shared.flows[class];
            let mut known = Known {
                cached_accesses: Box::default(),
                now: Touched::default(),
                ahead: Touched::default(),
                closes_loop: false,
            };
            for pc in cached_accesses.iter().map(|cached| cached.ahead.local.pc as usize) {
                known.now.join(flow.now[pc]);
                known.ahead.join(flow.ahead[pc]);
                known.closes_loop |= flow.closes_loop[pc];
            }
            Box::new(Known { cached_accesses, ..known })
        })
    }

    /// Where the thread goes after it took this cached with this outcome.
    pub fn next(&mut self, thread: usize, place: u32, cached: usize, outcome: Outcome) -> Arc<Goto> {
        let shared = self.shared;
        let class = shared.class[thread];
        let cached = &mut self.cached_accesses(thread, place)[cached];
        if let Some((_, next)) = cached.next.iter().find(|(seen, _)| *seen == outcome) {
            return Arc::clone(next);
        }
        let nexts = shared.machine.after(class, &cached.ahead.local, outcome);
        let next = Arc::new(shared.settle(class, nexts));
        cached.next.push((outcome, Arc::clone(&next)));
        next
    }
}
