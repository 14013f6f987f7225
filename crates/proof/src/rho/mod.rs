//! ρ: loops whose failing iterations only read become blocking accesses (\[RoboCop24] §5).
//!
//! * `facts`, `outcome`, `flow`, `live`: what is known and needed at each point of a method;
//! * `paths`: all paths through one iteration;
//! * `independent`: may failing iterations be left out? With the argument why that is sound;
//! * `last`: the last iteration without the loop.

mod facts;
mod flow;
mod independent;
mod last;
mod live;
mod outcome;
mod paths;

pub use facts::locals;
pub use flow::{each_access, each_statement};
pub use live::accessed;

use independent::{Dependent, Independent};
use live::Around;
use outcome::Values;
use paths::Body;
use seqcst_c11::code::{
    Access, AccessKind, Expr, Label, Library, LocalId, Method, Mode, Place, Site, Statement, order_name,
};
use std::collections::BTreeSet;

/// A library after ρ, and what was done to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transformed {
    /// The library with the loops replaced.
    pub library: Library,
    /// Loops that were replaced by their last iteration. None: the library is the same, but for its form.
    pub changes: Vec<Change>,
    /// Loops that stay.
    pub kept: Vec<Kept>,
}

/// A loop that was replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The method's name.
    pub method: String,
    /// The loop's place in the source.
    pub site: Site,
    /// What replaced it, in words.
    pub what: String,
}

/// A loop that stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The method's name.
    pub method: String,
    /// The loop's place in the source.
    pub site: Site,
    /// Why its failing iterations cannot be left out.
    pub why: String,
}

/// Replaces all loops whose failing iterations can be left out, inner ones first.
pub fn apply(library: &Library) -> Transformed {
    let values = Values::of(library);
    let mut done = Transformed { library: library.clone(), changes: Vec::new(), kept: Vec::new() };
    for method in &mut done.library.methods {
        stay(&mut method.body);
        let mut kept = 0;
        while let Some(target) = nth_loop(&method.body, &mut { kept }) {
            let Statement::Loop { site, .. } = target else { break };
            let (name, site) = (method.name.clone(), *site);
            match replacement(library, method, target, &values) {
                Ok(Replacement { statements, what, carried }) => {
                    if let Some(what) = what {
                        done.changes.push(Change { method: name, site, what });
                    }
                    replace(&mut method.body, &mut { kept }, &statements, carried);
                }
                Err(why) => {
                    if site != NOWHERE {
                        done.kept.push(Kept { method: name, site, why });
                    }
                    kept += 1;
                }
            }
        }
        last::wait(&mut method.body);
        last::drop_unread(&mut method.body);
    }
    done
}

/// The place of loops that nobody wrote.
const NOWHERE: Site = Site { file: 0, line: 0, column: 0 };

/// Where C leaves undefined what comes next, a call goes no further: what it has read is part of the execution, as before
/// `abort()`. It has not waited for another value: the one that leads there may be one that only weak memory has.
fn stay(block: &mut [Statement]) {
    for statement in block {
        match statement {
            Statement::Assume(condition) => {
                let condition = condition.clone();
                let otherwise = vec![Statement::Loop { body: Vec::new(), site: NOWHERE }];
                *statement = Statement::If { condition, then: Vec::new(), otherwise };
            }
            Statement::If { then, otherwise, .. } => {
                stay(then);
                stay(otherwise);
            }
            Statement::Loop { body, .. } => stay(body),
            _ => {}
        }
    }
}

/// What comes in the place of a loop.
struct Replacement {
    statements: Vec<Statement>,
    /// For people; `None` if nothing was left out.
    what: Option<String>,
    /// The load before the loop that is now part of it.
    carried: Option<Label>,
}

