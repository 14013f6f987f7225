//! What small clients pass to methods: numbers that are all different, equal ones and 0 where the library may tell, the numbers
//! that it compares with; records of their own, one for each call, one for each thread, or one for all.

use super::sets::short;
use super::values::STRIDE;
use crate::code::{AccessKind, Expr, Integer, Library, Method, Operator, Statement};
use crate::rho::each_statement;
use std::collections::BTreeSet;

/// The addresses of records that clients bring along are that one and multiples of [`STRIDE`] below: beyond those of records
/// that the library itself has from the beginning.
const RECORDS: i64 = -1000 * STRIDE;

/// The address of a client's record, by number from 0.
pub fn record(number: usize) -> i64 {
    RECORDS - STRIDE * number as i64
}

/// The number of a client's record, if that is what the address is of.
pub fn record_number(value: i64) -> Option<i64> {
    (value <= RECORDS && value % STRIDE == 0).then_some((RECORDS - value) / STRIDE)
}

/// A parameter of a call of a client.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The thread that makes the call.
    pub thread: usize,
    /// Is it a pointer to a record?
    pub is_record: bool,
    /// The numbers that there are: calls convert what they are given.
    pub integer: Integer,
}

impl Parameter {
    fn can_be(&self, value: i64) -> bool {
        self.is_record || self.integer.contains(value.into())
    }
}

/// The parameters of a method, called by a thread.
pub fn parameters(method: &Method, thread: usize) -> impl Iterator<Item = Parameter> + '_ {
    method.parameters.iter().map(move |parameter| {
        let local = &method.locals[parameter.0 as usize];
        Parameter { thread, is_record: local.points_to.is_some(), integer: local.integer }
    })
}

/// All different, as far as their types have room: numbers from 1, records from the first.
pub fn different(parameters: &[Parameter]) -> Vec<i64> {
    let (mut numbers, mut records) = (0i128, 0);
    let one = |parameter: &Parameter| match parameter.is_record {
        true => {
            records += 1;
            record(records - 1)
        }
        false => {
            numbers += 1;
            short(parameter.integer.wrap(numbers))
        }
    };
    parameters.iter().map(one).collect()
}

/// More choices than so many at once are not tried.
const MOST_CHOICES: usize = 256;
/// Nor more numbers that the library compares with.
const MOST_CONSTANTS: usize = 8;

/// All choices, each once, the most telling first. `constants`: see [`constants`]; none if no argument decides anything.
///
/// Where a library has state of its own, a record that is passed to it belongs to the thread that passes it, as the node of a
/// queued lock does; nothing says otherwise in a contract, and a client that breaks such a rule would confirm nothing. Where records
/// are all there is (`are_shared`), they are what threads share.
pub fn choices(parameters: &[Parameter], constants: Option<&[i64]>, are_shared: bool) -> Vec<Vec<i64>> {
    let base = different(parameters);
    let with = |value: &dyn Fn(&Parameter, i64) -> i64| -> Vec<i64> {
        parameters
            .iter()
            .zip(&base)
            .map(|(parameter, value_before)| value(parameter, *value_before))
            .collect()
    };
    let mut all = vec![base.clone()];
    all.push(with(&|it, before| if it.is_record { record(it.thread) } else { before }));
    let at = |is_record| -> Vec<usize> {
        (0..parameters.len()).filter(|at| parameters[*at].is_record == is_record).collect()
    };
    if are_shared {
        all.push(with(&|it, before| if it.is_record { record(0) } else { before }));
        all.extend(products(&base, &at(true), &[record(0), record(1)]));
    }
    let fits = |arguments: &Vec<i64>| parameters.iter().zip(arguments).all(|(it, value)| it.can_be(*value));
    let Some(constants) = constants else { return once(all) };
    let few = [&[0, 1, 2], constants].concat();
    for values in [&few[..], &[0, 1, 2], &[0, 1], &[1, 2]] {
        all.extend(products(&base, &at(false), values));
    }
    // One at a time, the rest as it was: `NULL`, 0, and what the library compares with.
    for place in 0..parameters.len() {
        let constants = if parameters[place].is_record { &[] } else { constants };
        for value in std::iter::once(&0).chain(constants) {
            let mut arguments = base.clone();
            arguments[place] = *value;
            all.push(arguments);
        }
    }
    all.retain(fits);
    once(all)
}

