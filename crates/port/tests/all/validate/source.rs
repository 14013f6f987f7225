//! Finite-state programs (TPL, litmus) as written, for the analysis and for the oracle.
//!
//! The two sides share instruction numbers: node `n` of a function is instruction `n` of its threads, of which there may be
//! several (`fn t[2]`); then the analysis is told that there may be any number of them. For the oracle every
//! place where a fence may be put gets a marker, a fence that orders nothing; whether it stands for a fence is decided
//! graph by graph ([`crate::validate::hardware`]). So one enumeration serves all machines and all placements.

use seqcst_model::{Mode, Model, Program as _};
use seqcst_port::program::{
    Access, Base, Dependency, DependencyKind, Edge, Function, Kind, Location, Node, NodeKind, Point, Program,
};
use seqcst_program::code::{self, AccessKind, Code, Expr, Instr, Pc};
use seqcst_program::semantics::{Machine, operands, successors};
use seqcst_program::{lower, parse};
use std::collections::{BTreeMap, BTreeSet};

/// A program in both forms.
pub struct Source {
    /// For the analysis.
    pub program: Program,
    /// For the oracle, with markers.
    pub machine: Machine,
    /// The instructions as written.
    pub code: Code,
    /// What the sites of the oracle's events stand for.
    pub sites: Vec<Stands>,
}

/// What an event of the oracle stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stands {
    /// A marker.
    For(Point),
    /// A node.
    Node { function: usize, node: usize },
}

impl Source {
    /// Reads a program.
    pub fn read(text: &str, name: &str) -> Source {
        let parsed = parse(text.as_bytes(), name).unwrap_or_else(|e| panic!("{name}: {e:?}\n{text}"));
        Source::of(as_written(lower(&parsed.program, Model::Rc20).expect("C11's model")))
    }

    fn of(code: Code) -> Source {
        let mut sites = Vec::new();
        let base = |thread: &code::Thread| thread.name.split('[').next().unwrap_or_default().to_owned();
        let mut names: Vec<String> = Vec::new();
        let mut functions: Vec<Function> = Vec::new();
        let mut threads = Vec::new();
        for thread in &code.threads {
            let known = names.iter().position(|name| *name == base(thread));
            let number = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(base(thread));
                functions.push(function(number, thread));
            }
            functions[number].many |= thread.name.contains('[');
            threads.push(with_markers(number, thread, &mut sites));
        }
        let marked = Code { threads, ..code.clone() };
        let program = Program {
            functions,
            locations: (0..code.locations.len())
                .map(|n| Location {
                    name: code.locations[n].name.clone(),
                    base: Base::Global(n as u32),
                    offset: Some(0),
                    size: 4,
                })
                .collect(),
        };
        Source { program, machine: Machine::new(marked), code, sites }
    }

    /// Whether some thread can go round in circles.
    pub fn has_loops(&self) -> bool {
        self.code.threads.iter().any(|thread| {
            thread
                .instrs
                .iter()
                .enumerate()
                .any(|(pc, instr)| successors(instr, pc as Pc).iter().any(|&to| to <= pc as Pc))
        })
    }

    /// Whether no thread has a branch.
    pub fn is_straight(&self) -> bool {
        let local = |i: &Instr| {
            matches!(
                i,
                Instr::Access(_) | Instr::End | Instr::Assign(..) | Instr::Assert(..) | Instr::Fits(..)
            )
        };
        self.code.threads.iter().all(|thread| thread.instrs.iter().all(local))
    }

    /// Whether some function has several threads.
    pub fn is_repeated(&self) -> bool {
        self.program.functions.iter().any(|function| function.many)
    }

    /// Whether every instruction can go on with any value.
    pub fn is_indifferent(&self) -> bool {
        use AccessKind::{Exchange, Fence, FetchAdd, Load, Store};
        let indifferent = |instr: &Instr| match instr {
            Instr::Access(access) => {
                matches!(access.kind, Load | Store(_) | FetchAdd(_) | Exchange(_) | Fence)
            }
            _ => true,
        };
        self.code.threads.iter().all(|thread| thread.instrs.iter().all(indifferent))
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.machine.threads()
    }
}

