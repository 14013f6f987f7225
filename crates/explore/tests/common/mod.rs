//! Scripts: tiny concurrent programs with locks, semaphores, condition variables, barriers, spin loops, threads that come
//! and go, and a process that can end. Plain enough to be right, so that strategies can be tested on them.

#![allow(dead_code)] // Each test file uses its own part.

pub mod draw;

use seqcst_explore::{
    AccessType, Choice, End, Failure, Kind, Limits, Op, Outcome, Plan, Player, Source, State, Strategy,
    Summary, ThreadId, Trace, Waiting, explore,
};
use seqcst_testing::drawn;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

/// One instruction; the number says which location, lock, … it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Do {
    Load(u8),
    Store(u8),
    Rmw(u8),
    /// Stores if it finds what was there at the start, else it is a load.
    Cas(u8),
    Lock(u8),
    /// If it is taken: skips the next two instructions.
    TryLock(u8),
    Unlock(u8),
    ReadLock(u8),
    ReadUnlock(u8),
    Take(u8),
    Post(u8),
    /// Posts as soon as nothing is there.
    Send(u8),
    /// Waits for a signal, with lock 0 given back meanwhile.
    Wait(u8),
    /// The same, but time may be up.
    TimedWait(u8),
    /// Wakes who waits longest, or anybody (a free choice), or all.
    Signal(u8),
    SignalAny(u8),
    Broadcast(u8),
    /// A barrier of two.
    Arrive(u8),
    Pass(u8),
    /// Spins until somebody has written to the location.
    Spin(u8),
    /// The same with two locations: it reads one, then the other.
    SpinTwo(u8, u8),
    Yield,
    Spawn(ThreadId),
    Join(ThreadId),
    /// Fails if the location was written to.
    Check(u8),
    Exit,
    /// A fence in another thread.
    Everywhere(ThreadId),
}

/// A program: thread 0 is there from the start, and so are all that nobody spawns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script(pub Vec<Vec<Do>>);

/// A place with a number: 16 per kind.
const fn object(kind: u64, n: u8) -> u64 {
    16 + 16 * kind + n as u64
}

fn place(x: u8) -> u64 {
    object(0, x)
}
fn lock(m: u8) -> u64 {
    object(1, m)
}
fn semaphore(s: u8) -> u64 {
    object(2, s)
}
fn condition(c: u8) -> u64 {
    object(3, c)
}
fn barrier(b: u8) -> u64 {
    object(4, b)
}
fn thread(t: ThreadId) -> u64 {
    1 << 63 | u64::from(t)
}

#[derive(Clone, Debug, Default)]
struct Actor {
    born: bool,
    begun: bool,
    ended: bool,
    pc: usize,
    /// What it has seen so far.
    saw: Vec<u32>,
    /// Waiting for a signal: the condition, whether it came.
    waits: Option<(u8, bool)>,
    /// Spinning: what it saw in its last round, and that it can't go on.
    spun: Option<[u32; 2]>,
    second: bool,
    stuck: bool,
    woken_by: Option<u32>,
    yields: bool,
    seen_in_round: [u32; 2],
}

#[derive(Debug, Default)]
pub struct Machine {
    script: Script,
    player: Player,
    actors: Vec<Actor>,
    memory: [u32; 4],
    writes: u32,
    owners: [Option<ThreadId>; 4],
    readers: [u32; 4],
    counts: [u32; 4],
    queues: [Vec<ThreadId>; 4],
    arrived: [u32; 4],
    exited: bool,
    failed: bool,
    /// What each thread saw in the last execution, and how it ended.
    pub result: (Vec<Vec<u32>>, Option<End>),
}

impl Machine {
    pub fn new(script: &Script) -> Machine {
        Machine { script: script.clone(), ..Machine::default() }
    }

    fn start(&mut self, plan: &Plan) {
        let spawned = |t: ThreadId| self.script.0.iter().flatten().any(|&what| what == Do::Spawn(t));
        let born: Vec<bool> = (0..self.script.0.len() as ThreadId).map(|t| !spawned(t)).collect();
        self.actors.clear();
        self.actors.extend(born.into_iter().map(|born| Actor { born, begun: born, ..Actor::default() }));
        self.memory = [0; 4];
        self.writes = 0;
        self.owners = [None; 4];
        self.readers = [0; 4];
        self.counts = [0; 4];
        self.queues.iter_mut().for_each(Vec::clear);
        self.arrived = [0; 4];
        (self.exited, self.failed) = (false, false);
        self.player.start(plan);
    }