/// All ways to have these values in these places, if they are not too many.
fn products(base: &[i64], places: &[usize], values: &[i64]) -> Vec<Vec<i64>> {
    let count = u32::try_from(places.len()).ok().and_then(|n| values.len().checked_pow(n));
    let mut all = Vec::new();
    for mut choice in 0..count.filter(|count| *count <= MOST_CHOICES).unwrap_or(0) {
        let mut arguments = base.to_vec();
        for place in places {
            arguments[*place] = values[choice % values.len()];
            choice /= values.len();
        }
        all.push(arguments);
    }
    all
}

fn once(mut all: Vec<Vec<i64>>) -> Vec<Vec<i64>> {
    let mut seen = BTreeSet::new();
    all.retain(|arguments| seen.insert(arguments.clone()));
    all
}

/// Numbers that the library compares something with, and their neighbours.
pub fn constants(library: &Library) -> Vec<i64> {
    let mut found = BTreeSet::new();
    let mut note = |expr: &Expr| compared(expr, &mut found);
    for method in &library.methods {
        each_statement(&method.body, &mut |statement| match statement {
            Statement::If { condition, .. } | Statement::Assume(condition) => note(condition),
            Statement::Assign { value, .. } => note(value),
            Statement::Access(access) => match &access.kind {
                AccessKind::Wait { until, .. } => note(until),
                AccessKind::Cas { expected: Expr::Int(n), .. } => {
                    note(&Expr::Binary(Operator::Equal, Box::new(Expr::Int(*n)), Box::new(Expr::Int(*n))));
                }
                _ => {}
            },
            _ => {}
        });
    }
    let mut found: Vec<i64> = found.into_iter().filter(|n| n.unsigned_abs() < 1000).collect();
    found.sort_by_key(|n| n.unsigned_abs());
    found.truncate(MOST_CONSTANTS);
    found
}

fn compared(expr: &Expr, found: &mut BTreeSet<i64>) {
    match expr {
        Expr::Int(_) | Expr::Local(_) => {}
        Expr::Not(e) | Expr::Wrap(_, e) => compared(e, found),
        Expr::Binary(operator, a, b) => {
            let is_comparison = matches!(
                operator,
                Operator::Equal | Operator::NotEqual | Operator::Less | Operator::LessEqual
            );
            for side in [a, b] {
                compared(side, found);
                if let (true, Expr::Int(n)) = (is_comparison, &**side) {
                    let near = [n.saturating_sub(1), *n, n.saturating_add(1)];
                    found.extend(near.into_iter().filter_map(|n| i64::try_from(n).ok()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_into_their_types() {
        let of = |bits, signed| Parameter { thread: 0, is_record: false, integer: Integer { bits, signed } };
        let parameters = [of(1, false), of(8, false), of(1, false), of(32, true)];
        let all = choices(&parameters, Some(&[-1, 255, 256]), false);
        assert_eq!(all[0], [1, 2, 1, 4]);
        let fit =
            |it: &Vec<i64>| it.iter().zip(&parameters).all(|(value, parameter)| parameter.can_be(*value));
        assert!(all.iter().all(fit), "{all:?}");
        assert!(all.contains(&vec![1, 255, 1, 4]) && all.contains(&vec![0, 2, 1, 4]), "{all:?}");
        assert!(all.contains(&vec![1, 2, 1, -1]) && all.contains(&vec![1, 2, 1, 256]), "{all:?}");
    }
}
