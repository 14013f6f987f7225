//! Executes a closure under a plan.

use super::note::{Finding, Note, Stale};
use super::panics;
use super::site::{self, Site};
use super::statics::{self, Changed, Snapshot};
use super::what_if::{self, WhatIf};
use super::worker::{self, Workers};
use super::world::{Way, World};
use rustc_hash::FxHashMap;
use seqcst_explore::{Choice, End, Failure, Outcome, Plan, Source, Trace};
use seqcst_model::Model;
use std::time::{Duration, Instant};

/// What to watch, and how far to go.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub model: Model,
    pub step_limit: u32,
    pub stack_size: usize,
    pub patience: u32,
    pub may_panic: bool,
    pub leaks: bool,
    pub spurious: bool,
    /// So long without a step is too long; zero: nothing is.
    pub hang: Duration,
}

/// References turned out to matter: from now on they are counted in steps, and all must be done again.
#[derive(Debug)]
pub struct StartAnew;

/// A closure, executed again and again.
pub struct Closure<'a> {
    body: &'a dyn Fn(),
    pub options: Options,
    workers: Workers,
    pub world: Box<World>,
    /// What is a step is settled: what was recorded is to be replayed.
    pub settled: bool,
    /// Stale reads that only make a wait longer.
    pub longer_waits: u64,
    /// What came of reading this old value at this place, after this past.
    tried: FxHashMap<(Site, u64, u64), bool>,
}

impl<'a> Closure<'a> {
    /// Not executed yet.
    pub fn new(body: &'a dyn Fn(), options: Options) -> Closure<'a> {
        panics::keep_quiet();
        let (mut world, workers) = worker::borrow(options.stack_size);
        world.step_limit = options.step_limit;
        world.watch.model = options.model;
        world.may_panic = options.may_panic;
        world.spurious = options.spurious;
        world.patience = options.patience;
        world.pulse.watch(options.hang);
        Closure {
            body,
            options,
            workers,
            world,
            settled: false,
            longer_waits: 0,
            tried: FxHashMap::default(),
        }
    }

    /// What monitors found in the last execution.
    pub fn findings(&self) -> &[Finding] {
        &self.world.watch.findings
    }

    /// The last execution, in words.
    pub fn notes(&self) -> &[Note] {
        &self.world.notes.list
    }

    fn execute(&mut self) {
        let world: *mut World = &mut *self.world;
        // SAFETY: used by the loop only while no coroutine runs, and by coroutines only while they do.
        let here = || unsafe { &mut *world };
        loop {
            if here().way == Way::Aborted {
                return worker::unwind_all(&mut self.workers, world);
            }
            if here().live == 0 {
                return;
            }
            match here().player.turn() {
                Choice::Go(thread) => {
                    here().current = thread;
                    here().pulse.runs(thread);
                    self.workers.get(thread).run(world);
                }
                Choice::Redundant => here().finish_unwatched(),
                Choice::Diverged => here().give_up(End::Diverged),
                Choice::Stuck if here().go_on_spinning() => {}
                Choice::Stuck if here().somebody_spins() => here().give_up(End::Livelock),
                Choice::Stuck => here().give_up(End::Deadlock),
            }
        }
    }
}

impl Source for Closure<'_> {
    type Error = StartAnew;

    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, StartAnew> {
        self.play(plan, trace);
        if self.world.needed > self.world.counting && !self.settled {
            self.world.counting = self.world.needed;
            return Err(StartAnew);
        }
        let (found, failure) = (std::mem::take(&mut self.world.found), self.world.failure.take());
        let mut outcome = Outcome { found, failure, late: self.world.late };
        if !outcome.found.is_empty() {
            self.excuse_waits(trace, &mut outcome);
        }
        if self.options.leaks && trace.end == End::Done && outcome.failure.is_none() {
            outcome.failure = self.leak().map(Failure::Assertion);
        }
        Ok(outcome)
    }

    fn until(&mut self, until: Option<Instant>) {
        self.world.until = until;
    }
}

