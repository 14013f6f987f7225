//! All paths through one iteration of a loop.

use super::facts::{Facts, Known};
use super::flow::{after_inner, each_access, each_statement};
use super::live::{Around, Locals, add, assigned, before as before_block, used};
use super::outcome::{Event, Values, outcomes};
use seqcst_c11::code::{Expr, LocalId, Statement};

/// Where a path ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// At the back edge: the iteration has failed.
    Back,
    /// Elsewhere, with what is live there.
    Left(Locals),
}

/// A path through one iteration.
#[derive(Clone, Debug)]
pub struct Path {
    /// What was known at its start.
    pub start: Facts,
    /// What is known at its end.
    pub facts: Facts,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// Variables that were read before they were assigned.
    pub exposed: Locals,
    /// Variables that were assigned.
    pub assigned: Locals,
    /// Variables that may have been assigned.
    pub changed: Locals,
    /// Where it ends.
    pub end: End,
}

/// More paths than this are too many to look at.
const MOST_PATHS: usize = 20_000;

/// What is being walked through.
pub struct Body<'a> {
    /// The loop's body.
    pub block: &'a [Statement],
    /// What is live around the loop, its own level last.
    pub around: &'a Around,
    /// Values of classes.
    pub values: &'a Values,
}

/// The statements that come after the current block, innermost first.
#[derive(Clone, Copy)]
struct Rest<'a> {
    block: &'a [Statement],
    up: Option<&'a Rest<'a>>,
}

impl Body<'_> {
    /// All paths from one case at the head; an error if there are too many.
    pub fn paths(&self, start: &Facts, found: &mut Vec<Path>) -> Result<(), String> {
        let path = Path {
            start: start.clone(),
            facts: start.clone(),
            events: Vec::new(),
            exposed: Locals::new(),
            assigned: Locals::new(),
            changed: Locals::new(),
            end: End::Back,
        };
        self.walk(Rest { block: self.block, up: None }, path, found)
    }

    fn walk(&self, rest: Rest, mut path: Path, found: &mut Vec<Path>) -> Result<(), String> {
        if found.len() > MOST_PATHS {
            return Err(format!("more than {MOST_PATHS} paths lead through it"));
        }
        let Some((statement, block)) = rest.block.split_first() else {
            return match rest.up {
                Some(up) => self.walk(*up, path, found),
                None => {
                    found.push(path);
                    Ok(())
                }
            };
        };
        let rest = Rest { block, up: rest.up };
        match statement {
            Statement::Access(access) => {
                path.read(used(access));
                path.assign(assigned(access));
                for (facts, event) in outcomes(access, &path.facts, self.values) {
                    let mut path = path.clone();
                    path.learn(facts);
                    path.events.push(event);
                    self.walk(rest, path, found)?;
                }
                Ok(())
            }
            Statement::Assign { to, value } => {
                path.evaluate(value);
                path.assign([*to]);
                let mut facts = path.facts.clone();
                facts.assign(*to, value);
                path.learn(facts);
                self.walk(rest, path, found)
            }
            Statement::If { condition, then, otherwise } => {
                path.evaluate(condition);
                for (branch, truth) in [(then, true), (otherwise, false)] {
                    if let Some(facts) = path.facts.clone().assume(condition, truth) {
                        let path = Path { facts, ..path.clone() };
                        self.walk(Rest { block: branch, up: Some(&rest) }, path, found)?;
                    }
                }
                Ok(())
            }
            Statement::Assume(condition) => {
                path.evaluate(condition);
                match path.facts.clone().assume(condition, true) {
                    Some(facts) => self.walk(rest, Path { facts, ..path }, found),
                    // It waits for ever in a loop that was here: this is its last iteration.
                    None => self.leave(path, Locals::new(), found),
                }
            }
            Statement::Loop { body, .. } => self.inner(statement, body, rest, path, found),
            Statement::Break(depth) => self.leave(path, self.around.exit(*depth), found),
            Statement::Continue(0) => {
                found.push(path);
                Ok(())
            }
            Statement::Continue(depth) => self.leave(path, self.around.head(*depth), found),
            Statement::Return(value) => {
                let mut facts = path.facts.clone();
                if let Some(value) = value {
                    path.evaluate(value);
                    facts.escape(value);
                }
                path.learn(facts);
                self.leave(path, Locals::new(), found)
            }
        }
    }

    fn leave(&self, mut path: Path, live: Locals, found: &mut Vec<Path>) -> Result<(), String> {
        path.end = End::Left(live);
        found.push(path);
        Ok(())
    }

    /// A loop that stays: anything in it may happen, any number of times.
    fn inner(
        &self,
        statement: &Statement,
        body: &[Statement],
        rest: Rest,
        mut path: Path,
        found: &mut Vec<Path>,
    ) -> Result<(), String> {
        let before = path.facts.clone();
        let mut facts = before.clone();
        after_inner(body, &mut facts);
        path.learn(facts);
        let mut events = Vec::new();
        each_access(body, &mut |access| {
            // Nodes are what they were before the loop, or nothing is known about them.
            for facts in [&before, &path.facts] {
                events.extend(outcomes(access, facts, self.values).into_iter().map(|(_, event)| event));
            }
        });
        path.events.push(Event::Inner(events));
        let alone = std::slice::from_ref(statement);
        path.read(before_block(alone, Locals::new(), &mut Around::default(), &mut |_, _| {}));
        // They may be assigned, or not: they count as changed, but what they were may still be read.
        each_statement(body, &mut |statement| match statement {
            Statement::Access(access) => path.changed.extend(assigned(access)),
            Statement::Assign { to, .. } => path.changed.extend([*to]),
            _ => {}
        });
        let exits = exits(body);
        if exits.is_endless() {
            return self.leave(path, Locals::new(), found);
        }
        if exits.falls {
            self.walk(rest, path.clone(), found)?;
        }
        for exit in exits.others {
            let path = path.clone();
            match exit {
                Statement::Break(depth) => self.leave(path, self.around.exit(depth), found)?,
                Statement::Continue(0) => found.push(path),
                Statement::Continue(depth) => self.leave(path, self.around.head(depth), found)?,
                _ => self.leave(path, Locals::new(), found)?,
            }
        }
        Ok(())
    }
}

