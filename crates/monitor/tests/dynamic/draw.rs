//! Random traces.

use crate::trace::{LOCATIONS, MODULUS, OBJECTS, Step, Trace, What};
use seqcst_model::sample::Random;
use seqcst_model::{Action, Loc, Mode, Op, Value};

/// What traces to draw.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// At least so many steps,
    pub least: usize,
    /// and at most so many.
    pub most: usize,
    /// One access out of so many may be a read-modify-write.
    pub updates: usize,
    /// One access out of so many is SC.
    pub sc: usize,
}

/// Threads that are alive at the same time.
const THREADS: usize = 5;

impl Trace {
    /// The trace of this seed.
    pub fn draw(seed: u64, shape: Shape) -> Trace {
        let mut random = Random::new(seed);
        let steps = shape.least + random.below(shape.most - shape.least + 1);
        let mut drawing = Drawing {
            updates: shape.updates,
            sc: shape.sc,
            fences_often: shape.sc < 12 && random.one_in(2),
            locations: 1 + [0, 1, 1, 1, 2, 3][random.below(6)],
            threads: 2 + random.below(THREADS - 1),
            plain: random.one_in(3),
            // Now and then nothing but accesses orders threads that run side by side.
            objects: random.below(OBJECTS + 1),
            joins: !random.one_in(3),
            alive: vec![0],
            ended: Vec::new(),
            created: 0,
            random,
        };
        Trace((0..steps).map(|_| drawing.step()).collect())
    }
}

/// A trace that is being drawn.
struct Drawing {
    random: Random,
    updates: usize,
    sc: usize,
    fences_often: bool,
    /// Locations, and threads at the same time, that this trace uses.
    locations: usize,
    threads: usize,
    plain: bool,
    objects: usize,
    joins: bool,
    /// Who can move.
    alive: Vec<usize>,
    /// Who has ended and was not joined.
    ended: Vec<usize>,
    /// The thread created last.
    created: usize,
}

impl Drawing {
    fn step(&mut self) -> Step {
        let thread = self.alive[self.random.below(self.alive.len())];
        // Most threads are there soon.
        if self.alive.len() < self.threads && self.random.one_in(if self.alive.len() < 2 { 2 } else { 8 }) {
            self.created += 1;
            self.alive.push(self.created);
            let what = if self.random.one_in(8) { What::Meet } else { What::Create };
            return Step { thread, what: what(self.created) };
        }
        if self.fences_often && self.random.one_in(4) {
            return Step { thread, what: What::Do(self.fence()) };
        }
        let what = match self.random.below(30) {
            0 if self.joins && self.alive.len() > 2 => self.end_or_join(thread),
            1 if self.objects > 0 => What::Acquire(self.random.below(self.objects)),
            2 if self.objects > 0 => What::Release(self.random.below(self.objects)),
            3..=7 if self.plain => What::Plain { loc: self.loc(), write: self.random.one_in(2) },
            8..=10 => What::Do(self.fence()),
            _ => What::Do(self.access()),
        };
        Step { thread, what }
    }

    fn end_or_join(&mut self, thread: usize) -> What {
        if !self.ended.is_empty() && self.random.one_in(2) {
            return What::Join(self.ended.swap_remove(self.random.below(self.ended.len())));
        }
        let ends =
            if self.random.one_in(4) { thread } else { self.alive[self.random.below(self.alive.len())] };
        self.alive.retain(|&other| other != ends);
        if ends == thread {
            self.ended.push(thread);
            return What::End;
        }
        What::Join(ends)
    }

    fn loc(&mut self) -> Loc {
        Loc(self.random.below(self.locations.min(LOCATIONS)) as u8)
    }

    fn value(&mut self) -> Value {
        self.random.below(MODULUS as usize) as Value
    }

    /// For RC11, which tells SC accesses from SC fences.
    fn is_sc_heavy(&self) -> bool {
        self.sc < 12
    }

    fn fence(&mut self) -> Action {
        let modes = [Mode::Acquire, Mode::Acquire, Mode::Release, Mode::Release, Mode::AcqRel, Mode::SeqCst];
        let mode = modes[self.random.below(6)];
        let mode = if self.is_sc_heavy() && self.random.one_in(2) { Mode::SeqCst } else { mode };
        Action { op: Op::Fence, loc: Loc(0), mode, failure: None, site: 0 }
    }

    fn access(&mut self) -> Action {
        let kinds = if self.updates == 1 || self.random.one_in(self.updates) { 20 } else { 13 };
        let op = match self.random.below(kinds) {
            0..=5 => Op::Load,
            6 => Op::Wait(vec![self.value()]),
            7..=12 => Op::Store(self.value()),
            13..=14 => Op::FetchAdd { operand: self.value(), modulus: MODULUS },
            15 => Op::Exchange(self.value()),
            16..=17 => Op::Cas { expected: self.value(), new: self.value() },
            18 => Op::WeakCas { expected: self.value(), new: self.value() },
            _ => Op::BlockingCas { expected: self.value(), new: self.value() },
        };
        let modes = match op {
            Op::Load | Op::Wait(_) => [Mode::Relaxed, Mode::Acquire],
            Op::Store(_) => [Mode::Relaxed, Mode::Release],
            _ if self.random.one_in(2) => [Mode::Relaxed, Mode::AcqRel],
            _ => [Mode::Acquire, Mode::Release],
        };
        let mode = if self.random.one_in(self.sc) { Mode::SeqCst } else { modes[self.random.below(2)] };
        let failure = match op {
            Op::Cas { .. } | Op::WeakCas { .. } => {
                let failures = [None, Some(Mode::Relaxed), Some(Mode::Acquire), Some(Mode::SeqCst)];
                failures[self.random.below(if self.is_sc_heavy() { 4 } else { 3 })]
            }
            _ => None,
        };
        Action { op, loc: self.loc(), mode, failure, site: 0 }
    }
}
