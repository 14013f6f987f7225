//! Which pairs of steps must be tried in the other order, too? The analysis behind [`super::Dpor`].

use super::order::{Clock, Order};
use crate::threads::Threads;
use crate::{AccessType, Kind, NOBODY, Op, Step, ThreadId};

/// Finds races in an execution, step by step.
#[derive(Debug, Default)]
pub(super) struct Races {
    /// What happens before the step that is looked at; of one that waits, but for what conflicts with it.
    clock: Clock,
    /// What it does, if it is one that waits.
    waits: Option<Op>,
    known: Clock,
    all: Clock,
    /// The earlier steps with which it can be exchanged.
    pub found: Vec<u32>,
    earlier: Vec<u32>,
    seen: Threads,
    minimal: Vec<u32>,
    /// Who can go first, as [`Races::initials`] left it.
    pub initials: Vec<ThreadId>,
}

impl Races {
    /// Adds a step to the order and finds the earlier steps that it races with. `could_run` tells whether the thread
    /// could run just before a step.
    pub fn add(&mut self, order: &mut Order, step: &Step, could_run: impl Fn(usize) -> bool) {
        self.found.clear();
        self.waits = None;
        order.clock_of(step.thread, &mut self.clock);
        order.conflicting(&step.op, step.thread, &mut self.earlier);
        // Whatever it is: who was seen to wait for it must not be taken for one who could have done it any time.
        let arrived = order.last_of(step.thread).map_or(0, |last| last + 1);
        let waited = || (arrived..order.len()).any(|at| !could_run(at));
        if step.woken_by != NOBODY || step.op.can_wait() || step.is_turn() && waited() {
            let mut all = std::mem::take(&mut self.all);
            all.clone_from(&self.clock);
            let waker = Some(step.woken_by).filter(|&by| (by as usize) < order.len());
            self.earlier.iter().copied().chain(waker).for_each(|e| order.join(&mut all, e as usize));
            self.wait(order, &step.op, step.thread, waker, could_run);
            if let Some(waker) = waker.filter(|&waker| has_other_waker(order, step.thread, waker as usize)) {
                self.found.push(waker);
            }
            order.push(*step, &all);
            self.all = all;
            return;
        }
        self.exchange(order, step.thread);
        order.push(*step, &self.clock);
    }

    /// Who spun until some step could have been woken by the last one instead, had that come first. Finds the wakers.
    pub fn add_late_waker(&mut self, order: &Order) {
        self.found.clear();
        let at = order.len() - 1;
        let Step { op, thread, .. } = *order.step(at);
        for &woken in order.woken() {
            let (woken, waker) = (woken as usize, order.step(woken as usize).woken_by as usize);
            let spinner = order.step(woken).thread;
            if spinner != thread
                && !order.is_before(woken, at)
                && !order.is_before(waker, at)
                && changes_what_it_read(order, &op, order.previous(woken))
            {
                self.found.push(waker as u32);
            }
        }
    }

    /// As if a thread that still waits at the end had made its step.
    pub fn add_waiting(
        &mut self,
        order: &Order,
        op: &Op,
        thread: ThreadId,
        could_run: impl Fn(usize) -> bool,
    ) {
        self.found.clear();
        order.clock_of(thread, &mut self.clock);
        self.wait(order, op, thread, None, could_run);
    }

    /// As if the last step of this thread conflicted with everything.
    pub fn add_end(&mut self, order: &Order, thread: ThreadId) {
        self.found.clear();
        self.waits = None;
        order.clock_of(thread, &mut self.clock);
        self.earlier.clear();
        self.earlier.extend(order.last_steps().map(|step| step as u32));
        self.exchange(order, thread);
    }

    /// Those among the earlier steps that nothing else puts before this one.
    fn exchange(&mut self, order: &Order, thread: ThreadId) {
        self.earlier.sort_unstable_by(|a, b| b.cmp(a));
        for &e in &self.earlier {
            let e = e as usize;
            if order.step(e).thread != thread && !order.is_in(e, &self.clock) {
                self.found.push(e as u32);
                order.join(&mut self.clock, e);
            }
        }
    }

