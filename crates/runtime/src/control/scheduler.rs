//! Who is there, what each of them is about to do, and whose turn it is.

use super::bodies::Body;
use super::registers;
use super::spin::{Read, Spin};
use super::warm::Warm;
use super::wire::{Log, Shared};
use super::{descriptors, pending, threads};
use crate::sys;
use core::cell::UnsafeCell;
use core::sync::atomic::Ordering::Relaxed;
use seqcst_schedule::wire::Waiting;
use seqcst_schedule::{Choice, End, How, Kind, NOBODY, Op, Player, State, Step, ThreadId};

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
    /// Threads that have read something that isn't a value: they must be told of changes.
    curious: bool,
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
    ended: bool,
}

/// What a thread waits for.
#[derive(Clone, Copy)]
enum Wait {
    Nothing,
    /// Until `can` is true, which may change when the object does. `timed`: or until time is up.
    Until {
        object: u64,
        can: *const dyn Fn() -> bool,
        timed: bool,
    },
    /// It goes round in circles.
    Spin,
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
pub fn object(thread: ThreadId) -> u64 {
    1 << 63 | u64::from(thread)
}

/// Begins an execution: the calling thread is the first one, and runs. Its stack begins at `base`.
pub fn start(shared: Shared, first: Body, warm: Warm, base: usize) {
    let mut player = Player::default();
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
        curious: false,
        warm,
        shared,
    };
    // SAFETY: nobody else is there.
    let scheduler = unsafe { (*SCHEDULER.0.get()).insert(scheduler) };
    scheduler.add(first);
    scheduler.threads[0].spin = Spin::new(base);
    scheduler.player.set(0, State::Ready, &mut scheduler.log);
}

impl Scheduler {
    fn add(&mut self, body: Body) {
        let (body, op) = (Box::new(body), Op::local(Kind::Begin));
        let (wait, spin) = (Wait::Nothing, Spin::default());
        self.threads.push(Thread { body, op, pc: 0, wait, woken_by: NOBODY, spin, ended: false });
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
        if op.kind == Kind::TryLock && only_reads(&op) {
            self.curious = true;
            thread.spin.read(op.objects[0], Read::Same);
        }
    }

    /// The running thread has written what was there already.
    pub fn rewrote(&mut self, object: u64, read: Read) {
        self.idle = true;
        self.spin().read(object, read);
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
        if !only_reads(&op) && !idle {
            thread.spin.effect();
        }
        let woken_by = (woken_by != NOBODY).then_some(woken_by);
        let number = self.log.now();
        self.player.did(self.me as ThreadId, op, thread.pc as u64, woken_by, &mut self.log);
        if (self.curious || self.waiting > 0 && self.is_wanted(&op)) && !idle {
            self.tell(op, number);
        }
    }

    /// Does it perhaps change what somebody waits for?
    #[inline]
    fn is_wanted(&self, op: &Op) -> bool {
        op.touches().any(|(object, how)| how == How::Write && self.wanted & bit(object) != 0)
    }

    /// The running thread waits for one of these objects.
    fn want(&mut self, objects: impl IntoIterator<Item = u64>) {
        let bits = objects.into_iter().fold(0, |bits, object| bits | bit(object));
        self.wanted = bits | if self.waiting == 0 { 0 } else { self.wanted };
        self.waiting += 1;
    }

    /// The running thread goes round in circles.
    fn want_all(&mut self) {
        let objects: Vec<u64> = self.spin().objects().collect();
        self.want(objects);
    }

    /// Step `number` changed something: those who wait for it are looked at again.
    #[cold]
    fn tell(&mut self, op: Op, number: u32) {
        for (object, how) in op.touches() {
            if how != How::Write {
                continue;
            }
            if self.curious {
                self.threads.iter_mut().for_each(|thread| thread.spin.changed(object));
                self.curious = self.threads.iter().any(|thread| thread.spin.must_be_told());
            }
            for index in 0..self.threads.len() {
                let thread = &mut self.threads[index];
                match thread.wait {
                    Wait::Spin if thread.spin.reads(object) && thread.woken_by == NOBODY => {
                        thread.woken_by = number;
                        self.player.set(index as ThreadId, State::Ready, &mut self.log);
                    }
                    Wait::Until { object: other, .. } if other == object => self.look_at(index),
                    _ => {}
                }
            }
        }
    }

