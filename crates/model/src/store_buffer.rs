//! The operational x86-TSO machine: a FIFO store buffer per thread in front of a shared memory.
//!
//! Owens, Sarkar, Sewell, "A better x86 memory model: x86-TSO" (TPHOLs 2009), the machine behind \[Sober08]. A
//! store goes to the thread's buffer, a load takes the newest store to its location there or else looks into
//! memory, at any time the oldest store of a buffer may reach memory; MFENCE (a fence of mode `sc`) and
//! locked instructions (every read-modify-write, and a compare-and-swap that fails) wait until the thread's
//! buffer is empty.
//!
//! It stands beside the axioms of `models/tso.rs`; a test holds them equal: the graphs of the machine's runs,
//! with the order in which stores reach memory as `mo`, are exactly the consistent graphs.

use crate::graph::{Event, Graph, Key};
use crate::oracle::TooBig;
use crate::{Action, Loc, MAX_EVENTS, Mode, Next, Op, Outcome, Program};
use std::collections::{BTreeSet, HashSet, VecDeque};

/// The graphs of the machine's runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Runs {
    /// Of runs that stopped anywhere but right before a fence; stores still in a buffer were drained.
    pub stopped: BTreeSet<Key>,
    /// Of runs in which every thread came to its end.
    pub complete: BTreeSet<Key>,
}

/// Runs the machine in all possible ways, through no more than `limit` states.
pub fn runs<P: Program>(program: &P, limit: usize) -> Result<Runs, TooBig> {
    if program.initial().len() > MAX_EVENTS {
        return Err(TooBig);
    }
    let mut runs = Runs::default();
    let mut seen = HashSet::new();
    let mut todo = Vec::new();
    let start = Machine {
        at: Vec::new(),
        graph: Graph::new(program.initial()),
        memory: (0..program.initial().len()).map(|loc| vec![loc]).collect(),
        buffers: vec![VecDeque::new(); program.threads()],
    };
    begin(program, start, &mut todo);
    while let Some(machine) = todo.pop() {
        let key = machine.graph.key();
        if !seen.insert((machine.at.clone(), key.clone())) {
            continue;
        }
        if seen.len() > limit {
            return Err(TooBig);
        }
        let next: Vec<_> =
            (0..program.threads()).map(|thread| machine.next_action(program, thread)).collect();
        let fence_next = next.iter().flatten().any(|action| action.op == Op::Fence);
        if machine.buffers.iter().all(VecDeque::is_empty) && !fence_next {
            if machine.is_finished(program) {
                runs.complete.insert(key.clone());
            }
            runs.stopped.insert(key);
        }
        for (thread, action) in next.iter().enumerate() {
            machine.flush(thread, &mut todo);
            if let Some(action) = action {
                machine.execute(program, thread, action, &mut todo)?;
            }
        }
    }
    Ok(runs)
}

/// Puts every thread at one of its starts.
fn begin<P: Program>(program: &P, machine: Machine<P::Local>, todo: &mut Vec<Machine<P::Local>>) {
    if machine.at.len() == program.threads() {
        return todo.push(machine);
    }
    for start in program.start(machine.at.len()) {
        let mut machine = machine.clone();
        machine.at.push(start);
        begin(program, machine, todo);
    }
}

#[derive(Clone)]
struct Machine<L> {
    /// Where each thread stands.
    at: Vec<Next<L>>,
    /// What has happened: all executed events with `po` and `rf`, and `mo` between the stores that reached
    /// memory.
    graph: Graph,
    /// Per location, the stores that reached memory, oldest first.
    memory: Vec<Vec<usize>>,
    /// Per thread, the stores that did not yet, oldest first.
    buffers: Vec<VecDeque<usize>>,
}

impl<L: Clone> Machine<L> {
    fn next_action<P: Program<Local = L>>(&self, program: &P, thread: usize) -> Option<Action> {
        match &self.at[thread] {
            Next::At(local) => program.action(thread, local),
            Next::AssertionFailed(_) => None,
        }
    }

    fn is_finished<P: Program<Local = L>>(&self, program: &P) -> bool {
        let finished = |(thread, at): (usize, &Next<L>)| match at {
            Next::At(local) => program.action(thread, local).is_none(),
            Next::AssertionFailed(_) => false,
        };
        self.at.iter().enumerate().all(finished)
    }

    /// The oldest store of the buffer reaches memory.
    fn flush(&self, thread: usize, todo: &mut Vec<Machine<L>>) {
        let mut machine = self.clone();
        if let Some(store) = machine.buffers[thread].pop_front() {
            machine.reach_memory(store);
            todo.push(machine);
        }
    }

    fn reach_memory(&mut self, store: usize) {
        let order = self.graph.events[store].loc.and_then(|loc| self.memory.get_mut(loc.index()));
        if let Some(order) = order {
            order.iter().for_each(|&earlier| self.graph.mo.insert(earlier, store));
            order.push(store);
        }
    }

    /// The store that the thread's loads of the location see.
    fn visible(&self, thread: usize, loc: Loc) -> Option<usize> {
        let own = self.buffers[thread].iter().rev().find(|&&store| self.graph.events[store].loc == Some(loc));
        own.or_else(|| self.memory.get(loc.index())?.last()).copied()
    }

    /// The thread executes its next action, if it can.
    fn execute<P: Program<Local = L>>(
        &self,
        program: &P,
        thread: usize,
        action: &Action,
        todo: &mut Vec<Machine<L>>,
    ) -> Result<(), TooBig> {
        let Next::At(local) = &self.at[thread] else { return Ok(()) };
        let drains = match action.op {
            Op::Load | Op::Wait(_) | Op::Store(_) => false,
            Op::Fence => action.mode == Mode::SeqCst,
            _ => true,
        };
        if drains && !self.buffers[thread].is_empty() {
            return Ok(());
        }
        let source = self.visible(thread, action.loc).filter(|_| action.op != Op::Fence);
        let found = source.and_then(|store| self.graph.events[store].outcome.value_written());
        for outcome in action.outcomes(found.unwrap_or(0)) {
            let mut machine = self.clone();
            let index = self.graph.thread_events(thread).len();
            let event = Event::of(thread, index, action, outcome);
            let new = machine.graph.push(event, None).ok_or(TooBig)?;
            if let Some(store) = source.filter(|_| event.is_read()) {
                machine.graph.rf.insert(store, new);
            }
            match outcome {
                Outcome::Wrote(_) => machine.buffers[thread].push_back(new),
                Outcome::Updated(..) => machine.reach_memory(new),
                Outcome::Read(_) | Outcome::Fenced => {}
            }
            for next in program.after(thread, local, outcome) {
                let mut machine = machine.clone();
                machine.at[thread] = next;
                todo.push(machine);
            }
        }
        Ok(())
    }
}
