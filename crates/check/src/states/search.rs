//! The search: breadth-first over all states, level by level, on several cores, within limits.
//!
//! The first pass keeps no way back, which saves half the memory. When it finds something, a second pass on one core
//! goes as deep as the first did and remembers parents: the run it returns is a shortest one (in moves, without
//! reductions) and the same every time.

use super::expand::{Expander, Move, StateViolation};
use super::layout::Layout;
use super::locals::Locals;
use super::symmetry::Symmetry;
use super::tree::{Key, Parts, StateSet, StateSetHandle};
use rustc_hash::FxHashMap;
use seqcst_monitor::finite::Monitor;
use seqcst_program::semantics::Machine;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// When to give up.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// States visited.
    pub states: Option<u64>,
    /// Time since the start.
    pub time: Option<Duration>,
    /// Bytes for visited states.
    pub memory: Option<u64>,
}

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// When to give up.
    pub limits: Limits,
    /// Worker threads.
    pub workers: usize,
    /// Keep one of all states that differ only in the names of interchangeable threads.
    pub symmetry: bool,
    /// Let only one thread move where its next accesses are independent of all that others can still do.
    pub independence: bool,
    /// Report two enabled conflicting non-atomic accesses as a race, whatever the monitor says.
    pub clash: bool,
}

/// How far the search is, for a progress display.
#[derive(Clone, Copy, Default, Debug)]
pub struct Progress {
    /// States visited.
    pub states: u64,
    /// Longest run followed, in moves.
    pub depth: u64,
    /// States found in the last level, not looked at yet.
    pub waiting: u64,
    /// Bytes for visited states.
    pub memory: u64,
    /// Time since the start.
    pub elapsed: Duration,
}

/// A limit that ended the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// [`Limits::states`]
    States,
    /// [`Limits::time`]
    Time,
    /// [`Limits::memory`]
    Memory,
}

/// A step of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Who moved.
    pub thread: usize,
    /// What came of its action.
    pub outcome: seqcst_model::Outcome,
    /// Which of the ways on it takes after that.
    pub choice: usize,
}

/// What is wrong at the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// The thread's next access can be stale.
    Stale {
        /// The thread.
        thread: usize,
    },
    /// The thread's next access races with an earlier one.
    Race {
        /// The thread.
        thread: usize,
    },
    /// The next accesses of both threads conflict.
    Clash {
        /// One thread.
        first: usize,
        /// The other.
        second: usize,
    },
    /// The thread is blocked and can never move again.
    Stuck {
        /// The thread.
        thread: usize,
    },
    /// The last step of the run (or, in an empty run, the start of the thread) leads into a failed assertion.
    Failed {
        /// The thread.
        thread: usize,
    },
}

/// A run and what is wrong at its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Which of the ways to its first access each thread takes.
    pub starts: Vec<usize>,
    /// The run.
    pub steps: Vec<Step>,
    /// What is wrong.
    pub violation: Violation,
}

/// What the search says.
#[derive(Clone, Default, Debug)]
pub struct Answer {
    /// A run that goes wrong, if there is one.
    pub found: Option<Found>,
    /// The limit that ended the search, if one did.
    pub limit: Option<Limit>,
    /// How far it got.
    pub progress: Progress,
    /// Moves tried.
    pub transitions: u64,
}

/// Visits all states of the program under SC, with the monitor watching.
pub fn check(
    machine: &Machine,
    mut monitor: Box<dyn Monitor>,
    options: &Options,
    report: &(dyn Fn(Progress) + Sync),
) -> Answer {
    let start = Instant::now();
    let mut local_bits = 16;
    loop {
        let locals = Locals::new(machine);
        let search = Search::new(machine, &locals, &*monitor, options, local_bits, start, report);
        let first = search.run(options.workers, None);
        if first.violation.is_none() || search.too_small() {
            if !search.too_small() {
                return search.answer(None);
            }
            if monitor.overflowed() {
                monitor = monitor.grown();
            } else {
                local_bits = 32;
            }
            continue;
        }
        let parents = Mutex::default();
        let again = Search::new(machine, &locals, &*monitor, options, local_bits, start, report);
        let second = again.run(1, Some(&parents));
        let parents = parents.into_inner().unwrap_or_else(|e| e.into_inner());
        let found = second.violation.map(|(key, violation)| again.path(key, violation, &parents));
        let mut answer = search.answer(found);
        if answer.found.is_none() {
            answer.limit = answer.limit.or(again.answer(None).limit);
        }
        return answer;
    }
}

