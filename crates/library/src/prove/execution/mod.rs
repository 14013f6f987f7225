//! Partial executions: some calls of one SC execution, and what is true of them.
//!
//! An event *is* its position in the trace: a positive number for events of calls, and one of its own, 0 or less, for each
//! initial write. All else are functions of positions. The constants name real events of one real SC prefix, every assertion
//! is true of every such prefix, and nothing says that only the named events exist. So a contradiction means that no
//! execution has such a part, and leaving an assertion out is always sound.
//!
//! * `calls`: what a call does; `trace`: SC; `views`: RC20; `constraints`: what static analysis has found.
//!
//! `known(e)` stands for: the write under suspicion (μ_m of seed 002, Table 1) reaches `e` by `rf?;hb?` (Def. 4.3).

mod calls;
mod constraints;
mod trace;
mod views;

use crate::code::{ClassId, Library};
use crate::prove::facts::{Constraint, Facts};
use crate::prove::smt::{all, any, equal, implies, not};
use crate::prove::straight::{Action, Segment, Step};
use crate::prove::term::{BITS, Term};
use crate::solver::Question;

/// Functions of positions.
const FUNCTIONS: [&str; 10] = [
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

/// A library, cut into segments and analysed.
pub struct World<'a> {
    /// The library.
    pub library: &'a Library,
    /// Its code.
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
pub struct At {
    /// Index of the slot.
    pub slot: usize,
    /// Index of the step in its segment.
    pub step: usize,
}

/// A write that the question speaks of: of a slot, or the source of a read (which may be one of those, or outside).
#[derive(Clone, Debug)]
pub struct Handle {
    /// Its position.
    pub position: String,
    /// It exists.
    pub active: String,
    /// Its class.
    pub class: ClassId,
    /// Its location.
    pub base: String,
    /// Its location.
    pub index: String,
    /// It is the write of that step.
    pub of: Option<At>,
}

/// A question in the making.
pub struct Execution<'a> {
    /// The library.
    pub world: &'a World<'a>,
    /// Calls.
    pub slots: Vec<Slot>,
    /// Writes.
    pub handles: Vec<Handle>,
    /// `known` is `hb` alone, without the `rf?` before it: for data races.
    pub is_hb_only: bool,
    declarations: Vec<String>,
    assertions: Vec<(String, String)>,
}

/// The position of a step.
pub fn event(at: At) -> String {
    format!("e_{}_{}", at.slot, at.step)
}

/// Is a step executed?
pub fn executed(at: At) -> String {
    format!("x_{}_{}", at.slot, at.step)
}

fn source(at: At) -> String {
    format!("s_{}_{}", at.slot, at.step)
}

/// The source of a read.
pub fn source_of(at: At) -> String {
    source(at)
}

fn guard(slot: usize, node: usize) -> String {
    format!("g_{slot}_{node}")
}

/// Is a step reached: may it be the next one?
pub fn reached(slot: usize, step: &Step) -> String {
    guard(slot, step.node)
}

