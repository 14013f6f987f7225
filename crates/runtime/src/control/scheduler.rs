//! Who is there, what each of them is about to do, and whose turn it is.

mod turns;
mod waiting;

pub use turns::{
    NewThread, arrives, begin, expect, forget_last, has_ended, leave, offer, point, point_to_read,
    point_when, release, way,
};

use super::bodies::Body;
use super::registers;
use super::spin::{Read, Spin};
use super::stacks::{self, Stack};
use super::threads;
use super::warm::Warm;
use super::wire::{Log, Shared};
use crate::report::Misuse;
use crate::sync::Spread;
use crate::sys;
use core::cell::UnsafeCell;
use core::sync::atomic::Ordering::Relaxed;
use seqcst_explore::wire::Waiting;
use seqcst_explore::{AccessType, Choice, End, Kind, NOBODY, Op, Player, State, ThreadId};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use waiting::Wait;

/// All of it.
pub struct Scheduler {
    player: Player,
    log: Log,
    threads: Vec<Thread>,
    /// The running thread.
    me: usize,
    /// The running thread makes a step.
    busy: bool,
    /// That step writes what is there already: nobody needs to look at it again.
    idle: bool,
    /// Threads that wait for something.
    waiting: u32,
    /// What they wait for: a bit for each object, some of which share one.
    wanted: u64,
    /// The step that changed an object last.
    versions: HashMap<usize, u32, BuildHasherDefault<Spread>>,
    warm: Warm,
    /// What is shared with `seqcst explore`.
    pub shared: Shared,
}

/// A thread of the program.
struct Thread {
    /// Its kernel thread knows where it is: it stays there.
    body: Box<Body>,
    /// What it is about to do, or does.
    op: Op,
    pc: usize,
    wait: Wait,
    woken_by: u32,
    spin: Spin,
    stack: Stack,
    ended: bool,
}

struct Cell(UnsafeCell<Option<Scheduler>>);

// SAFETY: used by the running thread alone.
unsafe impl Sync for Cell {}

static SCHEDULER: Cell = Cell(UnsafeCell::new(None));

/// The scheduler, if there is one. The running thread alone asks, and keeps it at most until another one runs.
#[inline]
pub fn get() -> Option<&'static mut Scheduler> {
    // SAFETY: as said.
    unsafe { (*SCHEDULER.0.get()).as_mut() }
}

/// The object that stands for a thread.
pub use seqcst_explore::thread_object as object;

/// Begins an execution: the calling thread is the first one, and runs. Its stack begins at `base`.
pub fn start(shared: Shared, first: Body, warm: Warm, base: usize) {
    let mut player = Player::default();
    player.limit_steps(shared.header().step_limit);
    player.start(&shared.plan());
    let log = Log::new(shared);
    let threads = Vec::new();
    let scheduler = Scheduler {
        player,
        log,
        threads,
        me: 0,
        busy: false,
        idle: false,
        waiting: 0,
        wanted: 0,
        versions: HashMap::default(),
        warm,
        shared,
    };
    // SAFETY: nobody else is there.
    let scheduler = unsafe { (*SCHEDULER.0.get()).insert(scheduler) };
    scheduler.add(first);
    scheduler.threads[0].spin = Spin::new(base);
    scheduler.player.set(0, State::Ready, &mut scheduler.log);
    stacks::begin_first();
}

impl Scheduler {
    fn add(&mut self, body: Body) {
        let (body, op) = (Box::new(body), Op::local(Kind::Begin));
        let (wait, spin, stack) = (Wait::Nothing, Spin::default(), Stack::default());
        self.threads.push(Thread { body, op, pc: 0, wait, woken_by: NOBODY, spin, stack, ended: false });
        self.shared.header().threads.store(self.threads.len() as u32, Relaxed);
    }

    /// The number of the running thread.
    #[inline]
    pub fn me(&self) -> ThreadId {
        self.me as ThreadId
    }

    /// The number of the step that is being made, or of the next one.
    pub fn now(&self) -> u32 {
        self.log.now()
    }

    /// The stack of a thread.
    pub fn stack(&mut self, thread: ThreadId) -> &mut Stack {
        &mut self.threads[thread as usize].stack
    }

    /// The stack that holds this address.
    pub fn stack_at(&mut self, addr: usize) -> Option<&mut Stack> {
        self.threads.iter_mut().map(|thread| &mut thread.stack).find(|stack| stack.holds(addr))
    }