impl Closure<'_> {
    /// Executes the closure once.
    pub fn play(&mut self, plan: &Plan, trace: &mut Trace) {
        let body: *const dyn Fn() = self.body;
        // SAFETY: the job is done or dropped before this function returns, and the closure outlives it.
        let body: *const (dyn Fn() + 'static) = unsafe { std::mem::transmute(body) };
        let world = &mut *self.world;
        std::mem::swap(&mut world.trace, trace);
        world.start(plan, Box::new(move || unsafe { (*body)() }));
        self.world.pulse.begins();
        self.execute();
        self.world.pulse.ends();
        let world = &mut *self.world;
        world.statics.clear();
        *trace = world.take_trace();
    }

    /// Takes those findings out that only make a wait longer.
    fn excuse_waits(&mut self, trace: &Trace, outcome: &mut Outcome) {
        let findings = std::mem::take(&mut self.world.watch.findings);
        let notes = std::mem::take(&mut self.world.notes.list);
        let wanted = std::mem::replace(&mut self.world.notes.wanted, false);
        let dead = self.world.deaths();
        let mut kept = Vec::new();
        let founds = std::mem::take(&mut outcome.found);
        for (finding, found) in findings.into_iter().zip(founds) {
            if matches!(&finding, Finding::Stale(stale) if self.only_waits(trace, stale)) {
                self.longer_waits += 1;
            } else {
                outcome.found.push(found);
                kept.push(finding);
            }
        }
        self.world.watch.findings = kept;
        (self.world.notes.list, self.world.notes.wanted, self.world.dead) = (notes, wanted, dead);
    }

    /// Whichever old value the load reads, its thread comes back to it and goes on as if nothing had been.
    fn only_waits(&mut self, trace: &Trace, stale: &Stale) -> bool {
        let mut fresh = None;
        stale.choices.iter().all(|&value| {
            let key = (stale.access.site, value, stale.past);
            if let Some(&known) = self.tried.get(&key) {
                return known;
            }
            let only_waits = what_if::can_wait(stale, value) && {
                let fresh = fresh.get_or_insert_with(|| self.what_if(trace, stale.step, None));
                fresh.is_some() && *fresh == self.what_if(trace, stale.step, Some(value))
            };
            self.tried.insert(key, only_waits);
            only_waits
        })
    }

    /// What the thread of this step does if it reads this value there.
    fn what_if(&mut self, trace: &Trace, step: u32, value: Option<u64>) -> Option<Vec<what_if::Did>> {
        let mut plan = Plan::default();
        plan.replay(trace.tape().take(step as usize + 1));
        self.world.what_if = Some(WhatIf::new(step, value));
        self.play(&plan, &mut Trace::default());
        let what_if = self.world.what_if.take()?;
        if self.world.failure.take().is_some() { None } else { what_if.since() }
    }

    /// Statics that an execution leaves otherwise than it finds them, or that are not what they were before the first one.
    pub fn kept(&mut self) -> Vec<Changed> {
        let before = Snapshot::take();
        let (plan, mut trace) = (Plan::default(), Trace::default());
        self.play(&plan, &mut trace);
        let after = Snapshot::take();
        let mut changed = before.changed(&after);
        let known = |other: &Changed, list: &[Changed]| list.contains(other);
        let earlier = statics::first().changed(&after);
        changed.extend(earlier.into_iter().filter(|other| !known(other, &changed)).collect::<Vec<_>>());
        changed
    }

    /// Where a value was made that nobody has dropped.
    fn leak(&self) -> Option<String> {
        let counter = self.world.counters.iter().find(|counter| counter.strong > 0)?;
        let place = site::place(counter.site).map(ToString::to_string).unwrap_or_default();
        Some(format!("the Arc made at {place} is never dropped ({} references are left)", counter.strong))
    }
}

impl Drop for Closure<'_> {
    fn drop(&mut self) {
        worker::give_back(std::mem::take(&mut self.world), std::mem::take(&mut self.workers));
    }
}
