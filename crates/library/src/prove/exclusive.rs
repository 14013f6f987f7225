//! Plain stores that nobody gets in between with: from the read that a call has made before, to the store itself, the location
//! keeps its value. Then a store acts like an update, and if all of them raise the value, the class is a counter.
//!
//! By induction over the trace: let `w` be the first write in whose way another one comes, and `w'` the first of these. Then
//! `w'` is not in anybody's way, so the call of `w'` has read the same write as that of `w`. If the solver finds that two calls
//! can't have read the same write and both come to write (because a ticket is given out once, say), there is no such `w`.

use super::conditions::{Place, accesses};
use super::execution::{At, CONDITION, Execution, Slot, World, event, executed, source_of};
use super::smt::{all, any, equal, implies};
use super::straight::{Action, Segment};
use super::term::Term;
use crate::code::ClassId;
use crate::solver::{Answer, Error, Pool, Question};

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
pub fn is_handed_on(world: &World, class: ClassId) -> bool {
    let writes = accesses(world, class).into_iter().filter(|place| place.of(world).writes());
    writes.into_iter().all(|place| {
        let segment = &world.segments[place.segment];
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
            .filter(|node| segment.leads(from, *node))
            .all(|node| matches!(&segment.nodes[node].from[..], [(_, Term::Int(1))]));
        let is_free = (k + 1..write).filter(|s| segment.leads(from, segment.steps[*s].node)).all(|s| {
            !matches!(segment.steps[s].action, Action::Read { until: Some(_) } | Action::Cas { .. })
        });
        segment.leads(from, target) && is_straight && is_free
    })
}

/// Are all writes of a class exclusive, and does each of them raise the value?
pub fn holds(world: &World, class: ClassId, pool: &mut Pool) -> Result<bool, Error> {
    let writes: Vec<Place> =
        accesses(world, class).into_iter().filter(|place| place.of(world).writes()).collect();
    let bases: Option<Vec<usize>> =
        writes.iter().map(|place| base(&world.segments[place.segment], place.step)).collect();
    let Some(bases) = bases.filter(|_| !writes.is_empty()) else {
        return Ok(false);
    };
    let mut questions: Vec<Question> =
        writes.iter().zip(&bases).map(|(write, read)| does_not_raise(world, *write, *read)).collect();
    for (first, read) in writes.iter().zip(&bases) {
        for (second, other) in writes.iter().zip(&bases) {
            if *read != first.step {
                questions.push(gets_between(world, class, (*first, *read), (*second, *other)));
            }
        }
    }
    Ok(pool.ask_all(questions)?.iter().all(|answer| matches!(answer, Answer::Unsat { .. })))
}

/// A write that doesn't raise the value that its call has read.
fn does_not_raise(world: &World, write: Place, read: usize) -> Question {
    let mut execution = Execution::new(world, &[Slot { segment: write.segment }]);
    let at = At { slot: 0, step: write.step };
    execution.say(CONDITION, "(= suspect 1)".to_owned());
    execution.say(CONDITION, execution.is_write(at));
    execution.say(CONDITION, equal("last", &event(at)));
    execution.say(CONDITION, format!("(<= (value {}) r_0_{read})", event(at)));
    execution.finish();
    execution.question(format!("raises {write:?}"))
}

/// The first write that comes between another one and what its call has read.
fn gets_between(world: &World, class: ClassId, first: (Place, usize), second: (Place, usize)) -> Question {
    let slots = [Slot { segment: first.0.segment }, Slot { segment: second.0.segment }];
    let mut execution = Execution::new(world, &slots);
    let (late, read) = (At { slot: 0, step: first.0.step }, At { slot: 0, step: first.1 });
    let (early, other) = (At { slot: 1, step: second.0.step }, At { slot: 1, step: second.1 });
    let ((base, index), (base2, index2)) = (execution.location(late), execution.location(early));
    let say = [
        "(= suspect 1)".to_owned(),
        execution.is_write(late),
        execution.is_write(early),
        executed(read),
        executed(other),
        equal("last", &event(late)),
        equal(&base, &base2),
        equal(&index, &index2),
        format!("(< {} {} {})", event(read), event(early), event(late)),
        equal(&source_of(read), &source_of(other)),
    ];
    for formula in say {
        execution.say(CONDITION, formula);
    }
    // Up to here all writes were exclusive, so values have grown.
    let handles = execution.of_class(class);
    for (k, a) in handles.iter().enumerate() {
        for b in &handles[k + 1..] {
            let (p, q) = (&a.position, &b.position);
            let premise = all([
                a.active.clone(),
                b.active.clone(),
                equal(&a.base, &b.base),
                equal(&a.index, &b.index),
                format!("(< {p} {})", event(late)),
                format!("(< {q} {})", event(late)),
            ]);
            let grows = any([
                all([format!("(< {p} {q})"), format!("(< (value {p}) (value {q}))")]),
                all([format!("(< {q} {p})"), format!("(< (value {q}) (value {p}))")]),
                equal(p, q),
            ]);
            execution.say(CONDITION, implies(&premise, &grows));
        }
    }
    execution.finish();
    execution.question(format!("between {first:?} {second:?}"))
}