impl Path {
    /// Goes on with new facts; nodes that escape are part of what happens.
    fn learn(&mut self, facts: Facts) {
        let escaped = facts.escaped.difference(&self.facts.escaped);
        self.events.extend(escaped.map(|node| Event::Escaped(*node)));
        self.facts = facts;
    }

    fn evaluate(&mut self, expr: &Expr) {
        let mut reads = Locals::new();
        add(expr, &mut reads);
        self.read(reads);
    }

    fn read(&mut self, reads: Locals) {
        self.exposed.extend(reads.difference(&self.assigned).copied().collect::<Vec<_>>());
    }

    fn assign(&mut self, locals: impl IntoIterator<Item = LocalId>) {
        for local in locals {
            self.assigned.insert(local);
            self.changed.insert(local);
        }
    }

    /// Is the variable's value at the end of the path the one at its start, as far as that is known?
    pub fn keeps(&self, local: LocalId) -> bool {
        !self.changed.contains(&local)
            || matches!(
                (self.start.of(local), self.facts.of(local)),
                (Known::Int(a), Known::Int(b)) if a == b
            )
    }
}

/// How control leaves a loop that stays, seen from the loop around it.
pub struct Exits {
    /// To the statement after it.
    pub falls: bool,
    /// `Break`, `Continue` or `Return`, with depths as they would be after it.
    pub others: Vec<Statement>,
}

impl Exits {
    /// Does control never leave?
    pub fn is_endless(&self) -> bool {
        !self.falls && self.others.is_empty()
    }
}

/// How control leaves a loop with this body.
pub fn exits(body: &[Statement]) -> Exits {
    let mut exits = Exits { falls: false, others: Vec::new() };
    collect(body, 0, &mut exits);
    exits
}

fn collect(block: &[Statement], depth: u32, exits: &mut Exits) {
    for statement in block {
        let other = match statement {
            Statement::Break(to) if *to == depth => {
                exits.falls = true;
                continue;
            }
            Statement::Break(to) if *to > depth => Statement::Break(to - depth - 1),
            Statement::Continue(to) if *to > depth => Statement::Continue(to - depth - 1),
            Statement::Return(_) => Statement::Return(None),
            Statement::If { then, otherwise, .. } => {
                collect(then, depth, exits);
                collect(otherwise, depth, exits);
                continue;
            }
            Statement::Loop { body, .. } => {
                collect(body, depth + 1, exits);
                continue;
            }
            _ => continue,
        };
        if !exits.others.contains(&other) {
            exits.others.push(other);
        }
    }
}
