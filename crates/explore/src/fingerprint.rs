//! Are two executions the same but for the order of independent steps? Each trace gets a number.

use crate::{AccessType, Object, Step, ThreadId, Trace};
use rustc_hash::FxHashMap;

/// Computes fingerprints; keeps its memory from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Fingerprints {
    /// For every thread, how many steps it has made.
    counts: Vec<u32>,
    /// For every object, who changed it last, with which of its steps.
    changed: FxHashMap<Object, (ThreadId, u32)>,
}

impl Fingerprints {
    /// The same for executions that differ only in the order of independent steps (Mazurkiewicz 1987), different (but
    /// for accidents) for all others: a sum over the steps of who did what as its how-manieth step, after which change
    /// of the objects. That determines the order of all steps that conflict: a change comes after the one before it and
    /// after all that looked at what that one left. The names of objects don't count, for they may differ between
    /// executions: what a thread did before tells what it touches next.
    pub fn of(&mut self, trace: &Trace) -> u64 {
        self.clear();
        trace.steps.iter().fold(0, |sum, step| sum.wrapping_add(self.add(step)))
    }

    /// At the beginning of an execution.
    pub(crate) fn clear(&mut self) {
        self.counts.clear();
        self.changed.clear();
    }

    /// What the next step adds.
    pub(crate) fn add(&mut self, step: &Step) -> u64 {
        let thread = step.thread as usize;
        if self.counts.len() <= thread {
            self.counts.resize(thread + 1, 0);
        }
        let me = (step.thread, self.counts[thread]);
        self.counts[thread] += 1;
        let mut hash = mix(pair(me), step.op.kind as u64);
        if !step.is_turn() {
            hash = mix(hash, step.op.objects[0]);
        }
        // Each says after how many steps of its thread it came, so no order among them needs to be told.
        if let Some(target) = step.op.everywhere() {
            let count = self.counts.get(target as usize).copied().unwrap_or(0);
            hash = mix(hash, u64::from(count));
        }
        for (object, how) in step.op.touches() {
            let changed = self.changed.get(&object).map_or(u64::MAX, |&by| pair(by));
            hash = mix(hash, changed).wrapping_add(how as u64);
            if how == AccessType::Write {
                self.changed.insert(object, me);
            }
        }
        mix(hash, 0)
    }
}

fn pair((thread, count): (ThreadId, u32)) -> u64 {
    u64::from(thread) << 32 | u64::from(count)
}

/// Both into one (as in splitmix64).
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