    /// Is this address on another thread's stack, and out of use?
    pub fn ended_stack(&self, addr: usize) -> Option<Misuse> {
        let others = self.threads.iter().enumerate().filter(|&(index, _)| index != self.me);
        others.filter_map(|(_, thread)| thread.stack.misuse(addr, thread.ended)).next()
    }

    /// The running thread's reads and effects.
    #[inline]
    pub fn spin(&mut self) -> &mut Spin {
        &mut self.threads[self.me].spin
    }

    /// What the running thread does is something else than it announced.
    #[inline]
    pub fn turned_out(&mut self, op: Op) {
        let thread = &mut self.threads[self.me];
        thread.op = op;
        if op.kind == Kind::TryLock {
            self.rewrote(op.objects[0], Read::Same);
        }
    }

    /// The running thread has read this.
    #[inline]
    pub fn read(&mut self, object: u64, read: Read) {
        let version = self.version(object);
        self.spin().read(object, version, read);
    }

    /// The running thread has written what was there already, or tried in vain.
    pub fn rewrote(&mut self, object: u64, read: Read) {
        self.idle = true;
        self.read(object, read);
    }

    /// The running thread's step is made.
    #[inline]
    fn finish_step(&mut self) {
        if !self.busy {
            return;
        }
        self.busy = false;
        let thread = &mut self.threads[self.me];
        let op = thread.op;
        let woken_by = core::mem::replace(&mut thread.woken_by, NOBODY);
        let idle = core::mem::take(&mut self.idle);
        match op.kind {
            _ if idle || only_reads(&op) => {}
            Kind::Lock | Kind::Unlock => thread.spin.section(),
            _ => thread.spin.effect(),
        }
        let woken_by = (woken_by != NOBODY).then_some(woken_by);
        let number = self.log.now();
        self.player.did(self.me as ThreadId, op, thread.pc as u64, woken_by, &mut self.log);
        if !idle {
            self.note_changes(&op, number);
            if self.waiting > 0 && self.is_wanted(&op) {
                self.tell(op, number);
            }
        }
    }

    /// The running thread is about to do this.
    #[inline]
    fn announce(&mut self, op: Op, pc: usize) -> &mut Thread {
        self.finish_step();
        self.log.beat();
        let thread = &mut self.threads[self.me];
        thread.op = op;
        thread.pc = pc;
        // If it isn't known: here at the latest.
        let here = 0u8;
        thread.stack.sp = registers::stack_pointer(pc).unwrap_or(&raw const here as usize);
        thread
    }

    /// Whose turn is it? None: nobody can go on.
    #[inline]
    fn choose(&mut self) -> Option<usize> {
        if self.log.is_full() {
            self.end(End::StepLimit);
        }
        match self.player.turn() {
            Choice::Go(next) => Some(next as usize),
            Choice::Redundant => self.end(End::Redundant),
            Choice::Diverged => self.end(End::Diverged),
            Choice::Stuck => None,
        }
    }

    /// Nobody will ever go on.
    fn stuck(&mut self) -> ! {
        if self.threads.iter().all(|thread| thread.ended) {
            threads::all_ended();
        }
        let spins = |thread: &Thread| matches!(thread.wait, Wait::Spin);
        self.end(if self.threads.iter().any(spins) { End::Livelock } else { End::Deadlock })
    }

    /// The execution ends: says who is left, and what they were about to do. The running thread isn't left if it makes
    /// its last step.
    #[cold]
    pub fn close(&mut self) {
        let busy = self.busy.then_some(self.me);
        self.finish_step();
        self.warm.teach();
        if let Some(me) = busy {
            self.threads[me].ended = true;
            self.player.set(me as ThreadId, State::Blocked, &mut self.log);
        }
        for (index, thread) in self.threads.iter().enumerate().filter(|(_, thread)| !thread.ended) {
            let spins = u32::from(matches!(thread.wait, Wait::Spin));
            let (op, site, thread) = (thread.op, thread.pc as u64, index as ThreadId);
            self.shared.waits(Waiting { op, site, thread, spins });
        }
    }

    /// Ends the execution here.
    #[cold]
    pub fn end(&mut self, end: End) -> ! {
        self.close();
        self.shared.ends(end);
        super::finish();
        sys::exit(0)
    }
}

/// After these a thread is where it was, but for what it has read.
fn only_reads(op: &Op) -> bool {
    match op.kind {
        Kind::Load | Kind::Fence | Kind::Yield => true,
        Kind::TryLock => op.how[0] == AccessType::Read,
        _ => false,
    }
}
