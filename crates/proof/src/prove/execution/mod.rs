//! Partial executions: some calls of one SC execution, and what is true of them.
//!
//! An event *is* its position in the trace: a positive number for events of calls, and one of its own, 0 or less, for each
//! initial write. All else are functions of positions. The constants name real events of one real SC prefix, every assertion
//! is true of every such prefix, and nothing says that only the named events exist. So a contradiction means that no
//! execution has such a part, and leaving an assertion out is always sound.
//!
//! * [`symbols`]: constants and functions;
//! * `calls`: what a call does; `trace`: SC; `views`: RC20; `constraints`: what static analysis has found.
//!
//! `known(e)` stands for: the write under suspicion (μ_m of \[RoboCop24], Table 1) reaches `e` by `rf?;hb?` (Def. 4.3).

mod calls;
mod constraints;
pub mod symbols;
mod trace;
mod views;

use crate::prove::facts::{Constraint, Facts};
use crate::prove::segments::{Action, Segment, Step};
use crate::prove::term::BITS;
use crate::solver::Question;
use crate::solver::formula::{Formula, Int, all, any};
use seqcst_c11::code::{ClassId, Library};
use symbols::*;

/// A library, cut into segments and analysed.
pub struct ProofContext<'a> {
    /// The library, lock and unlock joined if it is a lock.
    pub library: &'a Library,
    /// Segments of all methods.
    pub segments: &'a [Segment],
    /// What is known about it.
    pub facts: Facts,
}

/// One call, or a piece of one, in a partial execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Which segment it executes.
    pub segment: usize,
}

/// An access of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventId {
    /// Index of the slot.
    pub slot: usize,
    /// Index of the step in its segment.
    pub step: usize,
}

/// A write that the question speaks of: of a slot, or the source of a read (which may be one of those, or outside).
#[derive(Clone, Debug)]
pub struct Handle {
    /// Its position in the trace.
    pub position: Int,
    /// The condition under which it exists.
    pub active: Formula,
    /// The class of its location.
    pub class: ClassId,
    /// Address of the record it writes to.
    pub base: Int,
    /// Index of the cell it writes to.
    pub index: Int,
    /// It is the write of that step.
    pub of: Option<EventId>,
}

impl Handle {
    /// It exists, at that location.
    pub fn is_at(&self, (base, index): &(Int, Int)) -> Formula {
        all([&self.active, &self.base.equals(base), &self.index.equals(index)])
    }

    /// It exists, and it is no initial write.
    fn is_made(&self) -> Formula {
        all([&self.active, &self.position.gt(Int::from(0))])
    }
}

/// A question in the making.
pub struct Execution<'a> {
    /// The library under proof.
    pub context: &'a ProofContext<'a>,
    /// Calls that the question speaks of.
    pub slots: Vec<Slot>,
    /// Writes that the question speaks of.
    pub handles: Vec<Handle>,
    /// `known` is `hb` alone, without the `rf?` before it: for data races.
    pub is_hb_only: bool,
    declarations: Vec<String>,
    assertions: Vec<(String, String)>,
}

/// What assertions of the code, of SC, of RC20 and of the question are labelled with in cores.
const CODE: &str = "code";
const SC: &str = "sc";
const RC20: &str = "rc20";
/// The condition under test.
const CONDITION: &str = "condition";

