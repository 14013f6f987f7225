//! Constants and functions that questions speak of.

use super::EventId;
use crate::prove::segments::Step;
use crate::solver::formula::{Formula, Int};
use seqcst_c11::code::{ClassId, Label};

/// Functions of positions.
pub const FUNCTIONS: [&str; 10] = [
    "(declare-fun class (Int) Int)",
    "(declare-fun base (Int) Int)",
    "(declare-fun index (Int) Int)",
    "(declare-fun value (Int) Int)",
    "(declare-fun session (Int) Int)",
    "(declare-fun slot (Int) Int)",
    "(declare-fun label (Int) Int)",
    "(declare-fun updates (Int) Bool)",
    "(declare-fun known (Int) Bool)",
    "(declare-fun published (Int) Bool)",
];

macro_rules! symbols {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $sort:ident = $text:expr;)*) => {
        $($(#[$doc])* pub fn $name($($argument: $type),*) -> $sort { $text })*
    };
}

symbols! {
    /// The position of the write under suspicion.
    suspect() -> Int = Int::constant("suspect");
    /// The last position that exists.
    last() -> Int = Int::constant("last");
    /// The position of the first SC fence that knows the suspect.
    first_fence() -> Int = Int::constant("first_fence");

    /// The position of a step.
    event(at: EventId) -> Int = Int::constant(format_args!("e_{}_{}", at.slot, at.step));
    /// Is a step executed?
    executed(at: EventId) -> Formula = Formula::constant(format_args!("x_{}_{}", at.slot, at.step));
    /// The value that a step reads.
    read(at: EventId) -> Int = Int::constant(format_args!("r_{}_{}", at.slot, at.step));
    /// The position of the write that a read takes its value from.
    source(at: EventId) -> Int = Int::constant(format_args!("s_{}_{}", at.slot, at.step));
    /// Does a compare-and-swap succeed?
    succeeded(at: EventId) -> Formula = Formula::constant(format_args!("ok_{}_{}", at.slot, at.step));
    /// The address that a step allocates.
    address(at: EventId) -> Int = Int::constant(format_args!("n_{}_{}", at.slot, at.step));

    /// The position that a slot begins behind.
    begin(slot: usize) -> Int = Int::constant(format_args!("begin_{slot}"));
    /// The position that a slot ends before.
    end(slot: usize) -> Int = Int::constant(format_args!("end_{slot}"));
    /// The thread of a slot.
    session(slot: usize) -> Int = Int::constant(format_args!("session_{slot}"));
    /// Did the thread of a slot know the suspect before the slot began?
    past(slot: usize) -> Formula = Formula::constant(format_args!("past_{slot}"));
    /// Has the thread of a slot read without acquire what would have made the suspect known, before the slot began?
    heard(slot: usize) -> Formula = Formula::constant(format_args!("heard_{slot}"));
    /// Has a slot come to its end?
    complete(slot: usize) -> Formula = Formula::constant(format_args!("complete_{slot}"));
    /// Is a node of a slot reached?
    guard(slot: usize, node: usize) -> Formula = Formula::constant(format_args!("g_{slot}_{node}"));
    /// Did the thread get to know the suspect in a gap of a slot?
    gap(slot: usize, gap: usize) -> Formula = Formula::constant(format_args!("gap_{slot}_{gap}"));
    /// What the client passes for a parameter.
    argument(slot: usize, parameter: u32) -> Int = Int::constant(format_args!("a_{slot}_{parameter}"));
    /// A value of which nothing is known.
    entry(slot: usize, entry: usize) -> Int = Int::constant(format_args!("l_{slot}_{entry}"));
    /// The value of a phi.
    phi(slot: usize, phi: usize) -> Int = Int::constant(format_args!("v_{slot}_{phi}"));

    /// Does a write go to a location of that class?
    is_of_class(write: &Int, class: ClassId) -> Formula =
        Int::apply("class", [write]).equals(Int::from(i64::from(class.0)));
    /// The address of the record that a write goes to.
    base_of(write: &Int) -> Int = Int::apply("base", [write]);
    /// The index of the cell that a write goes to.
    index_of(write: &Int) -> Int = Int::apply("index", [write]);
    /// The value that a write writes.
    value_of(write: &Int) -> Int = Int::apply("value", [write]);
    /// The thread of an event.
    session_of(event: &Int) -> Int = Int::apply("session", [event]);
    /// The slot of an event, from 1.
    slot_of(event: &Int) -> Int = Int::apply("slot", [event]);
    /// Does an event belong to that slot?
    is_of_slot(event: &Int, slot: usize) -> Formula = slot_of(event).equals(Int::from(slot as i64 + 1));
    /// Is a write an execution of that access?
    has_label(write: &Int, label: Label) -> Formula =
        Int::apply("label", [write]).equals(Int::from(i64::from(label.0)));
    /// Is a write a read-modify-write?
    updates(write: &Int) -> Formula = Formula::apply("updates", write);
    /// Does an event know the suspect?
    known(event: &Int) -> Formula = Formula::apply("known", event);
    /// Does whoever reads a write (or an update that continues its release sequence) with acquire know the suspect?
    published(write: &Int) -> Formula = Formula::apply("published", write);
}

/// Is a step reached: may it be the next one?
pub fn reached(slot: usize, step: &Step) -> Formula {
    guard(slot, step.node)
}

/// The thread that makes all calls of a group of methods.
pub fn one_thread(group: usize) -> Int {
    Int::from(-1 - group as i64)
}
