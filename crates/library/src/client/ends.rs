//! Does a client come to an end? One that never does shows nothing: its calls wait for what nobody brings.

use rustc_hash::FxHashSet;
use seqcst_model::{Next, Op, Outcome, Program, Value};
use seqcst_program::code::Instr;
use seqcst_program::semantics::{Local, Machine};

/// So many states are looked at; the first end is mostly found after a few.
const STATES: usize = 50_000;

/// Can all threads come to an end under SC, with at least two of them at work on memory? Yes, if that takes too long to tell.
pub fn shows_something(machine: &Machine) -> bool {
    let works = |thread: &&seqcst_program::code::Thread| {
        thread.instrs.iter().any(|instr| matches!(instr, Instr::Access(_)))
    };
    machine.code().threads.iter().filter(works).count() > 1 && comes_to_an_end(machine)
}

type State = (Vec<Local>, Vec<Value>);

fn comes_to_an_end(machine: &Machine) -> bool {
    let initial: Vec<Value> = machine.initial().to_vec();
    let mut todo: Vec<State> = vec![(Vec::new(), initial)];
    for thread in 0..machine.threads() {
        let starts = locals(machine.start(thread));
        todo = todo
            .into_iter()
            .flat_map(|(at, memory)| {
                starts.iter().map(move |local| {
                    let at: Vec<Local> = at.iter().chain([local]).cloned().collect();
                    (at, memory.clone())
                })
            })
            .collect();
    }
    let mut seen: FxHashSet<State> = todo.iter().cloned().collect();
    while let Some((at, memory)) = todo.pop() {
        let actions: Vec<_> = (0..at.len()).map(|thread| machine.action(thread, &at[thread])).collect();
        if actions.iter().all(Option::is_none) || seen.len() > STATES {
            return true;
        }
        for (thread, action) in actions.into_iter().enumerate() {
            let Some(action) = action else { continue };
            let outcomes: Vec<Outcome> = match action.op {
                Op::Fence => vec![Outcome::Fenced],
                _ => action.outcomes(memory[action.loc.0 as usize]).collect(),
            };
            for outcome in outcomes {
                let mut after = memory.clone();
                if let Some(value) = outcome.value_written() {
                    after[action.loc.0 as usize] = value;
                }
                for local in locals(machine.after(thread, &at[thread], outcome)) {
                    let mut next = at.clone();
                    next[thread] = local;
                    let state = (next, after.clone());
                    if seen.insert(state.clone()) {
                        todo.push(state);
                    }
                }
            }
        }
    }
    false
}

fn locals(nexts: Vec<Next<Local>>) -> Vec<Local> {
    let at = |next| match next {
        Next::At(local) => Some(local),
        _ => None,
    };
    nexts.into_iter().filter_map(at).collect()
}