struct Search<'a> {
    locals: &'a Locals<'a>,
    monitor: &'a dyn Monitor,
    options: &'a Options,
    layout: Layout,
    local_bits: u8,
    symmetry: Symmetry,
    set: StateSet,
    start: Instant,
    report: &'a (dyn Fn(Progress) + Sync),
    states: AtomicU64,
    transitions: AtomicU64,
    depth: AtomicU64,
    waiting: AtomicU64,
    stop: AtomicBool,
    narrow: AtomicBool,
    limit: Mutex<Option<Limit>>,
    last_report: Mutex<Instant>,
}

struct Pass {
    violation: Option<(Key, StateViolation)>,
}

type Parents = FxHashMap<Key, Key>;

/// Levels with fewer states than this are done by one worker.
const WORTH_SHARING: usize = 1024;
/// States that a worker takes at a time.
const CHUNK: usize = 128;

impl<'a> Search<'a> {
    fn new(
        machine: &Machine,
        locals: &'a Locals<'a>,
        monitor: &'a dyn Monitor,
        options: &'a Options,
        local_bits: u8,
        start: Instant,
        report: &'a (dyn Fn(Progress) + Sync),
    ) -> Search<'a> {
        let value_bits = (32 - (machine.code().modulus() - 1).leading_zeros()).max(1) as u8;
        let layout = Layout::new(monitor.shape(), local_bits, value_bits);
        Search {
            locals,
            monitor,
            options,
            set: StateSet::new(layout.packed()),
            layout,
            local_bits,
            symmetry: Symmetry::of(locals, options.symmetry),
            start,
            report,
            states: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            depth: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            narrow: AtomicBool::new(false),
            limit: Mutex::new(None),
            last_report: Mutex::new(start),
        }
    }

    fn too_small(&self) -> bool {
        self.monitor.overflowed() || self.narrow.load(Relaxed)
    }

    fn progress(&self) -> Progress {
        Progress {
            states: self.states.load(Relaxed),
            depth: self.depth.load(Relaxed),
            waiting: self.waiting.load(Relaxed),
            memory: self.set.memory() as u64,
            elapsed: self.start.elapsed(),
        }
    }

    fn answer(&self, found: Option<Found>) -> Answer {
        Answer {
            found,
            limit: *self.limit.lock().unwrap_or_else(|e| e.into_inner()),
            progress: self.progress(),
            transitions: self.transitions.load(Relaxed),
        }
    }

    fn run(&self, workers: usize, parents: Option<&Mutex<Parents>>) -> Pass {
        let mut main = Worker::new(self);
        let (mut level, violation) = main.start();
        if violation.is_some() {
            return Pass { violation };
        }
        let mut others: Vec<Worker> = Vec::new();
        while !level.is_empty() {
            self.depth.fetch_add(1, Relaxed);
            self.waiting.store(level.len() as u64, Relaxed);
            let work = Work { level: &level, next: AtomicUsize::new(0), parents };
            if workers <= 1 || level.len() < WORTH_SHARING {
                main.work(&work);
            } else {
                others.resize_with(workers - 1, || Worker::new(self));
                std::thread::scope(|scope| {
                    for worker in &mut others {
                        scope.spawn(|| worker.work(&work));
                    }
                    main.work(&work);
                });
            }
            let mut next = std::mem::take(&mut main.found);
            let mut violation = main.violation.take();
            for worker in &mut others {
                next.append(&mut worker.found);
                violation = violation.or(worker.violation.take());
            }
            if violation.is_some() || self.stop.load(Relaxed) {
                return Pass { violation };
            }
            level = next;
        }
        self.waiting.store(0, Relaxed);
        Pass { violation: None }
    }

    /// Stops at a limit; reports progress now and then.
    fn look_around(&self) {
        let limits = &self.options.limits;
        let reached = if limits.states.is_some_and(|most| self.states.load(Relaxed) >= most) {
            Some(Limit::States)
        } else if limits.time.is_some_and(|most| self.start.elapsed() >= most) {
            Some(Limit::Time)
        } else if limits.memory.is_some_and(|most| self.set.memory() as u64 >= most) {
            Some(Limit::Memory)
        } else {
            None
        };
        if reached.is_some() {
            *self.limit.lock().unwrap_or_else(|e| e.into_inner()) = reached;
            self.stop.store(true, Relaxed);
        }
        if self.too_small() {
            self.stop.store(true, Relaxed);
        }
        if let Ok(mut last) = self.last_report.try_lock()
            && last.elapsed() >= Duration::from_millis(200)
        {
            *last = Instant::now();
            (self.report)(self.progress());
        }
    }

    /// The run that led to violation.
    fn path(&self, end: Key, violation: StateViolation, parents: &Parents) -> Found {
        let threads = self.monitor.shape().threads;
        let mut run = RunOfMoves::new(threads);
        if let StateViolation::FailedAtStart { thread, way } = violation {
            run.choose(thread, way);
            return run.found(Violation::Failed { thread });
        }
        let mut keys = vec![end];
        while let Some(&parent) = parents.get(&keys[keys.len() - 1]) {
            keys.push(parent);
        }
        keys.reverse();
        let mut worker = Worker::new(self);
        // Which thread of the program stands in which place of the state.
        let mut who: Vec<usize> = (0..threads).collect();
        let mut state = worker.expander.start().unwrap_or_default();
        self.symmetry.canonicalise(self.monitor, &mut state, &mut who);
        for &key in &keys[1..] {
            let mut taken = None;
            for thread in 0..threads {
                let mut reached = Vec::new();
                worker.expander.moves(&state, thread, |mv, after| reached.push((mv, after.clone())));
                for (mv, mut after) in reached {
                    let mut moved: Vec<usize> = (0..threads).collect();
                    self.symmetry.canonicalise(self.monitor, &mut after, &mut moved);
                    if taken.is_none() && worker.key_of(&after) == key {
                        taken = Some((mv, after, moved));
                    }
                }
            }
            let Some((mv, after, moved)) = taken else { break };
            run.step(Move { thread: who[mv.thread], ..mv });
            who = moved.iter().map(|&place| who[place]).collect();
            state = after;
        }
        // Threads that have no part in the violation go any way that doesn't fail.
        for place in 0..threads {
            let number = state[self.monitor.shape().thread(place)] as u32;
            run.choose(who[place], self.locals.any_way(place, number));
        }
        match violation {
            StateViolation::Stale { thread, way } => {
                run.choose(who[thread], way);
                run.found(Violation::Stale { thread: who[thread] })
            }
            StateViolation::Race { thread, way } => {
                run.choose(who[thread], way);
                run.found(Violation::Race { thread: who[thread] })
            }
            StateViolation::Clash { first, second } => {
                run.choose(who[first.0], first.1);
                run.choose(who[second.0], second.1);
                run.found(Violation::Clash { first: who[first.0], second: who[second.0] })
            }
            StateViolation::Failed { step, way } => {
                let thread = who[step.thread];
                run.step(Move { thread, ..step });
                run.choose(thread, way);
                run.found(Violation::Failed { thread })
            }
            StateViolation::FailedAtStart { thread, .. } => run.found(Violation::Failed { thread }),
        }
    }
}

