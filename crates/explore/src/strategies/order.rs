//! Which steps of an execution happen before which, by vector clocks: steps of one thread in their order, and steps that
//! conflict. Steps are added and taken back at the end, as a search goes forth and back.

use crate::{AccessType, Kind, NOBODY, Object, Op, Step, ThreadId};
use rustc_hash::FxHashMap;

/// The happens-before order of the steps so far.
#[derive(Debug, Default)]
pub(super) struct Order {
    steps: Vec<Step>,
    /// For every step its thread's step before it, or [`NOBODY`].
    before: Vec<u32>,
    /// For every step and thread, the last step of that thread that happens before it (or is it), plus 1.
    clocks: Vec<u32>,
    /// Threads that a clock has room for.
    width: usize,
    /// For every thread its last step, or [`NOBODY`].
    last: Vec<u32>,
    /// Objects by number, and for every object the steps that touch it.
    objects: FxHashMap<Object, u32>,
    touched: Vec<Vec<(u32, AccessType)>>,
    /// For every step the numbers of its objects.
    touches: Vec<[u32; 2]>,
    /// The steps that ended a spin.
    woken: Vec<u32>,
    /// Fences in other threads, each with the thread.
    everywhere: Vec<(u32, ThreadId)>,
}

/// A clock on its own.
pub(super) type Clock = Vec<u32>;

impl Order {
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn step(&self, at: usize) -> &Step {
        &self.steps[at]
    }

    /// The last step of a thread.
    pub fn last_of(&self, thread: ThreadId) -> Option<usize> {
        let last = self.last.get(thread as usize).copied().unwrap_or(NOBODY);
        (last != NOBODY).then_some(last as usize)
    }

    /// The step before this one in its thread.
    pub fn previous(&self, at: usize) -> Option<usize> {
        let before = self.before[at];
        (before != NOBODY).then_some(before as usize)
    }

    /// The steps that ended a spin: they have a waker.
    pub fn woken(&self) -> &[u32] {
        &self.woken
    }

    /// All threads' last steps.
    pub fn last_steps(&self) -> impl Iterator<Item = usize> + '_ {
        self.last.iter().filter(|&&last| last != NOBODY).map(|&last| last as usize)
    }

    pub fn clock(&self, at: usize) -> &[u32] {
        &self.clocks[at * self.width..(at + 1) * self.width]
    }

    /// Does step `a` happen before what has this clock?
    pub fn is_in(&self, a: usize, clock: &[u32]) -> bool {
        let thread = self.steps[a].thread as usize;
        clock.get(thread).is_some_and(|&known| known as usize > a)
    }

    /// Does step `a` happen before step `b`?
    pub fn is_before(&self, a: usize, b: usize) -> bool {
        self.is_in(a, self.clock(b))
    }

    /// The clock of a thread's last step.
    pub fn clock_of(&self, thread: ThreadId, into: &mut Clock) {
        into.clear();
        match self.last_of(thread) {
            Some(last) => into.extend_from_slice(self.clock(last)),
            None => into.resize(self.width, 0),
        }
    }

    pub fn join(&self, into: &mut Clock, step: usize) {
        join(into, self.clock(step));
    }

    /// The steps that touch this object, the last one first.
    pub fn touching(&self, object: Object) -> impl Iterator<Item = (usize, AccessType)> + '_ {
        let number = self.objects.get(&object);
        let steps = number.map_or(&[][..], |&number| &self.touched[number as usize]);
        steps.iter().rev().map(|&(step, how)| (step as usize, how))
    }

    /// The fences in this thread, made by others, since its last step.
    pub fn fences_in(&self, thread: ThreadId) -> impl Iterator<Item = usize> + '_ {
        let since = self.last_of(thread).map_or(0, |last| last + 1);
        let fences = self.everywhere.iter().rev().map(|&(step, target)| (step as usize, target));
        fences
            .take_while(move |&(step, _)| step >= since)
            .filter(move |&(_, target)| target == thread)
            .map(|(step, _)| step)
    }

    /// The steps that directly come before this one because they conflict with it: the last changes of its objects and,
    /// if it changes them itself, all that looked at them since then.
    pub fn conflicting(&self, op: &Op, thread: ThreadId, into: &mut Vec<u32>) {
        into.clear();
        if op.kind == Kind::Exit {
            into.extend(self.last_steps().map(|step| step as u32));
            return;
        }
        into.extend(self.fences_in(thread).map(|step| step as u32));
        into.extend(op.everywhere().and_then(|target| self.last_of(target)).map(|step| step as u32));
        for (object, how) in op.touches() {
            for (step, did) in self.touching(object) {
                if how == AccessType::Write || did == AccessType::Write {
                    into.push(step as u32);
                }
                if did == AccessType::Write {
                    break;
                }
            }
        }
    }

    /// One step more; its clock without itself is `clock`.
    pub fn push(&mut self, step: Step, clock: &[u32]) {
        let thread = step.thread as usize;
        self.make_room(thread + 1);
        let at = self.steps.len() as u32;
        let start = self.clocks.len();
        self.clocks.extend_from_slice(&clock[..clock.len().min(self.width)]);
        self.clocks.resize(start + self.width, 0);
        self.clocks[start + thread] = at + 1;
        self.before.push(std::mem::replace(&mut self.last[thread], at));
        let mut numbers = [NOBODY; 2];
        for (number, (object, how)) in numbers.iter_mut().zip(step.op.touches()) {
            let next = self.touched.len() as u32;
            *number = *self.objects.entry(object).or_insert(next);
            if *number == next {
                self.touched.push(Vec::new());
            }
            self.touched[*number as usize].push((at, how));
        }
        self.touches.push(numbers);
        self.everywhere.extend(step.op.everywhere().map(|target| (at, target)));
        if step.woken_by < at {
            self.woken.push(at);
        }
        self.steps.push(step);
    }

    /// Takes steps back until so many are left.
    pub fn truncate(&mut self, len: usize) {
        while self.steps.len() > len {
            let (Some(step), Some(before)) = (self.steps.pop(), self.before.pop()) else { return };
            self.last[step.thread as usize] = before;
            if self.woken.last() == Some(&(self.steps.len() as u32)) {
                self.woken.pop();
            }
            if step.op.everywhere().is_some() {
                self.everywhere.pop();
            }
            for number in self.touches.pop().into_iter().flatten().filter(|&number| number != NOBODY) {
                self.touched[number as usize].pop();
            }
        }
        self.clocks.truncate(len * self.width);
    }

    /// Makes clocks wider.
    fn make_room(&mut self, threads: usize) {
        if self.last.len() < threads {
            self.last.resize(threads, NOBODY);
        }
        if threads <= self.width {
            return;
        }
        let width = threads.next_power_of_two().max(4);
        let mut clocks = Vec::with_capacity(self.steps.len() * width);
        for at in 0..self.steps.len() {
            clocks.extend_from_slice(self.clock(at));
            clocks.resize((at + 1) * width, 0);
        }
        (self.clocks, self.width) = (clocks, width);
    }
}

pub(super) fn join(into: &mut Clock, other: &[u32]) {
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    into.iter_mut().zip(other).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
}
