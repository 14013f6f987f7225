//! A memory operation as one access of a finite-state program, for each location that it may be about.

use super::Unsupported;
use super::compile::{Compiler, Frame, Plain};
use super::syntax::{at, binary, blocking_cas, failure_mode, halves, number, register, stop, word};
use super::values::{Env, Key, Set, Values};
use crate::code::{AccessKind, Expr as Value, Integer, LocalId, Mode, Operator, Place, Update};
use seqcst_program::ast::{Access, Block, Cas, CasKind, Expr, ExprKind, Name, RmwMode, Stmt, StmtKind};
use seqcst_program::code::{Binary, Unary};
use std::collections::BTreeSet;

impl Compiler<'_> {
    /// The access to each location that the place may be.
    pub fn choose(
        &mut self,
        kind: &AccessKind,
        place: &Place,
        env: &Env,
        frame: &Frame,
        out: &mut Block,
    ) -> Result<(), Unsupported> {
        let keys = self.values.keys(self.library, place, env)?;
        let all = |expr: &Option<Value>, values: &mut Values| match expr {
            Some(expr) => values.eval(expr, env).map(|set| set.len()),
            None => Ok(1),
        };
        let possible = all(&place.base, &mut self.values)? * all(&place.index, &mut self.values)?;
        let mut otherwise = match keys.len() == possible {
            true => None,
            // A pointer that points nowhere: no execution of interest goes on.
            false => Some(vec![stop()]),
        };
        for key in keys.into_iter().rev() {
            let mut done = Block::new();
            self.operate(kind, key, env, frame, &mut done)?;
            otherwise = Some(match otherwise {
                None => done,
                Some(otherwise) => {
                    let mut parts = Vec::new();
                    for (expr, value) in [(&place.base, key.base), (&place.index, key.index)] {
                        if let Some(expr) = expr {
                            parts.push(self.is(self.expr(expr, env, frame)?, value));
                        }
                    }
                    let both = parts.into_iter().reduce(|a, b| binary(Binary::And, a, b));
                    vec![at(StmtKind::If(both.unwrap_or_else(|| number(1)), done, otherwise))]
                }
            });
        }
        out.extend(otherwise.unwrap_or_else(|| vec![stop()]));
        Ok(())
    }

    pub fn is(&self, expr: Expr, value: i64) -> Expr {
        binary(Binary::Eq, expr, number(self.codec.value(value)))
    }

    pub fn store(&self, key: Key, value: Expr, order: Mode) -> Stmt {
        let name = word(self.names[&key].clone());
        at(StmtKind::Access(
            None,
            match self.is_plain(key) {
                true => Access::NaStore(name, value),
                false => Access::Store(name, value, Some(at(order))),
            },
        ))
    }

    fn load(&self, to: &str, key: Key, order: Mode) -> Stmt {
        let name = word(self.names[&key].clone());
        at(StmtKind::Access(
            Some(word(to)),
            match self.is_plain(key) {
                true => Access::NaLoad(name),
                false => Access::Load(name, Some(at(order))),
            },
        ))
    }

    /// One access to one location.
    fn operate(
        &mut self,
        kind: &AccessKind,
        key: Key,
        env: &Env,
        frame: &Frame,
        out: &mut Block,
    ) -> Result<(), Unsupported> {
        let name = self.names[&key].clone();
        let found = self.values.memory[&key].clone();
        match kind {
            AccessKind::Load { to, order, .. } => out.push(self.load(frame.name(*to), key, *order)),
            AccessKind::Store { value, order, .. } => {
                let is_initialisation =
                    *order == Mode::NonAtomic && self.library.classes[key.class.0 as usize].is_atomic;
                if is_initialisation && self.plain == Plain::NonAtomic {
                    let why = "programs have no plain stores to atomic locations, which initialisation is";
                    return Err(Unsupported(why.to_owned()));
                }
                let order = if is_initialisation { Mode::Relaxed } else { *order };
                out.push(self.store(key, self.expr(value, env, frame)?, order));
            }
            AccessKind::Wait { to, until, order, .. } => {
                self.wait(*to, until, *order, key, env, frame, out)?
            }
            AccessKind::Rmw { to, update, integer, operand, order, .. } => {
                let to = to.map(|to| word(frame.name(to)));
                let modes = RmwMode::Whole(at(*order));
                let name = word(name);
                let access = match update {
                    Update::Exchange => Access::Exchange(name, self.expr(operand, env, frame)?, modes),
                    Update::Add if self.adds(1, *integer, &found, operand, env)? => {
                        Access::FetchAdd(name, self.expr(operand, env, frame)?, modes)
                    }
                    Update::Sub if self.adds(-1, *integer, &found, operand, env)? => {
                        let value = self.expr(operand, env, frame)?;
                        Access::FetchAdd(name, at(ExprKind::Unary(Unary::Neg, Box::new(value))), modes)
                    }
                    _ => {
                        let new = |found: i64| update_of(*update, *integer, found, operand);
                        return self.each(new, to, *order, (key, found), (env, frame), out);
                    }
                };
                out.push(at(StmtKind::Access(to, access)));
            }
            AccessKind::Cas {
                succeeded,
                found,
                expected,
                desired,
                success,
                failure,
                is_weak,
                is_blocking,
                ..
            } => {
                let expected = self.expr(expected, env, frame)?;
                let kind = match (is_blocking, is_weak) {
                    (true, _) => CasKind::Blocking,
                    (false, true) if found.is_none() => CasKind::Weak,
                    _ => CasKind::Strong,
                };
                let access = Access::Cas(
                    kind,
                    Box::new(Cas {
                        location: word(name),
                        expected: expected.clone(),
                        new: self.expr(desired, env, frame)?,
                        mode: halves(*success),
                        failure: (!is_blocking).then(|| at(failure_mode(*failure))),
                    }),
                );
                let succeeded = succeeded.map(|to| word(frame.name(to)));
                let found = found.map(|to| word(frame.name(to)));
                if kind == CasKind::Weak {
                    out.push(at(StmtKind::Access(succeeded, access)));
                    return Ok(());
                }
                let between = register(&frame.between);
                let mut attempt = vec![at(StmtKind::Access(Some(word(frame.between.as_str())), access))];
                if let Some(to) = &succeeded {
                    let same = binary(Binary::Eq, between.clone(), expected);
                    attempt.push(at(StmtKind::Assign(to.clone(), same)));
                }
                if let Some(to) = &found {
                    attempt.push(at(StmtKind::Assign(to.clone(), between)));
                }
                match (kind, *is_weak, found) {
                    // It may fail for no reason: then it is a load.
                    (CasKind::Strong, true, Some(found)) => {
                        let mut fails = vec![self.load(&found.node, key, *failure)];
                        fails.extend(succeeded.map(|to| at(StmtKind::Assign(to, number(0)))));
                        out.push(at(StmtKind::OneOf(vec![attempt, fails])));
                    }
                    _ => out.extend(attempt),
                }
            }
            AccessKind::Fence { .. } | AccessKind::Allocate { .. } | AccessKind::Free { .. } => {}
        }
        Ok(())
    }

    /// Is adding to (or taking away from) what is found what the program's own arithmetic does, too?
    fn adds(
        &mut self,
        sign: i64,
        integer: Integer,
        found: &Set,
        operand: &Value,
        env: &Env,
    ) -> Result<bool, Unsupported> {
        let operands = self.values.eval(operand, env)?;
        let update = if sign > 0 { Update::Add } else { Update::Sub };
        let code = |value: i64| i64::from(self.codec.value(value));
        Ok(found.iter().all(|f| {
            operands.iter().all(|o| {
                match update.compute(integer, (*f).into(), (*o).into()).map(i64::try_from) {
                    // What is written is found in the end: nobody comes to add to this.
                    Some(Ok(new)) if !found.contains(&new) => true,
                    Some(Ok(new)) => code(new) == (code(*f) + sign * code(*o)).rem_euclid(self.codec.modulus),
                    _ => false,
                }
            })
        }))
    }

    /// An update that the language of programs does not have: a blocking compare-and-swap for each value that it may find.
    fn each(
        &self,
        new: impl Fn(i64) -> Value,
        to: Option<Name>,
        order: Mode,
        (key, found): (Key, Set),
        (env, frame): (&Env, &Frame),
        out: &mut Block,
    ) -> Result<(), Unsupported> {
        let mut choices = Vec::new();
        for value in found {
            let new = self.expr(&new(value), env, frame)?;
            let value = number(self.codec.value(value));
            let mut choice = vec![blocking_cas(&self.names[&key], value.clone(), new, order)];
            choice.extend(to.clone().map(|to| at(StmtKind::Assign(to, value))));
            choices.push(choice);
        }
        out.push(at(StmtKind::OneOf(choices)));
        Ok(())
    }

    /// A wait for all values that fit, for each combination of the other variables in the condition.
    #[allow(clippy::too_many_arguments, reason = "all parts of one access")]
    fn wait(
        &mut self,
        to: LocalId,
        until: &Value,
        order: Mode,
        key: Key,
        env: &Env,
        frame: &Frame,
        out: &mut Block,
    ) -> Result<(), Unsupported> {
        let name = word(self.names[&key].clone());
        let wait = |values: Vec<Expr>| {
            let access = Access::Wait(name.clone(), values, Some(at(order)));
            at(StmtKind::Access(Some(word(frame.name(to))), access))
        };
        if self.is_plain(key) {
            // Nothing waits on plain memory, but nothing keeps a program from trying.
            out.push(self.load(frame.name(to), key, order));
            // What it has read is one of the values of the location.
            let mut after = env.clone();
            after[to.0 as usize].clone_from(&self.values.memory[&key]);
            out.push(at(StmtKind::If(self.expr(until, &after, frame)?, vec![], vec![stop()])));
            return Ok(());
        }
        // `to == e`
        if let Value::Binary(Operator::Equal, a, b) = until {
            for (one, other) in [(a, b), (b, a)] {
                let mut mentions = false;
                crate::rho::locals(other, &mut |local| mentions |= local == to);
                if **one == Value::Local(to) && !mentions {
                    out.push(wait(vec![self.expr(other, env, frame)?]));
                    return Ok(());
                }
            }
        }
        let mut others = BTreeSet::new();
        crate::rho::locals(until, &mut |local| others.extend((local != to).then_some(local)));
        let others: Vec<LocalId> = others.into_iter().collect();
        let mut cases: Vec<Vec<(LocalId, i64)>> = vec![vec![]];
        for other in others {
            cases = cases
                .iter()
                .flat_map(|case| {
                    env[other.0 as usize].iter().map(|value| {
                        let mut case = case.clone();
                        case.push((other, *value));
                        case
                    })
                })
                .collect();
            if cases.len() > 1000 {
                return Err(Unsupported("a wait depends on too many values".to_owned()));
            }
        }
        let found = self.values.memory[&key].clone();
        let mut otherwise = vec![stop()];
        for case in cases {
            let value_of = |local: LocalId, found: i64| {
                if local == to {
                    Some(found)
                } else {
                    case.iter().find(|(l, _)| *l == local).map(|(_, v)| *v)
                }
            };
            let fits = found
                .iter()
                .filter(|f| until.evaluate(&|l| value_of(l, **f).map(i128::from)).is_some_and(|v| v != 0));
            let fits: Vec<Expr> = fits.map(|value| number(self.codec.value(*value))).collect();
            let wait = if fits.is_empty() { stop() } else { wait(fits) };
            let is_it = case
                .iter()
                .map(|(local, value)| self.is(register(frame.name(*local)), *value))
                .reduce(|a, b| binary(Binary::And, a, b));
            otherwise = match is_it {
                None => vec![wait],
                Some(is_it) => vec![at(StmtKind::If(is_it, vec![wait], otherwise))],
            };
        }
        out.extend(otherwise);
        Ok(())
    }
}

/// What an update writes if it finds this value.
fn update_of(update: Update, integer: Integer, found: i64, operand: &Value) -> Value {
    let found = Box::new(Value::Int(found.into()));
    match update.operator() {
        Some(operator) => {
            Value::Wrap(integer, Box::new(Value::Binary(operator, found, Box::new(operand.clone()))))
        }
        None => operand.clone(),
    }
}
