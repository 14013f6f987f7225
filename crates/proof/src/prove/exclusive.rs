//! Plain stores that nobody gets in between with: from the read that a call has made before, to the store itself, the location
//! keeps its value. Then a store acts like an update, and if all of them raise the value, the class is a counter.
//!
//! By induction over the trace: let `w` be the first write in whose way another one comes, and `w'` the first of these. Then
//! `w'` is not in anybody's way, so the call of `w'` has read the same write as that of `w`. If the solver finds that two calls
//! can't have read the same write and both come to write (because a ticket is given out once, say), there is no such `w`.

use super::conditions::{StepId, accesses};
use super::execution::symbols::{event, executed, last, read, source, suspect, value_of};
use super::execution::{EventId, Execution, ProofContext, Slot};
use super::segments::{Action, Segment};
use super::term::Term;
use crate::solver::formula::{Int, all, any};
use crate::solver::{Decided, Error, Pool, Question};
use seqcst_c11::code::ClassId;

/// The read that a write builds on: itself, or a read of the same location earlier in the call.
pub fn base(segment: &Segment, write: usize) -> Option<usize> {
    let step = &segment.steps[write];
    if step.updates() {
        return Some(write);
    }
    let is_same = |k: usize| {
        let other = &segment.steps[k];
        other.class == step.class && other.base == step.base && other.index == step.index
    };
    let read = (0..write).rev().find(|k| is_same(*k) && segment.steps[*k].reads())?;
    let is_clean = segment.is_untouched(step.class?, read, write);
    let is_behind = segment.dominates(segment.steps[read].node, step.node);
    (is_clean && is_behind && matches!(segment.steps[read].action, Action::Read { .. })).then_some(read)
}

/// Does every write of an exclusive class hand on what its call has read before: with acquire it was read, with release it is
/// written? Then the writes of a location are ordered by `hb`.
pub fn is_handed_on(context: &ProofContext, class: ClassId) -> bool {
    let writes = accesses(context, class).into_iter().filter(|place| place.of(context).writes());
    writes.into_iter().all(|place| {
        let segment = &context.segments[place.segment];
        base(segment, place.step).is_some_and(|read| segment.steps[read].order.is_acquire())
            && segment.steps[place.step].order.is_release()
    })
}

/// The last step before a write from which the call goes straight on to it, with nothing to wait for: once it is executed,
/// the thread could come to the write at once, so nobody gets in between from here on either.
pub fn commitment(segment: &Segment, read: usize, write: usize) -> Option<usize> {
    let target = segment.steps[write].node;
    (read..write).find(|k| {
        let from = segment.steps[*k].node;
        let is_straight = (from + 1..=target)
            .filter(|node| segment.reaches(from, *node))
            .all(|node| matches!(&segment.nodes[node].from[..], [(_, Term::Int(1))]));
        let is_free = (k + 1..write).filter(|s| segment.reaches(from, segment.steps[*s].node)).all(|s| {
            !matches!(segment.steps[s].action, Action::Read { until: Some(_) } | Action::Cas { .. })
        });
        segment.reaches(from, target) && is_straight && is_free
    })
}

/// Are all writes of a class exclusive, and does each of them raise the value?
pub fn holds(context: &ProofContext, class: ClassId, pool: &mut Pool) -> Result<Decided, Error> {
    let writes: Vec<StepId> =
        accesses(context, class).into_iter().filter(|place| place.of(context).writes()).collect();
    let bases: Option<Vec<usize>> =
        writes.iter().map(|place| base(&context.segments[place.segment], place.step)).collect();
    let Some(bases) = bases.filter(|_| !writes.is_empty()) else {
        return Ok(Decided::No);
    };
    let mut questions: Vec<Question> =
        writes.iter().zip(&bases).map(|(write, read)| does_not_raise(context, *write, *read)).collect();
    for (first, read) in writes.iter().zip(&bases) {
        for (second, other) in writes.iter().zip(&bases) {
            if *read != first.step {
                questions.push(gets_between(context, class, (*first, *read), (*second, *other)));
            }
        }
    }
    Ok(Decided::of(&pool.ask_all(questions)?))
}

/// A write that doesn't raise the value that its call has read.
fn does_not_raise(context: &ProofContext, write: StepId, base: usize) -> Question {
    let mut execution = Execution::new(context, &[Slot { segment: write.segment }]);
    let (at, base) = (EventId { slot: 0, step: write.step }, EventId { slot: 0, step: base });
    execution.require(suspect().equals(Int::from(1)));
    execution.require(execution.is_write(at));
    execution.require(last().equals(event(at)));
    execution.require(value_of(&event(at)).le(read(base)));
    execution.finish();
    execution.question(format!("raises {write:?}"))
}

/// The first write that comes between another one and what its call has read.
fn gets_between(
    context: &ProofContext,
    class: ClassId,
    first: (StepId, usize),
    second: (StepId, usize),
) -> Question {
    let slots = [Slot { segment: first.0.segment }, Slot { segment: second.0.segment }];
    let mut execution = Execution::new(context, &slots);
    let (late, read) = (EventId { slot: 0, step: first.0.step }, EventId { slot: 0, step: first.1 });
    let (early, other) = (EventId { slot: 1, step: second.0.step }, EventId { slot: 1, step: second.1 });
    let end = event(late);
    execution.require(suspect().equals(Int::from(1)));
    execution.require(execution.is_write(late));
    execution.require(execution.is_write(early));
    execution.require(executed(read));
    execution.require(executed(other));
    execution.require(last().equals(&end));
    execution.is_same_location(late, early).into_iter().for_each(|formula| execution.require(formula));
    execution.require(event(early).is_between(&event(read), &end));
    execution.require(source(read).equals(source(other)));
    // Up to here all writes were exclusive, so values have grown.
    let handles = execution.of_class(class);
    for (k, a) in handles.iter().enumerate() {
        for b in &handles[k + 1..] {
            let (p, q) = (&a.position, &b.position);
            let same = [a.base.equals(&b.base), a.index.equals(&b.index)];
            let premise = all([&a.active, &b.active, &same[0], &same[1], &p.lt(&end), &q.lt(&end)]);
            let raises = |p, q| all([Int::lt(p, q), value_of(p).lt(value_of(q))]);
            let grows = any([raises(p, q), raises(q, p), p.equals(q)]);
            execution.require(premise.implies(grows));
        }
    }
    execution.finish();
    execution.question(format!("between {first:?} {second:?}"))
}