    fn next(&self, t: ThreadId) -> Option<Do> {
        self.script.0[t as usize].get(self.actors[t as usize].pc).copied()
    }

    fn free(&self, m: u8) -> bool {
        self.owners[m as usize].is_none() && self.readers[m as usize] == 0
    }

    fn state(&self, t: ThreadId) -> State {
        let actor = &self.actors[t as usize];
        if !actor.born || actor.ended || self.exited {
            return State::Blocked;
        }
        if !actor.begun {
            return State::Ready;
        }
        let when = |able: bool| if able { State::Ready } else { State::Blocked };
        if let Some((_, signalled)) = actor.waits {
            let timed = matches!(self.next(t), Some(Do::TimedWait(_)));
            return match (self.free(0), signalled) {
                (true, true) => State::Ready,
                (true, false) if timed => State::Willing,
                _ => State::Blocked,
            };
        }
        match self.next(t) {
            None => State::Ready,
            Some(Do::Lock(m)) => when(self.free(m)),
            Some(Do::ReadLock(m)) => when(self.owners[m as usize].is_none()),
            Some(Do::Take(s)) => when(self.counts[s as usize] > 0),
            Some(Do::Send(s)) => when(self.counts[s as usize] == 0),
            Some(Do::Pass(b)) => when(self.arrived[b as usize] >= 2),
            Some(Do::Join(other)) => when(self.actors[other as usize].ended),
            Some(Do::Spin(_) | Do::SpinTwo(..)) => when(!actor.stuck),
            Some(_) if actor.yields => State::Willing,
            Some(_) => State::Ready,
        }
    }

    /// What the thread would do next.
    fn op(&self, t: ThreadId) -> Op {
        use AccessType::{Read, Write};
        let actor = &self.actors[t as usize];
        if !actor.begun {
            return Op::new(Kind::Begin, Read, thread(t));
        }
        if let Some((c, _)) = actor.waits {
            return Op::new(Kind::Wake, Write, condition(c)).and(Write, lock(0));
        }
        match self.next(t) {
            None => Op::new(Kind::End, Write, thread(t)),
            Some(Do::Load(x) | Do::Check(x)) => Op::new(Kind::Load, Read, place(x)),
            Some(Do::Store(x)) => Op::new(Kind::Store, Write, place(x)),
            Some(Do::Rmw(x)) => Op::new(Kind::Rmw, Write, place(x)),
            Some(Do::Cas(x)) if self.memory[x as usize] == 0 => Op::new(Kind::Rmw, Write, place(x)),
            Some(Do::Cas(x)) => Op::new(Kind::Load, Read, place(x)),
            Some(Do::Lock(m)) => Op::new(Kind::Lock, Write, lock(m)),
            Some(Do::TryLock(m)) => {
                // Readers come and go without a conflict between them: a failure is no mere look.
                let how = if self.free(m) || self.readers[m as usize] > 0 { Write } else { Read };
                Op::new(Kind::TryLock, how, lock(m))
            }
            Some(Do::Unlock(m)) => Op::new(Kind::Unlock, Write, lock(m)),
            Some(Do::ReadLock(m)) => Op::new(Kind::Lock, Read, lock(m)),
            Some(Do::ReadUnlock(m)) => Op::new(Kind::Unlock, Read, lock(m)),
            Some(Do::Take(s)) => Op::new(Kind::Take, Write, semaphore(s)),
            Some(Do::Post(s) | Do::Send(s)) => Op::new(Kind::Post, Write, semaphore(s)),
            Some(Do::Wait(c) | Do::TimedWait(c)) => {
                Op::new(Kind::Wait, Write, condition(c)).and(Write, lock(0))
            }
            Some(Do::Signal(c) | Do::SignalAny(c) | Do::Broadcast(c)) => {
                Op::new(Kind::Signal, Write, condition(c))
            }
            Some(Do::Arrive(b)) => Op::new(Kind::Arrive, Write, barrier(b)),
            Some(Do::Pass(b)) => Op::new(Kind::Pass, Read, barrier(b)),
            Some(Do::Spin(x)) => Op::new(Kind::Load, Read, place(x)),
            Some(Do::SpinTwo(x, y)) => Op::new(Kind::Load, Read, place(if actor.second { y } else { x })),
            Some(Do::Yield) => Op::local(Kind::Yield),
            Some(Do::Spawn(other)) => Op::new(Kind::Spawn, Write, thread(other)),
            Some(Do::Join(other)) => Op::new(Kind::Join, Read, thread(other)),
            Some(Do::Exit) => Op::local(Kind::Exit),
            Some(Do::Everywhere(other)) => Op::new(Kind::Everywhere, Read, thread(other)),
        }
    }

