//! `return` in functions that are inlined: what comes after is skipped.

use crate::code::{Expr, LocalId, Statement};

/// Takes all `Return`s out of the body of an inlined function; `flag` makes variables.
pub fn eliminate(body: Vec<Statement>, flag: &mut impl FnMut() -> LocalId) -> Vec<Statement> {
    skip(body, &[], flag)
}

/// Does the same, where `mark` is done at every `Return`.
fn skip(body: Vec<Statement>, mark: &[Statement], flag: &mut impl FnMut() -> LocalId) -> Vec<Statement> {
    let mut out = Vec::new();
    let mut statements = body.into_iter();
    while let Some(statement) = statements.next() {
        match statement {
            Statement::Return(_) => {
                out.extend_from_slice(mark);
                return out;
            }
            Statement::If { condition, mut then, mut otherwise } if returns(&then) || returns(&otherwise) => {
                let rest: Vec<_> = statements.collect();
                match (rest.is_empty(), ends(&then), ends(&otherwise)) {
                    // Whatever comes after belongs to the branch that gets there.
                    (true, ..) | (_, true, true) => {}
                    (_, true, false) => otherwise.extend(rest),
                    (_, false, true) => then.extend(rest),
                    (_, false, false) => {
                        let returned = flag();
                        let set = |value| Statement::Assign { to: returned, value: Expr::Int(value) };
                        let mark_too: Vec<_> = mark.iter().cloned().chain([set(1)]).collect();
                        out.push(set(0));
                        out.push(Statement::If {
                            condition,
                            then: skip(then, &mark_too, flag),
                            otherwise: skip(otherwise, &mark_too, flag),
                        });
                        out.push(unless(returned, skip(rest, mark, flag)));
                        return out;
                    }
                }
                let (then, otherwise) = (skip(then, mark, flag), skip(otherwise, mark, flag));
                out.push(Statement::If { condition, then, otherwise });
                return out;
            }
            Statement::Loop { body, site } if returns(&body) => {
                let rest: Vec<_> = statements.collect();
                let mut marks = mark.to_vec();
                let returned = (breaks(&body, 0) && !rest.is_empty()).then(&mut *flag);
                if let Some(returned) = returned {
                    out.push(Statement::Assign { to: returned, value: Expr::Int(0) });
                    marks.push(Statement::Assign { to: returned, value: Expr::Int(1) });
                }
                out.push(Statement::Loop { body: leave(body, 0, &marks), site });
                if let Some(returned) = returned {
                    out.push(unless(returned, skip(rest, mark, flag)));
                }
                return out;
            }
            other => out.push(other),
        }
    }
    out
}

fn unless(flag: LocalId, body: Vec<Statement>) -> Statement {
    let condition = Expr::Not(Box::new(Expr::Local(flag)));
    Statement::If { condition, then: body, otherwise: Vec::new() }
}

/// Within a loop, a `Return` leaves the outermost loop.
fn leave(body: Vec<Statement>, depth: u32, mark: &[Statement]) -> Vec<Statement> {
    let mut out = Vec::new();
    for statement in body {
        let statement = match statement {
            Statement::Return(_) => {
                out.extend_from_slice(mark);
                Statement::Break(depth)
            }
            Statement::If { condition, then, otherwise } => {
                let (then, otherwise) = (leave(then, depth, mark), leave(otherwise, depth, mark));
                Statement::If { condition, then, otherwise }
            }
            Statement::Loop { body, site } => Statement::Loop { body: leave(body, depth + 1, mark), site },
            other => other,
        };
        out.push(statement);
    }
    out
}

/// Is there a `Return`?
fn returns(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Return(_) => true,
        Statement::If { then, otherwise, .. } => returns(then) || returns(otherwise),
        Statement::Loop { body, .. } => returns(body),
        _ => false,
    })
}

/// Does control never reach the end?
pub fn ends(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Return(_) | Statement::Break(_) | Statement::Continue(_) => true,
        Statement::Assume(e) => *e == Expr::Int(0),
        Statement::If { then, otherwise, .. } => ends(then) && ends(otherwise),
        Statement::Loop { body, .. } => !breaks(body, 0),
        _ => false,
    })
}

/// Is the loop that many levels up left by a `Break`?
fn breaks(body: &[Statement], depth: u32) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Break(levels) => *levels == depth,
        Statement::If { then, otherwise, .. } => breaks(then, depth) || breaks(otherwise, depth),
        Statement::Loop { body, .. } => breaks(body, depth + 1),
        _ => false,
    })
}

/// Makes every `Return` without a value return a variable.
pub fn give(body: &mut [Statement], out: LocalId) {
    for statement in body {
        match statement {
            Statement::Return(value @ None) => *value = Some(Expr::Local(out)),
            Statement::If { then, otherwise, .. } => {
                give(then, out);
                give(otherwise, out);
            }
            Statement::Loop { body, .. } => give(body, out),
            _ => {}
        }
    }
}
