//! One call, followed with sets of values.

use super::Unsupported;
use super::sets::MOST_VALUES;
use super::values::{ADDRESSES, ALLOCATIONS, Env, Key, STRIDE, Set, Values, is_address, is_fixed};
use crate::code::{AccessKind, Label, Library, Place, Statement, Update};
use std::collections::BTreeMap;

/// One call, followed with the memory of the last round.
pub struct Run<'a> {
    /// The library after ρ.
    pub library: &'a Library,
    /// Number of the call.
    pub call: usize,
    /// Loops that stay, around the current statement.
    pub loops: usize,
    /// Takes what is written, for the next round.
    pub next: &'a mut BTreeMap<Key, Set>,
    /// What is known.
    pub values: &'a mut Values,
}

/// Where control goes from a block, and with which values.
#[derive(Default)]
pub struct Flow {
    falls: Option<Env>,
    breaks: Vec<Option<Env>>,
    continues: Vec<Option<Env>>,
}

type Followed<T> = Result<T, Unsupported>;

impl Run<'_> {
    /// Follows a block.
    pub fn block(&mut self, block: &[Statement], start: Env) -> Followed<Flow> {
        let mut flow = Flow { falls: Some(start), ..Flow::default() };
        for statement in block {
            let Some(mut env) = flow.falls.take() else { break };
            let point = (self.call, std::ptr::from_ref(statement) as usize);
            join(self.values.before.entry(point).or_default(), &env);
            match statement {
                Statement::Access(access) => {
                    let done = self.access(&access.kind, access.label, &mut env)?;
                    flow.falls = done.then_some(env);
                }
                Statement::Assign { to, value } => {
                    env[to.0 as usize] = self.values.eval(value, &env)?;
                    flow.falls = Some(env);
                }
                Statement::If { condition, then, otherwise } => {
                    for (branch, truth) in [(then, true), (otherwise, false)] {
                        let Some(env) = self.values.filter(condition, truth, &env)? else { continue };
                        let inner = self.block(branch, env)?;
                        add(&mut flow.falls, inner.falls);
                        merge(&mut flow.breaks, inner.breaks, 0);
                        merge(&mut flow.continues, inner.continues, 0);
                    }
                }
                Statement::Loop { body, .. } => {
                    self.loops += 1;
                    let mut head = env;
                    let inner = loop {
                        let inner = self.block(body, head.clone())?;
                        let mut next = head.clone();
                        for back in inner.falls.iter().chain(inner.continues.first().into_iter().flatten()) {
                            join(&mut next, back);
                        }
                        if next.iter().any(|set| set.len() > MOST_VALUES) {
                            return Err(Unsupported("a loop that stays has too many values".to_owned()));
                        }
                        if next == head {
                            break inner;
                        }
                        head = next;
                    };
                    self.loops -= 1;
                    flow.falls = inner.breaks.first().cloned().flatten();
                    merge(&mut flow.breaks, inner.breaks, 1);
                    merge(&mut flow.continues, inner.continues, 1);
                }
                Statement::Break(depth) => add(level(&mut flow.breaks, *depth as usize), Some(env)),
                Statement::Continue(depth) => add(level(&mut flow.continues, *depth as usize), Some(env)),
                Statement::Return(value) => {
                    value.iter().try_for_each(|value| self.values.eval(value, &env).map(|_| ()))?;
                }
                Statement::Assume(condition) => flow.falls = self.values.filter(condition, true, &env)?,
            }
        }
        Ok(flow)
    }

    fn read(&mut self, place: &Place, env: &Env) -> Followed<Set> {
        let mut found = Set::new();
        for key in self.values.keys(self.library, place, env)? {
            found.extend(self.location(key)?);
        }
        Ok(found)
    }

    fn location(&mut self, key: Key) -> Followed<Set> {
        if !self.values.memory.contains_key(&key) {
            let initial = self.values.initial(self.library, key);
            self.values.note(initial)?;
            self.values.memory.insert(key, Set::from([initial]));
            self.next.entry(key).or_default().insert(initial);
        }
        Ok(self.values.memory[&key].clone())
    }

    fn write(&mut self, key: Key, values: Set) -> Followed<()> {
        self.location(key)?;
        let set = self.next.entry(key).or_default();
        set.extend(values);
        match set.len() > MOST_VALUES {
            true => Err(Unsupported("a location has too many values in this client".to_owned())),
            false => Ok(()),
        }
    }

    /// False if it never gets past this.
    fn access(&mut self, kind: &AccessKind, label: Label, env: &mut Env) -> Followed<bool> {
        match kind {
            AccessKind::Load { to, place, .. } => {
                env[to.0 as usize] = self.read(place, env)?;
                Ok(!env[to.0 as usize].is_empty())
            }
            AccessKind::Wait { to, place, until, .. } => {
                env[to.0 as usize] = self.read(place, env)?;
                match self.values.filter(until, true, env)? {
                    Some(filtered) => *env = filtered,
                    None => return Ok(false),
                }
                Ok(!env[to.0 as usize].is_empty())
            }
            AccessKind::Store { place, value, .. } => {
                let value = self.values.eval(value, env)?;
                let keys = self.values.keys(self.library, place, env)?;
                let any = !keys.is_empty();
                keys.into_iter().try_for_each(|key| self.write(key, value.clone()))?;
                Ok(any)
            }
            AccessKind::Rmw { to, place, update, integer, operand, .. } => {
                let operands = self.values.eval(operand, env)?;
                let mut all = Set::new();
                for key in self.values.keys(self.library, place, env)? {
                    let found = self.location(key)?;
                    let pairs = found.iter().flat_map(|f| operands.iter().map(move |o| (*f, *o)));
                    let written: Vec<i128> =
                        pairs.filter_map(|(f, o)| update.compute(*integer, f.into(), o.into())).collect();
                    let written: Set =
                        written.into_iter().map(i64::try_from).collect::<Result<_, _>>().map_err(|_| {
                            Unsupported("numbers beyond 2^63 are not modelled in clients".to_owned())
                        })?;
                    // Where addresses are numbered anew, nothing may be added to them, nor be mistaken for one of them.
                    let mut all_numbers = found.iter().chain(&operands).chain(&written);
                    self.values.address_arithmetic |=
                        *update != Update::Exchange && all_numbers.any(|v| is_address(*v) || is_fixed(*v));
                    written.iter().try_for_each(|value| self.values.note(*value))?;
                    self.write(key, written)?;
                    all.extend(found);
                }
                let any = !all.is_empty();
                if let Some(to) = to {
                    env[to.0 as usize] = all;
                }
                Ok(any)
            }
            AccessKind::Cas { succeeded, found, place, expected, desired, is_blocking, .. } => {
                let wanted = self.values.eval(expected, env)?;
                let desired = self.values.eval(desired, env)?;
                let (mut all, mut can) = (Set::new(), false);
                for key in self.values.keys(self.library, place, env)? {
                    let values = self.location(key)?;
                    if !values.is_disjoint(&wanted) {
                        can = true;
                        self.write(key, desired.clone())?;
                    }
                    all.extend(values);
                }
                let mut outcomes = Set::new();
                outcomes.extend(can.then_some(1));
                outcomes.extend((!*is_blocking && !all.is_empty()).then_some(0));
                let any = !outcomes.is_empty();
                if let Some(to) = found {
                    env[to.0 as usize] = if *is_blocking { &all & &wanted } else { all };
                }
                if let Some(to) = succeeded {
                    env[to.0 as usize] = outcomes;
                }
                Ok(any)
            }
            AccessKind::Fence { .. } => Ok(true),
            AccessKind::Allocate { to, is_zeroed, .. } => {
                let copies = if self.loops > 0 { ALLOCATIONS } else { 1 };
                let mut addresses = self.values.freed.clone();
                for copy in 0..copies {
                    let values = &mut *self.values;
                    let address = *values.records.entry((self.call, label, copy)).or_insert_with(|| {
                        values.is_zeroed.push(*is_zeroed);
                        ADDRESSES + STRIDE * (values.is_zeroed.len() as i64 - 1)
                    });
                    addresses.insert(address);
                }
                env[to.0 as usize] = addresses;
                Ok(true)
            }
            AccessKind::Free { pointer, .. } => {
                let pointers = self.values.eval(pointer, env)?;
                self.values.freed.extend(pointers.into_iter().filter(|p| is_address(*p) || is_fixed(*p)));
                Ok(true)
            }
        }
    }
}

fn join(into: &mut Env, from: &Env) {
    into.resize(from.len(), Set::new());
    for (a, b) in into.iter_mut().zip(from) {
        a.extend(b);
    }
}

fn add(into: &mut Option<Env>, from: Option<Env>) {
    match (into, from) {
        (_, None) => {}
        (Some(into), Some(from)) => join(into, &from),
        (into, from) => *into = from,
    }
}

fn level(levels: &mut Vec<Option<Env>>, depth: usize) -> &mut Option<Env> {
    if levels.len() <= depth {
        levels.resize_with(depth + 1, || None);
    }
    &mut levels[depth]
}

/// Adds what leaves an inner block, without the innermost `levels` levels.
fn merge(into: &mut Vec<Option<Env>>, from: Vec<Option<Env>>, levels: usize) {
    for (depth, env) in from.into_iter().skip(levels).enumerate() {
        add(level(into, depth), env);
    }
}
