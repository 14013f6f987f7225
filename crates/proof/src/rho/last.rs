//! The last iteration of a loop in place of the loop: paths to the back edge are assumed not to be taken.

use super::facts::{Facts, Known};
use super::flow::{after_inner, each_statement};
use super::outcome::{Values, outcomes};
use super::paths::exits;
use seqcst_c11::code::{Access, AccessKind, Expr, Mode, Statement};

/// The way back to the head of the loop that is taken away: the iteration has failed.
const FAILS: Statement = Statement::Continue(u32::MAX);

/// Is this that way back, seen from inside of no more loops than anybody writes?
fn fails(statement: &Statement) -> bool {
    matches!(statement, Statement::Continue(depth) if *depth > u32::MAX / 2)
}

/// More statements than this are too many copies.
const MOST_STATEMENTS: usize = 5_000;

/// The body of a loop as its last iteration, without the loop; an error if that has no simple form.
pub fn iteration(body: &[Statement], locals: usize, values: &Values) -> Result<Vec<Statement>, String> {
    let mut all = body.to_vec();
    all.push(Statement::Continue(0));
    let mut size = 0;
    let flat = straighten(&all, &mut size)?;
    Rewrite { values }.block(&flat, None, &mut Facts::nothing(locals))
}

/// Removes the loop around a block: what follows a branch that may leave the loop moves into the other branches.
fn straighten(block: &[Statement], size: &mut usize) -> Result<Vec<Statement>, String> {
    let mut out = Vec::new();
    for (index, statement) in block.iter().enumerate() {
        *size += 1;
        if *size > MOST_STATEMENTS {
            return Err("without the loop, too much of it would be repeated".to_owned());
        }
        match statement {
            Statement::Break(0) => return Ok(out),
            Statement::Continue(0) => {
                out.push(FAILS);
                return Ok(out);
            }
            Statement::Break(_) | Statement::Continue(_) | Statement::Return(_) => {
                out.push(outer(statement, 0)?);
                return Ok(out);
            }
            Statement::If { condition, then, otherwise } => {
                let leaves = may_leave(then) || may_leave(otherwise);
                let rest = if leaves { &block[index + 1..] } else { &[] };
                let mut branch = |branch: &[Statement]| straighten(&[branch, rest].concat(), size);
                let (then, otherwise) = (branch(then)?, branch(otherwise)?);
                out.push(Statement::If { condition: condition.clone(), then, otherwise });
                if leaves {
                    return Ok(out);
                }
            }
            Statement::Loop { .. } => out.push(outer(statement, 0)?),
            Statement::Access(_) | Statement::Assign { .. } | Statement::Assume(_) => {
                out.push(statement.clone())
            }
        }
    }
    Ok(out)
}

/// May control leave the loop around this block, to the statement after it?
fn may_leave(block: &[Statement]) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Break(0) => true,
        Statement::If { then, otherwise, .. } => may_leave(then) || may_leave(otherwise),
        _ => false,
    })
}

/// A statement inside so many loops that stay, without the loop around these.
fn outer(statement: &Statement, depth: u32) -> Result<Statement, String> {
    let block =
        |block: &[Statement], depth| block.iter().map(|s| outer(s, depth)).collect::<Result<Vec<_>, _>>();
    Ok(match statement {
        Statement::Break(to) if *to == depth => {
            return Err("it is left from inside of a loop that stays".to_owned());
        }
        Statement::Continue(to) if *to == depth => FAILS,
        Statement::Break(to) if *to > depth => Statement::Break(to - 1),
        Statement::Continue(to) if *to > depth => Statement::Continue(to - 1),
        Statement::If { condition, then, otherwise } => Statement::If {
            condition: condition.clone(),
            then: block(then, depth)?,
            otherwise: block(otherwise, depth)?,
        },
        Statement::Loop { body, site } => Statement::Loop { body: block(body, depth + 1)?, site: *site },
        other => other.clone(),
    })
}

/// The statements that come after the current block, innermost first.
#[derive(Clone, Copy)]
struct Rest<'a> {
    block: &'a [Statement],
    up: Option<&'a Rest<'a>>,
}

