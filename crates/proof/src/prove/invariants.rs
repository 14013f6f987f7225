//! Counters that don't overtake each other: `lesser ≤ greater + slack` in every state, found by induction with the solver.
//!
//! Both only grow. If every write of the lesser one has, earlier in the same call, read (or written) a value of the greater
//! one that is large enough, then it was so at that moment and still is. Each question may use the bound itself for what
//! happened before, which is what an induction over the trace allows.

use super::conditions::{StepId, accesses};
use super::execution::symbols::{event, last, suspect, value_of};
use super::execution::{EventId, Execution, ProofContext, Slot};
use super::facts::{Bound, Facts};
use super::term::Term;
use crate::solver::formula::Int;
use crate::solver::{Decided, Error, Pool, Question};
use seqcst_c11::code::ClassId;

/// All bounds that hold; `doubt` takes why one may hold that is not among them.
pub fn bounds(
    context: &ProofContext,
    pool: &mut Pool,
    doubt: &mut Option<String>,
) -> Result<Vec<Bound>, Error> {
    let counters: Vec<ClassId> = (0..context.library.classes.len())
        .map(|k| ClassId(k as u32))
        .filter(|c| {
            let class = &context.library.classes[c.0 as usize];
            class.record.is_none()
                && class.cells.is_none()
                && context.facts.classes[c.0 as usize].counter.is_some()
        })
        .collect();
    let mut found = Vec::new();
    for lesser in &counters {
        for greater in &counters {
            if lesser == greater {
                continue;
            }
            let first = |c: &ClassId| context.library.classes[c.0 as usize].initial;
            let mut slacks: Vec<i128> = constants(context);
            slacks.extend([0, 1, -1]);
            slacks.retain(|slack| first(lesser) <= first(greater) + slack);
            slacks.sort_unstable();
            slacks.dedup();
            for slack in slacks {
                let bound = Bound { lesser: *lesser, greater: *greater, slack };
                if holds(context, bound, &found, pool)?.is_yes(doubt) {
                    found.push(bound);
                    break;
                }
            }
        }
    }
    Ok(found)
}

/// Numbers that the code compares with or adds.
fn constants(context: &ProofContext) -> Vec<i128> {
    let mut found = Vec::new();
    for segment in context.segments {
        for node in &segment.nodes {
            for (_, condition) in &node.from {
                condition.visit(&mut |t| {
                    if let Term::Int(n) = t {
                        found.extend([*n, n.saturating_neg(), n.saturating_sub(1), n.saturating_add(1)]);
                    }
                });
            }
        }
    }
    found.retain(|n| n.unsigned_abs() < 1 << 40);
    found
}

fn holds(context: &ProofContext, bound: Bound, known: &[Bound], pool: &mut Pool) -> Result<Decided, Error> {
    let writes = accesses(context, bound.lesser).into_iter().filter(|place| place.of(context).writes());
    let facts = Facts { bounds: known.to_vec(), ..context.facts.clone() };
    let context = ProofContext { library: context.library, segments: context.segments, facts };
    let questions: Vec<Question> = writes.map(|place| step(&context, bound, place)).collect();
    Ok(Decided::of(&pool.ask_all(questions)?))
}

/// A write that breaks the bound, though it held before.
fn step(context: &ProofContext, bound: Bound, place: StepId) -> Question {
    let mut execution = Execution::new(context, &[Slot { segment: place.segment }]);
    let write = EventId { slot: 0, step: place.step };
    execution.require(execution.is_write(write));
    execution.require(last().equals(event(write)));
    execution.require(suspect().equals(Int::from(1)));
    let before: Vec<EventId> = execution.steps(0).take(write.step).collect();
    execution.within(&bound, &before).into_iter().for_each(|formula| execution.require(formula));
    for (condition, _, value) in execution.moments(bound.greater, &before) {
        let is_enough = value_of(&event(write)).le(value + Int::from(bound.slack));
        execution.require(condition.implies(!is_enough));
    }
    execution.finish();
    execution.question(format!("bound {bound:?} {place:?}"))
}
