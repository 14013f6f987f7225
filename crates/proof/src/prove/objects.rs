//! Which clients a proof covers: those of one object, or those of any number of objects.
//!
//! The proof speaks of one object: a location is named by class, record and cell. Suppose that objects are apart: calls on
//! one touch no memory that calls on another touch. Then an SC execution of a client of many objects, restricted to the
//! calls on one, is an SC execution of a client of that one; and what happens before something there does so in the whole.
//!
//! * *Destination* and *race-free* say of every access that it knows the newest write, however control got there. So they
//!   hold for clients of any number of objects.
//! * *Source* and *fence* follow SC's order, step by step. With several objects that leads through others, which carry nothing
//!   along: a register of one location is robust, two of them are store buffering. So these speak of one object.

use super::Condition;
use super::execution::ProofContext;

/// What clients a proof covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Objects {
    /// There is only one object: the library's state is global.
    Global,
    /// Those that use one object of the library.
    One,
    /// Those that use any number of objects.
    Any,
}

/// What the proof may come to cover, if its conditions are such.
pub(super) fn most(context: &ProofContext) -> Objects {
    let library = context.library;
    let is_global = |class: &&seqcst_c11::code::Class| class.record.is_none() && !class.is_of_object;
    if !library.classes.iter().any(|class| class.is_of_object) {
        // Records are named by their addresses, which the proof says nothing about: so it covers all of them.
        let is_nothing_else = !library.has_global_records && !library.classes.iter().any(|c| is_global(&c));
        return if is_nothing_else { Objects::Any } else { Objects::Global };
    }
    let steps = || context.segments.iter().flat_map(|segment| &segment.steps);
    let is_written =
        |class: usize| steps().any(|s| s.writes() && s.class.is_some_and(|c| c.0 as usize == class));
    let mut classes = library.classes.iter().enumerate();
    let shares = library.has_global_records || classes.any(|(k, class)| is_global(&class) && is_written(k));
    // Addresses of records that no client brings, and that no other object is handed.
    match !shares && context.facts.are_records_fresh {
        true => Objects::Any,
        false => Objects::One,
    }
}

/// Does a condition hold for an object whatever clients do with others?
pub(super) fn is_of_any(condition: Condition) -> bool {
    matches!(condition, Condition::Destination | Condition::RaceFree)
}
