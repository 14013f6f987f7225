//! A schedule for people: who did what where, and where the turn was taken from somebody who could have gone on.

use super::places::Places;
use seqcst_explore::{FENCES, Kind, Op, State, States, Step, ThreadId, Trace};
use seqcst_report::answer::ScheduledStep;

/// All steps of an execution.
pub fn lines(trace: &Trace, places: &Places) -> Vec<ScheduledStep> {
    let mut states = States::default();
    let line = |(at, step): (usize, &Step)| {
        states.advance(&trace.changes, at as u32);
        let preempts = states.cost(step.thread) > 0;
        states.last = Some(step.thread);
        let (what, place) = (what(&step.op, places), places.code(step.site).show());
        ScheduledStep { step: at + 1, thread: step.thread, what, place, preempts }
    };
    trace.steps.iter().enumerate().map(line).collect()
}

/// How many turns of the tape are needed: the others come by themselves, as a plan goes on after its tape
/// ([`seqcst_explore::Fallback::NonPreemptive`]).
pub fn needed(trace: &Trace) -> usize {
    let mut states = States::default();
    let mut changes = trace.changes.iter().peekable();
    let (mut threads, mut current, mut needed) = (1, 0, 0);
    for (at, step) in trace.steps.iter().enumerate() {
        states.advance(&trace.changes, at as u32);
        while let Some(change) = changes.next_if(|change| change.before <= at as u32) {
            threads = threads.max(change.thread + 1);
        }
        let next = |state| (1..=threads).map(|i| (current + i) % threads).find(|&t| states.get(t) == state);
        let steady = match states.get(current) {
            State::Ready => Some(current),
            _ => next(State::Ready).or_else(|| next(State::Willing)),
        };
        if steady != Some(step.thread) {
            needed = at + 1;
        }
        current = step.thread;
    }
    needed
}

/// What a step does, in words.
pub fn what(op: &Op, places: &Places) -> String {
    let object = op.objects[0];
    let thread = object & !(1 << 63);
    let name = || object_name(object, places);
    match op.kind {
        Kind::Local => "a step of its own".to_owned(),
        Kind::Begin => "begins".to_owned(),
        Kind::End => "ends".to_owned(),
        Kind::Spawn => format!("creates thread {thread}"),
        Kind::Join => format!("joins thread {thread}"),
        Kind::Load => format!("load {}", name()),
        Kind::Store => format!("store {}", name()),
        Kind::Rmw => format!("update {}", name()),
        Kind::Fence => "fence".to_owned(),
        Kind::Await => format!("waits for {}", name()),
        Kind::Lock => format!("lock {}", name()),
        Kind::Unlock => format!("unlock {}", name()),
        Kind::TryLock => format!("trylock {} in vain", name()),
        Kind::Wait => format!("begins to wait on {}", name()),
        Kind::Wake => format!("goes on after waiting on {}", name()),
        Kind::Signal => format!("signals {}", name()),
        Kind::Post => format!("posts {}", name()),
        Kind::Take => format!("takes from {}", name()),
        Kind::Arrive => format!("arrives at {}", name()),
        Kind::Pass => format!("passes {}", name()),
        Kind::Yield => "yields".to_owned(),
        Kind::Exit => "ends the process".to_owned(),
        Kind::Choose => format!("chooses {object}"),
        Kind::Everywhere => format!("a fence in {}", self::name(thread as ThreadId)),
    }
}

/// The queue of those who wait at a word, rather than the word itself (a futex).
const QUEUE: u64 = 1 << 62;
/// What comes from outside of the process: pipes, sockets, signals.
const KERNEL: u64 = 2;

/// An object by its name, if it has one.
fn object_name(object: u64, places: &Places) -> String {
    match object {
        KERNEL => "the kernel".to_owned(),
        FENCES => "all fences".to_owned(),
        _ => {
            let address = object & !QUEUE;
            places.variable(address).unwrap_or_else(|| format!("{address:#x}"))
        }
    }
}

/// What a thread would do that can't: `lock m`, `join thread 2`.
pub fn wish(op: &Op, places: &Places) -> String {
    match op.kind {
        Kind::Join => format!("join {}", name(op.objects[0] as u32)),
        Kind::Wake => what(op, places).replace("goes on after waiting on", "be signalled at"),
        Kind::Pass => what(op, places).replace("passes", "pass"),
        Kind::Take => what(op, places).replace("takes", "take"),
        Kind::Await => what(op, places).replace("waits for", "see another value in"),
        _ => what(op, places),
    }
}

/// `main`, `thread 2`
pub fn name(thread: ThreadId) -> String {
    if thread == 0 { "main".to_owned() } else { format!("thread {thread}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqcst_explore::{Change, NOBODY};

    fn trace(threads: &[ThreadId], changes: &[(u32, ThreadId, State)]) -> Trace {
        let step =
            |&thread: &ThreadId| Step { op: Op::local(Kind::Local), site: 0, thread, woken_by: NOBODY };
        let change = |&(before, thread, state): &(u32, ThreadId, State)| Change { before, thread, state };
        Trace {
            steps: threads.iter().map(step).collect(),
            changes: changes.iter().map(change).collect(),
            ..Trace::default()
        }
    }

    #[test]
    fn preemptions_are_taken_turns() {
        use State::{Blocked, Ready, Willing};
        let both = [(0, 0, Ready), (0, 1, Ready)];
        let changes = [&both[..], &[(2, 1, Willing), (3, 1, Ready), (3, 0, Blocked), (4, 0, Ready)]].concat();
        let lines = lines(&trace(&[0, 1, 0, 1, 0], &changes), &Places::new(0));
        assert_eq!(
            lines.iter().map(|line| line.preempts).collect::<Vec<_>>(),
            [false, true, false, false, true]
        );
    }

    #[test]
    fn the_end_of_a_tape_comes_by_itself() {
        use State::{Blocked, Ready};
        let changes = [(0, 0, Ready), (0, 1, Ready), (3, 1, Blocked), (5, 0, Blocked)];
        assert_eq!(needed(&trace(&[1, 1, 1, 0, 0], &changes)), 1);
        assert_eq!(needed(&trace(&[0, 0, 0, 0, 0], &changes)), 0);
        assert_eq!(needed(&trace(&[0, 0, 1, 0, 0], &changes)), 3);
    }
}