struct Rewrite<'a> {
    values: &'a Values,
}

impl Rewrite<'_> {
    /// Makes accesses block where they could only lead to a failing iteration, and drops branches that are not taken.
    fn block(
        &self,
        block: &[Statement],
        up: Option<&Rest>,
        facts: &mut Facts,
    ) -> Result<Vec<Statement>, String> {
        let mut out = Vec::new();
        for (index, statement) in block.iter().enumerate() {
            let rest = Rest { block: &block[index + 1..], up };
            match statement {
                Statement::Access(access) => self.access(access, rest, facts, &mut out)?,
                Statement::Assign { to, value } => {
                    facts.assign(*to, value);
                    out.push(statement.clone());
                }
                Statement::If { condition, then, otherwise } => match facts.truth(condition) {
                    Some(truth) => {
                        let taken = if truth { then } else { otherwise };
                        out.extend(self.block(taken, Some(&rest), facts)?);
                    }
                    None => {
                        // A branch that only leads to a failing iteration is not entered.
                        let branch = |branch: &[Statement], truth| {
                            let stuck = |facts: &Facts| {
                                self.blocks(Rest { block: branch, up: Some(&rest) }, facts.clone())
                            };
                            match facts.clone().assume(condition, truth).filter(|facts| !stuck(facts)) {
                                Some(mut facts) => self.block(branch, Some(&rest), &mut facts),
                                None => Ok(vec![Statement::Assume(Expr::Int(0))]),
                            }
                        };
                        let (then, otherwise) = (branch(then, true)?, branch(otherwise, false)?);
                        after_inner(&[then.as_slice(), &otherwise].concat(), facts);
                        out.extend(choice(condition, then, otherwise));
                    }
                },
                Statement::Loop { .. } => {
                    let statement = without_failing(statement);
                    after_inner(std::slice::from_ref(&statement), facts);
                    out.push(statement);
                }
                _ if fails(statement) => out.push(Statement::Assume(Expr::Int(0))),
                Statement::Assume(condition) => match facts.clone().assume(condition, true) {
                    Some(known) => {
                        if facts.truth(condition).is_none() {
                            out.push(statement.clone());
                        }
                        *facts = known;
                    }
                    None => out.push(Statement::Assume(Expr::Int(0))),
                },
                Statement::Break(_) | Statement::Continue(_) | Statement::Return(_) => {
                    out.push(statement.clone())
                }
            }
            if matches!(
                out.last(),
                Some(
                    Statement::Assume(Expr::Int(0))
                        | Statement::Break(_)
                        | Statement::Continue(_)
                        | Statement::Return(_)
                )
            ) {
                break;
            }
        }
        Ok(out)
    }

    fn access(
        &self,
        access: &Access,
        rest: Rest,
        facts: &mut Facts,
        out: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let all = outcomes(access, facts, self.values);
        let good: Vec<usize> = (0..all.len()).filter(|i| !self.blocks(rest, all[*i].0.clone())).collect();
        let mut kind = access.kind.clone();
        let mut then = Vec::new();
        let mut know = |to: Option<seqcst_c11::code::LocalId>, value: Expr| {
            if let Some(to) = to.filter(|to| value != Expr::Local(*to)) {
                then.push(Statement::Assign { to, value });
            }
        };
        match (&mut kind, good.as_slice()) {
            (AccessKind::Cas { succeeded, found, expected, is_blocking, is_weak, .. }, [0])
                if all.len() == 2 =>
            {
                (*is_blocking, *is_weak) = (true, false);
                know(succeeded.take(), Expr::Int(1));
                know(found.take(), expected.clone());
            }
            (AccessKind::Rmw { to, place, update, integer, operand, order }, good)
                if good.len() < all.len() =>
            {
                // Only updates that rewrite a known value can fail.
                let found = self.values.at(place).and_then(|found| found.iter().nth(*good.first()?));
                let (&[_], Some(&found), Some(operand)) = (good, found, facts.int(operand)) else {
                    return Err("an update in it succeeds on more than one value".to_owned());
                };
                let Some(desired) = update.compute(*integer, found, operand) else {
                    return Err("an update in it overflows".to_owned());
                };
                know(*to, Expr::Int(found));
                kind = AccessKind::Cas {
                    succeeded: None,
                    found: None,
                    place: place.clone(),
                    expected: Expr::Int(found),
                    desired: Expr::Int(desired),
                    success: *order,
                    failure: if order.is_acquire() { Mode::Acquire } else { Mode::Relaxed },
                    is_weak: false,
                    is_blocking: true,
                };
            }
            _ => {}
        }
        let mut known = all.into_iter().enumerate().filter(|(i, _)| good.is_empty() || good.contains(i));
        let first = known.next().map_or_else(|| facts.clone(), |(_, (facts, _))| facts);
        *facts = known.fold(first, |a, (_, (b, _))| a.join(&b));
        out.push(Statement::Access(Access { kind, ..access.clone() }));
        out.extend(then);
        Ok(())
    }

    /// Does everything that comes after this end in an iteration that fails?
    fn blocks(&self, rest: Rest, mut facts: Facts) -> bool {
        let Some((statement, block)) = rest.block.split_first() else {
            return rest.up.is_some_and(|up| self.blocks(*up, facts));
        };
        let rest = Rest { block, up: rest.up };
        match statement {
            Statement::Access(access) => {
                outcomes(access, &facts, self.values).into_iter().all(|(facts, _)| self.blocks(rest, facts))
            }
            Statement::Assign { to, value } => {
                facts.assign(*to, value);
                self.blocks(rest, facts)
            }
            Statement::If { condition, then, otherwise } => {
                [(then, true), (otherwise, false)].into_iter().all(|(branch, truth)| {
                    facts
                        .clone()
                        .assume(condition, truth)
                        .is_none_or(|facts| self.blocks(Rest { block: branch, up: Some(&rest) }, facts))
                })
            }
            Statement::Loop { body, .. } => {
                let exits = exits(body);
                after_inner(body, &mut facts);
                // What never leaves stays in the last iteration.
                let others = exits.others.iter().all(fails);
                !exits.is_endless() && others && (!exits.falls || self.blocks(rest, facts))
            }
            // Whoever waits for ever has not failed either.
            Statement::Assume(condition) => {
                facts.assume(condition, true).is_some_and(|facts| self.blocks(rest, facts))
            }
            _ if fails(statement) => true,
            Statement::Break(_) | Statement::Continue(_) | Statement::Return(_) => false,
        }
    }
}

