//! What happened in one execution: steps, and who could have gone instead.

use crate::{Op, State, ThreadId};

/// No step: see [`Step::woken_by`].
pub const NOBODY: u32 = u32::MAX;

/// One step of a thread.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What it did.
    pub op: Op,
    /// Where in the program: a number that only the source understands.
    pub site: u64,
    /// Who.
    pub thread: ThreadId,
    /// The step that ended this thread's wait, where its own objects don't tell (a write to something that a spinning
    /// thread reads), or [`NOBODY`].
    pub woken_by: u32,
}

/// A thread could run from now on, or no longer.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// It holds before this step (its index in the trace) and until the next change of this thread.
    pub before: u32,
    /// Who.
    pub thread: ThreadId,
    /// What it can do now.
    pub state: State,
}

/// How an execution ended.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum End {
    /// All threads came to their ends, or the process did.
    #[default]
    Done = 0,
    /// Threads are left, and none of them can go on: each waits for another.
    Deadlock,
    /// The same, but some of them spin: they read the same again and again, and nobody will change it.
    Livelock,
    /// There were more steps than allowed.
    StepLimit,
    /// All that could come was seen in other executions: every thread that could go on is asleep.
    Redundant,
    /// The tape names a thread that can't run: the program isn't the one that the tape was made for, or it isn't
    /// deterministic.
    Diverged,
}

/// What happened in one execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The steps.
    pub steps: Vec<Step>,
    /// Who could run when, in order.
    pub changes: Vec<Change>,
    /// How it ended.
    pub end: End,
}

impl Trace {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.changes.clear();
        self.end = End::Done;
    }

    /// The tape that leads here.
    pub fn tape(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.steps.iter().map(|step| step.thread)
    }
}

impl Trace {
    /// The same for executions that differ only in the order of independent steps, different (but for accidents) for
    /// all others: a sum over the steps of who did what as its how-manieth step, after which change of the objects. The
    /// objects' names don't count (a thread's past tells what it touches next), so they may differ between executions.
    pub fn fingerprint(&self) -> u64 {
        use crate::How;
        use rustc_hash::{FxHashMap, FxHasher};
        use std::hash::{Hash, Hasher};
        let mut counts: Vec<u32> = Vec::new();
        let mut last_changes: FxHashMap<u64, (ThreadId, u32)> = FxHashMap::default();
        let mut sum = 0u64;
        for step in &self.steps {
            let thread = step.thread as usize;
            if counts.len() <= thread {
                counts.resize(thread + 1, 0);
            }
            let me = (step.thread, counts[thread]);
            counts[thread] += 1;
            let mut hasher = FxHasher::default();
            (me, step.op.kind as u8).hash(&mut hasher);
            for (object, how) in step.op.touches() {
                (how, last_changes.get(&object)).hash(&mut hasher);
                if how == How::Write {
                    last_changes.insert(object, me);
                }
            }
            let mut mixed = hasher.finish();
            mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            sum = sum.wrapping_add(mixed ^ (mixed >> 29));
        }
        sum
    }
}
