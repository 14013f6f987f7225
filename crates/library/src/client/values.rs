//! Which values can variables and locations of a client have? More than they really have, but finitely many.
//!
//! Each call is followed with sets of values; what calls write is collected per location. Without loops, each statement is
//! executed at most once, so after as many rounds as there are writes, every value has turned up, even if counters would
//! go on growing. With loops that stay, nothing but an end to new values will do.

use super::follow::Run;
use super::sets::short;
use super::{Client, Unsupported};
use crate::code::{AccessKind, Class, ClassId, Label, Library, Place, Statement};
use crate::rho::each_statement;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A set of values.
pub type Set = BTreeSet<i64>;

/// Addresses of allocated records are multiples of [`STRIDE`] from here on: no number that a library would have.
pub const ADDRESSES: i64 = 0x0123_4567_89a0;
/// Addresses are that far apart. Those of records that are there from the beginning are negative multiples.
pub const STRIDE: i64 = 16;
/// How often an allocation in a loop that stays may be executed in one call.
pub const ALLOCATIONS: u32 = 2;

/// Larger numbers than this are not modelled.
pub const LARGEST: i64 = 30_000;
/// Cells of arrays without a length.
const MOST_CELLS: i64 = 40;

/// A location: class, address of the record, index of the cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The class of the location.
    pub class: ClassId,
    /// The record's address, or 0.
    pub base: i64,
    /// The cell's index, or 0.
    pub index: i64,
}

/// Values of the variables of a call.
pub type Env = Vec<Set>;

/// A statement of a call: number of the call, address of the statement in the library.
pub type Point = (usize, usize);

/// Values that locations of a client can hold: an overapproximation.
#[derive(Default)]
pub struct Values {
    /// Values of locations.
    pub memory: BTreeMap<Key, Set>,
    /// Values of variables before statements.
    pub before: FxHashMap<Point, Env>,
    /// Addresses of records, by call, label and how often it was executed before.
    pub records: BTreeMap<(usize, Label, u32), i64>,
    /// Where records were allocated (not: those from the beginning), in order.
    pub is_zeroed: Vec<bool>,
    /// Records that may have been freed.
    pub freed: Set,
    /// Is there arithmetic on addresses?
    pub address_arithmetic: bool,
    /// The smallest and largest numbers that turned up, addresses excepted.
    pub range: (i64, i64),
    /// The smallest address of a record that is there from the beginning.
    pub lowest_address: i64,
    /// The largest number that is an address, perhaps with a tag or an offset.
    pub highest_address: i64,
}

impl Values {
    /// Follows all calls until nothing new can turn up.
    pub fn of(library: &Library, client: &Client) -> Result<Values, Unsupported> {
        let mut values = Values { range: (0, 1), ..Values::default() };
        let calls: Vec<_> = client.threads.iter().flatten().collect();
        let mut rounds = Some(1);
        for call in &calls {
            let method = call.method(library)?;
            if call.arguments.len() != method.parameters.len() {
                return Err(Unsupported(format!(
                    "`{}` takes {} arguments",
                    method.name,
                    method.parameters.len()
                )));
            }
            rounds = rounds.and_then(|n| Some(n + writes(&method.body)?));
        }
        loop {
            let old = values.memory.clone();
            let sizes = (values.records.len(), values.freed.len());
            let mut next = old.clone();
            for (number, call) in calls.iter().enumerate() {
                let method = call.method(library)?;
                let mut env: Env = vec![Set::from([0]); method.locals.len()];
                for (parameter, argument) in method.parameters.iter().zip(&call.arguments) {
                    env[parameter.0 as usize] = Set::from([*argument]);
                    values.note(*argument)?;
                }
                let mut run = Run { library, call: number, loops: 0, next: &mut next, values: &mut values };
                run.block(&method.body, env)?;
            }
            values.memory = next;
            rounds = rounds.map(|n| n - 1);
            let is_done = values.memory == old && sizes == (values.records.len(), values.freed.len());
            if is_done || rounds == Some(0) {
                return Ok(values);
            }
        }
    }

