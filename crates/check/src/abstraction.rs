//! Forgetting data: a program with more executions and far fewer states.
//!
//! Robustness seldom depends on most of the data. [`forget`] turns a program into one that tracks only some registers
//! and locations: all others hold 0 for ever, conditions on them become free choices, and comparisons with them may
//! go either way. Every execution graph of the program is, up to the values of its events, an execution graph of the
//! result, under every memory model. So if the result is robust, the program is.
//!
//! What happens to accesses whose comparison is unknown: a `wait` becomes a load, a blocking CAS an exchange, a CAS a
//! free choice between an exchange and a load. The events are those that the access has when it succeeds (or fails),
//! and the questions that a monitor asks of them are the weaker ones ("is there any stale value?").
//!
//! Assertions and tests of ranges are dropped: they are checked apart, on the program itself, without a monitor.

use seqcst_model::{Loc, Mode};
use seqcst_program::code::{Access, AccessKind, Code, Expr, Instr, Pc, Reg, Thread};
use seqcst_program::semantics::operands;

/// The registers and locations whose values are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tracked {
    locations: Vec<bool>,
    regs: Vec<Vec<bool>>,
}

impl Tracked {
    /// Nothing: control alone is left.
    pub fn nothing(code: &Code) -> Tracked {
        Tracked {
            locations: vec![false; code.locations.len()],
            regs: code.threads.iter().map(|t| vec![false; t.regs.len()]).collect(),
        }
    }

    /// Whether a location's values are kept.
    pub fn location(&self, x: Loc) -> bool {
        self.locations[x.index()]
    }

    /// Whether a register's values are kept.
    pub fn reg(&self, thread: usize, reg: Reg) -> bool {
        self.regs[thread][usize::from(reg)]
    }

    /// Adds a location.
    pub fn add_location(&mut self, x: Loc) {
        self.locations[x.index()] = true;
    }

    /// Adds the registers of an expression.
    pub fn add_expr(&mut self, thread: usize, expr: &Expr) {
        for_each_reg(expr, &mut |reg| self.regs[thread][usize::from(reg)] = true);
    }

    /// Whether the value of an expression is known.
    pub fn knows(&self, thread: usize, expr: &Expr) -> bool {
        let mut known = true;
        for_each_reg(expr, &mut |reg| known &= self.reg(thread, reg));
        known
    }

    /// Adds all that values of tracked registers and locations are computed from.
    pub fn close(&mut self, code: &Code) {
        loop {
            let before = self.clone();
            for (index, thread) in code.threads.iter().enumerate() {
                for instr in &thread.instrs {
                    match instr {
                        Instr::Assign(reg, expr) if self.reg(index, *reg) => self.add_expr(index, expr),
                        Instr::Access(access) => self.close_access(index, access),
                        _ => {}
                    }
                }
            }
            if *self == before {
                return;
            }
        }
    }

    fn close_access(&mut self, thread: usize, access: &Access) {
        // The flag that a weak CAS returns says nothing about values.
        let gets_value = !matches!(access.kind, AccessKind::WeakCas { .. } | AccessKind::Fence);
        if gets_value && access.dest.is_some_and(|reg| self.reg(thread, reg)) {
            self.add_location(access.loc);
        }
        if access.kind != AccessKind::Fence && self.location(access.loc) {
            match &access.kind {
                AccessKind::Store(e) | AccessKind::FetchAdd(e) | AccessKind::Exchange(e) => {
                    self.add_expr(thread, e);
                }
                AccessKind::Cas { new, .. }
                | AccessKind::WeakCas { new, .. }
                | AccessKind::BlockingCas { new, .. } => self.add_expr(thread, new),
                AccessKind::Load | AccessKind::Wait(_) | AccessKind::Fence => {}
            }
        }
    }

    /// Whether the comparison that decides on the access is known.
    pub fn decides(&self, thread: usize, access: &Access) -> bool {
        match &access.kind {
            AccessKind::Wait(values) => {
                self.location(access.loc) && values.iter().all(|e| self.knows(thread, e))
            }
            AccessKind::Cas { expected, .. }
            | AccessKind::WeakCas { expected, .. }
            | AccessKind::BlockingCas { expected, .. } => {
                self.location(access.loc) && self.knows(thread, expected)
            }
            _ => true,
        }
    }

    /// Adds what it takes to decide on the access; false if that was known already.
    pub fn add_access(&mut self, thread: usize, access: &Access) -> bool {
        let before = self.clone();
        self.add_location(access.loc);
        operands(&access.kind).into_iter().for_each(|e| self.add_expr(thread, e));
        *self != before
    }
}

fn for_each_reg(expr: &Expr, visit: &mut impl FnMut(Reg)) {
    match expr {
        Expr::Const(_) => {}
        Expr::Reg(reg) => visit(*reg),
        Expr::Unary(_, e) => for_each_reg(e, visit),
        Expr::Binary(_, a, b) => {
            for_each_reg(a, visit);
            for_each_reg(b, visit);
        }
    }
}

/// A program that tracks only some data.
#[derive(Clone, Debug)]
pub struct Forgetful {
    /// The program.
    pub code: Code,
    /// For every thread and instruction, the instruction of the original program it stands for.
    pub origin: Vec<Vec<Pc>>,
}

