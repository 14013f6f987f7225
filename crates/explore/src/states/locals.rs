//! Thread-local states, numbered as they turn up.
//!
//! A thread's control state and registers are one number in a global state. What a thread can do there, and where it
//! goes, is computed once and looked up ever after; each worker has its own copy of the tables, so that look-ups take
//! no lock. Threads with the same code share their numbering, which is what makes them interchangeable.

use rustc_hash::FxHashMap;
use seqcst_model::{Action, Mode, Next, Op, Outcome, Program};
use seqcst_program::code::{Instr, Thread};
use seqcst_program::semantics::{Local, Machine};
use std::sync::{Arc, Mutex, MutexGuard};

/// Where a thread goes after an action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goto {
    /// To this local state, executing these fences on the way: they touch nothing but the thread's own view.
    Local(u32, Box<[Mode]>),
    /// Into a failed assertion, at this site of the thread that stands for all with the same code.
    Failed(u32),
}

#[derive(Default)]
struct Table {
    numbers: FxHashMap<Local, u32>,
    locals: Vec<Local>,
}

/// The numbering, shared by all workers.
pub struct Locals<'a> {
    machine: &'a Machine,
    /// For every thread, the first one with the same code.
    class: Vec<usize>,
    tables: Vec<Mutex<Table>>,
}

impl<'a> Locals<'a> {
    pub fn new(machine: &'a Machine) -> Locals<'a> {
        let threads = &machine.code().threads;
        let shapes: Vec<Vec<Instr>> = threads.iter().map(shape).collect();
        let class = shapes.iter().map(|s| shapes.iter().position(|other| other == s).unwrap_or(0)).collect();
        let tables = threads.iter().map(|_| Mutex::default()).collect();
        Locals { machine, class, tables }
    }

    pub fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// The first thread with the same code.
    pub fn class(&self, thread: usize) -> usize {
        self.class[thread]
    }

    /// The local states in which a thread can start.
    pub fn start(&self, thread: usize) -> Vec<Goto> {
        self.settle(self.class[thread], self.machine.start(self.class[thread]))
    }

    /// The local state behind a number.
    pub fn local(&self, thread: usize, number: u32) -> Local {
        self.table(self.class[thread]).locals[number as usize].clone()
    }

    fn table(&self, class: usize) -> MutexGuard<'_, Table> {
        self.tables[class].lock().unwrap_or_else(|e| e.into_inner())
    }

    fn number(&self, class: usize, local: Local) -> u32 {
        let mut table = self.table(class);
        if let Some(&number) = table.numbers.get(&local) {
            return number;
        }
        let number = table.locals.len() as u32;
        table.locals.push(local.clone());
        table.numbers.insert(local, number);
        number
    }

    /// Follows fences to the next access.
    fn settle(&self, class: usize, nexts: Vec<Next<Local>>) -> Vec<Goto> {
        let goto = |way: Way| match way.end {
            Next::AssertionFailed(site) => Goto::Failed(site),
            Next::At(local) => {
                let fences = way.fences.iter().map(|fence| fence.mode).collect();
                Goto::Local(self.number(class, local), fences)
            }
        };
        ways(self.machine, class, nexts).into_iter().map(goto).collect()
    }
}

/// A way from one access of a thread to its next.
pub struct Way {
    /// The fences in between.
    pub fences: Vec<Action>,
    /// Where it ends: at an access, at the end of the thread, or in a failed assertion.
    pub end: Next<Local>,
}

/// Follows fences to the next access, in every possible way: [`Move::choice`](super::expand::Move::choice) is an index
/// into this list.
pub fn ways(machine: &Machine, thread: usize, nexts: Vec<Next<Local>>) -> Vec<Way> {
    let mut found = Vec::new();
    let mut todo: Vec<_> = nexts.into_iter().rev().map(|next| (next, Vec::new(), Vec::new())).collect();
    while let Some((next, fences, passed)) = todo.pop() {
        let Next::At(local) = next else {
            found.push(Way { fences, end: next });
            continue;
        };
        match machine.action(thread, &local) {
            // A loop of fences never ends, and never touches memory either: cut it where it closes.
            Some(action) if action.op == Op::Fence && !passed.contains(&local) => {
                for after in machine.after(thread, &local, Outcome::Fenced).into_iter().rev() {
                    let fences = fences.iter().cloned().chain([action.clone()]).collect();
                    let passed = passed.iter().cloned().chain([local.clone()]).collect();
                    todo.push((after, fences, passed));
                }
            }
            _ => found.push(Way { fences, end: Next::At(local) }),
        }
    }
    found
}

/// The thread's code without source positions.
fn shape(thread: &Thread) -> Vec<Instr> {
    let mut instrs = thread.instrs.clone();
    for instr in &mut instrs {
        match instr {
            Instr::Access(access) => access.site = 0,
            Instr::Assert(_, site) => *site = 0,
            _ => {}
        }
    }
    instrs
}

/// What a thread can do in a local state.
pub struct Node {
    /// Its next action; `None` if it will never touch memory again.
    pub action: Option<Action>,
    /// Where it goes, for the outcomes seen so far.
    next: Vec<(Outcome, Arc<[Goto]>)>,
}

/// One worker's copy of the tables.
pub struct LocalsCache<'a> {
    shared: &'a Locals<'a>,
    nodes: Vec<Vec<Option<Box<Node>>>>,
}

impl<'a> LocalsCache<'a> {
    pub fn new(shared: &'a Locals<'a>) -> LocalsCache<'a> {
        LocalsCache { shared, nodes: shared.class.iter().map(|_| Vec::new()).collect() }
    }

    pub fn node(&mut self, thread: usize, number: u32) -> &mut Node {
        let class = self.shared.class[thread];
        let nodes = &mut self.nodes[class];
        let at = number as usize;
        if nodes.len() <= at {
            nodes.resize_with(at + 1, || None);
        }
        nodes[at].get_or_insert_with(|| {
            let local = self.shared.local(class, number);
            // A fence here closes a loop of fences: the thread is as good as finished.
            let action = self.shared.machine.action(class, &local).filter(|action| action.op != Op::Fence);
            Box::new(Node { action, next: Vec::new() })
        })
    }

    /// Where the thread goes after its action had this outcome.
    pub fn next(&mut self, thread: usize, number: u32, outcome: Outcome) -> Arc<[Goto]> {
        let shared = self.shared;
        let node = self.node(thread, number);
        if let Some((_, next)) = node.next.iter().find(|(seen, _)| *seen == outcome) {
            return Arc::clone(next);
        }
        let class = shared.class[thread];
        let nexts = shared.machine.after(class, &shared.local(class, number), outcome);
        let next: Arc<[Goto]> = shared.settle(class, nexts).into();
        node.next.push((outcome, Arc::clone(&next)));
        next
    }
}
