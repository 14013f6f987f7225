//! Programs as a source of schedules: a program is executed step by step, as a [`Player`] says, with the clock monitors
//! watching.
//!
//! A step is one access; fences come with the access before them, but under RC20 and RA an SC fence is an update of a
//! hidden location. All threads are there from the start. `wait` and `BCAS` are steps that wait. Free choices
//! (`oneof`, a weak compare-and-swap that may fail) belong to the access before them and go on the tape as choices; a
//! thread that begins with one has a step for it.
//!
//! * `places`: where threads can be; `step`: what they do there;
//! * `spin`: threads that go round in circles;
//! * `watch`: the monitors; `plain`: races;
//! * `found`: from a tape to a run for [`crate::witness`].

mod found;
mod places;
mod plain;
mod spin;
mod step;
mod watch;

use crate::states;
use places::{NextPlace, Places, WayEnd};
use plain::Plain;
use seqcst_explore as schedule;
use seqcst_explore::{Choice, End, Failure, Found, Plan, Player, State, Trace, Waiting};
use seqcst_model::{Action, Loc, Op as Access, Outcome, Program, Value};
use seqcst_program::code::Code;
use seqcst_program::semantics::Machine;
use spin::SpinHistory;
use std::convert::Infallible;
use std::time::Instant;
use watch::Watch;

/// What to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Stale accesses.
    pub monitor: bool,
    /// Data races.
    pub races: bool,
    /// An execution with more steps is stopped.
    pub steps: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { monitor: true, races: true, steps: 10_000 }
    }
}

/// A program that can be executed under any plan.
#[derive(Debug)]
pub struct ProgramSource<'a> {
    machine: &'a Machine,
    options: Options,
    places: Places<'a>,
    player: Player,
    memory: Vec<Value>,
    /// How often each location was changed, and by which step last.
    versions: Vec<(u32, u32)>,
    threads: Vec<Thread>,
    watch: Watch,
    plain: Plain,
    log: Log,
    until: Option<Instant>,
}

/// How many steps to make between two looks at the clock.
const LOOK: usize = 4096;