    /// The value of a location at the beginning.
    pub fn initial(&self, library: &Library, key: Key) -> i64 {
        let class = &library.classes[key.class.0 as usize];
        let at = match (class.record, class.cells) {
            (Some(_), None) => key.base,
            _ => key.index,
        };
        if key.base >= ADDRESSES {
            let zeroed = self.is_zeroed.get(((key.base - ADDRESSES) / STRIDE) as usize);
            return if zeroed == Some(&true) { short(class.initial) } else { 0 };
        }
        match &class.initial_cell {
            Some(expr) => {
                let value = expr.evaluate(&|local| (local == Class::INDEX).then_some(at.into()));
                short(value.unwrap_or(class.initial))
            }
            None => short(class.initial),
        }
    }

    /// The locations that a place can be.
    pub fn keys(&mut self, library: &Library, place: &Place, env: &Env) -> Result<Vec<Key>, Unsupported> {
        let class = &library.classes[place.class.0 as usize];
        let zero = Set::from([0]);
        let bases = place.base.as_ref().map_or(Ok(zero.clone()), |base| self.eval(base, env))?;
        let indices = place.index.as_ref().map_or(Ok(zero), |index| self.eval(index, env))?;
        let end = class.cells.map_or(1, |cells| cells.map_or(MOST_CELLS, |n| n.min(1 << 20) as i64));
        if class.cells == Some(None) && indices.iter().any(|index| *index >= end) {
            let name = &class.name;
            return Err(Unsupported(format!("more than {MOST_CELLS} cells of `{name}` are not modelled")));
        }
        let keys = bases
            .iter()
            .filter(|base| class.record.is_none() || **base < 0 || self.is_record(**base))
            .flat_map(|base| indices.iter().map(move |index| (*base, *index)))
            .filter(|(_, index)| (0..end).contains(index))
            .map(|(base, index)| Key { class: place.class, base, index });
        Ok(keys.collect())
    }

    fn is_record(&self, address: i64) -> bool {
        address >= ADDRESSES
            && (address - ADDRESSES) % STRIDE == 0
            && (address - ADDRESSES) / STRIDE < self.is_zeroed.len() as i64
    }

    /// Takes note of a number.
    pub fn note(&mut self, value: i64) -> Result<(), Unsupported> {
        if is_fixed(value) {
            self.lowest_address = self.lowest_address.min(value);
        } else if is_address(value) {
            self.highest_address = self.highest_address.max(value);
        } else {
            self.range = (self.range.0.min(value), self.range.1.max(value));
        }
        // Without records a number that looks like an address is a number.
        let is_number = is_address(value) && self.is_zeroed.is_empty();
        match self.range.0 < -LARGEST || self.range.1 > LARGEST || is_number {
            true => Err(Unsupported(format!("numbers beyond {LARGEST} are not modelled"))),
            false => Ok(()),
        }
    }
}

/// The address of a record that is there from the beginning, if it is no number.
pub fn is_fixed(value: i64) -> bool {
    value < 0 && value % STRIDE == 0
}

/// The address of a record that was allocated, perhaps with a tag or an offset: told apart from numbers by its size.
pub fn is_address(value: i64) -> bool {
    (ADDRESSES - LARGEST..=ADDRESSES + LARGEST).contains(&value)
}

/// How many writes a block without loops executes at most; `None` if it has a loop.
fn writes(block: &[Statement]) -> Option<usize> {
    let mut loops = false;
    // What stays where it is repeats nothing.
    each_statement(block, &mut |s| loops |= matches!(s, Statement::Loop { body, .. } if !body.is_empty()));
    let count = |block: &[Statement]| writes(block).unwrap_or(0);
    let sum = block.iter().map(|statement| match statement {
        Statement::Access(access) => match access.kind {
            AccessKind::Store { .. } | AccessKind::Rmw { .. } | AccessKind::Cas { .. } => 1,
            AccessKind::Allocate { .. } => 1,
            _ => 0,
        },
        Statement::If { then, otherwise, .. } => count(then).max(count(otherwise)),
        _ => 0,
    });
    (!loops).then(|| sum.sum())
}