/// A run put together move by move. A move says which way it took to its access; a [`Step`] says which way is taken
/// after it.
#[derive(Clone)]
pub struct RunOfMoves {
    starts: Vec<usize>,
    steps: Vec<Step>,
    /// Each thread's last step.
    last: Vec<Option<usize>>,
}

impl RunOfMoves {
    pub fn new(threads: usize) -> RunOfMoves {
        RunOfMoves { starts: vec![0; threads], steps: Vec::new(), last: vec![None; threads] }
    }

    /// After its last step the thread goes this way.
    pub fn choose(&mut self, thread: usize, way: usize) {
        match self.last[thread] {
            Some(step) => self.steps[step].choice = way,
            None => self.starts[thread] = way,
        }
    }

    pub fn step(&mut self, mv: Move) {
        self.choose(mv.thread, mv.way);
        self.last[mv.thread] = Some(self.steps.len());
        self.steps.push(Step { thread: mv.thread, outcome: mv.outcome, choice: 0 });
    }

    pub fn found(self, violation: Violation) -> Found {
        Found { starts: self.starts, steps: self.steps, violation }
    }
}

/// A level to be worked on together.
struct Work<'l> {
    level: &'l [Key],
    next: AtomicUsize,
    parents: Option<&'l Mutex<Parents>>,
}

