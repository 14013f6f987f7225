//! One-step semantics of lowered programs: what can each thread do next?
//!
//! Local instructions are folded into the memory instructions around them, so a thread's local state is always "about
//! to execute this memory instruction" (or finished). Registers that no later instruction reads are kept at 0, which
//! makes local states that differ only in dead registers equal (Fig. 2 of \[Rocker19] has no such rule; it changes no
//! behaviour).

use crate::code::{Access, AccessKind, Code, Expr, Instr, Pc, Reg, Thread};
use rustc_hash::FxHashSet;
use seqcst_model::{Action, Next, Op, Outcome, Program, Value};
use std::collections::VecDeque;

/// A thread's local state: at a memory instruction (or the end), with live registers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Local {
    /// The instruction that comes next.
    pub pc: Pc,
    /// Values of all registers; dead ones are 0.
    pub regs: Box<[Value]>,
}

/// A lowered program with the tables that its semantics needs.
#[derive(Clone, Debug)]
pub struct Machine {
    code: Code,
    initial: Vec<Value>,
    /// For every thread and instruction: registers that are live before it.
    live: Vec<Vec<Vec<bool>>>,
}

impl Machine {
    /// Prepares a program for execution.
    pub fn new(code: Code) -> Machine {
        let initial = code.locations.iter().map(|l| l.initial).collect();
        let live = code.threads.iter().map(liveness).collect();
        Machine { code, initial, live }
    }

    /// The program.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The memory instruction that the thread is about to execute, if it isn't finished.
    pub fn access(&self, thread: usize, local: &Local) -> Option<&Access> {
        match &self.code.threads[thread].instrs[local.pc as usize] {
            Instr::Access(access) => Some(access),
            _ => None,
        }
    }

    /// Runs local instructions from `pc` until a memory instruction, the end, or a failed assertion, in every
    /// possible way. A local loop without end is a finished thread: it never touches memory again.
    fn settle(&self, thread: usize, pc: Pc, regs: Box<[Value]>) -> Vec<Next<Local>> {
        let instrs = &self.code.threads[thread].instrs;
        let mut found = Vec::new();
        let mut seen: FxHashSet<(Pc, Box<[Value]>)> = FxHashSet::default();
        let mut todo = vec![(pc, regs)];
        while let Some((mut pc, mut regs)) = todo.pop() {
            let next = loop {
                match &instrs[pc as usize] {
                    Instr::Access(_) | Instr::End => break Some(Next::At(self.trimmed(thread, pc, regs))),
                    Instr::Assign(reg, expr) => {
                        regs[usize::from(*reg)] = self.eval(expr, &regs);
                        pc += 1;
                    }
                    Instr::Branch(condition, target) => {
                        pc = if self.eval(condition, &regs) != 0 { *target } else { pc + 1 };
                        // Only a jump can close a loop: remember where jumps lead.
                        if !seen.insert((pc, regs.clone())) {
                            break None;
                        }
                    }
                    Instr::Jump(target) => {
                        pc = *target;
                        if !seen.insert((pc, regs.clone())) {
                            break None;
                        }
                    }
                    Instr::Choose(targets) => {
                        for &target in targets.iter().rev() {
                            if seen.insert((target, regs.clone())) {
                                todo.push((target, regs.clone()));
                            }
                        }
                        break None;
                    }
                    Instr::Assume(condition) if self.eval(condition, &regs) == 0 => {
                        break Some(Next::At(self.ended(thread)));
                    }
                    Instr::Assert(condition, site) if self.eval(condition, &regs) == 0 => {
                        break Some(Next::AssertionFailed(*site));
                    }
                    Instr::Fits(expr, site) if !self.code.values.fits(expr, &regs) => {
                        break Some(Next::AssertionFailed(*site));
                    }
                    Instr::Assume(_) | Instr::Assert(..) | Instr::Fits(..) => pc += 1,
                }
            };
            found.extend(next.filter(|next| !found.contains(next)));
        }
        if found.is_empty() {
            found.push(Next::At(self.ended(thread)));
        }
        found
    }

