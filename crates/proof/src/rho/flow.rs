//! What is known at the head of a loop: the facts of a method, followed from its beginning.

use super::facts::{Facts, Known};
use super::live::{assigned, values as written};
use super::outcome::{Values, outcomes};
use seqcst_c11::code::{Access, AccessKind, Method, Statement};
use std::collections::BTreeSet;

/// Alternatives: one of them holds.
pub type Cases = BTreeSet<Facts>;

/// More alternatives than this are joined into one.
const MOST_CASES: usize = 32;
/// Iterations of a loop that are followed one by one before alternatives are joined.
const MOST_ROUNDS: usize = 6;

/// Where control goes from a block, and what is known there.
#[derive(Default)]
struct Flow {
    falls: Cases,
    /// By depth.
    breaks: Vec<Cases>,
    continues: Vec<Cases>,
}

/// What is known whenever an iteration of the loop begins.
pub fn at_head(method: &Method, target: &Statement, values: &Values) -> Cases {
    let mut walk = Walk { target, values, found: Cases::new() };
    walk.block(&method.body, Cases::from([Facts::nothing(method.locals.len())]));
    walk.found
}

struct Walk<'a> {
    target: &'a Statement,
    values: &'a Values,
    found: Cases,
}

impl Walk<'_> {
    fn block(&mut self, block: &[Statement], start: Cases) -> Flow {
        let mut flow = Flow { falls: start, ..Flow::default() };
        for statement in block {
            if flow.falls.is_empty() {
                break;
            }
            let now = std::mem::take(&mut flow.falls);
            match statement {
                Statement::Access(access) => {
                    flow.falls = now
                        .iter()
                        .flat_map(|facts| outcomes(access, facts, self.values))
                        .map(|(f, _)| f)
                        .collect();
                }
                Statement::Assign { to, value } => {
                    flow.falls = now
                        .into_iter()
                        .map(|mut facts| {
                            facts.assign(*to, value);
                            facts
                        })
                        .collect();
                }
                Statement::If { condition, then, otherwise } => {
                    for (branch, truth) in [(then, true), (otherwise, false)] {
                        let taken = now.iter().filter_map(|facts| facts.clone().assume(condition, truth));
                        let taken = taken.collect();
                        let inner = self.block(branch, taken);
                        flow.falls.extend(inner.falls);
                        merge(&mut flow.breaks, inner.breaks, 0);
                        merge(&mut flow.continues, inner.continues, 0);
                    }
                }
                Statement::Loop { body, .. } => {
                    let inner = self.repeat(statement, body, now);
                    flow.falls = inner.breaks.first().cloned().unwrap_or_default();
                    merge(&mut flow.breaks, inner.breaks, 1);
                    merge(&mut flow.continues, inner.continues, 1);
                }
                Statement::Break(depth) => at(&mut flow.breaks, *depth).extend(now),
                Statement::Continue(depth) => at(&mut flow.continues, *depth).extend(now),
                Statement::Return(_) => {}
                Statement::Assume(condition) => {
                    flow.falls = now.into_iter().filter_map(|facts| facts.assume(condition, true)).collect();
                }
            }
            flow.falls = limited(flow.falls, MOST_CASES);
        }
        flow
    }

    fn repeat(&mut self, statement: &Statement, body: &[Statement], start: Cases) -> Flow {
        let begin = |cases: Cases| -> Cases {
            cases
                .into_iter()
                .map(|mut facts| {
                    facts.forget_reads();
                    facts
                })
                .collect()
        };
        let mut head = begin(start);
        for round in 0.. {
            let flow = self.block(body, head.clone());
            let again = flow.falls.iter().chain(flow.continues.first().into_iter().flatten()).cloned();
            let mut next = head.clone();
            next.extend(begin(again.collect()));
            let next = limited(next, if round < MOST_ROUNDS { MOST_CASES } else { 1 });
            if next == head {
                if std::ptr::eq(statement, self.target) {
                    self.found.extend(head);
                }
                return flow;
            }
            head = next;
        }
        unreachable!("facts can only be forgotten so often")
    }
}

fn at(levels: &mut Vec<Cases>, depth: u32) -> &mut Cases {
    let depth = depth as usize;
    if levels.len() <= depth {
        levels.resize_with(depth + 1, Cases::new);
    }
    &mut levels[depth]
}

/// Adds what leaves an inner block, without the innermost `levels` levels.
fn merge(into: &mut Vec<Cases>, from: Vec<Cases>, levels: usize) {
    for (depth, cases) in from.into_iter().skip(levels).enumerate() {
        at(into, depth as u32).extend(cases);
    }
}

fn limited(cases: Cases, most: usize) -> Cases {
    if cases.len() <= most {
        return cases;
    }
    cases.into_iter().reduce(|a, b| a.join(&b)).into_iter().collect()
}

/// What is known after a loop that stays, however often it is repeated.
pub fn after_inner(body: &[Statement], facts: &mut Facts) {
    each_statement(body, &mut |statement| match statement {
        Statement::Access(access) => {
            written(access).into_iter().for_each(|value| facts.escape(value));
            if let AccessKind::Allocate { .. } = access.kind {
                facts.escaped.insert(access.label);
            }
        }
        Statement::Assign { value, .. } => facts.escape(value),
        _ => {}
    });
    each_statement(body, &mut |statement| match statement {
        Statement::Access(access) => {
            assigned(access).into_iter().for_each(|to| facts.set(to, Known::Nothing))
        }
        Statement::Assign { to, .. } => facts.set(*to, Known::Nothing),
        _ => {}
    });
}

/// Calls `f` with all statements of a block, inner ones too.
pub fn each_statement<'a>(block: &'a [Statement], f: &mut impl FnMut(&'a Statement)) {
    for statement in block {
        f(statement);
        match statement {
            Statement::If { then, otherwise, .. } => {
                each_statement(then, f);
                each_statement(otherwise, f);
            }
            Statement::Loop { body, .. } => each_statement(body, f),
            _ => {}
        }
    }
}

/// Calls `f` with all memory operations of a block.
pub fn each_access<'a>(block: &'a [Statement], f: &mut impl FnMut(&'a Access)) {
    each_statement(block, &mut |statement| {
        if let Statement::Access(access) = statement {
            f(access);
        }
    });
}