/// A loop that stays, in which nothing leads to a failing iteration.
fn without_failing(statement: &Statement) -> Statement {
    let block = |block: &[Statement]| block.iter().map(without_failing).collect();
    match statement {
        Statement::If { condition, then, otherwise } => {
            Statement::If { condition: condition.clone(), then: block(then), otherwise: block(otherwise) }
        }
        Statement::Loop { body, site } => Statement::Loop { body: block(body), site: *site },
        back if fails(back) => Statement::Assume(Expr::Int(0)),
        other => other.clone(),
    }
}

/// Two branches; one that cannot be taken becomes an assumption.
fn choice(condition: &Expr, then: Vec<Statement>, otherwise: Vec<Statement>) -> Vec<Statement> {
    let stuck = |block: &[Statement]| matches!(block, [Statement::Assume(Expr::Int(0))]);
    let assumed = |condition: Expr, block: Vec<Statement>| {
        let mut all = vec![Statement::Assume(condition)];
        all.extend(block);
        all
    };
    match (stuck(&then), stuck(&otherwise)) {
        (true, true) => then,
        (true, false) => assumed(not(condition), otherwise),
        (false, true) => assumed(condition.clone(), then),
        _ if then.is_empty() && otherwise.is_empty() => vec![],
        _ => vec![Statement::If { condition: condition.clone(), then, otherwise }],
    }
}

/// The opposite of a condition.
pub fn not(condition: &Expr) -> Expr {
    match condition {
        Expr::Not(e) => (**e).clone(),
        e => Expr::Not(Box::new(e.clone())),
    }
}

