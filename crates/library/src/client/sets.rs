//! Expressions over sets of values.

use super::Unsupported;
use super::values::{Env, LARGEST, Set, Values, is_address, is_fixed};
use crate::code::{Expr, Operator};
use std::collections::BTreeSet;

/// Sets with more values than this are not modelled.
pub const MOST_VALUES: usize = 200;
/// Expressions with more combinations of values than this are not evaluated.
const MOST_COMBINATIONS: usize = 50_000;

/// A number in 64 bits: those of unsigned types that are too large for a signed one are its negative ones.
pub fn short(value: i128) -> i64 {
    value as i64
}

impl Values {
    /// All values of an expression.
    pub fn eval(&mut self, expr: &Expr, env: &Env) -> Result<Set, Unsupported> {
        let mut results = Set::new();
        let mut seen = Seen::default();
        let complete =
            combinations(expr, env, &mut |of| match watched(expr, of, &mut seen).map(i64::try_from) {
                Some(Ok(value)) => _ = results.insert(value),
                Some(Err(_)) => seen.is_beyond = true,
                None => {}
            });
        seen.tell(self)?;
        results.iter().try_for_each(|value| self.note(*value))?;
        if !complete || results.len() > MOST_VALUES {
            return Err(Unsupported("a number has too many values in this client".to_owned()));
        }
        Ok(results)
    }

    /// Values for which a condition holds, or does not; `None`: there are none.
    pub fn filter(&mut self, condition: &Expr, truth: bool, env: &Env) -> Result<Option<Env>, Unsupported> {
        let mut kept: Env = vec![Set::new(); env.len()];
        let mut any = false;
        let mut seen = Seen::default();
        let complete = combinations(condition, env, &mut |of| {
            if watched(condition, of, &mut seen).is_some_and(|value| (value != 0) == truth) {
                any = true;
                for (local, value) in of {
                    kept[*local].insert(*value);
                }
            }
        });
        seen.tell(self)?;
        if !complete {
            return Err(Unsupported("a condition depends on too many values in this client".to_owned()));
        }
        for (local, set) in kept.iter_mut().enumerate() {
            if set.is_empty() {
                *set = env[local].clone();
            }
        }
        Ok(any.then_some(kept))
    }
}

/// What turned up while expressions were evaluated.
#[derive(Default)]
struct Seen {
    numbers: Option<(i64, i64)>,
    lowest_address: i64,
    highest_address: i64,
    address_arithmetic: bool,
    /// A number for which there is no room.
    is_beyond: bool,
}

impl Seen {
    fn tell(&self, values: &mut Values) -> Result<(), Unsupported> {
        if self.is_beyond {
            return Err(Unsupported("numbers beyond 2^63 are not modelled in clients".to_owned()));
        }
        values.address_arithmetic |= self.address_arithmetic;
        let (low, high) = self.numbers.unwrap_or((0, 0));
        values.lowest_address = values.lowest_address.min(self.lowest_address);
        if self.highest_address > 0 {
            values.note(self.highest_address)?;
        }
        values.note(low)?;
        values.note(high)
    }
}

/// Values of the variables of an expression.
pub type Assignment = [(usize, i64)];

/// Calls `f` with all values of the expression's variables; false if there are too many.
pub fn combinations(expr: &Expr, env: &Env, f: &mut impl FnMut(&Assignment)) -> bool {
    let mut locals = BTreeSet::new();
    crate::rho::locals(expr, &mut |local| {
        locals.insert(local.0 as usize);
    });
    let locals: Vec<usize> = locals.into_iter().collect();
    let count = locals.iter().map(|local| env[*local].len()).try_fold(1usize, |a, b| a.checked_mul(b));
    if count.is_none_or(|count| count > MOST_COMBINATIONS) {
        return false;
    }
    fn choose(locals: &[usize], env: &Env, chosen: &mut Vec<(usize, i64)>, f: &mut impl FnMut(&Assignment)) {
        match locals.split_first() {
            None => f(chosen),
            Some((local, rest)) => {
                for value in &env[*local] {
                    chosen.push((*local, *value));
                    choose(rest, env, chosen, f);
                    chosen.pop();
                }
            }
        }
    }
    choose(&locals, env, &mut Vec::new(), f);
    true
}

/// The value of an expression, with a look at everything on the way.
fn watched(expr: &Expr, of: &Assignment, seen: &mut Seen) -> Option<i128> {
    let value = match expr {
        Expr::Int(value) => *value,
        Expr::Local(local) => of.iter().find(|(l, _)| *l == local.0 as usize)?.1.into(),
        Expr::Not(e) => (watched(e, of, seen)? == 0).into(),
        Expr::Wrap(to, e) => {
            watched(e, of, seen);
            Expr::Wrap(*to, e.clone()).evaluate(&|local| {
                of.iter().find(|(l, _)| *l == local.0 as usize).map(|(_, v)| (*v).into())
            })?
        }
        Expr::Binary(operator, left, right) => {
            let (a, b) = (watched(left, of, seen)?, watched(right, of, seen)?);
            let is_address = |v: i128| is_address(short(v)) || is_fixed(short(v));
            let is_arithmetic =
                !matches!(operator, Operator::Equal | Operator::NotEqual | Operator::Both | Operator::Either);
            seen.address_arithmetic |= is_arithmetic && (is_address(a) || is_address(b));
            let value = operator.compute(a, b)?;
            seen.address_arithmetic |= is_arithmetic && is_address(value);
            value
        }
    };
    let (exact, value) = (value, short(value));
    if is_fixed(value) {
        seen.lowest_address = seen.lowest_address.min(value);
    } else if is_address(value) {
        seen.highest_address = seen.highest_address.max(value);
    } else if value.unsigned_abs() <= LARGEST.unsigned_abs() {
        // What comes up in between and is larger needs no room: for such values the result is written down.
        let (low, high) = seen.numbers.unwrap_or((value, value));
        seen.numbers = Some((low.min(value), high.max(value)));
    }
    Some(exact)
}