impl<'a> Execution<'a> {
    /// An execution with these slots; the last position that exists is `last`.
    pub fn new(context: &'a ProofContext<'a>, slots: &[Slot]) -> Execution<'a> {
        let mut declarations: Vec<String> = FUNCTIONS.iter().chain(&BITS).map(|d| (*d).to_owned()).collect();
        declarations.extend([suspect(), last(), first_fence()].map(|constant| constant.declaration()));
        let mut execution = Execution {
            context,
            slots: Vec::new(),
            handles: Vec::new(),
            is_hb_only: false,
            declarations,
            assertions: Vec::new(),
        };
        execution.assert_formula(SC, suspect().gt(Int::from(0)));
        execution.assert_formula(RC20, known(&suspect()));
        execution.assert_formula(RC20, first_fence().gt(suspect()));
        for slot in slots {
            execution.add(*slot, &true.into());
        }
        execution
    }

    /// Adds an assertion; cores name it by its label.
    pub fn assert_formula(&mut self, label: &str, formula: Formula) {
        if !formula.is_true() {
            self.assertions.push((label.to_owned(), formula.to_string()));
        }
    }

    /// Adds part of the condition under test.
    pub fn require(&mut self, formula: Formula) {
        self.assert_formula(CONDITION, formula);
    }

    /// Adds a derived constraint.
    pub fn derive(&mut self, constraint: Constraint, formula: Formula) {
        self.assert_formula(constraint.name(), formula);
    }

    /// The segment of a slot.
    pub fn segment(&self, slot: usize) -> &'a Segment {
        &self.context.segments[self.slots[slot].segment]
    }

    /// The step that an access is.
    pub fn step(&self, at: EventId) -> &'a Step {
        &self.segment(at.slot).steps[at.step]
    }

    /// All steps of a slot.
    pub fn steps(&self, slot: usize) -> impl Iterator<Item = EventId> + use<> {
        (0..self.segment(slot).steps.len()).map(move |step| EventId { slot, step })
    }

    fn all_steps(&self) -> Vec<EventId> {
        (0..self.slots.len()).flat_map(|slot| self.steps(slot)).collect()
    }

    /// It is executed, and it writes.
    pub fn is_write(&self, at: EventId) -> Formula {
        match self.step(at).action {
            Action::Cas { is_blocking: false, .. } => all([executed(at), succeeded(at)]),
            _ => executed(at),
        }
    }

    /// The location of an access: address of the record, index of the cell.
    pub fn location(&self, at: EventId) -> (Int, Int) {
        let step = self.step(at);
        (step.base.integer(at.slot), step.index.integer(at.slot))
    }

    /// Do two accesses access one location (if they are of one class)?
    pub fn is_same_location(&self, a: EventId, b: EventId) -> [Formula; 2] {
        let ((base, index), (base2, index2)) = (self.location(a), self.location(b));
        [base.equals(base2), index.equals(index2)]
    }

    /// Adds a slot that is part of the execution if `active`; gives its index.
    pub fn add(&mut self, slot: Slot, active: &Formula) -> usize {
        let number = self.slots.len();
        self.slots.push(slot);
        self.declare(number);
        self.assert_formula(CODE, guard(number, 0).iff(active));
        self.code(number);
        self.room(number);
        self.events(number);
        for at in self.steps(number).collect::<Vec<_>>() {
            let step = self.step(at);
            let (base, index) = self.location(at);
            if let (Some(class), true) = (step.class, step.writes()) {
                let (position, active) = (event(at), self.is_write(at));
                let (base, index) = (base.clone(), index.clone());
                self.handles.push(Handle { position, active, class, base, index, of: Some(at) });
            }
            if let (Some(class), true) = (step.class, step.reads()) {
                let (position, active) = (source(at), executed(at));
                self.handles.push(Handle { position, active, class, base, index, of: None });
            }
        }
        number
    }

    /// Adds a write that exists somewhere at that location.
    pub fn add_handle(&mut self, position: &Int, class: ClassId, (base, index): &(Int, Int)) {
        self.declarations.push(position.declaration());
        let (position, base, index) = (position.clone(), base.clone(), index.clone());
        self.handles.push(Handle { position, active: true.into(), class, base, index, of: None });
    }

    /// Handles of a class.
    pub fn of_class(&self, class: ClassId) -> Vec<Handle> {
        self.handles.iter().filter(|h| h.class == class).cloned().collect()
    }

    /// Says all that follows from SC, RC20 and the derived constraints for the slots and handles that are there.
    pub fn finish(&mut self) {
        self.sessions();
        self.reads();
        self.outside();
        self.views();
        self.causes();
        self.derived();
    }

    /// Positions of all events, and what else a witness shows.
    pub fn question(self, name: String) -> Question {
        let mut numbers = vec![suspect(), last()];
        let mut conditions = Vec::new();
        for slot in 0..self.slots.len() {
            conditions.push(guard(slot, 0));
            numbers.extend([session(slot), begin(slot)]);
            let method = &self.context.library.methods[self.segment(slot).method];
            numbers.extend((0..method.parameters.len()).map(|k| argument(slot, k as u32)));
            for at in self.steps(slot) {
                let step = self.step(at);
                conditions.push(executed(at));
                numbers.push(event(at));
                if step.reads() {
                    numbers.extend([read(at), source(at)]);
                }
                if matches!(step.action, Action::Cas { .. }) {
                    conditions.push(succeeded(at));
                }
                numbers.extend(step.written().map(|value| value.integer(slot)));
                if step.is_access() {
                    numbers.extend([step.base.integer(slot), step.index.integer(slot)]);
                }
            }
        }
        numbers.retain(|number| !number.is_literal());
        let mut evaluate: Vec<String> = numbers.iter().map(Int::to_string).collect();
        evaluate.extend(conditions.iter().map(Formula::to_string));
        evaluate.sort();
        evaluate.dedup();
        Question { name, declarations: self.declarations, assertions: self.assertions, evaluate }
    }

    fn is_atomic(&self, class: ClassId) -> bool {
        self.context.library.classes[class.0 as usize].is_atomic
    }

    /// Steps anywhere in the library that write to a class.
    fn writers(&self, class: ClassId) -> Vec<&'a Step> {
        let steps = self.context.segments.iter().flat_map(|segment| &segment.steps);
        steps.filter(|s| s.class == Some(class) && s.writes() && !s.is_dead).collect()
    }

    /// Looks at the call that made a write: the write is initial, or of a slot, or of a slot that is added for each access of
    /// the library that can have made it.
    pub fn add_writers(&mut self, handle: &Handle) {
        let class = handle.class;
        let mut makers = vec![!&handle.active, handle.position.le(Int::from(0))];
        let before = self.slots.len();
        for (segment, code) in self.context.segments.iter().enumerate() {
            for (step, s) in code.steps.iter().enumerate() {
                if s.class != Some(class) || !s.writes() || s.is_dead {
                    continue;
                }
                let is_maker = Formula::constant(format_args!("writer_{}", self.slots.len()));
                self.declarations.push(is_maker.declaration());
                let slot = self.add(Slot { segment }, &is_maker);
                let at = EventId { slot, step };
                let it = all([self.is_write(at), handle.position.equals(event(at))]);
                self.derive(Constraint::Writers, is_maker.implies(it));
                makers.push(is_maker);
            }
        }
        for slot in 0..before {
            for at in self.steps(slot) {
                if self.step(at).class == Some(class) && self.step(at).writes() {
                    makers.push(all([self.is_write(at), handle.position.equals(event(at))]));
                }
            }
        }
        self.derive(Constraint::Writers, any(makers));
    }
}