/// Loads that are followed by an assumption about what they found become waits.
pub fn wait(block: &mut Vec<Statement>) {
    for statement in block.iter_mut() {
        match statement {
            Statement::If { then, otherwise, .. } => {
                wait(then);
                wait(otherwise);
            }
            Statement::Loop { body, .. } => wait(body),
            _ => {}
        }
    }
    let mut index = 0;
    while index < block.len() {
        if let Some((assumption, until)) = waits(&block[index..])
            && let Statement::Access(access) = &mut block[index]
            && let AccessKind::Load { to, place, order } = &access.kind
        {
            access.kind = AccessKind::Wait { to: *to, place: place.clone(), until, order: *order };
            block.remove(index + assumption);
        }
        index += 1;
    }
}

/// Where a load's assumption stands, and what it says about the value, right after the load.
fn waits(block: &[Statement]) -> Option<(usize, Expr)> {
    let Some(Statement::Access(Access { kind: AccessKind::Load { to, .. }, .. })) = block.first() else {
        return None;
    };
    let assigns = block[1..].iter().take_while(|s| matches!(s, Statement::Assign { .. })).count();
    let Some(Statement::Assume(condition)) = block.get(1 + assigns) else { return None };
    let mut until = condition.clone();
    for statement in block[1..1 + assigns].iter().rev() {
        if let Statement::Assign { to, value } = statement {
            until = substitute(&until, *to, value);
        }
    }
    let mut mentioned = false;
    super::facts::locals(&until, &mut |local| mentioned |= local == *to);
    mentioned.then_some((1 + assigns, until))
}

fn substitute(expr: &Expr, local: seqcst_c11::code::LocalId, value: &Expr) -> Expr {
    match expr {
        Expr::Local(l) if *l == local => value.clone(),
        Expr::Int(_) | Expr::Local(_) => expr.clone(),
        Expr::Not(e) => Expr::Not(Box::new(substitute(e, local, value))),
        Expr::Wrap(to, e) => Expr::Wrap(*to, Box::new(substitute(e, local, value))),
        Expr::Binary(op, a, b) => {
            Expr::Binary(*op, Box::new(substitute(a, local, value)), Box::new(substitute(b, local, value)))
        }
    }
}

/// Drops assignments to variables that nothing reads.
pub fn drop_unread(block: &mut Vec<Statement>) {
    let mut read = super::live::Locals::new();
    each_statement(block, &mut |statement| match statement {
        Statement::Access(access) => read.extend(super::live::used(access)),
        Statement::Assign { value, .. } => super::live::add(value, &mut read),
        Statement::If { condition, .. } | Statement::Assume(condition) => {
            super::live::add(condition, &mut read)
        }
        Statement::Return(Some(value)) => super::live::add(value, &mut read),
        _ => {}
    });
    retain(block, &|statement| !matches!(statement, Statement::Assign { to, .. } if !read.contains(to)));
}

fn retain(block: &mut Vec<Statement>, keep: &impl Fn(&Statement) -> bool) {
    block.retain(keep);
    for statement in block {
        match statement {
            Statement::If { then, otherwise, .. } => {
                retain(then, keep);
                retain(otherwise, keep);
            }
            Statement::Loop { body, .. } => retain(body, keep),
            _ => {}
        }
    }
}

/// Do variables keep their values, as far as this expression goes, in a block?
pub fn fixed(expr: &Expr, block: &[Statement]) -> bool {
    let mut changed = super::live::Locals::new();
    each_statement(block, &mut |statement| match statement {
        Statement::Access(access) => changed.extend(super::live::assigned(access)),
        Statement::Assign { to, .. } => changed.extend([*to]),
        _ => {}
    });
    let mut fixed = true;
    super::facts::locals(expr, &mut |local| fixed &= !changed.contains(&local));
    fixed
}

/// Is the value of an expression an own node that nobody else knows?
pub fn is_own(expr: &Expr, facts: &Facts) -> bool {
    matches!(facts.value(expr), Known::Node(_)) && facts.own_node(expr).is_some()
}