/// Undoes what lowering for RC20 does to SC accesses and fences.
fn as_written(mut code: Code) -> Code {
    let hidden = code.locations.iter().position(|l| l.hidden);
    for thread in &mut code.threads {
        let mut places = Vec::new();
        let mut kept: Vec<Instr> = Vec::new();
        let mut strengthen = None;
        for instr in thread.instrs.drain(..) {
            places.push(kept.len() as Pc);
            let Instr::Access(mut access) = instr else {
                kept.push(instr);
                continue;
            };
            let last = |kept: &Vec<Instr>| match kept.last() {
                Some(Instr::Access(a)) if a.site == access.site && a.kind == AccessKind::Fence => {
                    Some(a.mode)
                }
                _ => None,
            };
            let is_fence = access.kind == AccessKind::Fence;
            if !is_fence && Some(access.loc.index()) == hidden {
                // acquire fence, this, release fence: an SC fence.
                if let Some(Instr::Access(fence)) = kept.last_mut() {
                    fence.mode = Mode::SeqCst;
                }
                *places.last_mut().unwrap() -= 1;
            } else if is_fence && last(&kept) == Some(Mode::SeqCst) {
                *places.last_mut().unwrap() -= 1;
                strengthen = Some(access.site);
            } else if is_fence && last(&kept) == Some(Mode::Acquire) && access.mode == Mode::Release {
                if let Some(Instr::Access(fence)) = kept.last_mut() {
                    fence.mode = Mode::AcqRel;
                }
                *places.last_mut().unwrap() -= 1;
            } else {
                if !is_fence && strengthen == Some(access.site) && last(&kept) == Some(Mode::SeqCst) {
                    kept.pop();
                    *places.last_mut().unwrap() -= 1;
                    access.mode = Mode::SeqCst;
                }
                kept.push(Instr::Access(access));
            }
        }
        let moved = |pc: &mut Pc| *pc = places[*pc as usize];
        for instr in &mut kept {
            match instr {
                Instr::Jump(pc) | Instr::Branch(_, pc) => moved(pc),
                Instr::Choose(pcs) => pcs.iter_mut().for_each(moved),
                _ => {}
            }
        }
        thread.instrs = kept;
    }
    code.locations.retain(|l| !l.hidden);
    code
}

fn with_markers(function: usize, thread: &code::Thread, sites: &mut Vec<Stands>) -> code::Thread {
    let marker = |point: Point, sites: &mut Vec<Stands>| {
        sites.push(Stands::For(point));
        let loc = seqcst_model::Loc(0);
        let site = sites.len() as u32 - 1;
        let (kind, mode) = (AccessKind::Fence, Mode::Relaxed);
        Instr::Access(code::Access { kind, loc, mode, failure: None, dest: None, site })
    };
    let mut instrs = Vec::new();
    let mut places = Vec::new();
    let mut jumps: Vec<(usize, Pc)> = Vec::new();
    for (node, instr) in thread.instrs.iter().enumerate() {
        places.push(instrs.len() as Pc);
        if !matches!(instr, Instr::End) {
            instrs.push(marker(Point::Before { function, node }, sites));
        }
        match instr {
            Instr::Access(access) => {
                sites.push(Stands::Node { function, node });
                let site = sites.len() as u32 - 1;
                let access = code::Access { site, mode: Mode::Relaxed, failure: None, ..access.clone() };
                instrs.push(Instr::Access(access));
            }
            Instr::Branch(condition, target) => {
                instrs.push(Instr::Branch(condition.clone(), instrs.len() as Pc + 3));
                instrs.push(marker(Point::On { function, from: node, edge: 0 }, sites));
                jumps.push((instrs.len(), node as Pc + 1));
                instrs.push(Instr::Jump(0));
                instrs.push(marker(Point::On { function, from: node, edge: 1 }, sites));
                jumps.push((instrs.len(), *target));
                instrs.push(Instr::Jump(0));
            }
            Instr::Jump(target) => {
                jumps.push((instrs.len(), *target));
                instrs.push(Instr::Jump(0));
            }
            Instr::Choose(targets) => {
                let first = instrs.len() as Pc + 1;
                instrs.push(Instr::Choose((0..targets.len() as Pc).map(|n| first + 2 * n).collect()));
                for (edge, target) in targets.iter().enumerate() {
                    instrs.push(marker(Point::On { function, from: node, edge }, sites));
                    jumps.push((instrs.len(), *target));
                    instrs.push(Instr::Jump(0));
                }
            }
            other => instrs.push(other.clone()),
        }
    }
    for (at, target) in jumps {
        instrs[at] = Instr::Jump(places[target as usize]);
    }
    code::Thread { instrs, ..thread.clone() }
}

fn function(number: usize, thread: &code::Thread) -> Function {
    let depends = dependencies(thread);
    let node = |(pc, instr): (usize, &Instr)| {
        let next = successors(instr, pc as Pc).into_iter().map(|to| Edge::to(to as usize)).collect();
        let what = match instr {
            Instr::Access(access) if access.kind == AccessKind::Fence => NodeKind::Fence(access.mode),
            Instr::Access(access) => NodeKind::Access(Access {
                kind: match access.kind {
                    AccessKind::Load | AccessKind::Wait(_) => Kind::Load,
                    AccessKind::Store(_) => Kind::Store,
                    AccessKind::Cas { .. } | AccessKind::WeakCas { .. } => Kind::Cas,
                    _ => Kind::Rmw,
                },
                order: access.mode,
                failure: access.failure.unwrap_or(access.mode.read_part()),
                location: access.loc.index(),
                size: 4,
                volatile: false,
                depends: depends.get(&pc).cloned().unwrap_or_default(),
            }),
            _ => NodeKind::Nothing,
        };
        Node { kind: what, next, depth: 0, place: None, tag: (number << 16 | pc) as u32 }
    };
    let nodes = thread.instrs.iter().enumerate().map(node).collect();
    Function { name: thread.name.clone(), nodes, entry: 0, many: false }
}