    /// The same for a step that has to wait: back through everything at its objects that nothing else puts before it,
    /// until a step that surely can be exchanged with it.
    fn wait(
        &mut self,
        order: &Order,
        op: &Op,
        thread: ThreadId,
        waker: Option<u32>,
        could_run: impl Fn(usize) -> bool,
    ) {
        // Fences that others made in this thread let nobody wait.
        self.found
            .extend(order.fences_in(thread).filter(|&e| !order.is_in(e, &self.clock)).map(|e| e as u32));
        // These come after what they wait for, always.
        if matches!(op.kind, Kind::Begin | Kind::Join) {
            return;
        }
        self.waits = Some(*op);
        self.known.clone_from(&self.clock);
        let arrived = order.last_of(thread);
        for (object, how) in op.touches() {
            for (e, did) in order.touching(object) {
                let earlier = order.step(e);
                if earlier.thread == thread {
                    if did == AccessType::Write {
                        break;
                    }
                    continue;
                }
                let conflict = did == AccessType::Write || how == AccessType::Write;
                // It waited for something then, and nothing that doesn't come after `e` has changed that.
                let waits = || {
                    arrived.is_none_or(|arrived| arrived < e)
                        && !could_run(e)
                        && waker.is_none_or(|waker| order.is_before(e, waker as usize))
                        && conflicting_since(order, op, e).all(|since| order.is_before(e, since))
                };
                if !conflict || lets(&earlier.op, op) || order.is_in(e, &self.known) || waits() {
                    continue;
                }
                self.found.push(e as u32);
                if takes(&earlier.op, op) && did == AccessType::Write {
                    order.join(&mut self.known, e);
                    break;
                }
            }
        }
    }

    /// Who can go first instead of step `e`, on the way to the step of `thread` that was added, which comes at `end` or not
    /// at all if it waits (or of nobody in particular): the threads that begin the sequence of steps after `e` that don't come after it in the order
    /// (`I(v)` for `v = notdep(e, E).p`). Stops as soon as one of them is `covered`, and then says so.
    pub fn initials(
        &mut self,
        order: &Order,
        e: usize,
        thread: Option<ThreadId>,
        end: usize,
        covered: impl Fn(ThreadId) -> bool,
    ) -> bool {
        self.seen.clear();
        self.minimal.clear();
        self.initials.clear();
        for f in e + 1..end {
            let next = order.step(f).thread;
            if self.seen.has(next) || order.is_before(e, f) {
                continue;
            }
            self.seen.insert(next);
            if self.minimal.iter().any(|&g| order.is_before(g as usize, f)) {
                continue;
            }
            if covered(next) {
                return true;
            }
            self.minimal.push(f as u32);
            self.initials.push(next);
        }
        let Some(thread) = thread.filter(|&thread| !self.seen.has(thread)) else { return false };
        if let Some(op) = self.waits {
            // Without `e` and what comes after it, it comes after what conflicts with it all the same.
            self.known.clone_from(&self.clock);
            for since in conflicting_since(order, &op, e).filter(|&since| !order.is_before(e, since)) {
                order.join(&mut self.known, since);
            }
        }
        let before = if self.waits.is_some() { &self.known } else { &self.clock };
        if !self.minimal.iter().any(|&g| order.is_in(g as usize, before)) {
            if covered(thread) {
                return true;
            }
            self.initials.push(thread);
        }
        false
    }
}

/// The thread spun until this step. Would another one have ended that, too, had it come first? One that doesn't come after
/// it and changes what the thread has read lately.
fn has_other_waker(order: &Order, thread: ThreadId, waker: usize) -> bool {
    let changes = |other| changes_what_it_read(order, &order.step(other).op, order.last_of(thread));
    (waker + 1..order.len()).any(|other| !order.is_before(waker, other) && changes(other))
}

/// Does this change what a thread has read lately, up to this step?
fn changes_what_it_read(order: &Order, op: &Op, last: Option<usize>) -> bool {
    op.touches().filter(|&(_, how)| how == AccessType::Write).any(|(object, _)| {
        let mine = std::iter::successors(last, |&at| order.previous(at)).map(|at| &order.step(at).op);
        let mut reads = mine.take_while(|op| op.kind != Kind::Store);
        reads.any(|read| read.touches().any(|(x, _)| x == object))
    })
}

/// The steps after `e` that conflict with this one.
fn conflicting_since<'o>(order: &'o Order, op: &'o Op, e: usize) -> impl Iterator<Item = usize> + 'o {
    op.touches().flat_map(move |(object, how)| {
        let since = order.touching(object).take_while(move |&(step, _)| step > e);
        since
            .filter(move |&(_, did)| how == AccessType::Write || did == AccessType::Write)
            .map(|(step, _)| step)
    })
}

/// Does the earlier step do nothing but let the later one happen, which isn't possible before?
fn lets(earlier: &Op, later: &Op) -> bool {
    matches!((earlier.kind, later.kind), (Kind::Unlock | Kind::Wait, Kind::Lock))
}

/// Does the earlier step take what the later one would have found there as well?
fn takes(earlier: &Op, later: &Op) -> bool {
    matches!(
        (earlier.kind, later.kind),
        (Kind::Lock | Kind::TryLock | Kind::Wake, Kind::Lock) | (Kind::Take, Kind::Take)
    )
}
