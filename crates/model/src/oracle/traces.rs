//! What each thread can do on its own, whatever the others do: a tree of events per thread.
//!
//! A read may return any value that can be in its location at all. That set is the least one that holds the
//! initial value and every value that some thread writes when its reads return such values; a read of any
//! other value has no write to read from.

use super::TooBig;
use crate::graph::Event;
use crate::set::MAX_EVENTS;
use crate::{Dependencies, Next, Op, Outcome, Program, Value};

/// Trees larger than this are not for brute force.
const MAX_NODES: usize = 1 << 18;

/// The traces of all threads.
pub(super) struct Traces {
    /// The initial value of every location.
    pub initial: Vec<Value>,
    /// The threads.
    pub threads: Vec<Tree>,
}

/// The traces of a thread: paths from a start.
#[derive(Default)]
pub(super) struct Tree {
    /// The ways to start (several after a free choice), fences on the way included.
    pub starts: Vec<Way>,
    /// The places where a thread can stand, about to do something other than a fence.
    pub nodes: Vec<Node>,
}

/// A place in a trace.
#[derive(Default)]
pub(super) struct Node {
    /// What the thread can do here.
    pub steps: Vec<Step>,
    /// Whether the thread is finished.
    pub finished: bool,
}

/// An access, and what follows it without a choice of the memory.
pub(super) struct Step {
    /// The access.
    pub event: Event,
    /// What it depends on.
    pub on: Dependencies,
    /// What follows.
    pub way: Way,
}

/// Fences, then a place.
#[derive(Clone)]
pub(super) struct Way {
    /// The fences.
    pub fences: Vec<Event>,
    /// The place, an index into [`Tree::nodes`].
    pub to: usize,
}

impl Traces {
    pub fn of<P: Program>(program: &P) -> Result<Traces, TooBig> {
        let initial = program.initial().to_vec();
        if initial.len() + program.threads() > MAX_EVENTS {
            return Err(TooBig);
        }
        let mut values: Vec<Vec<Value>> = initial.iter().map(|&value| vec![value]).collect();
        loop {
            let before: usize = values.iter().map(Vec::len).sum();
            let mut threads = Vec::with_capacity(program.threads());
            for thread in 0..program.threads() {
                let mut tree = Tree::default();
                let mut builder = Builder { program, thread, values: &mut values, tree: &mut tree };
                let starts = builder.ways(program.start(thread), 0)?;
                tree.starts = starts;
                threads.push(tree);
            }
            if values.iter().map(Vec::len).sum::<usize>() == before {
                return Ok(Traces { initial, threads });
            }
        }
    }
}

struct Builder<'a, P: Program> {
    program: &'a P,
    thread: usize,
    values: &'a mut Vec<Vec<Value>>,
    tree: &'a mut Tree,
}

impl<P: Program> Builder<'_, P> {
    /// The ways on from these states, the next event being number `index` of the thread.
    fn ways(&mut self, states: Vec<Next<P::Local>>, index: usize) -> Result<Vec<Way>, TooBig> {
        let mut ways = Vec::with_capacity(states.len());
        for state in states {
            match state {
                Next::At(local) => self.way(&local, index, &mut Vec::new(), &mut ways)?,
                Next::AssertionFailed(_) => ways.push(Way { fences: Vec::new(), to: self.node()? }),
            }
        }
        Ok(ways)
    }

    fn way(
        &mut self,
        local: &P::Local,
        index: usize,
        fences: &mut Vec<Event>,
        ways: &mut Vec<Way>,
    ) -> Result<(), TooBig> {
        if index > MAX_EVENTS {
            return Err(TooBig);
        }
        let action = self.program.action(self.thread, local);
        let Some(action) = action.as_ref().filter(|action| action.op == Op::Fence) else {
            let to = self.place(local, index)?;
            ways.push(Way { fences: fences.clone(), to });
            return Ok(());
        };
        fences.push(Event::of(self.thread, index, action, Outcome::Fenced));
        for next in self.program.after(self.thread, local, Outcome::Fenced) {
            match next {
                Next::At(local) => self.way(&local, index + 1, fences, ways)?,
                Next::AssertionFailed(_) => ways.push(Way { fences: fences.clone(), to: self.node()? }),
            }
        }
        fences.pop();
        Ok(())
    }

    fn node(&mut self) -> Result<usize, TooBig> {
        if self.tree.nodes.len() >= MAX_NODES {
            return Err(TooBig);
        }
        self.tree.nodes.push(Node::default());
        Ok(self.tree.nodes.len() - 1)
    }

    /// The place of a thread that is about to do something other than a fence, and the tree below it.
    fn place(&mut self, local: &P::Local, index: usize) -> Result<usize, TooBig> {
        let node = self.node()?;
        let Some(action) = self.program.action(self.thread, local) else {
            self.tree.nodes[node].finished = true;
            return Ok(node);
        };
        let on = self.program.dependencies(self.thread, local);
        let loc = action.loc.index();
        let found =
            if matches!(action.op, Op::Store(_)) { 1 } else { self.values.get(loc).map_or(0, Vec::len) };
        for number in 0..found {
            let found = self.values.get(loc).and_then(|values| values.get(number)).copied().unwrap_or(0);
            for outcome in action.outcomes(found) {
                if let (Some(written), Some(values)) = (outcome.value_written(), self.values.get_mut(loc))
                    && !values.contains(&written)
                {
                    values.push(written);
                }
                let event = Event::of(self.thread, index, &action, outcome);
                let after = self.program.after(self.thread, local, outcome);
                for way in self.ways(after, index + 1)? {
                    let step = Step { event, on: on.clone(), way };
                    self.tree.nodes[node].steps.push(step);
                }
            }
        }
        Ok(node)
    }
}