/// What registers and branches hang on at an instruction: numbers of instructions that read.
#[derive(Clone, Default, PartialEq)]
struct Taint {
    registers: BTreeMap<u16, BTreeSet<usize>>,
    branches: BTreeSet<usize>,
}

impl Taint {
    fn of(&self, expr: &Expr) -> BTreeSet<usize> {
        match expr {
            Expr::Const(_) => BTreeSet::new(),
            Expr::Reg(reg) => self.registers.get(reg).cloned().unwrap_or_default(),
            Expr::Unary(_, e) => self.of(e),
            Expr::Binary(_, a, b) => &self.of(a) | &self.of(b),
        }
    }

    fn step(&self, pc: usize, instr: &Instr) -> Taint {
        let mut after = self.clone();
        match instr {
            Instr::Assign(reg, expr) => {
                after.registers.insert(*reg, self.of(expr));
            }
            Instr::Branch(expr, _) | Instr::Assume(expr) | Instr::Assert(expr, _) | Instr::Fits(expr, _) => {
                after.branches.extend(self.of(expr));
            }
            Instr::Access(access) => {
                if let Some(dest) = access.dest {
                    after.registers.insert(dest, BTreeSet::from([pc]));
                }
            }
            _ => {}
        }
        after
    }
}

fn dependencies(thread: &code::Thread) -> BTreeMap<usize, Vec<Dependency>> {
    let mut before = vec![Taint::default(); thread.instrs.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (pc, instr) in thread.instrs.iter().enumerate() {
            let after = before[pc].step(pc, instr);
            for to in successors(instr, pc as Pc) {
                let there = &mut before[to as usize];
                let old = there.clone();
                for (reg, reads) in &after.registers {
                    there.registers.entry(*reg).or_default().extend(reads);
                }
                there.branches.extend(&after.branches);
                changed |= old != *there;
            }
        }
    }
    let straight = !thread.instrs.iter().any(|i| matches!(i, Instr::Branch(..) | Instr::Choose(_)));
    let found = thread.instrs.iter().enumerate().filter_map(|(pc, instr)| {
        let Instr::Access(access) = instr else { return None };
        let data = operands(&access.kind).into_iter().flat_map(|e| before[pc].of(e));
        let data = data.map(|on| Dependency { on, kind: DependencyKind::Data, certain: straight });
        let ctrl = before[pc].branches.iter();
        let ctrl = ctrl.map(|&on| Dependency { on, kind: DependencyKind::Control, certain: straight });
        Some((pc, data.chain(ctrl).collect()))
    });
    found.collect()
}

/// One step of a thread that is replayed along its events: which earlier events each event depends on.
pub struct Replay<'a> {
    code: &'a Code,
    thread: usize,
    pc: usize,
    values: Vec<u32>,
    taint: Taint,
    /// Whether a compare-and-swap is a loop of its own, with a branch on what it has read and what it looks for.
    loops: bool,
}

impl<'a> Replay<'a> {
    /// At the start of a thread.
    pub fn new(code: &'a Code, thread: usize, loops: bool) -> Replay<'a> {
        let values = vec![0; code.threads[thread].regs.len()];
        Replay { code, thread, pc: 0, values, taint: Taint::default(), loops }
    }

    /// Goes on to the access at this instruction, which is event number `event` and left this value in its register; gives
    /// the events it depends on, by data and by control.
    pub fn access(&mut self, node: usize, event: usize, value: Option<u32>) -> (Vec<usize>, Vec<usize>) {
        let instrs = &self.code.threads[self.thread].instrs;
        let mut steps = 0;
        while self.pc != node && steps < 1000 {
            steps += 1;
            let instr = &instrs[self.pc];
            self.taint = self.taint.step(self.pc, instr);
            match instr {
                Instr::Assign(reg, e) => {
                    self.values[usize::from(*reg)] = self.code.values.eval(e, &self.values);
                    self.pc += 1;
                }
                Instr::Branch(e, to) if self.code.values.eval(e, &self.values) != 0 => self.pc = *to as usize,
                Instr::Jump(to) => self.pc = *to as usize,
                // Branches stand one behind the other: the one that the access is in.
                Instr::Choose(targets) => {
                    let chosen = targets.iter().map(|to| *to as usize).filter(|to| *to <= node).max();
                    self.pc = chosen.unwrap_or(targets[0] as usize);
                }
                _ => self.pc += 1,
            }
        }
        let Instr::Access(access) = &instrs[node] else { return Default::default() };
        let data = operands(&access.kind).into_iter().flat_map(|e| self.taint.of(e)).collect();
        let ctrl = self.taint.branches.iter().copied().collect();
        if let AccessKind::Cas { expected, .. } | AccessKind::WeakCas { expected, .. } = &access.kind
            && self.loops
        {
            self.taint.branches.extend(self.taint.of(expected));
            self.taint.branches.insert(event);
        }
        if let Some(dest) = access.dest {
            self.taint.registers.insert(dest, BTreeSet::from([event]));
            self.values[usize::from(dest)] = value.unwrap_or(0);
        }
        self.pc = node + 1;
        (data, ctrl)
    }
}