    /// Where a thread's local code goes on after an access had this outcome, and with which registers.
    pub fn resume(&self, thread: usize, local: &Local, outcome: Outcome) -> (Pc, Box<[Value]>) {
        let mut regs = local.regs.clone();
        if let Some(access) = self.access(thread, local)
            && let Some(dest) = access.dest
        {
            regs[usize::from(dest)] = match access.kind {
                AccessKind::WeakCas { .. } => Value::from(outcome.value_written().is_some()),
                _ => outcome.value_read().unwrap_or(0),
            };
        }
        (local.pc + 1, regs)
    }

    /// The fewest conditions that local code from `pc` on would have to decide the other way in order to get to the
    /// access at `target`; `None` if it cannot get there at all.
    pub fn wrong_turns(&self, thread: usize, pc: Pc, regs: &[Value], target: Pc) -> Option<Vec<&Expr>> {
        const MOST_STEPS: usize = 100_000;
        let instrs = &self.code.threads[thread].instrs;
        let mut seen: FxHashSet<(Pc, Box<[Value]>)> = FxHashSet::default();
        let mut todo = VecDeque::from([(pc, Box::<[Value]>::from(regs), Vec::new())]);
        // Breadth-first, right turns first: the front of the queue has the fewest wrong turns.
        while let Some((pc, mut regs, wrong)) = todo.pop_front() {
            if pc == target {
                return Some(wrong);
            }
            if seen.len() >= MOST_STEPS || !seen.insert((pc, regs.clone())) {
                continue;
            }
            let mut turn = |condition, to: Pc, regs: &[Value]| {
                let wrong = wrong.iter().copied().chain([condition]).collect();
                todo.push_back((to, regs.into(), wrong));
            };
            let next = match &instrs[pc as usize] {
                Instr::Branch(e, to) => {
                    let (right, other) = if self.eval(e, &regs) != 0 { (*to, pc + 1) } else { (pc + 1, *to) };
                    turn(e, other, &regs);
                    vec![right]
                }
                Instr::Assume(e) if self.eval(e, &regs) == 0 => {
                    turn(e, pc + 1, &regs);
                    vec![]
                }
                Instr::Access(access) if access.kind != AccessKind::Fence => vec![],
                Instr::Assign(reg, e) => {
                    regs[usize::from(*reg)] = self.eval(e, &regs);
                    vec![pc + 1]
                }
                other => successors(other, pc),
            };
            for to in next.into_iter().rev() {
                todo.push_front((to, regs.clone(), wrong.clone()));
            }
        }
        None
    }

    /// The local state of a finished thread: at its last instruction, [`Instr::End`].
    fn ended(&self, thread: usize) -> Local {
        let thread = &self.code.threads[thread];
        Local { pc: thread.instrs.len() as Pc - 1, regs: vec![0; thread.regs.len()].into() }
    }

    fn trimmed(&self, thread: usize, pc: Pc, mut regs: Box<[Value]>) -> Local {
        if matches!(self.code.threads[thread].instrs[pc as usize], Instr::End) {
            return self.ended(thread);
        }
        for (value, live) in regs.iter_mut().zip(&self.live[thread][pc as usize]) {
            *value = if *live { *value } else { 0 };
        }
        Local { pc, regs }
    }

    fn eval(&self, expr: &Expr, regs: &[Value]) -> Value {
        self.code.values.eval(expr, regs)
    }
}

impl Program for Machine {
    type Local = Local;

    fn initial(&self) -> &[Value] {
        &self.initial
    }

    fn threads(&self) -> usize {
        self.code.threads.len()
    }

    fn start(&self, thread: usize) -> Vec<Next<Local>> {
        self.settle(thread, 0, vec![0; self.code.threads[thread].regs.len()].into())
    }