    /// Those who wait for the object are looked at again.
    pub fn changed(&mut self, object: u64) {
        if self.waiting == 0 {
            return;
        }
        for index in 0..self.threads.len() {
            if let Wait::Until { object: other, .. } = self.threads[index].wait
                && other == object
            {
                self.look_at(index);
            }
        }
    }

    /// A signal has come for the thread, by the running one's step: if it goes round in circles, it goes on.
    pub fn interrupt(&mut self, thread: ThreadId) {
        let now = self.log.now();
        if let Some(interrupted) = self.threads.get_mut(thread as usize)
            && matches!(interrupted.wait, Wait::Spin)
        {
            interrupted.woken_by = now;
            self.player.set(thread, State::Ready, &mut self.log);
        }
    }

    /// Everybody who waits is looked at again.
    pub fn changed_all(&mut self) {
        (0..self.threads.len()).for_each(|index| self.look_at(index));
    }

    /// Can the thread go on?
    fn look_at(&mut self, index: usize) {
        if let Wait::Until { can, timed, .. } = self.threads[index].wait {
            // SAFETY: on the stack of a thread that waits, or is about to.
            let state = match unsafe { (*can)() } {
                true => State::Ready,
                false if timed => State::Willing,
                false => State::Blocked,
            };
            self.player.set(index as ThreadId, state, &mut self.log);
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

    /// Looks at all who wait: something may have changed without a word, by a plain write, or in code that nobody sees.
    /// Can somebody go on?
    fn look_again(&mut self) -> bool {
        let mut some = false;
        for index in 0..self.threads.len() {
            match self.threads[index].wait {
                Wait::Spin if !self.threads[index].spin.is_stuck() => {
                    self.player.set(index as ThreadId, State::Ready, &mut self.log);
                }
                _ => self.look_at(index),
            }
            some |= self.player.state(index as ThreadId) != State::Blocked;
        }
        some
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

/// One of 64 bits for an object.
#[inline]
fn bit(object: u64) -> u64 {
    1 << (object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

/// After these a thread is where it was, but for what it has read.
fn only_reads(op: &Op) -> bool {
    match op.kind {
        Kind::Load | Kind::Fence | Kind::Yield => true,
        Kind::TryLock => op.how[0] == How::Read,
        _ => false,
    }
}

/// Announces a step that can be made at any time, and waits for the turn.
#[inline]
pub fn point(op: Op, pc: usize) {
    let Some(scheduler) = get() else { return };
    scheduler.announce(op, pc);
    let me = scheduler.me();
    scheduler.player.set(me, State::Ready, &mut scheduler.log);
    go_on();
}

/// Announces a step that may do nothing but read: who would only read the same again, waits for a change.
#[inline]
pub fn point_to_read(op: Op, pc: usize) {
    let Some(scheduler) = get() else { return };
    let thread = scheduler.announce(op, pc);
    let spins = registers::take(pc).is_some_and(|registers| thread.spin.arrives(registers));
    if spins {
        thread.wait = Wait::Spin;
        scheduler.want_all();
    }
    let state = if spins { State::Blocked } else { State::Ready };
    scheduler.player.set(scheduler.me as ThreadId, state, &mut scheduler.log);
    go_on();
}

/// Announces a step that offers the turn to others.
pub fn offer(op: Op, pc: usize) {
    let Some(scheduler) = get() else { return };
    scheduler.announce(op, pc);
    let me = scheduler.me();
    scheduler.player.set(me, State::Willing, &mut scheduler.log);
    go_on();
}

/// Announces a step that can be made while `can()`, or, if `timed`, also when time is up. True: `can()`.
pub fn point_when(object: u64, op: Op, pc: usize, timed: bool, can: &dyn Fn() -> bool) -> bool {
    let Some(scheduler) = get() else { return can() };
    let me = scheduler.me;
    // SAFETY: lives until this thread goes on, and isn't used after that.
    let can: *const dyn Fn() -> bool = unsafe { core::mem::transmute(can) };
    scheduler.announce(op, pc).wait = Wait::Until { object, can, timed };
    scheduler.want([object]);
    scheduler.look_at(me);
    go_on();
    // SAFETY: the caller's closure, which is still there.
    unsafe { (*can)() }
}

/// Whose turn is it? Somebody's, or the execution ends here.
#[inline]
fn next_turn() -> usize {
    loop {
        let Some(scheduler) = get() else { return 0 };
        if let Some(next) = scheduler.choose() {
            return next;
        }
        if scheduler.look_again() {
            continue;
        }
        // Others, outside of this process, may end somebody's wait.
        let header = scheduler.shared.header();
        let others = descriptors::wait_for_one(|thread, pc| {
            header.current.store(thread, Relaxed);
            header.site.store(pc as u64, Relaxed);
        });
        if !others && let Some(scheduler) = get() {
            scheduler.stuck();
        }
    }
}

/// Lets the thread run whose turn it is; returns when it is the calling one's turn, which then makes its step.
#[inline]
fn go_on() {
    let Some(me) = get().map(|scheduler| scheduler.me) else { return };
    let next = next_turn();
    if next != me
        && let Some(scheduler) = get()
    {
        scheduler.me = next;
        let from = &raw mut *scheduler.threads[me].body;
        let to = &raw mut *scheduler.threads[next].body;
        // SAFETY: this thread runs, the other one doesn't.
        unsafe { Body::switch(from, to) };
    }
    begin_step();
}

/// It is the calling thread's turn.
#[inline]
fn begin_step() {
    let Some(scheduler) = get() else { return };
    let thread = &mut scheduler.threads[scheduler.me];
    if !matches!(thread.wait, Wait::Nothing) {
        thread.wait = Wait::Nothing;
        scheduler.waiting -= 1;
    }
    let (op, site, woken_by) = (thread.op, thread.pc as u64, thread.woken_by);
    scheduler.busy = true;
    scheduler.log.begin(Step { op, site, thread: scheduler.me as ThreadId, woken_by });
    pending::deliver();
}

/// A thread that is being created.
#[derive(Clone, Copy)]
pub struct Newcomer {
    /// Its number.
    pub number: ThreadId,
    body: *mut Body,
}

/// The running thread creates another one, which then [`arrives`], or doesn't: [`forget_last`].
pub fn expect(pc: usize) -> Option<Newcomer> {
    let spawn = |scheduler: &Scheduler| {
        let number = scheduler.threads.len() as ThreadId;
        (number, Op::new(Kind::Spawn, How::Write, object(number)))
    };
    point(spawn(get()?).1, pc);
    // Others may have created threads in the meantime.
    let scheduler = get()?;
    let (number, op) = spawn(scheduler);
    scheduler.turned_out(op);
    let body = scheduler.threads[0].body.another();
    scheduler.add(body);
    Some(Newcomer { number, body: &raw mut *scheduler.threads[number as usize].body })
}

/// The thread couldn't be created.
pub fn forget_last() {
    let Some(scheduler) = get() else { return };
    scheduler.threads.pop();
    scheduler.turned_out(Op::local(Kind::Spawn));
}

/// The thread is there, and can run.
pub fn arrives(thread: ThreadId) {
    let Some(scheduler) = get() else { return };
    scheduler.threads[thread as usize].op = Op::new(Kind::Begin, How::Read, object(thread));
    scheduler.player.set(thread, State::Ready, &mut scheduler.log);
}

/// On the new thread, before everything else: returns when it is its turn. Its stack begins at `base`.
pub fn begin(newcomer: Newcomer, base: usize) {
    // SAFETY: the body stays where it is.
    unsafe { Body::lend(newcomer.body) };
    let Some(scheduler) = get() else { return };
    *scheduler.spin() = Spin::new(base);
    begin_step();
}

/// The running thread has ended: others go on. Returns on its own kernel thread, when it may really end.
pub fn leave() {
    let Some(scheduler) = get() else { return };
    let me = scheduler.me;
    scheduler.finish_step();
    scheduler.threads[me].ended = true;
    scheduler.player.set(me as ThreadId, State::Blocked, &mut scheduler.log);
    scheduler.changed(object(me as ThreadId));
    let next = next_turn();
    let Some(scheduler) = get() else { return };
    scheduler.me = next;
    let from = &raw mut *scheduler.threads[me].body;
    let to = &raw mut *scheduler.threads[next].body;
    // SAFETY: this thread runs, the other one doesn't.
    unsafe { Body::leave(from, to) };
}

/// Has the thread ended?
pub fn has_ended(thread: ThreadId) -> bool {
    get().is_none_or(|scheduler| scheduler.threads[thread as usize].ended)
}

/// A thread that has ended may really end.
pub fn release(thread: ThreadId) {
    if let Some(scheduler) = get() {
        scheduler.threads[thread as usize].body.release();
    }
}