    fn write(&mut self, x: u8, now: u32) {
        self.writes += 1;
        self.memory[x as usize] = self.writes;
        for (actor, script) in self.actors.iter_mut().zip(&self.script.0) {
            let watches = match script.get(actor.pc) {
                Some(Do::Spin(y)) => *y == x,
                Some(Do::SpinTwo(y, z)) => *y == x || *z == x,
                _ => false,
            };
            if actor.stuck && watches {
                (actor.stuck, actor.spun, actor.woken_by) = (false, None, Some(now));
            }
        }
    }

    fn step(&mut self, t: ThreadId, trace: &mut Trace) {
        let now = trace.steps.len() as u32;
        let me = t as usize;
        let op = self.op(t);
        let woken_by = self.actors[me].woken_by.take();
        let mut chosen = 0;
        if let (None, Some(Do::SignalAny(c))) = (self.actors[me].waits, self.next(t))
            && self.actors[me].begun
        {
            let many = self.queues[c as usize].len();
            chosen = if many > 1 { self.player.choose(many as u32) as usize } else { 0 };
        }
        self.player.did(t, op, self.actors[me].pc as u64, woken_by, trace);
        if !self.actors[me].begun {
            self.actors[me].begun = true;
            return;
        }
        let mut jump = 1;
        if let Some((c, signalled)) = self.actors[me].waits.take() {
            self.queues[c as usize].retain(|&waiter| waiter != t);
            self.owners[0] = Some(t);
            self.actors[me].saw.push(u32::from(signalled));
            self.actors[me].pc += 1;
            return;
        }
        match self.next(t) {
            None => self.actors[me].ended = true,
            Some(Do::Load(x)) => self.actors[me].saw.push(self.memory[x as usize]),
            Some(Do::Check(x)) => self.failed |= self.memory[x as usize] != 0,
            Some(Do::Store(x)) => self.write(x, now),
            Some(Do::Rmw(x)) => {
                self.actors[me].saw.push(self.memory[x as usize]);
                self.write(x, now);
            }
            Some(Do::Cas(x)) => {
                self.actors[me].saw.push(self.memory[x as usize]);
                if self.memory[x as usize] == 0 {
                    self.write(x, now);
                }
            }
            Some(Do::Lock(m)) => self.owners[m as usize] = Some(t),
            Some(Do::TryLock(m)) => {
                let free = self.free(m);
                self.actors[me].saw.push(u32::from(free));
                if free {
                    self.owners[m as usize] = Some(t);
                } else {
                    jump = 3;
                }
            }
            Some(Do::Unlock(m)) => self.owners[m as usize] = None,
            Some(Do::ReadLock(m)) => self.readers[m as usize] += 1,
            Some(Do::ReadUnlock(m)) => self.readers[m as usize] -= 1,
            Some(Do::Take(s)) => self.counts[s as usize] -= 1,
            Some(Do::Post(s) | Do::Send(s)) => self.counts[s as usize] += 1,
            Some(Do::Wait(c) | Do::TimedWait(c)) => {
                self.owners[0] = None;
                self.queues[c as usize].push(t);
                self.actors[me].waits = Some((c, false));
                jump = 0;
            }
            Some(Do::Signal(c) | Do::SignalAny(c)) => {
                let queue = &mut self.queues[c as usize];
                if chosen < queue.len() {
                    let woken = queue.remove(chosen) as usize;
                    self.actors[woken].waits = Some((c, true));
                }
            }
            Some(Do::Broadcast(c)) => {
                for woken in std::mem::take(&mut self.queues[c as usize]) {
                    self.actors[woken as usize].waits = Some((c, true));
                }
            }
            Some(Do::Arrive(b)) => self.arrived[b as usize] += 1,
            Some(Do::Pass(_) | Do::Yield | Do::Join(_)) => {}
            Some(Do::Spin(x)) => {
                let value = self.memory[x as usize];
                let actor = &mut self.actors[me];
                if value == 0 {
                    (actor.stuck, jump) = (true, 0);
                } else {
                    actor.saw.push(value);
                }
            }
            Some(Do::SpinTwo(x, y)) => {
                let value = self.memory[if self.actors[me].second { y } else { x } as usize];
                let both = [self.memory[x as usize], self.memory[y as usize]];
                let actor = &mut self.actors[me];
                actor.seen_in_round[usize::from(actor.second)] = value;
                if !actor.second {
                    (actor.second, jump) = (true, 0);
                } else {
                    actor.second = false;
                    if actor.seen_in_round.contains(&0) {
                        // Once round; stuck unless something has changed since it was read.
                        actor.stuck = both == actor.seen_in_round;
                        jump = 0;
                    } else {
                        actor.saw.extend(actor.seen_in_round);
                    }
                }
            }
            Some(Do::Spawn(other)) => self.actors[other as usize].born = true,
            Some(Do::Exit) => self.exited = true,
            Some(Do::Everywhere(other)) => {
                let place = self.actors[other as usize].pc as u32;
                self.actors[me].saw.push(place);
            }
        }
        self.actors[me].pc += jump;
        self.actors[me].yields = self.next(t) == Some(Do::Yield);
    }
}