#[derive(Debug, Default)]
struct Thread {
    at: At,
    trail: SpinHistory,
    spins: bool,
    woken_by: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum At {
    /// Before a free choice that comes first.
    #[default]
    Start,
    Place(u32),
    /// It has ended, or an assertion has failed.
    Gone,
}

/// What was executed, as the search over all states writes it down, and what was found when.
#[derive(Clone, Debug, Default)]
struct Log {
    starts: Vec<usize>,
    steps: Vec<states::Step>,
    /// With how many steps before it.
    found: Vec<(usize, states::Violation)>,
}

/// The object that stands for a location.
pub fn object(code: &Code, loc: Loc) -> schedule::Object {
    match code.locations.get(loc.index()) {
        Some(location) if location.hidden => schedule::FENCES,
        _ => 16 + loc.index() as schedule::Object,
    }
}

/// The location that an object stands for.
pub fn location(code: &Code, object: schedule::Object) -> Option<Loc> {
    let locations = (0..code.locations.len()).map(|loc| Loc(loc as u8));
    locations.into_iter().find(|&loc| self::object(code, loc) == object)
}

impl<'a> ProgramSource<'a> {
    /// A program, lowered for some memory model.
    pub fn new(machine: &'a Machine, options: Options) -> ProgramSource<'a> {
        ProgramSource {
            machine,
            options,
            places: Places::new(machine),
            player: Player::default(),
            memory: Vec::new(),
            versions: Vec::new(),
            threads: Vec::new(),
            watch: Watch::default(),
            plain: Plain::default(),
            log: Log::default(),
            until: None,
        }
    }

    fn start(&mut self, plan: &Plan, trace: &mut Trace, outcome: &mut schedule::Outcome) {
        let count = self.machine.threads();
        self.memory.clear();
        self.memory.extend_from_slice(self.machine.initial());
        self.versions.clear();
        self.versions.resize(self.memory.len(), (0, 0));
        self.threads.resize_with(count, Thread::default);
        let model = self.machine.code().model;
        self.watch = if self.options.monitor || self.options.races && model.has_races() {
            Watch::new(model, count, &self.memory)
        } else {
            Watch::default()
        };
        if self.options.races {
            self.plain.reset(self.machine.code());
        }
        self.log.starts.clear();
        self.log.starts.resize(count, 0);
        self.log.steps.clear();
        self.log.found.clear();
        self.player.limit_steps(self.options.steps);
        self.player.start(plan);
        for thread in 0..count {
            self.threads[thread].trail.clear();
            (self.threads[thread].spins, self.threads[thread].woken_by) = (false, None);
            let starts = self.places.starts(thread);
            match &starts[..] {
                [only] => self.arrive(thread, only, outcome),
                _ => self.threads[thread].at = At::Start,
            }
        }
        for thread in 0..count {
            self.refresh(thread, trace);
        }
    }

    /// The thread goes on to its next place.
    fn arrive(&mut self, thread: usize, onward: &NextPlace, outcome: &mut schedule::Outcome) {
        for &mode in &onward.fences {
            self.watch.fence(thread, mode);
        }
        match onward.to {
            WayEnd::Failed(site) => {
                self.threads[thread].at = At::Gone;
                let code = self.machine.code();
                let text = code.sites.get(site as usize).map_or("", |site| &site.text);
                outcome.failure.get_or_insert_with(|| match code.why_unmodelled(site) {
                    Some(why) => Failure::Unmodelled(why),
                    None => Failure::Assertion(text.to_owned()),
                });
                self.log.found.push((self.log.steps.len(), states::Violation::Failed { thread }));
            }
            WayEnd::Place(place) => {
                let action = self.places.get(place).action.as_ref();
                self.threads[thread].at = if action.is_some() { At::Place(place) } else { At::Gone };
                if let Some(action) = action.filter(|_| self.options.monitor)
                    && self.watch.is_stale(thread, action)
                {
                    note(outcome, Found::Stale(u64::from(action.site)));
                    self.log.found.push((self.log.steps.len(), states::Violation::Stale { thread }));
                }
            }
        }
    }

    fn action(&self, thread: usize) -> Option<&Action> {
        match self.threads[thread].at {
            At::Place(place) => self.places.get(place).action.as_ref(),
            _ => None,
        }
    }

    /// Tells the player whether a thread can run.
    fn refresh(&mut self, thread: usize, trace: &mut Trace) {
        let able = match self.threads[thread].at {
            At::Start => true,
            At::Gone => false,
            At::Place(_) => {
                let able =
                    |action: &Action| action.outcomes(self.memory[action.loc.index()]).next().is_some();
                !self.threads[thread].spins && self.action(thread).is_some_and(able)
            }
        };
        let state = if able { State::Ready } else { State::Blocked };
        self.player.set(thread as schedule::ThreadId, state, trace);
    }

    fn finish(&self, choice: Choice, trace: &mut Trace) {
        let left = (0..self.threads.len()).filter(|&thread| self.threads[thread].at != At::Gone);
        for thread in left {
            if let Some(action) = self.action(thread) {
                let could = match action.op {
                    Access::Load | Access::Wait(_) => Outcome::Read(0),
                    _ => Outcome::Updated(0, 0),
                };
                trace.waiting.push(Waiting {
                    op: self.op(action, could),
                    site: u64::from(action.site),
                    thread: thread as schedule::ThreadId,
                    spins: u32::from(self.threads[thread].spins),
                });
            }
        }
        let any = |such: &dyn Fn(&Thread) -> bool| self.threads.iter().any(such);
        trace.end = match choice {
            Choice::Go(_) => End::StepLimit,
            Choice::Redundant => End::Redundant,
            Choice::Diverged => End::Diverged,
            // Another choice leads out of the circle, and it has a schedule of its own.
            Choice::Stuck if any(&|thread| thread.spins && thread.trail.chose) => End::Redundant,
            Choice::Stuck if any(&|thread| thread.spins) => End::Livelock,
            Choice::Stuck if any(&|thread| thread.at != At::Gone) => End::Deadlock,
            Choice::Stuck => End::Done,
        };
    }
}

impl schedule::Source for ProgramSource<'_> {
    type Error = Infallible;

    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<schedule::Outcome, Infallible> {
        let mut outcome = schedule::Outcome::default();
        self.start(plan, trace, &mut outcome);
        let mut choice = self.player.turn();
        while let Choice::Go(thread) = choice {
            let steps = trace.steps.len();
            if steps as u32 >= self.options.steps {
                break;
            }
            if steps.is_multiple_of(LOOK) && self.until.is_some_and(|until| Instant::now() > until) {
                outcome.late = true;
                break;
            }
            self.step(thread as usize, trace, &mut outcome);
            choice = self.player.turn();
        }
        self.finish(choice, trace);
        Ok(outcome)
    }

    fn until(&mut self, until: Option<Instant>) {
        self.until = until;
    }
}

fn note(outcome: &mut schedule::Outcome, found: Found) {
    if !outcome.found.contains(&found) {
        outcome.found.push(found);
    }
}