fn replacement(
    library: &Library,
    method: &Method,
    target: &Statement,
    values: &Values,
) -> Result<Replacement, String> {
    let Statement::Loop { body, .. } = target else { return Err("it is none".to_owned()) };
    let mut around = Around::default();
    live::before(&method.body, Default::default(), &mut Around::default(), &mut |statement, found| {
        if std::ptr::eq(statement, target) {
            around = found.clone();
        }
    });
    let cases = flow::at_head(method, target, values);
    let mut paths = Vec::new();
    for case in &cases {
        Body { block: body, around: &around, values }.paths(case, &mut paths)?;
    }
    let independent = independent::check(&paths).map_err(|why| reason(library, method, &why))?;
    let mut statements = last::iteration(body, method.locals.len(), values)?;
    let mut what = describe(&statements);
    let mut carried = None;
    if let Independent::Carrying(local, reads) = &independent {
        let load = first_read(method, target, *local, reads, &cases)?;
        what = format!("{what}; what a failing iteration read is read at its start, {}", order_of(&load));
        carried = Some(load.label);
        statements.insert(0, Statement::Access(load));
    }
    let what = (independent != Independent::NeverRepeats).then_some(what);
    Ok(Replacement { statements, what, carried })
}

fn reason(library: &Library, method: &Method, why: &Dependent) -> String {
    match why {
        Dependent::Endless => "it is never left".to_owned(),
        Dependent::Visible(what, site) => {
            format!("an iteration that fails is visible to others: {what} ({}:{})", site.line, site.column)
        }
        Dependent::VisibleInside => {
            "an iteration that fails is visible to others: a loop inside of it stays, and writes".to_owned()
        }
        Dependent::Carried(local) => {
            let name = method.locals.get(local.0 as usize).map_or("?", |local| local.name.as_str());
            format!("`{name}` is carried over from an iteration that fails")
        }
        Dependent::Field(class) => {
            let name = library.classes.get(class.0 as usize).map_or("?", |class| class.name.as_str());
            format!("`{name}` of an own node keeps what an iteration that fails stored there")
        }
    }
}

fn describe(statements: &[Statement]) -> String {
    let mut blocking = Vec::new();
    each_access(statements, &mut |access| {
        if let AccessKind::Cas { is_blocking: true, .. } = access.kind {
            blocking.push(format!("{}:{}", access.site.line, access.site.column));
        }
    });
    blocking.dedup();
    match blocking.is_empty() {
        true => "only the last iteration is kept, which waits".to_owned(),
        false => format!(
            "only the last iteration is kept, with a blocking compare-and-swap ({})",
            blocking.join(", ")
        ),
    }
}

/// The read that begins the last iteration of a loop that carries over what a failing iteration read:
///
/// ```c
/// old = load(&head, a);  …  while (!cas(&head, &old, new, s, f)) …
/// ```
///
/// The last iteration works on what was read either by the load or, if an iteration failed before, by the last failing
/// compare-and-swap (or another load of the same place). All other events of failing iterations can be left out, so what is
/// left is one read of `head`, with order `a` before or `f` after the statements between load and loop. One load at the later
/// place with the weakest order stands for all: a weaker order only makes happens-before smaller, and passing over statements
/// that touch nothing but own nodes and variables only takes away what happened before these; nobody can have read from them
/// yet, and whatever publishes them comes after both. All these orders do occur, so nothing is lost. As SC has no orders, its
/// executions are those of a loop that succeeds at once.
fn first_read(
    method: &Method,
    target: &Statement,
    local: LocalId,
    reads: &BTreeSet<Label>,
    cases: &flow::Cases,
) -> Result<Access, String> {
    let name = &method.locals[local.0 as usize].name;
    let refuse = |why: &str| Err(format!("`{name}` is carried over from an iteration that fails, {why}"));
    let Statement::Loop { body, .. } = target else { return refuse("outside of a loop") };
    let mut places: Vec<(&Place, Mode)> = Vec::new();
    each_access(body, &mut |access| {
        if !reads.contains(&access.label) {
            return;
        }
        match &access.kind {
            AccessKind::Cas { place, failure: order, .. }
            | AccessKind::Load { place, order, .. }
            | AccessKind::Wait { place, order, .. } => places.push((place, *order)),
            _ => {}
        }
    });
    let (Some((place, _)), Some(before)) = (places.first(), block_before(&method.body, target)) else {
        return refuse("and no load of the same place comes before the loop");
    };
    for (index, statement) in before.iter().enumerate().rev() {
        let between = &before[index + 1..];
        match statement {
            Statement::Access(access) => match &access.kind {
                AccessKind::Load { to, place: p, order } if *to == local => {
                    let same = places.iter().all(|(place, _)| *place == p)
                        && place.base.iter().chain(&place.index).all(|expr| {
                            last::fixed(expr, between) && last::fixed(expr, body) && !mentions(expr, local)
                        });
                    if !same {
                        return refuse("and the load before the loop is of another place");
                    }
                    let order = places.iter().fold(*order, |weakest, (_, order)| weaker(weakest, *order));
                    let kind = AccessKind::Load { to: *to, place: p.clone(), order };
                    return Ok(Access { kind, ..access.clone() });
                }
                AccessKind::Allocate { to, .. } if *to != local => {}
                AccessKind::Store { place: p, value, .. }
                    if !mentions(value, local)
                        && p.index.is_none()
                        && p.base.as_ref().is_some_and(|base| {
                            last::fixed(base, between) && cases.iter().all(|facts| last::is_own(base, facts))
                        }) => {}
                _ => return refuse("and other accesses stand between the load and the loop"),
            },
            Statement::Assign { to, value } if *to != local && !mentions(value, local) => {}
            _ => return refuse("and no load of the same place comes right before the loop"),
        }
    }
    refuse("and no load of the same place comes before the loop")
}

