//! A client as a finite-state program: every location of every record is a global, every access through a pointer or an
//! index is a choice among these.

use super::codec::Codec;
use super::names::{Coded, names};
use super::sets::short;
use super::syntax::{NEVER, at, binary, blocking_cas, number, register, stop, stops, word};
use super::values::{ADDRESSES, ALLOCATIONS, Env, Key, STRIDE, Values};
use super::{Client, Unsupported};
use crate::code::{Access as Operation, AccessKind, Library, LocalId, Method, Mode, Statement};
use seqcst_program::ast::{Access, Block, Location, Program, StmtKind, Thread};
use seqcst_program::code::Binary;
use seqcst_program::{MAX_LOCALS, MAX_THREADS};
use std::collections::{BTreeMap, BTreeSet};

/// What plain accesses of non-atomic fields become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plain {
    /// Relaxed accesses, as robustness sees them.
    Relaxed,
    /// Non-atomic accesses: data races are looked for.
    NonAtomic,
}

/// A client as a program.
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Why it leaves something out that the client might do.
    pub limit: Option<String>,
}

/// The program of a client.
pub fn program(library: &Library, client: &Client, plain: Plain) -> Result<Compiled, Unsupported> {
    if client.threads.len() > MAX_THREADS {
        return Err(Unsupported(format!("more than {MAX_THREADS} threads")));
    }
    let values = Values::of(library, client)?;
    let codec = Codec::new(&values)?;
    let names = names(library, &values)?;
    let mut compiler = Compiler { library, plain, values, codec, names, limit: None };
    let mut threads = Vec::new();
    let mut call = 0;
    for (index, calls) in client.threads.iter().enumerate() {
        let mut thread = Coded { registers: Vec::new(), used: BTreeSet::new(), labels: 0 };
        thread.used.extend(compiler.names.values().cloned().chain([NEVER.to_owned()]));
        let mut body = Block::new();
        for each in calls {
            compiler.call(each.method(library)?, &each.arguments, call, &mut thread, &mut body)?;
            call += 1;
        }
        if thread.registers.len() > MAX_LOCALS {
            return Err(Unsupported("too many variables in one thread".to_owned()));
        }
        let locals = thread.registers.into_iter().map(word).collect();
        threads.push(Thread { name: word(format!("thread{}", index + 1)), count: None, locals, body });
    }
    let max_value = u32::try_from(compiler.codec.modulus - 1).unwrap_or(u32::MAX);
    let mut locations = compiler.locations();
    compiler.codec.finish()?;
    if threads.iter().any(|thread: &Thread| stops(&thread.body)) {
        locations.push(Location { name: word(NEVER), initial: None, non_atomic: false });
    }
    let program =
        Program { min_value: None, max_value: Some(at(max_value)), locations, tracks: vec![], threads };
    Ok(Compiled { program, limit: compiler.limit })
}

pub struct Compiler<'a> {
    /// The library after ρ.
    pub library: &'a Library,
    /// What plain accesses become.
    pub plain: Plain,
    /// What may be where.
    pub values: Values,
    /// How numbers are written.
    pub codec: Codec,
    /// Names of locations.
    pub names: BTreeMap<Key, String>,
    /// Why something is left out.
    limit: Option<String>,
}

/// A call in the making.
pub struct Frame<'m> {
    method: &'m Method,
    number: usize,
    /// Registers of variables.
    pub registers: Vec<String>,
    /// A register for values in between.
    pub between: String,
    /// Counters of allocations in loops.
    counters: BTreeMap<u32, String>,
    end: String,
    /// Labels of loops, innermost last: the head and what comes after.
    loops: Vec<(String, String)>,
}

