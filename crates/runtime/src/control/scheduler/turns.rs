//! What threads call: each announces what it is about to do, and gets its turn when the plan says so.

use super::waiting::Wait;
use super::{Scheduler, get, object};
use crate::control::bodies::Body;
use crate::control::spin::{Arrival, Spin};
use crate::control::{descriptors, pending};
use crate::thread;
use core::sync::atomic::Ordering::Relaxed;
use seqcst_explore::{AccessType, Kind, Op, State, Step, THREADS, ThreadId};

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
    scheduler.announce(op, pc);
    let state = match scheduler.arrives(pc) {
        Arrival::Stuck => {
            scheduler.wait_for_changes();
            State::Blocked
        }
        Arrival::Changed(by) => {
            // As if it had waited for that.
            scheduler.threads[scheduler.me].woken_by = by;
            State::Ready
        }
        Arrival::New if scheduler.spin().dawdles() => State::Willing,
        Arrival::New => State::Ready,
    };
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
    let thread = scheduler.announce(op, pc);
    let offers = op.kind == Kind::Lock && thread.spin.polls(pc);
    thread.wait = Wait::Until { object, can, timed, offers };
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
    thread::goes_on();
    pending::deliver();
}

/// Which of `many` ways does the running thread's step take? To be asked after it has begun, once at most.
pub fn way(many: u32) -> u32 {
    get().map_or(0, |scheduler| scheduler.player.choose(many))
}

/// A thread that is being created.
#[derive(Clone, Copy)]
pub struct NewThread {
    /// Its number.
    pub number: ThreadId,
    body: *mut Body,
}

/// The running thread creates another one, which then [`arrives`], or doesn't: [`forget_last`].
pub fn expect(pc: usize) -> Option<NewThread> {
    let spawn = |scheduler: &Scheduler| {
        let number = scheduler.threads.len() as ThreadId;
        (number, Op::new(Kind::Spawn, AccessType::Write, object(number)).and(AccessType::Read, THREADS))
    };
    point(spawn(get()?).1, pc);
    // Others may have created threads in the meantime.
    let scheduler = get()?;
    let (number, op) = spawn(scheduler);
    scheduler.turned_out(op);
    let body = scheduler.threads[0].body.another();
    scheduler.add(body);
    Some(NewThread { number, body: &raw mut *scheduler.threads[number as usize].body })
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
    scheduler.threads[thread as usize].op = Op::new(Kind::Begin, AccessType::Read, object(thread));
    scheduler.player.set(thread, State::Ready, &mut scheduler.log);
}

/// On the new thread, before everything else: returns when it is its turn. Its stack begins at `base`.
pub fn begin(newcomer: NewThread, base: usize) {
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
