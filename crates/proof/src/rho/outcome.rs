//! What can come of a memory operation, as far as ρ wants to know.

use super::facts::{Facts, Known};
use seqcst_c11::code::{
    Access, AccessKind, ClassId, Expr, Integer, Label, Library, Place, RecordId, Site, Statement, Update,
};
use std::collections::BTreeSet;

/// What an operation did on one path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// It read, as a compare-and-swap that fails does: nobody else can tell.
    Read(Label),
    /// It read plain memory: nobody can tell, but it may race.
    PlainRead(Label, Site),
    /// A fence: nobody else can tell that, either.
    Fence,
    /// It read a field of an own node that nobody else knows.
    OwnRead(Label, ClassId),
    /// It wrote a field of an own node that nobody else knows.
    OwnStore(Label, ClassId),
    /// A read-modify-write that wrote the very value that it found.
    SameValue,
    /// The address of an own node is no longer known to this invocation alone.
    Escaped(Label),
    /// A new node.
    Allocated(Label),
    /// Others can see it: why, and where.
    Write(&'static str, Site),
    /// A loop that stays, with what may happen in it.
    Inner(Vec<Event>),
}

/// What must be known of a library as a whole.
pub struct Values {
    /// For each class, all values that it ever has, if these are a few constants.
    few: Vec<Option<BTreeSet<i128>>>,
    /// Records that are freed somewhere: others may still know the address of a new one.
    recycled: BTreeSet<RecordId>,
    /// For each class: is it atomic?
    atomic: Vec<bool>,
}

/// More values than this are not a few.
const FEW: usize = 8;

impl Values {
    /// Looks at all writes of a library.
    pub fn of(library: &Library) -> Values {
        let start = library.classes.iter().map(|class| {
            let plain = class.record.is_none() && class.initial_cell.is_none();
            plain.then(|| BTreeSet::from([class.initial]))
        });
        let atomic = library.classes.iter().map(|class| class.is_atomic).collect();
        let mut values = Values { few: start.collect(), recycled: BTreeSet::new(), atomic };
        let mut updates = Vec::new();
        for method in &library.methods {
            values.writes(&method.body, &mut updates);
        }
        // Values of updates depend on values found.
        for _ in 0..=FEW {
            for (class, update, integer, operand) in &updates {
                let Some(found) = values.few[class.0 as usize].take() else { continue };
                let written = found.iter().map(|found| update.compute(*integer, *found, (*operand)?));
                values.few[class.0 as usize] = written.collect::<Option<BTreeSet<_>>>().map(|w| &w | &found);
            }
            for value in &mut values.few {
                if value.as_ref().is_some_and(|v| v.len() > FEW) {
                    *value = None;
                }
            }
        }
        values
    }

    /// All values that a place may have.
    pub fn at(&self, place: &Place) -> Option<&BTreeSet<i128>> {
        self.few.get(place.class.0 as usize)?.as_ref()
    }

    fn add(&mut self, place: &Place, value: &Expr) {
        if let Some(entry) = self.few.get_mut(place.class.0 as usize) {
            match value {
                Expr::Int(value) => entry.iter_mut().for_each(|values| values.extend([*value])),
                _ => *entry = None,
            }
        }
    }

    fn writes(&mut self, block: &[Statement], updates: &mut Vec<(ClassId, Update, Integer, Option<i128>)>) {
        for statement in block {
            match statement {
                Statement::Access(access) => match &access.kind {
                    AccessKind::Store { place, value, .. } => self.add(place, value),
                    AccessKind::Cas { place, desired, .. } => self.add(place, desired),
                    AccessKind::Rmw { place, update, integer, operand, .. } => {
                        let operand = match operand {
                            Expr::Int(value) => Some(*value),
                            _ => None,
                        };
                        updates.push((place.class, *update, *integer, operand));
                    }
                    AccessKind::Free { record, .. } => self.recycled.extend([*record]),
                    _ => {}
                },
                Statement::If { then, otherwise, .. } => {
                    self.writes(then, updates);
                    self.writes(otherwise, updates);
                }
                Statement::Loop { body, .. } => self.writes(body, updates),
                _ => {}
            }
        }
    }
}

/// All that can come of an operation: what is known afterwards, and what it did.
pub fn outcomes(access: &Access, facts: &Facts, values: &Values) -> Vec<(Facts, Event)> {
    let mut after = facts.clone();
    let own = |place: &Place| match (&place.base, &place.index) {
        (Some(base), None) => facts.own_node(base),
        _ => None,
    };
    let read = |place: &Place| {
        let is_atomic = values.atomic.get(place.class.0 as usize).is_none_or(|is_atomic| *is_atomic);
        match own(place) {
            Some(node) => Event::OwnRead(node, place.class),
            None if is_atomic => Event::Read(access.label),
            None => Event::PlainRead(access.label, access.site),
        }
    };
    let label = access.label;
    match &access.kind {
        AccessKind::Load { to, place, .. } => {
            after.set(*to, Known::Read(label));
            vec![(after, read(place))]
        }
        AccessKind::Wait { to, place, until, .. } => {
            after.set(*to, Known::Read(label));
            let event = read(place);
            after.assume(until, true).into_iter().map(|after| (after, event.clone())).collect()
        }
        AccessKind::Store { place, value, .. } => {
            after.escape(value);
            let event = own(place)
                .map_or(Event::Write("it writes", access.site), |node| Event::OwnStore(node, place.class));
            vec![(after, event)]
        }
        AccessKind::Rmw { to, place, update, integer, operand, .. } => {
            after.escape(operand);
            let write = Event::Write("it updates shared memory", access.site);
            let (Some(found), Some(operand)) = (values.at(place), facts.int(operand)) else {
                to.iter().for_each(|to| after.set(*to, Known::Read(label)));
                return vec![(after, write)];
            };
            let outcome = |found: &i128| {
                let mut after = after.clone();
                to.iter().for_each(|to| after.set(*to, Known::Int(*found)));
                let same = update.compute(*integer, *found, operand) == Some(*found);
                (after, if same { Event::SameValue } else { write.clone() })
            };
            found.iter().map(outcome).collect()
        }
        AccessKind::Cas { succeeded, found, place, expected, desired, is_blocking, .. } => {
            let mut done = after.clone();
            done.escape(desired);
            succeeded.iter().for_each(|to| done.set(*to, Known::Int(1)));
            found.iter().for_each(|to| done.set(*to, facts.value(expected)));
            let write = Event::Write("a compare-and-swap in it succeeds", access.site);
            if *is_blocking {
                return vec![(done, write)];
            }
            found.iter().for_each(|to| after.set(*to, Known::Read(label)));
            succeeded.iter().for_each(|to| after.set(*to, Known::Int(0)));
            vec![(done, write), (after, read(place))]
        }
        AccessKind::Fence { .. } => vec![(after, Event::Fence)],
        AccessKind::Allocate { to, record, .. } => {
            after.allocate(*to, label);
            if values.recycled.contains(record) {
                after.escaped.insert(label);
            }
            vec![(after, Event::Allocated(label))]
        }
        AccessKind::Free { pointer, .. } => {
            after.escape(pointer);
            vec![(after, Event::Write("it frees a record", access.site))]
        }
    }
}