struct Worker<'s, 'a> {
    search: &'s Search<'a>,
    expander: Expander<'a>,
    handle: StateSetHandle<'s>,
    state: Vec<u64>,
    here: Parts,
    there: Parts,
    found: Vec<Key>,
    violation: Option<(Key, StateViolation)>,
}

impl<'s, 'a> Worker<'s, 'a> {
    fn new(search: &'s Search<'a>) -> Worker<'s, 'a> {
        Worker {
            expander: Expander::new(search.monitor, search.locals, search.options.clash),
            handle: StateSetHandle::new(&search.set),
            state: vec![0; search.layout.words()],
            here: Parts::default(),
            there: Parts::of_size(search.layout.packed()),
            found: Vec::new(),
            violation: None,
            search,
        }
    }

    fn start(&mut self) -> (Vec<Key>, Option<(Key, StateViolation)>) {
        let mut state = match self.expander.start() {
            Ok(state) => state,
            Err(violation) => return (Vec::new(), Some((0, violation))),
        };
        self.search.symmetry.canonicalise(self.search.monitor, &mut state, &mut [0; 64]);
        let key = self.key_of(&state);
        self.search.set.insert(key);
        self.search.states.fetch_add(1, Relaxed);
        (vec![key], None)
    }

    fn key_of(&mut self, state: &[u64]) -> Key {
        self.search.layout.pack(state, &mut self.there.words);
        self.handle.key(&mut self.there, &self.here)
    }

    fn work(&mut self, work: &Work) {
        let search = self.search;
        while !search.stop.load(Relaxed) {
            let start = work.next.fetch_add(CHUNK, Relaxed);
            if start >= work.level.len() {
                break;
            }
            let found = self.found.len();
            let mut transitions = 0;
            for &key in &work.level[start..(start + CHUNK).min(work.level.len())] {
                transitions += self.visit(key, work.parents);
                if self.violation.is_some() {
                    search.stop.store(true, Relaxed);
                    break;
                }
            }
            search.states.fetch_add((self.found.len() - found) as u64, Relaxed);
            search.transitions.fetch_add(transitions, Relaxed);
            search.look_around();
        }
    }

    /// Looks at a state and finds its successors.
    fn visit(&mut self, key: Key, parents: Option<&Mutex<Parents>>) -> u64 {
        let search = self.search;
        self.handle.parts(key, &mut self.here);
        search.layout.unpack(&self.here.words, &mut self.state);
        if let Some(violation) = self.expander.violation(&self.state) {
            self.violation = Some((key, violation));
            return 0;
        }
        let Worker { expander, handle, state, here, there, found, violation, .. } = self;
        let mut transitions = 0;
        let movers = match search.options.independence.then(|| expander.alone(state)).flatten() {
            Some(thread) => thread..thread + 1,
            None => 0..search.monitor.shape().threads,
        };
        for thread in movers {
            let failed = expander.moves(state, thread, |_, after| {
                transitions += 1;
                if !search.symmetry.is_trivial() {
                    search.symmetry.canonicalise(search.monitor, after, &mut [0; 64]);
                }
                if after[search.monitor.shape().thread(thread)] >> search.local_bits != 0 {
                    search.narrow.store(true, Relaxed);
                }
                search.layout.pack(after, &mut there.words);
                let next = handle.key(there, here);
                if search.set.insert(next) {
                    found.push(next);
                    if let Some(parents) = parents {
                        parents.lock().unwrap_or_else(|e| e.into_inner()).insert(next, key);
                    }
                }
            });
            if let Some(failed) = failed {
                *violation = Some((key, failed));
                break;
            }
        }
        transitions
    }
}
