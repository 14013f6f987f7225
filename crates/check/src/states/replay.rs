//! The run that a search found, once more, with everything that was executed on the way.

use super::locals::{Way, ways};
use super::search::Found;
use seqcst_model::{Action, Next, Outcome, Program, Value};
use seqcst_program::semantics::{Local, Machine};

/// An action that was executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Executed {
    /// Who executed it.
    pub thread: usize,
    /// What it was about to do.
    pub action: Action,
    /// What came of it.
    pub outcome: Outcome,
}

/// A run and where it ends.
#[derive(Clone, Debug)]
pub struct Replay {
    /// All actions in order, fences included. A fence touches nothing but its thread's own view, so it stands right
    /// before the thread's next access.
    pub run: Vec<Executed>,
    /// For every thread, the fences that it has executed since its last access.
    pub fences: Vec<Vec<Action>>,
    /// For every thread, the access that it is about to execute.
    pub next: Vec<Option<Action>>,
    /// For every thread, the site of the assertion that it failed.
    pub failed: Vec<Option<u32>>,
}

/// Executes the steps of a run. Fails with what is odd about it if they are not a run of the program.
pub fn replay(machine: &Machine, found: &Found) -> Result<Replay, String> {
    let threads = machine.threads();
    let mut memory: Vec<Value> = machine.initial().to_vec();
    let mut at: Vec<Way> = Vec::new();
    for thread in 0..threads {
        let choice = found.starts.get(thread).copied().unwrap_or(0);
        let ways = ways(machine, thread, machine.start(thread));
        at.push(pick(ways, choice).ok_or_else(|| format!("thread {thread} has no start {choice}"))?);
    }
    let mut run = Vec::new();
    for (number, step) in found.steps.iter().enumerate() {
        let odd = |what: &str| format!("step {} of thread {} {what}", number + 1, step.thread);
        let way = at.get_mut(step.thread).ok_or_else(|| odd("belongs to no thread"))?;
        let local = place(way).ok_or_else(|| odd("comes after a failed assertion"))?.clone();
        let action = machine.action(step.thread, &local).ok_or_else(|| odd("comes after its end"))?;
        let value = memory.get_mut(action.loc.index()).ok_or_else(|| odd("accesses no location"))?;
        if !action.outcomes(*value).any(|outcome| outcome == step.outcome) {
            return Err(odd(&format!("cannot end in {:?} where it finds {value}", step.outcome)));
        }
        *value = step.outcome.value_written().unwrap_or(*value);
        let ways = ways(machine, step.thread, machine.after(step.thread, &local, step.outcome));
        let next = pick(ways, step.choice).ok_or_else(|| odd(&format!("has no choice {}", step.choice)))?;
        let fences = std::mem::replace(way, next).fences;
        run.extend(fences.into_iter().map(|action| fenced(step.thread, action)));
        run.push(Executed { thread: step.thread, action, outcome: step.outcome });
    }
    Ok(Replay {
        run,
        next: at
            .iter()
            .enumerate()
            .map(|(thread, way)| place(way).and_then(|local| machine.action(thread, local)))
            .collect(),
        failed: at
            .iter()
            .map(|way| match way.end {
                Next::AssertionFailed(site) => Some(site),
                Next::At(_) => None,
            })
            .collect(),
        fences: at.into_iter().map(|way| way.fences).collect(),
    })
}

/// The event of a fence.
pub fn fenced(thread: usize, action: Action) -> Executed {
    Executed { thread, action, outcome: Outcome::Fenced }
}

fn pick(ways: Vec<Way>, choice: usize) -> Option<Way> {
    ways.into_iter().nth(choice)
}

fn place(way: &Way) -> Option<&Local> {
    match &way.end {
        Next::At(local) => Some(local),
        Next::AssertionFailed(_) => None,
    }
}