    fn action(&self, thread: usize, local: &Local) -> Option<Action> {
        let access = self.access(thread, local)?;
        let eval = |expr: &Expr| self.eval(expr, &local.regs);
        let op = match &access.kind {
            AccessKind::Load => Op::Load,
            AccessKind::Wait(values) => Op::Wait(values.iter().map(eval).collect()),
            AccessKind::Store(value) => Op::Store(eval(value)),
            AccessKind::FetchAdd(operand) => {
                let operand = self.code.values.addend(operand, &local.regs);
                Op::FetchAdd { operand, modulus: self.code.modulus() }
            }
            AccessKind::Exchange(value) => Op::Exchange(eval(value)),
            AccessKind::Cas { expected, new } => Op::Cas { expected: eval(expected), new: eval(new) },
            AccessKind::WeakCas { expected, new } => Op::WeakCas { expected: eval(expected), new: eval(new) },
            AccessKind::BlockingCas { expected, new } => {
                Op::BlockingCas { expected: eval(expected), new: eval(new) }
            }
            AccessKind::Fence => Op::Fence,
        };
        Some(Action { op, loc: access.loc, mode: access.mode, failure: access.failure, site: access.site })
    }

    fn after(&self, thread: usize, local: &Local, outcome: Outcome) -> Vec<Next<Local>> {
        if self.access(thread, local).is_none() {
            return Vec::new();
        }
        let (pc, regs) = self.resume(thread, local, outcome);
        self.settle(thread, pc, regs)
    }
}

/// For every instruction, the registers that some later instruction may read before they are assigned again.
fn liveness(thread: &Thread) -> Vec<Vec<bool>> {
    let count = thread.instrs.len();
    let mut live = vec![vec![false; thread.regs.len()]; count + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for pc in (0..count).rev() {
            let mut after = vec![false; thread.regs.len()];
            for next in successors(&thread.instrs[pc], pc as Pc) {
                for (a, b) in after.iter_mut().zip(&live[next as usize]) {
                    *a |= *b;
                }
            }
            let (assigned, used) = effect(&thread.instrs[pc]);
            if let Some(reg) = assigned {
                after[usize::from(reg)] = false;
            }
            for expr in used {
                mark_used(expr, &mut after);
            }
            if live[pc] != after {
                live[pc] = after;
                changed = true;
            }
        }
    }
    live.truncate(count);
    live
}

/// The instructions that may come after one.
pub fn successors(instr: &Instr, pc: Pc) -> Vec<Pc> {
    match instr {
        Instr::Jump(target) => vec![*target],
        Instr::Branch(_, target) => vec![pc + 1, *target],
        Instr::Choose(targets) => targets.clone(),
        Instr::End => vec![],
        _ => vec![pc + 1],
    }
}

/// The register that an instruction assigns, and the expressions it evaluates before.
fn effect(instr: &Instr) -> (Option<Reg>, Vec<&Expr>) {
    match instr {
        Instr::Assign(reg, expr) => (Some(*reg), vec![expr]),
        Instr::Branch(expr, _) | Instr::Assume(expr) | Instr::Assert(expr, _) | Instr::Fits(expr, _) => {
            (None, vec![expr])
        }
        Instr::Jump(_) | Instr::Choose(_) | Instr::End => (None, vec![]),
        Instr::Access(access) => (access.dest, operands(&access.kind)),
    }
}

/// The expressions that a memory instruction evaluates.
pub fn operands(kind: &AccessKind) -> Vec<&Expr> {
    match kind {
        AccessKind::Load | AccessKind::Fence => vec![],
        AccessKind::Wait(values) => values.iter().collect(),
        AccessKind::Store(e) | AccessKind::FetchAdd(e) | AccessKind::Exchange(e) => vec![e],
        AccessKind::Cas { expected, new }
        | AccessKind::WeakCas { expected, new }
        | AccessKind::BlockingCas { expected, new } => vec![expected, new],
    }
}

fn mark_used(expr: &Expr, live: &mut [bool]) {
    match expr {
        Expr::Const(_) => {}
        Expr::Reg(reg) => live[usize::from(*reg)] = true,
        Expr::Unary(_, e) => mark_used(e, live),
        Expr::Binary(_, a, b) => {
            mark_used(a, live);
            mark_used(b, live);
        }
    }
}

/// Whether the register's initial 0 is never read.
pub fn assigned_before_use(thread: &Thread, reg: Reg) -> bool {
    !liveness(thread)[0][usize::from(reg)]
}