/// The program that tracks only `tracked`, which must be closed.
pub fn forget(code: &Code, tracked: &Tracked) -> Forgetful {
    let mut threads = Vec::new();
    let mut origin = Vec::new();
    for (index, thread) in code.threads.iter().enumerate() {
        let (thread, from) = forget_in_thread(index, thread, tracked);
        threads.push(thread);
        origin.push(from);
    }
    let mut locations = code.locations.clone();
    for (location, kept) in locations.iter_mut().zip(&tracked.locations) {
        location.initial = if *kept { location.initial } else { 0 };
    }
    let code = Code { locations, threads, ..code.clone() };
    Forgetful { code, origin }
}

/// A target of a jump while code is being emitted: an instruction of the original, or a place in the new code.
#[derive(Clone, Copy)]
enum Target {
    Original(Pc),
    Here(Pc),
}

struct Emitter<'a> {
    index: usize,
    tracked: &'a Tracked,
    instrs: Vec<Instr>,
    origin: Vec<Pc>,
    /// Jumps whose targets are filled in at the end.
    pending: Vec<(usize, Vec<Target>)>,
    pc: Pc,
}

fn forget_in_thread(index: usize, thread: &Thread, tracked: &Tracked) -> (Thread, Vec<Pc>) {
    let mut out =
        Emitter { index, tracked, instrs: Vec::new(), origin: Vec::new(), pending: Vec::new(), pc: 0 };
    let end = thread.instrs.len() as Pc - 1;
    let mut start = Vec::new();
    for (pc, instr) in thread.instrs.iter().enumerate() {
        out.pc = pc as Pc;
        start.push(out.instrs.len() as Pc);
        let next = Target::Original(out.pc + 1);
        match instr {
            Instr::Assign(reg, _) if !tracked.reg(index, *reg) => {}
            Instr::Assign(..) | Instr::End => out.emit(instr.clone()),
            Instr::Branch(e, target) if tracked.knows(index, e) => {
                out.jump(Instr::Branch(e.clone(), 0), vec![Target::Original(*target)]);
            }
            Instr::Branch(_, target) => out.choose(vec![next, Target::Original(*target)]),
            Instr::Jump(target) => out.jump(Instr::Jump(0), vec![Target::Original(*target)]),
            Instr::Choose(targets) => {
                out.choose(targets.iter().map(|pc| Target::Original(*pc)).collect());
            }
            Instr::Assume(e) if tracked.knows(index, e) => out.emit(instr.clone()),
            Instr::Assume(_) => out.choose(vec![next, Target::Original(end)]),
            Instr::Assert(..) | Instr::Fits(..) => {}
            Instr::Access(access) => out.access(access),
        }
    }
    for (at, targets) in out.pending {
        let mut targets = targets.into_iter().map(|target| match target {
            Target::Original(pc) => start[pc as usize],
            Target::Here(pc) => pc,
        });
        match &mut out.instrs[at] {
            Instr::Branch(_, to) | Instr::Jump(to) => *to = targets.next().unwrap_or(0),
            Instr::Choose(to) => *to = targets.collect(),
            _ => {}
        }
    }
    (Thread { name: thread.name.clone(), instrs: out.instrs, regs: thread.regs.clone() }, out.origin)
}

impl Emitter<'_> {
    fn emit(&mut self, instr: Instr) {
        self.instrs.push(instr);
        self.origin.push(self.pc);
    }

    fn jump(&mut self, instr: Instr, targets: Vec<Target>) {
        self.pending.push((self.instrs.len(), targets));
        self.emit(instr);
    }

    fn choose(&mut self, targets: Vec<Target>) {
        self.jump(Instr::Choose(vec![]), targets);
    }

    fn access(&mut self, access: &Access) {
        let kept = self.tracked.location(access.loc) || access.kind == AccessKind::Fence;
        let known = |e: &Expr| if kept { e.clone() } else { Expr::Const(0) };
        let dest = access.dest.filter(|reg| self.tracked.reg(self.index, *reg));
        let with = |kind: AccessKind, mode: Mode, dest: Option<Reg>| {
            Instr::Access(Access { kind, mode, dest, ..access.clone() })
        };
        let mode = access.mode;
        if self.tracked.decides(self.index, access) {
            let kind = match &access.kind {
                AccessKind::Store(e) => AccessKind::Store(known(e)),
                AccessKind::FetchAdd(_) if !kept => AccessKind::Exchange(Expr::Const(0)),
                AccessKind::Exchange(e) => AccessKind::Exchange(known(e)),
                other => other.clone(),
            };
            return self.emit(with(kind, mode, dest));
        }
        match &access.kind {
            AccessKind::BlockingCas { new, .. } => {
                self.emit(with(AccessKind::Exchange(known(new)), mode, dest));
            }
            AccessKind::Cas { new, .. } | AccessKind::WeakCas { new, .. } => {
                let weak = matches!(access.kind, AccessKind::WeakCas { .. });
                let value_dest = if weak { None } else { dest };
                let flag = |value| dest.filter(|_| weak).map(|reg| Instr::Assign(reg, Expr::Const(value)));
                let size = 2 + Pc::from(weak && dest.is_some());
                let here = self.instrs.len() as Pc;
                self.choose(vec![Target::Here(here + 1), Target::Here(here + 1 + size)]);
                self.emit(with(AccessKind::Exchange(known(new)), mode, value_dest));
                flag(1).into_iter().for_each(|instr| self.emit(instr));
                self.jump(Instr::Jump(0), vec![Target::Original(self.pc + 1)]);
                let failed = access.failure.unwrap_or(mode.read_part());
                self.emit(with(AccessKind::Load, failed, value_dest));
                flag(0).into_iter().for_each(|instr| self.emit(instr));
            }
            _ => self.emit(with(AccessKind::Load, mode, dest)),
        }
    }
}