fn mentions(expr: &Expr, local: LocalId) -> bool {
    let mut found = false;
    facts::locals(expr, &mut |l| found |= l == local);
    found
}

fn weaker(a: Mode, b: Mode) -> Mode {
    match (a, b) {
        (Mode::SeqCst, Mode::SeqCst) => Mode::SeqCst,
        (a, b) if a.is_acquire() && b.is_acquire() => Mode::Acquire,
        _ => Mode::Relaxed,
    }
}

fn order_of(load: &Access) -> String {
    match &load.kind {
        AccessKind::Load { order, .. } => order_name(*order).to_owned(),
        _ => String::new(),
    }
}

/// The statements of its block before a statement.
fn block_before<'a>(block: &'a [Statement], target: &Statement) -> Option<&'a [Statement]> {
    for (index, statement) in block.iter().enumerate() {
        if std::ptr::eq(statement, target) {
            return Some(&block[..index]);
        }
        let inner = match statement {
            Statement::If { then, otherwise, .. } => {
                block_before(then, target).or_else(|| block_before(otherwise, target))
            }
            Statement::Loop { body, .. } => block_before(body, target),
            _ => None,
        };
        if inner.is_some() {
            return inner;
        }
    }
    None
}

/// The loop after `skip` others, inner ones first.
fn nth_loop<'a>(block: &'a [Statement], skip: &mut usize) -> Option<&'a Statement> {
    for statement in block {
        let inner = match statement {
            Statement::If { then, otherwise, .. } => {
                nth_loop(then, skip).or_else(|| nth_loop(otherwise, skip))
            }
            Statement::Loop { body, .. } => nth_loop(body, skip).or_else(|| {
                *skip = skip.wrapping_sub(1);
                (*skip == usize::MAX).then_some(statement)
            }),
            _ => None,
        };
        if inner.is_some() {
            return inner;
        }
    }
    None
}

/// Puts statements in the place of that loop, and takes the carried load before it away.
fn replace(block: &mut Vec<Statement>, skip: &mut usize, by: &[Statement], carried: Option<Label>) -> bool {
    for index in 0..block.len() {
        let (is_done, is_here) = match &mut block[index] {
            Statement::If { then, otherwise, .. } => {
                (replace(then, skip, by, carried) || replace(otherwise, skip, by, carried), false)
            }
            Statement::Loop { body, .. } => match replace(body, skip, by, carried) {
                true => (true, false),
                false => {
                    *skip = skip.wrapping_sub(1);
                    (false, *skip == usize::MAX)
                }
            },
            _ => (false, false),
        };
        if is_here {
            let after = block.split_off(index + 1);
            block.pop();
            let load = |s: &Statement| matches!(s, Statement::Access(a) if Some(a.label) == carried);
            if let Some(at) = block.iter().rposition(load) {
                block.remove(at);
            }
            block.extend(by.iter().cloned());
            block.extend(after);
            return true;
        }
        if is_done {
            return true;
        }
    }
    false
}
