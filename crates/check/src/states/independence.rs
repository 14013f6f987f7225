//! Partial-order reduction: where one thread's next accesses are independent of all that others can still do, only that
//! thread moves.
//!
//! Two accesses are independent if they touch different locations or both only read. Independent steps commute, and
//! not only for the program: a monitor's metadata is a function of the execution graph (\[Rocker19] Lemma 5.2), and both
//! orders give the same graph. Nor does a step change whether an independent access of another thread can be stale.
//! So a thread whose next accesses conflict with nothing in the code that lies ahead of the others is a persistent
//! set (Godefroid 1996). A violation is local to a thread, or to two threads whose next accesses conflict, and is
//! found all the same, provided that no thread is passed over for ever: an access that closes a loop never moves
//! alone, so every cycle of the reduced state graph has a state in which all threads move.

use seqcst_program::code::{AccessKind, Instr, Pc, Thread};
use seqcst_program::semantics::successors;

/// Locations, as bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Touched {
    pub reads: u64,
    pub writes: u64,
}

impl Touched {
    pub fn join(&mut self, other: Touched) {
        self.reads |= other.reads;
        self.writes |= other.writes;
    }

    pub fn conflicts(self, other: Touched) -> bool {
        self.writes & (other.reads | other.writes) | self.reads & other.writes != 0
    }

    /// What an instruction touches.
    fn by(instr: &Instr) -> Touched {
        let Instr::Access(access) = instr else { return Touched::default() };
        let bit = 1 << access.loc.0;
        match access.kind {
            AccessKind::Fence => Touched::default(),
            AccessKind::Load | AccessKind::Wait(_) => Touched { reads: bit, writes: 0 },
            AccessKind::Store(_) => Touched { reads: 0, writes: bit },
            _ => Touched { reads: bit, writes: bit },
        }
    }
}

/// What a thread's code touches from each instruction on.
pub struct Flow {
    /// By the instruction itself.
    pub now: Vec<Touched>,
    /// By it or anything after it.
    pub ahead: Vec<Touched>,
    /// Accesses that come first after a jump backwards.
    pub closes_loop: Vec<bool>,
}

impl Flow {
    pub fn of(thread: &Thread) -> Flow {
        let instrs = &thread.instrs;
        let now: Vec<Touched> = instrs.iter().map(Touched::by).collect();
        let mut ahead = now.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for pc in (0..instrs.len()).rev() {
                let before = ahead[pc];
                for next in successors(&instrs[pc], pc as Pc) {
                    let later = ahead[next as usize];
                    ahead[pc].join(later);
                }
                changed |= ahead[pc] != before;
            }
        }
        let mut closes_loop = vec![false; instrs.len()];
        for (pc, instr) in instrs.iter().enumerate() {
            for target in successors(instr, pc as Pc).into_iter().filter(|target| *target as usize <= pc) {
                mark_first_accesses(instrs, target, &mut closes_loop);
            }
        }
        Flow { now, ahead, closes_loop }
    }
}

/// Marks the accesses that can come first from `start` on.
fn mark_first_accesses(instrs: &[Instr], start: Pc, marks: &mut [bool]) {
    let mut seen = vec![false; instrs.len()];
    let mut todo = vec![start];
    while let Some(pc) = todo.pop() {
        if std::mem::replace(&mut seen[pc as usize], true) {
            continue;
        }
        match &instrs[pc as usize] {
            Instr::Access(access) if access.kind != AccessKind::Fence => marks[pc as usize] = true,
            other => todo.extend(successors(other, pc)),
        }
    }
}
