//! Runs initialisers and setup functions, once and alone, to see what memory is like at the beginning.

use rustc_hash::FxHashMap;

use super::declare::{Reader, STRIDE};
use super::error::Error;
use super::fold;
use crate::code::{Access, AccessKind, Class, Expr, LocalId, Method, Operator, Place, Site, Statement};

/// Values by class, record and cell.
type Memory = FxHashMap<(u32, i128, i128), i128>;

/// Setup functions that run longer are refused.
const STEPS: u32 = 1 << 20;

/// How a block ended.
enum Flow {
    On,
    Break(u32),
    Continue(u32),
    Return,
}

struct Run<'m> {
    memory: &'m mut Memory,
    next_record: &'m mut i128,
    locals: Vec<Option<i128>>,
    steps: u32,
    /// Where it is, for messages.
    site: Site,
}

/// Why a run stopped.
struct Stopped {
    site: Site,
    message: String,
}

impl Reader<'_> {
    /// Gives the first `count` classes their initial values, and forgets the others.
    pub fn set_initial_values(&mut self, preparations: &[Method], count: usize) -> Result<(), Error> {
        let mut memory = Memory::default();
        let mut next_record = self.next_fixed;
        for method in preparations {
            let mut run = Run {
                memory: &mut memory,
                next_record: &mut next_record,
                locals: vec![None; method.locals.len()],
                steps: 0,
                site: method.site,
            };
            run.block(&method.body).map_err(|stopped| Error {
                file: self.source.file(stopped.site).to_owned(),
                line: stopped.site.line,
                column: stopped.site.column,
                message: stopped.message,
            })?;
        }
        self.library.classes.truncate(count);
        for (id, class) in self.library.classes.iter_mut().enumerate() {
            let mut values: Vec<(i128, i128, i128)> = memory
                .iter()
                .filter(|((of, ..), _)| *of == id as u32)
                .map(|((_, base, index), value)| (*base, *index, *value))
                .collect();
            values.sort_unstable_by_key(|(base, index, _)| (base.unsigned_abs(), *index));
            set(class, &values).map_err(|message| Error::of_file(&self.source.files[0], message))?;
        }
        Ok(())
    }
}

/// Gives a class the values (record, cell, value).
fn set(class: &mut Class, values: &[(i128, i128, i128)]) -> Result<(), String> {
    let index = || Expr::Local(Class::INDEX);
    // Σ (index == i) * value
    let table = |entries: &mut dyn Iterator<Item = (i128, i128)>| {
        let terms = entries.filter(|(_, value)| *value != 0).map(|(at, value)| {
            let hit = fold::binary(Operator::Equal, index(), Expr::Int(at));
            fold::binary(Operator::Mul, hit, Expr::Int(value))
        });
        terms.reduce(|a, b| fold::binary(Operator::Add, a, b))
    };
    match (class.record, class.cells) {
        (None, None) => class.initial = values.first().map_or(0, |(.., value)| *value),
        (Some(_), None) => {
            class.initial_cell = table(&mut values.iter().map(|(base, _, value)| (*base, *value)))
        }
        (Some(_), Some(_)) => {
            if values.iter().any(|(.., value)| *value != 0) {
                return Err(format!("initial values of `{}` other than 0 aren't modelled", class.name));
            }
        }
        (None, Some(length)) => {
            let is_all = length.is_some_and(|n| values.len() as u64 == n);
            let Some((_, first, value)) = values.first() else { return Ok(()) };
            let shift = value.wrapping_sub(*first);
            if is_all && values.iter().all(|(.., v)| v == value) {
                class.initial = *value;
            } else if is_all && values.iter().all(|(_, i, v)| v.wrapping_sub(*i) == shift) {
                class.initial_cell = Some(fold::binary(Operator::Add, index(), Expr::Int(shift)));
            } else {
                class.initial_cell = table(&mut values.iter().map(|(_, i, v)| (*i, *v)));
            }
        }
    }
    Ok(())
}

