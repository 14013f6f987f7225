//! From a schedule that fails to one with the fewest preemptions that fails in the same way.
//!
//! First what is there is made simpler: two segments of one thread become one, as far as the failure allows. That is
//! quick and leaves few preemptions. Then all schedules with fewer are tried, by their number: what is found first has
//! the fewest, and if nothing is found, so has what was there.

use super::Bounded;
use crate::{CHOICE, Change, End, Outcome, Plan, Source, State, Strategy, ThreadId, Trace};

/// A schedule with few preemptions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Minimized {
    /// The schedule.
    pub tape: Vec<ThreadId>,
    /// Its preemptions.
    pub preemptions: u32,
    /// It is certain that no schedule with fewer preemptions fails in this way.
    pub proved: bool,
    /// Executions it took to find it.
    pub executions: u64,
}

/// Minimizes a tape; `same` tells whether an execution fails as it should. No more than about `limit` executions. Nothing
/// if the tape itself doesn't fail. When [`Source::until`] is over, it ends as well.
pub fn minimize<S: Source>(
    source: &mut S,
    tape: &[ThreadId],
    same: impl Fn(&Trace, &Outcome) -> bool,
    limit: u64,
) -> Result<Option<Minimized>, S::Error> {
    let mut search = Search { source, same, plan: Plan::default(), trace: Trace::default(), done: 0, limit };
    search.plan.replay(tape.iter().copied());
    if !search.fails()? {
        return Ok(None);
    }
    let mut best = Best { tape: search.trace.tape().collect(), preemptions: search.trace.preemptions() };
    search.merge(&mut best)?;
    let proved = search.below(&mut best)?;
    let Best { tape, preemptions } = best;
    Ok(Some(Minimized { tape, preemptions, proved, executions: search.done }))
}

struct Best {
    tape: Vec<ThreadId>,
    preemptions: u32,
}

struct Search<'a, S, F> {
    source: &'a mut S,
    same: F,
    plan: Plan,
    trace: Trace,
    done: u64,
    limit: u64,
}

impl<S: Source, F: Fn(&Trace, &Outcome) -> bool> Search<'_, S, F> {
    /// Executes the plan: does it fail as it should?
    fn fails(&mut self) -> Result<bool, S::Error> {
        self.trace.clear();
        let outcome = self.source.run(&self.plan, &mut self.trace)?;
        self.done = if outcome.late { self.limit } else { self.done + 1 };
        Ok(!outcome.late && self.trace.end != End::Diverged && (self.same)(&self.trace, &outcome))
    }

    /// Tries a tape as a suggestion; true if it fails with fewer preemptions.
    fn improves(&mut self, tape: Vec<ThreadId>, best: &mut Best) -> Result<bool, S::Error> {
        self.plan.replay(tape);
        self.plan.lenient = true;
        let better = self.fails()? && self.trace.preemptions() < best.preemptions;
        if better {
            *best = Best { tape: self.trace.tape().collect(), preemptions: self.trace.preemptions() };
        }
        Ok(better)
    }

    /// Merges segments as long as that helps: each with the next one of its thread, or leaves the rest of the tape out.
    fn merge(&mut self, best: &mut Best) -> Result<(), S::Error> {
        let most = self.limit / 2;
        'again: while best.preemptions > 0 && self.done < most {
            let segments: Vec<Vec<ThreadId>> = segments(&best.tape);
            let until = |segment: usize| segments[..segment].concat();
            for segment in 0..segments.len() {
                if self.improves(until(segment), best)? {
                    continue 'again;
                }
                let thread = segments[segment].first();
                let same = |&other: &usize| segments[other].first() == thread;
                let Some(next) = (segment + 1..segments.len()).find(same) else { continue };
                let (between, behind) = (segments[segment + 1..next].concat(), segments[next + 1..].concat());
                let (one, other) = (&segments[segment], &segments[next]);
                for tape in [
                    [until(segment), one.clone(), other.clone(), between.clone(), behind.clone()].concat(),
                    [until(segment), between, one.clone(), other.clone(), behind].concat(),
                ] {
                    if self.improves(tape, best)? {
                        continue 'again;
                    }
                }
            }
            break;
        }
        Ok(())
    }

    /// All schedules with fewer preemptions than the best so far; true if it is certain now that there are none that fail
    /// as they should.
    fn below(&mut self, best: &mut Best) -> Result<bool, S::Error> {
        let Some(fewer) = best.preemptions.checked_sub(1) else { return Ok(true) };
        let mut strategy = Bounded::new(Some(fewer));
        let mut whole = true;
        while strategy.next(&mut self.plan) {
            if self.done >= self.limit {
                return Ok(false);
            }
            if self.fails()? {
                *best = Best { tape: self.trace.tape().collect(), preemptions: strategy.bound() };
                return Ok(whole);
            }
            let held = |change: &Change| change.state == State::Held;
            whole &= self.trace.end != End::StepLimit && !self.trace.changes.iter().any(held);
            strategy.learn(&self.plan, &self.trace);
        }
        Ok(whole)
    }
}

/// Turns of one thread in a row, with its choices.
fn segments(tape: &[ThreadId]) -> Vec<Vec<ThreadId>> {
    let mut segments: Vec<Vec<ThreadId>> = Vec::new();
    for &entry in tape {
        match segments.last_mut() {
            Some(segment) if entry & CHOICE != 0 || segment[0] == entry => segment.push(entry),
            _ => segments.push(vec![entry]),
        }
    }
    segments
}
