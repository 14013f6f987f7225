//! How a thread could know of a write: the shortest way through the steps of the execution.

use super::{place, who};
use crate::rt::note::Stale;
use crate::rt::site::Site;
use crate::rt::source::Closure;
use seqcst_explore::{AccessType, Step, Trace};
use std::fmt::Write;

/// Tells it.
pub fn tell(text: &mut String, source: &Closure<'_>, trace: &Trace, stale: &Stale) {
    let Some(steps) = find(trace, stale) else { return };
    *text += "  under sequential consistency the write comes before the access:\n";
    for &at in &steps {
        let step = &trace.steps[at as usize];
        let _ = writeln!(
            text,
            "    {:<4} {:<10} {}  {}",
            at + 1,
            who(source, step.thread),
            super::table::words(source, trace, at),
            place(step.site as Site)
        );
    }
}

/// The steps from the missed write to the access.
pub fn find(trace: &Trace, stale: &Stale) -> Option<Vec<u32>> {
    let missed = stale.missed?.number;
    let object = trace.steps.get(stale.step as usize)?.op.objects[0];
    let writes = |step: &Step| step.op.objects[0] == object && step.op.how[0] == AccessType::Write;
    let mut numbered = (0..).zip(&trace.steps).filter(|(_, step)| writes(step)).map(|(at, _)| at);
    let from: u32 = numbered.nth(missed.checked_sub(1)? as usize)?;
    shortest(&trace.steps, from, stale.step)
}

/// By breadth first search over program order and conflicts.
fn shortest(steps: &[Step], from: u32, to: u32) -> Option<Vec<u32>> {
    let mut before: Vec<Option<u32>> = vec![None; to as usize + 1];
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        let step = &steps[at as usize];
        for next in at + 1..=to {
            let other = &steps[next as usize];
            let related = other.thread == step.thread || other.op.conflicts(&step.op);
            // The access itself is reached by program order: that it touches the same location is no way to know.
            let allowed = next < to || other.thread == step.thread;
            if before[next as usize].is_none() && related && allowed {
                before[next as usize] = Some(at);
                queue.push_back(next);
            }
        }
    }
    let mut path = vec![to];
    while *path.last()? != from {
        path.push(before[*path.last()? as usize]?);
    }
    path.reverse();
    Some(path)
}