impl Compiler<'_> {
    fn locations(&self) -> Vec<Location> {
        let mut locations = Vec::new();
        for (key, name) in &self.names {
            let initial = self.codec.value(self.values.initial(self.library, *key));
            locations.push(Location {
                name: word(name.clone()),
                initial: (initial != 0).then(|| at(i64::from(initial))),
                non_atomic: self.is_plain(*key),
            });
        }
        for address in &self.values.freed {
            locations.push(Location { name: word(self.free(*address)), initial: None, non_atomic: false });
        }
        locations
    }

    /// Is the location accessed without atomics?
    pub fn is_plain(&self, key: Key) -> bool {
        self.plain == Plain::NonAtomic && !self.library.classes[key.class.0 as usize].is_atomic
    }

    /// The location that says whether a record has been freed.
    fn free(&self, address: i64) -> String {
        match address < 0 {
            true => format!("free_fixed_{}", -address / STRIDE),
            false => format!("free_{}", (address - ADDRESSES) / STRIDE + 1),
        }
    }

    fn call(
        &mut self,
        method: &Method,
        arguments: &[i64],
        number: usize,
        thread: &mut Coded,
        out: &mut Block,
    ) -> Result<(), Unsupported> {
        let suffix = number + 1;
        let registers: Vec<String> =
            method.locals.iter().map(|local| thread.register(&format!("{}_{suffix}", local.name))).collect();
        let mut frame = Frame {
            method,
            number,
            registers,
            between: thread.register(&format!("read_{suffix}")),
            counters: BTreeMap::new(),
            end: thread.label("end"),
            loops: Vec::new(),
        };
        for (parameter, argument) in method.parameters.iter().zip(arguments) {
            let value = self::number(self.codec.value(*argument));
            out.push(at(StmtKind::Assign(word(frame.name(*parameter)), value)));
        }
        let mut body = Block::new();
        self.block(&method.body, &mut frame, thread, &mut body)?;
        for counter in frame.counters.values() {
            out.push(at(StmtKind::Assign(word(counter.clone()), self::number(0))));
        }
        out.extend(body);
        out.push(at(StmtKind::Label(word(frame.end))));
        Ok(())
    }

    fn block(
        &mut self,
        block: &[Statement],
        frame: &mut Frame,
        thread: &mut Coded,
        out: &mut Block,
    ) -> Result<(), Unsupported> {
        for statement in block {
            let point = (frame.number, std::ptr::from_ref(statement) as usize);
            // What no execution reaches needs no code.
            let Some(env) = self.values.before.get(&point).cloned() else {
                out.push(stop());
                return Ok(());
            };
            match statement {
                Statement::Access(access) => self.access(access, &env, frame, thread, out)?,
                Statement::Assign { to, value } => {
                    let value = self.expr(value, &env, frame)?;
                    out.push(at(StmtKind::Assign(word(frame.name(*to)), value)));
                }
                Statement::If { condition, then, otherwise } => {
                    let (mut yes, mut no) = (Block::new(), Block::new());
                    self.block(then, frame, thread, &mut yes)?;
                    self.block(otherwise, frame, thread, &mut no)?;
                    out.push(at(StmtKind::If(self.expr(condition, &env, frame)?, yes, no)));
                }
                Statement::Loop { body, .. } => {
                    let labels = (thread.label("again"), thread.label("after"));
                    frame.loops.push(labels.clone());
                    out.push(at(StmtKind::Label(word(labels.0.clone()))));
                    self.block(body, frame, thread, out)?;
                    out.push(at(StmtKind::Goto(word(labels.0))));
                    out.push(at(StmtKind::Label(word(labels.1))));
                    frame.loops.pop();
                }
                Statement::Break(depth) | Statement::Continue(depth) => {
                    let Some((head, after)) = frame.loops.iter().rev().nth(*depth as usize) else {
                        return Err(Unsupported("a jump out of a loop that is none".to_owned()));
                    };
                    let target = if matches!(statement, Statement::Break(_)) { after } else { head };
                    out.push(at(StmtKind::Goto(word(target.clone()))));
                }
                Statement::Return(_) => out.push(at(StmtKind::Goto(word(frame.end.clone())))),
                Statement::Assume(condition) => {
                    out.push(at(StmtKind::If(self.expr(condition, &env, frame)?, vec![], vec![stop()])));
                }
            }
        }
        Ok(())
    }

    fn access(
        &mut self,
        access: &Operation,
        env: &Env,
        frame: &mut Frame,
        thread: &mut Coded,
        out: &mut Block,
    ) -> Result<(), Unsupported> {
        match &access.kind {
            AccessKind::Fence { order: Mode::Relaxed } => Ok(()),
            AccessKind::Fence { order } => {
                out.push(at(StmtKind::Access(None, Access::Fence(at(*order)))));
                Ok(())
            }
            AccessKind::Allocate { to, is_zeroed, record } => {
                let choices = self.allocate(access, *to, frame, thread);
                out.push(match <[Block; 1]>::try_from(choices) {
                    Ok([only]) => {
                        out.extend(only);
                        return Ok(());
                    }
                    Err(choices) => at(StmtKind::OneOf(choices)),
                });
                if *is_zeroed {
                    // A record that was freed has its old values.
                    let keys: Vec<Key> = self.names.keys().copied().collect();
                    for key in keys {
                        let class = &self.library.classes[key.class.0 as usize];
                        if class.record == Some(*record) && self.values.freed.contains(&key.base) {
                            let is_it = self.is(register(frame.name(*to)), key.base);
                            let zero = self.store(
                                key,
                                number(self.codec.value(short(class.initial))),
                                Mode::Relaxed,
                            );
                            out.push(at(StmtKind::If(is_it, vec![zero], vec![])));
                        }
                    }
                }
                Ok(())
            }
            AccessKind::Free { pointer, .. } => {
                let pointers = self.values.eval(pointer, env)?;
                let mut otherwise = vec![stop()];
                for address in pointers.into_iter().filter(|p| self.values.freed.contains(p)).rev() {
                    let is_it = self.is(self.expr(pointer, env, frame)?, address);
                    let free = blocking_cas(&self.free(address), number(0), number(1), Mode::Release);
                    otherwise = vec![at(StmtKind::If(is_it, vec![free], otherwise))];
                }
                out.extend(otherwise);
                Ok(())
            }
            AccessKind::Load { place, .. }
            | AccessKind::Wait { place, .. }
            | AccessKind::Store { place, .. }
            | AccessKind::Rmw { place, .. }
            | AccessKind::Cas { place, .. } => self.choose(&access.kind, place, env, frame, out),
        }
    }

    /// A fresh record, or one that has been freed.
    fn allocate(
        &mut self,
        access: &Operation,
        to: LocalId,
        frame: &mut Frame,
        thread: &mut Coded,
    ) -> Vec<Block> {
        let call = frame.number;
        let own = |copy| self.values.records.get(&(call, access.label, copy)).copied();
        let pointer = word(frame.name(to));
        let take = |address| at(StmtKind::Assign(pointer.clone(), number(self.codec.value(address))));
        let fresh = match (own(0), own(1)) {
            (Some(first), None) => vec![take(first)],
            (None, _) => vec![stop()],
            // In a loop, so many times and no more.
            (Some(_), Some(_)) => {
                let limit =
                    format!("a loop that stays allocates; {ALLOCATIONS} times in a call are modelled");
                self.limit.get_or_insert(limit);
                let name = format!("allocated_{}", frame.number + 1);
                let counter =
                    frame.counters.entry(access.label.0).or_insert_with(|| thread.register(&name)).clone();
                let mut otherwise = vec![stop()];
                for copy in (0..ALLOCATIONS).rev() {
                    let Some(address) = own(copy) else { continue };
                    let is_it = binary(Binary::Eq, register(&counter), number(copy));
                    let next = at(StmtKind::Assign(word(counter.clone()), number(copy + 1)));
                    otherwise = vec![at(StmtKind::If(is_it, vec![take(address), next], otherwise))];
                }
                otherwise
            }
        };
        let used_again = self.values.freed.iter().map(|address| {
            let claim = blocking_cas(&self.free(*address), number(1), number(0), Mode::Acquire);
            vec![claim, take(*address)]
        });
        std::iter::once(fresh).chain(used_again).collect()
    }
}

impl Frame<'_> {
    /// The register of a variable.
    pub fn name(&self, local: LocalId) -> &str {
        debug_assert!((local.0 as usize) < self.method.locals.len());
        &self.registers[local.0 as usize]
    }
}