impl Run<'_> {
    fn stop<T>(&self, message: &str) -> Result<T, Stopped> {
        Err(Stopped { site: self.site, message: message.to_owned() })
    }

    fn value(&self, e: &Expr) -> Result<i128, Stopped> {
        match e.evaluate(&|local: LocalId| self.locals[local.0 as usize]) {
            Some(value) => Ok(value),
            None => self.stop(
                "setup needs a value that isn't known here: setup functions get no values from clients",
            ),
        }
    }

    fn block(&mut self, body: &[Statement]) -> Result<Flow, Stopped> {
        for statement in body {
            self.steps += 1;
            if self.steps > STEPS {
                return self.stop("setup takes too many steps");
            }
            match statement {
                Statement::Access(access) => self.access(access)?,
                Statement::Assign { to, value } => {
                    // Values that are not known may be carried about.
                    self.locals[to.0 as usize] =
                        value.evaluate(&|local: LocalId| self.locals[local.0 as usize]);
                }
                Statement::If { condition, then, otherwise } => {
                    let chosen = if self.value(condition)? != 0 { then } else { otherwise };
                    match self.block(chosen)? {
                        Flow::On => {}
                        other => return Ok(other),
                    }
                }
                Statement::Loop { body, site } => loop {
                    self.steps += 1;
                    if self.steps > STEPS {
                        self.site = *site;
                        return self.stop("setup takes too many steps");
                    }
                    match self.block(body)? {
                        Flow::On | Flow::Continue(0) => {}
                        Flow::Break(0) => break,
                        Flow::Break(levels) => return Ok(Flow::Break(levels - 1)),
                        Flow::Continue(levels) => return Ok(Flow::Continue(levels - 1)),
                        Flow::Return => return Ok(Flow::Return),
                    }
                },
                Statement::Break(levels) => return Ok(Flow::Break(*levels)),
                Statement::Continue(levels) => return Ok(Flow::Continue(*levels)),
                Statement::Return(_) => return Ok(Flow::Return),
                // What C leaves undefined.
                Statement::Assume(condition) => {
                    if self.value(condition)? == 0 {
                        return self.stop("setup does what C leaves undefined: a shift by too many bits, or a division by 0");
                    }
                }
            }
        }
        Ok(Flow::On)
    }

    fn location(&self, place: &Place) -> Result<(u32, i128, i128), Stopped> {
        let part = |e: &Option<Expr>| e.as_ref().map_or(Ok(0), |e| self.value(e));
        let base = part(&place.base)?;
        if place.base.is_some() && base == 0 {
            return self.stop("setup uses a NULL pointer");
        }
        Ok((place.class.0, base, part(&place.index)?))
    }

    fn load(&self, location: (u32, i128, i128)) -> i128 {
        self.memory.get(&location).copied().unwrap_or(0)
    }

    fn access(&mut self, access: &Access) -> Result<(), Stopped> {
        self.site = access.site;
        match &access.kind {
            AccessKind::Load { to, place, .. } | AccessKind::Wait { to, place, .. } => {
                let value = self.load(self.location(place)?);
                self.locals[to.0 as usize] = Some(value);
            }
            AccessKind::Store { place, value, .. } => {
                let (location, value) = (self.location(place)?, self.value(value)?);
                self.memory.insert(location, value);
            }
            AccessKind::Rmw { to, place, update, integer, operand, .. } => {
                let (location, operand) = (self.location(place)?, self.value(operand)?);
                let old = self.load(location);
                let Some(new) = update.compute(*integer, old, operand) else {
                    return self.stop("this number is too large");
                };
                self.memory.insert(location, new);
                if let Some(to) = to {
                    self.locals[to.0 as usize] = Some(old);
                }
            }
            AccessKind::Cas { succeeded, found, place, expected, desired, .. } => {
                let location = self.location(place)?;
                let (old, expected, desired) =
                    (self.load(location), self.value(expected)?, self.value(desired)?);
                if old == expected {
                    self.memory.insert(location, desired);
                }
                if let Some(succeeded) = succeeded {
                    self.locals[succeeded.0 as usize] = Some((old == expected).into());
                }
                if let Some(found) = found {
                    self.locals[found.0 as usize] = Some(old);
                }
            }
            AccessKind::Allocate { to, .. } => {
                self.locals[to.0 as usize] = Some(*self.next_record);
                *self.next_record -= STRIDE;
            }
            AccessKind::Fence { .. } | AccessKind::Free { .. } => {}
        }
        Ok(())
    }
}