/// What assertions of the code, of SC, of RC20 and of the question are labelled with in cores.
pub const CODE: &str = "code";
const SC: &str = "sc";
const RC20: &str = "rc20";
/// The condition under test.
pub const CONDITION: &str = "condition";
impl<'a> Execution<'a> {
    /// An execution with these slots; the last position that exists is `last`.
    pub fn new(world: &'a World<'a>, slots: &[Slot]) -> Execution<'a> {
        let mut declarations: Vec<String> = FUNCTIONS.iter().chain(&BITS).map(|d| (*d).to_owned()).collect();
        for name in ["suspect", "last", "first_fence"] {
            declarations.push(format!("(declare-const {name} Int)"));
        }
        let mut execution = Execution {
            world,
            slots: Vec::new(),
            handles: Vec::new(),
            is_hb_only: false,
            declarations,
            assertions: Vec::new(),
        };
        execution.say(SC, "(> suspect 0)".to_owned());
        execution.say(RC20, "(known suspect)".to_owned());
        execution.say(RC20, "(> first_fence suspect)".to_owned());
        for slot in slots {
            execution.add(*slot, "true");
        }
        execution
    }

    /// Adds an assertion.
    pub fn say(&mut self, label: &str, formula: String) {
        if formula != "true" {
            self.assertions.push((label.to_owned(), formula));
        }
    }

    fn derive(&mut self, constraint: Constraint, formula: String) {
        self.say(constraint.name(), formula);
    }

    /// The segment of a slot.
    pub fn segment(&self, slot: usize) -> &'a Segment {
        &self.world.segments[self.slots[slot].segment]
    }

    /// The step that an access is.
    pub fn step(&self, at: At) -> &'a Step {
        &self.segment(at.slot).steps[at.step]
    }

    /// All steps of a slot.
    pub fn steps(&self, slot: usize) -> impl Iterator<Item = At> + use<> {
        (0..self.segment(slot).steps.len()).map(move |step| At { slot, step })
    }

    fn all_steps(&self) -> Vec<At> {
        (0..self.slots.len()).flat_map(|slot| self.steps(slot)).collect()
    }

    /// It is executed, and it writes.
    pub fn is_write(&self, at: At) -> String {
        match self.step(at).action {
            Action::Cas { is_blocking: false, .. } => {
                all([executed(at), format!("ok_{}_{}", at.slot, at.step)])
            }
            _ => executed(at),
        }
    }

    /// The location of an access.
    pub fn location(&self, at: At) -> (String, String) {
        let step = self.step(at);
        (step.base.integer(at.slot), step.index.integer(at.slot))
    }

    /// Adds a slot that is part of the execution if `active`; gives its index.
    pub fn add(&mut self, slot: Slot, active: &str) -> usize {
        let number = self.slots.len();
        self.slots.push(slot);
        self.declare(number);
        self.say(CODE, equal(&guard(number, 0), active));
        self.code(number);
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

    /// Adds a write that exists somewhere at that location, if `active`.
    pub fn add_handle(&mut self, name: &str, active: &str, class: ClassId, base: &str, index: &str) {
        self.declarations.push(format!("(declare-const {name} Int)"));
        self.handles.push(Handle {
            position: name.to_owned(),
            active: active.to_owned(),
            class,
            base: base.to_owned(),
            index: index.to_owned(),
            of: None,
        });
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
        let mut evaluate = vec!["suspect".to_owned(), "last".to_owned()];
        for slot in 0..self.slots.len() {
            evaluate.extend([guard(slot, 0), format!("session_{slot}"), format!("begin_{slot}")]);
            let method = &self.world.library.methods[self.segment(slot).method];
            evaluate.extend((0..method.parameters.len()).map(|k| format!("a_{slot}_{k}")));
            for at in self.steps(slot) {
                let step = self.step(at);
                evaluate.extend([executed(at), event(at)]);
                if step.reads() {
                    evaluate.extend([format!("r_{slot}_{}", at.step), source(at)]);
                }
                if matches!(step.action, Action::Cas { .. }) {
                    evaluate.push(format!("ok_{slot}_{}", at.step));
                }
                if let Some(value) = step.written() {
                    evaluate.push(value.integer(slot));
                }
                if step.is_access() {
                    evaluate.extend([step.base.integer(slot), step.index.integer(slot)]);
                }
            }
        }
        evaluate.sort();
        evaluate.dedup();
        evaluate.retain(|term| !term.starts_with(|c: char| c.is_ascii_digit()) && !term.starts_with("(- "));
        Question { name, declarations: self.declarations, assertions: self.assertions, evaluate }
    }

    fn is_atomic(&self, class: ClassId) -> bool {
        self.world.library.classes[class.0 as usize].is_atomic
    }

    /// Steps anywhere in the library that write to a class.
    fn writers(&self, class: ClassId) -> Vec<&'a Step> {
        let steps = self.world.segments.iter().flat_map(|segment| &segment.steps);
        steps.filter(|s| s.class == Some(class) && s.writes() && !s.is_dead).collect()
    }

    /// Looks at the call that made a write: the write is initial, or of a slot, or of a slot that is added for each access of
    /// the library that can have made it.
    pub fn add_writers(&mut self, handle: &Handle) {
        let class = handle.class;
        let mut ways = vec![not(&handle.active), format!("(<= {} 0)", handle.position)];
        let before = self.slots.len();
        for (segment, code) in self.world.segments.iter().enumerate() {
            for (step, s) in code.steps.iter().enumerate() {
                if s.class != Some(class) || !s.writes() || s.is_dead {
                    continue;
                }
                let name = format!("writer_{}", self.slots.len());
                self.declarations.push(format!("(declare-const {name} Bool)"));
                let slot = self.add(Slot { segment }, &name);
                let at = At { slot, step };
                let it = all([self.is_write(at), equal(&handle.position, &event(at))]);
                self.say(Constraint::Writers.name(), implies(&name, &it));
                ways.push(name);
            }
        }
        for slot in 0..before {
            for at in self.steps(slot) {
                if self.step(at).class == Some(class) && self.step(at).writes() {
                    ways.push(all([self.is_write(at), equal(&handle.position, &event(at))]));
                }
            }
        }
        self.say(Constraint::Writers.name(), any(ways));
    }
}

/// A condition on the value that a step would read, with the value in the place of what it reads.
pub fn with_read(term: &Term, slot: usize, step: usize, value: &str) -> String {
    let read = format!("r_{slot}_{step}");
    format!("(let (({read} {value})) {})", term.condition(slot))
}