impl Source for Machine {
    type Error = Infallible;

    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, Infallible> {
        self.start(plan);
        let choice = loop {
            if !self.exited && !self.failed {
                for t in 0..self.actors.len() as ThreadId {
                    self.player.set(t, self.state(t), trace);
                }
            }
            match self.player.turn() {
                Choice::Go(t) if trace.steps.len() < 1000 && !self.exited && !self.failed => {
                    self.step(t, trace)
                }
                other => break other,
            }
        };
        let left = |actor: &Actor| actor.born && !actor.ended;
        for t in (0..self.actors.len() as ThreadId).filter(|&t| left(&self.actors[t as usize])) {
            let spins = u32::from(self.actors[t as usize].stuck);
            trace.waiting.push(Waiting { op: self.op(t), site: 0, thread: t, spins });
        }
        trace.end = match choice {
            _ if self.exited || self.failed => End::Done,
            Choice::Go(_) => End::StepLimit,
            Choice::Redundant => End::Redundant,
            Choice::Diverged => End::Diverged,
            Choice::Stuck if self.actors.iter().any(|actor| actor.stuck) => End::Livelock,
            Choice::Stuck if self.actors.iter().any(left) => End::Deadlock,
            Choice::Stuck => End::Done,
        };
        self.result = (self.actors.iter().map(|actor| actor.saw.clone()).collect(), Some(trace.end));
        let failure = self.failed.then(|| Failure::Assertion("check".to_owned()));
        Ok(Outcome { failure, ..Outcome::default() })
    }
}

/// What an exploration saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// Traces by fingerprint, each with what threads saw and how it ended.
    pub traces: BTreeMap<u64, (Vec<Vec<u32>>, End, bool)>,
    pub tapes: BTreeSet<Vec<ThreadId>>,
    pub most_preemptions: u32,
    pub summary: Summary,
}

struct Noting<'a> {
    machine: Machine,
    seen: &'a mut Seen,
}

impl Source for Noting<'_> {
    type Error = Infallible;

    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, Infallible> {
        let outcome = self.machine.run(plan, trace)?;
        if trace.end != End::Redundant {
            let result = (self.machine.result.0.clone(), trace.end, outcome.failure.is_some());
            let old = self.seen.traces.insert(trace.fingerprint(), result.clone());
            // Versions of locations are numbered by all writes: only equal up to that.
            assert!(
                old.is_none_or(|old| old.1 == result.1 && old.2 == result.2),
                "the same trace ends in two ways"
            );
            self.seen.tapes.insert(trace.tape().collect());
            self.seen.most_preemptions = self.seen.most_preemptions.max(trace.preemptions());
        }
        Ok(outcome)
    }
}

/// Explores to the end; nothing if that takes too long.
pub fn all(script: &Script, strategy: &mut dyn Strategy, most: u64) -> Option<Seen> {
    let mut seen = Seen::default();
    let mut source = Noting { machine: Machine::new(script), seen: &mut seen };
    let limits = Limits { executions: most, keep_going: true, ..Limits::default() };
    let Ok(summary) = explore(&mut source, strategy, &limits, |_, _| ());
    assert_eq!(summary.diverged, None);
    let stopped = summary.stopped;
    seen.summary = summary;
    (!stopped).then_some(seen)
}

/// The scripts to draw.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    drawn::seeds(drawn::cases(usual))
}
