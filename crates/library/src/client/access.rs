//! A memory operation as one access of a finite-state program, for each location that it may be about.

use super::Unsupported;
use super::compile::{Compiler, Frame};
use super::syntax::{at, binary, blocking_cas, failure_mode, halves, number, register, stop, word};
use super::values::{Env, Key, Set, Values};
use crate::code::{AccessKind, Expr as Value, LocalId, Mode, Operator, Place, Update};
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
                    let base = place.base.as_ref().map(|base| self.is(self.expr(base, frame), key.base));
                    let index = place.index.as_ref().map(|index| self.is(self.expr(index, frame), key.index));
                    let both = base.into_iter().chain(index).reduce(|a, b| binary(Binary::And, a, b));
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
                out.push(self.store(key, self.expr(value, frame), *order));
            }
            AccessKind::Wait { to, until, order, .. } => {
                self.wait(*to, until, *order, key, env, frame, out)?
            }
            AccessKind::Rmw { to, update, operand, order, .. } => {
                let to = to.map(|to| word(frame.name(to)));
                let value = self.expr(operand, frame);
                let modes = RmwMode::Whole(at(*order));
                let name = word(name);
                let access = match update {
                    Update::Add => Access::FetchAdd(name, value, modes),
                    Update::Sub => {
                        Access::FetchAdd(name, at(ExprKind::Unary(Unary::Neg, Box::new(value))), modes)
                    }
                    Update::Exchange => Access::Exchange(name, value, modes),
                    Update::And => return self.bits(Binary::BitAnd, to, value, *order, key, found, out),
                    Update::Or => return self.bits(Binary::BitOr, to, value, *order, key, found, out),
                    Update::Xor => return self.bits(Binary::BitXor, to, value, *order, key, found, out),
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
                let expected = self.expr(expected, frame);
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
                        new: self.expr(desired, frame),
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

    /// An update that the language of programs does not have: a blocking compare-and-swap for each value that it may find.
    #[allow(clippy::too_many_arguments, reason = "all parts of one access")]
    fn bits(
        &self,
        operator: Binary,
        to: Option<Name>,
        operand: Expr,
        order: Mode,
        key: Key,
        found: Set,
        out: &mut Block,
    ) -> Result<(), Unsupported> {
        let choices = found.into_iter().map(|value| {
            let value = number(self.codec.value(value));
            let new = binary(operator, value.clone(), operand.clone());
            let mut choice = vec![blocking_cas(&self.names[&key], value.clone(), new, order)];
            choice.extend(to.clone().map(|to| at(StmtKind::Assign(to, value))));
            choice
        });
        out.push(at(StmtKind::OneOf(choices.collect())));
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
            out.push(at(StmtKind::If(self.expr(until, frame), vec![], vec![stop()])));
            return Ok(());
        }
        // `to == e`
        if let Value::Binary(Operator::Equal, a, b) = until {
            for (one, other) in [(a, b), (b, a)] {
                let mut mentions = false;
                crate::rho::locals(other, &mut |local| mentions |= local == to);
                if **one == Value::Local(to) && !mentions {
                    out.push(wait(vec![self.expr(other, frame)]));
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
            let fits = found.iter().filter(|f| until.evaluate(&|l| value_of(l, **f)).is_some_and(|v| v != 0));
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
