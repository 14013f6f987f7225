//! Counters that don't overtake each other: `lesser ≤ greater + slack` in every state, found by induction with the solver.
//!
//! Both only grow. If every write of the lesser one has, earlier in the same call, read (or written) a value of the greater
//! one that is large enough, then it was so at that moment and still is. Each question may use the bound itself for what
//! happened before, which is what an induction over the trace allows.

use super::conditions::{Place, accesses};
use super::execution::{At, CONDITION, Execution, Slot, World, event, executed};
use super::facts::{Bound, Facts};
use super::smt::{all, implies, not};
use super::term::{Term, number};
use crate::code::ClassId;
use crate::solver::{Answer, Error, Pool, Question};

/// All bounds that hold.
pub fn bounds(world: &World, pool: &mut Pool) -> Result<Vec<Bound>, Error> {
    let counters: Vec<ClassId> = (0..world.library.classes.len())
        .map(|k| ClassId(k as u32))
        .filter(|c| {
            let class = &world.library.classes[c.0 as usize];
            class.record.is_none()
                && class.cells.is_none()
                && world.facts.classes[c.0 as usize].counter.is_some()
        })
        .collect();
    let mut found = Vec::new();
    for lesser in &counters {
        for greater in &counters {
            if lesser == greater {
                continue;
            }
            let first = |c: &ClassId| world.library.classes[c.0 as usize].initial;
            let mut slacks: Vec<i64> = constants(world);
            slacks.extend([0, 1, -1]);
            slacks.retain(|slack| first(lesser) <= first(greater) + slack);
            slacks.sort_unstable();
            slacks.dedup();
            for slack in slacks {
                let bound = Bound { lesser: *lesser, greater: *greater, slack };
                if holds(world, bound, &found, pool)? {
                    found.push(bound);
                    break;
                }
            }
        }
    }
    Ok(found)
}

/// Numbers that the code compares with or adds.
fn constants(world: &World) -> Vec<i64> {
    let mut found = Vec::new();
    for segment in world.segments {
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

fn holds(world: &World, bound: Bound, known: &[Bound], pool: &mut Pool) -> Result<bool, Error> {
    let writes = accesses(world, bound.lesser).into_iter().filter(|place| place.of(world).writes());
    let facts = Facts { bounds: known.to_vec(), ..world.facts.clone() };
    let world = World { library: world.library, segments: world.segments, facts };
    let questions: Vec<Question> = writes.map(|place| step(&world, bound, place)).collect();
    let answers = pool.ask_all(questions)?;
    Ok(answers.iter().all(|a| matches!(a, Answer::Unsat { .. })))
}

/// A write that breaks the bound, though it held before.
fn step(world: &World, bound: Bound, place: Place) -> Question {
    let mut execution = Execution::new(world, &[Slot { segment: place.segment }]);
    let write = At { slot: 0, step: place.step };
    execution.say(CONDITION, execution.is_write(write));
    execution.say(CONDITION, format!("(= last {})", event(write)));
    execution.say(CONDITION, "(= suspect 1)".to_owned());
    let moments = |execution: &Execution, class: ClassId| -> Vec<(String, String, String)> {
        let steps =
            execution.steps(0).filter(|at| execution.step(*at).class == Some(class) && at.step < write.step);
        steps
            .flat_map(|at| {
                let (step, e) = (execution.step(at), event(at));
                let read = step.reads().then(|| (executed(at), e.clone(), format!("r_0_{}", at.step)));
                let write =
                    step.writes().then(|| (execution.is_write(at), e.clone(), format!("(value {e})")));
                read.into_iter().chain(write)
            })
            .collect()
    };
    let (small, large) = (moments(&execution, bound.lesser), moments(&execution, bound.greater));
    for (x, p, v) in &small {
        for (y, q, u) in &large {
            let premise = all([x.clone(), y.clone(), format!("(<= {p} {q})")]);
            execution.say(CONDITION, implies(&premise, &format!("(<= {v} (+ {u} {}))", number(bound.slack))));
        }
    }
    for (y, _, u) in &large {
        let enough = format!("(<= (value {}) (+ {u} {}))", event(write), number(bound.slack));
        execution.say(CONDITION, implies(y, &not(&enough)));
    }
    execution.finish();
    execution.question(format!("bound {bound:?} {place:?}"))
}
