//! Where threads can be, numbered as they turn up: what is computed of a place once is looked up ever after.

use crate::states::ways;
use rustc_hash::FxHashMap;
use seqcst_model::{Action, Mode, Next, Op, Outcome, Program};
use seqcst_program::code::Instr;
use seqcst_program::semantics::{Local, Machine};
use std::rc::Rc;

/// A thread at an access, or at its end.
#[derive(Debug)]
pub struct Place {
    thread: usize,
    local: Local,
    /// The access; none at the end.
    pub action: Option<Action>,
    /// Where it leads, for the outcomes seen so far.
    after: Vec<(Outcome, Rc<[NextPlace]>)>,
}

/// A way on from an access: fences, then the next place.
#[derive(Debug)]
pub struct NextPlace {
    /// The fences, which touch nothing but the thread's own view.
    pub fences: Box<[Mode]>,
    /// Where it ends.
    pub to: WayEnd,
}

/// Where a way on ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WayEnd {
    /// At a place.
    Place(u32),
    /// In a failed assertion at this site.
    Failed(u32),
}

/// All places of a program so far.
#[derive(Debug)]
pub struct Places<'a> {
    machine: &'a Machine,
    places: Vec<Place>,
    numbers: FxHashMap<(usize, Local), u32>,
    starts: Vec<Option<Rc<[NextPlace]>>>,
    loops: Vec<bool>,
}

impl<'a> Places<'a> {
    pub fn new(machine: &'a Machine) -> Places<'a> {
        let threads = &machine.code().threads;
        let back = |(pc, instr): (usize, &Instr)| match instr {
            Instr::Jump(to) | Instr::Branch(_, to) => *to as usize <= pc,
            Instr::Choose(to) => to.iter().any(|&to| to as usize <= pc),
            _ => false,
        };
        Places {
            machine,
            places: Vec::new(),
            numbers: FxHashMap::default(),
            starts: vec![None; threads.len()],
            loops: threads.iter().map(|thread| thread.instrs.iter().enumerate().any(back)).collect(),
        }
    }

    pub fn get(&self, place: u32) -> &Place {
        &self.places[place as usize]
    }

    /// Whether the thread's code has loops.
    pub fn has_loops(&self, thread: usize) -> bool {
        self.loops[thread]
    }

    /// The ways in which a thread can start.
    pub fn starts(&mut self, thread: usize) -> Rc<[NextPlace]> {
        if let Some(starts) = &self.starts[thread] {
            return starts.clone();
        }
        let starts = self.onward(thread, self.machine.start(thread));
        self.starts[thread].insert(starts).clone()
    }

    /// The ways on from a place whose access has this outcome.
    pub fn after(&mut self, place: u32, outcome: Outcome) -> Rc<[NextPlace]> {
        let Place { thread, local, after, .. } = &self.places[place as usize];
        if let Some((_, ways)) = after.iter().find(|(known, _)| *known == outcome) {
            return ways.clone();
        }
        let (thread, nexts) = (*thread, self.machine.after(*thread, local, outcome));
        let ways = self.onward(thread, nexts);
        self.places[place as usize].after.push((outcome, ways.clone()));
        ways
    }

    fn onward(&mut self, thread: usize, nexts: Vec<Next<Local>>) -> Rc<[NextPlace]> {
        let ways = ways(self.machine, thread, nexts);
        ways.into_iter()
            .map(|way| NextPlace {
                fences: way.fences.iter().map(|fence| fence.mode).collect(),
                to: match way.end {
                    Next::At(local) => WayEnd::Place(self.number(thread, local)),
                    Next::AssertionFailed(site) => WayEnd::Failed(site),
                },
            })
            .collect()
    }

    fn number(&mut self, thread: usize, local: Local) -> u32 {
        let key = (thread, local);
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = self.places.len() as u32;
        // A fence that is left closes a loop of fences: the thread never touches memory again.
        let action = self.machine.action(thread, &key.1).filter(|action| action.op != Op::Fence);
        self.places.push(Place { thread, local: key.1.clone(), action, after: Vec::new() });
        self.numbers.insert(key, number);
        number
    }
}
