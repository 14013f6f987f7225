//! Partial executions: some calls of one SC execution, and what is true of them.
//!
//! An event *is* its position in the trace: a positive number for events of calls, and one of its own, 0 or less, for each
//! initial write. All else are functions of positions. The constants name real events of one real SC prefix, every assertion
//! is true of every such prefix, and nothing says that only the named events exist. So a contradiction means that no
//! execution has such a part, and leaving an assertion out is always sound.
//!
//! `known(e)` stands for: the write under suspicion (μ_m of seed 002, Table 1) reaches `e` by `rf?;hb?` (Def. 4.3).

use super::facts::{Constraint, Facts};
use super::smt::{all, any, equal, implies, not};
use super::straight::{Action, Gap, LoopId, Segment, Step};
use super::term::{BITS, Term, number};
use crate::code::{ClassId, Library, Order};
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

    fn declare(&mut self, slot: usize) {
        let segment = self.segment(slot);
        let method = &self.world.library.methods[segment.method];
        let mut constant =
            |name: String, sort: &str| self.declarations.push(format!("(declare-const {name} {sort})"));
        for (name, sort) in [
            ("begin", "Int"),
            ("end", "Int"),
            ("session", "Int"),
            ("past", "Bool"),
            ("heard", "Bool"),
            ("complete", "Bool"),
        ] {
            constant(format!("{name}_{slot}"), sort);
        }
        (0..method.parameters.len()).for_each(|k| constant(format!("a_{slot}_{k}"), "Int"));
        (0..segment.entries.len()).for_each(|k| constant(format!("l_{slot}_{k}"), "Int"));
        (0..segment.gaps.len()).for_each(|k| constant(format!("gap_{slot}_{k}"), "Bool"));
        (0..segment.nodes.len()).for_each(|k| constant(guard(slot, k), "Bool"));
        (0..segment.merges.len()).for_each(|k| constant(format!("v_{slot}_{k}"), "Int"));
        for (k, step) in segment.steps.iter().enumerate() {
            let at = At { slot, step: k };
            constant(event(at), "Int");
            constant(executed(at), "Bool");
            if step.reads() {
                constant(format!("r_{slot}_{k}"), "Int");
                constant(source(at), "Int");
            }
            match step.action {
                Action::Cas { .. } => constant(format!("ok_{slot}_{k}"), "Bool"),
                Action::Allocate { .. } => constant(format!("n_{slot}_{k}"), "Int"),
                _ => {}
            }
        }
    }

    /// Control and data flow of a slot.
    fn code(&mut self, slot: usize) {
        let segment = self.segment(slot);
        for (k, node) in segment.nodes.iter().enumerate().skip(1) {
            let ways = node
                .from
                .iter()
                .map(|(from, condition)| all([guard(slot, *from), condition.condition(slot)]));
            self.say(CODE, equal(&guard(slot, k), &any(ways)));
        }
        for (k, merge) in segment.merges.iter().enumerate() {
            for (from, condition, value) in &merge.ways {
                let way = all([guard(slot, *from), condition.condition(slot)]);
                self.say(CODE, implies(&way, &equal(&format!("v_{slot}_{k}"), &value.integer(slot))));
            }
        }
        for at in self.steps(slot) {
            let (step, x) = (self.step(at), executed(at));
            let read = format!("r_{slot}_{}", at.step);
            match &step.action {
                Action::Read { until: Some(until) } => self.say(CODE, implies(&x, &until.condition(slot))),
                Action::Cas { expected, is_weak, always, .. } => {
                    let (ok, fits) =
                        (format!("ok_{slot}_{}", at.step), equal(&read, &expected.integer(slot)));
                    self.say(CODE, implies(&ok, &fits));
                    if let Some(always) = always {
                        self.say(CODE, implies(&x, &if *always { ok.clone() } else { not(&ok) }));
                    }
                    if !is_weak && *always != Some(true) {
                        self.say(CODE, implies(&all([&fits, &x]), &ok));
                    }
                }
                _ => {}
            }
        }
    }

    /// Which events a slot has, and in which order.
    fn events(&mut self, slot: usize) {
        let (begin, end) = (format!("begin_{slot}"), format!("end_{slot}"));
        let steps: Vec<At> = self.steps(slot).collect();
        self.say(SC, format!("(>= {begin} 0)"));
        self.say(SC, format!("(< {begin} {end})"));
        for (k, at) in steps.iter().copied().enumerate() {
            let (step, x, e) = (self.step(at), executed(at), event(at));
            if step.is_dead {
                self.say(CODE, not(&x));
                continue;
            }
            self.say(CODE, implies(&x, &reached(slot, step)));
            self.say(SC, implies(&x, &format!("(and (< {begin} {e}) (< {e} {end}) (<= {e} last))")));
            self.say(
                SC,
                implies(
                    &x,
                    &all([
                        format!("(= (slot {e}) {})", slot + 1),
                        format!("(= (session {e}) session_{slot})"),
                    ]),
                ),
            );
            for earlier in steps[..k].iter().copied() {
                let (before, reached) = (executed(earlier), reached(slot, self.step(earlier)));
                self.say(CODE, implies(&all([&x, &reached]), &before));
                self.say(SC, implies(&all([&x, &before]), &format!("(< {} {e})", event(earlier))));
            }
            if let (Some(class), Some(value)) = (step.class, step.written()) {
                let (base, index) = self.location(at);
                let what = all([
                    format!("(= (class {e}) {})", class.0),
                    equal(&format!("(base {e})"), &base),
                    equal(&format!("(index {e})"), &index),
                    equal(&format!("(value {e})"), &value.integer(slot)),
                    equal(&format!("(updates {e})"), if step.updates() { "true" } else { "false" }),
                    format!("(= (label {e}) {})", step.label.0),
                ]);
                self.say(SC, implies(&self.is_write(at), &what));
            }
        }
        let segment = self.segment(slot);
        let complete = format!("complete_{slot}");
        self.say(CODE, implies(&complete, &any(segment.ends.iter().map(|node| guard(slot, *node)))));
        for at in &steps {
            self.say(CODE, implies(&all([complete.clone(), reached(slot, self.step(*at))]), &executed(*at)));
        }
        // Whoever has not come to the end of a call makes no other one.
        self.say(SC, format!("(or {complete} (> {end} last))"));
        if let Some(group) = self.world.facts.threads[segment.method] {
            self.derive(Constraint::OneThread, format!("(= session_{slot} (- {}))", group + 1));
        }
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

    /// Calls of one thread come one after the other (or, for iterations of a loop, in the gap before the last one), and what
    /// it knows stays known.
    fn sessions(&mut self) {
        for i in 0..self.slots.len() {
            for k in i + 1..self.slots.len() {
                let same = format!("(and {} {} (= session_{i} session_{k}))", guard(i, 0), guard(k, 0));
                let mut orders = Vec::new();
                for (a, b) in [(i, k), (k, i)] {
                    orders.push(format!("(and complete_{a} (< end_{a} begin_{b}))"));
                    let (outer, inner) = (self.segment(a), self.segment(b));
                    for gap in outer
                        .gaps
                        .iter()
                        .filter(|g| outer.method == inner.method && inner.iterates.contains(&g.of))
                    {
                        let within = self.is_in_gap(a, gap, &format!("begin_{b}"), &format!("end_{b}"));
                        orders.push(all([within, format!("(=> complete_{a} (< end_{b} end_{a}))")]));
                    }
                }
                self.say(SC, implies(&same, &any(orders)));
                for (a, b) in [(i, k), (k, i)] {
                    let before = format!("(and {same} (< end_{a} begin_{b}))");
                    self.say(
                        RC20,
                        implies(&all([before.clone(), format!("past_{a}")]), &format!("past_{b}")),
                    );
                    for at in self.steps(a) {
                        let (e, knows) = (event(at), format!("(known {})", event(at)));
                        let premise =
                            all([same.clone(), executed(at), knows.clone(), format!("(< {e} begin_{b})")]);
                        self.say(RC20, implies(&premise, &format!("past_{b}")));
                        for later in self.steps(b) {
                            let order = format!("(< {e} {})", event(later));
                            let premise =
                                all([same.clone(), executed(at), executed(later), knows.clone(), order]);
                            self.say(RC20, implies(&premise, &format!("(known {})", event(later))));
                        }
                    }
                }
            }
        }
        for slot in 0..self.slots.len() {
            let steps: Vec<At> = self.steps(slot).collect();
            for (k, at) in steps.iter().copied().enumerate() {
                let (x, e) = (executed(at), event(at));
                self.say(RC20, implies(&x, &format!("(=> (known {e}) (<= suspect {e}))")));
                self.say(RC20, implies(&x, &format!("(=> past_{slot} (known {e}))")));
                for earlier in &steps[..k] {
                    let premise =
                        all([x.clone(), executed(*earlier), format!("(known {})", event(*earlier))]);
                    self.say(RC20, implies(&premise, &format!("(known {e})")));
                }
            }
            self.say(RC20, implies(&format!("past_{slot}"), &format!("(< suspect begin_{slot})")));
        }
    }

    /// Do the positions from `first` to `last` lie in a gap of a slot?
    fn is_in_gap(&self, slot: usize, gap: &Gap, first: &str, last: &str) -> String {
        let step = |step: &usize| At { slot, step: *step };
        let before = gap
            .before
            .iter()
            .map(step)
            .map(|at| implies(&executed(at), &format!("(< {} {first})", event(at))));
        let after =
            gap.after.iter().map(step).map(|at| implies(&executed(at), &format!("(< {last} {})", event(at))));
        all([format!("(< begin_{slot} {first})")].into_iter().chain(before).chain(after))
    }

    /// Labels of writes that iterations of a loop make.
    fn labels_in(&self, method: usize, of: LoopId) -> Vec<u32> {
        let iterations =
            self.world.segments.iter().filter(|s| s.method == method && s.iterates.contains(&of));
        iterations.flat_map(|s| &s.steps).filter(|s| s.writes() && !s.is_dead).map(|s| s.label.0).collect()
    }

    /// Every read takes the newest value under SC.
    fn reads(&mut self) {
        for at in self.all_steps() {
            let step = self.step(at);
            let (Some(class), true) = (step.class, step.reads()) else {
                continue;
            };
            let (x, e, o) = (executed(at), event(at), source(at));
            let (base, index) = self.location(at);
            let what = all([
                format!("(< {o} {e})"),
                format!("(= (value {o}) r_{}_{})", at.slot, at.step),
                format!("(= (class {o}) {})", class.0),
                equal(&format!("(base {o})"), &base),
                equal(&format!("(index {o})"), &index),
            ]);
            self.say(SC, implies(&x, &what));
            for handle in self.of_class(class) {
                if handle.position == o || handle.position == e {
                    continue;
                }
                let premise = all([
                    x.clone(),
                    handle.active.clone(),
                    equal(&handle.base, &base),
                    equal(&handle.index, &index),
                    format!("(< {} {e})", handle.position),
                ]);
                self.say(SC, implies(&premise, &format!("(<= {} {o})", handle.position)));
            }
        }
    }

    /// Handles of a class.
    pub fn of_class(&self, class: ClassId) -> Vec<Handle> {
        self.handles.iter().filter(|h| h.class == class).cloned().collect()
    }

    /// What writes are that may have been made outside of the slots.
    fn outside(&mut self) {
        for handle in self.handles.clone() {
            if handle.of.is_some() {
                continue;
            }
            let (o, active, class) = (&handle.position, &handle.active, handle.class);
            let made = all([active.clone(), format!("(> {o} 0)")]);
            self.say(SC, implies(&made, &format!("(<= {o} last)")));
            for (premise, initial) in self.initial(&handle) {
                let is_initial = all([active.clone(), format!("(<= {o} 0)"), premise]);
                self.say(SC, implies(&is_initial, &equal(&format!("(value {o})"), &initial)));
            }
            let is_initial = all([active.clone(), format!("(<= {o} 0)")]);
            self.say(
                SC,
                implies(
                    &is_initial,
                    &format!("(and (not (updates {o})) (not (known {o})) (not (published {o})))"),
                ),
            );
            // The code that can have made it.
            let kinds = self.writers(class).into_iter().map(|step| {
                let mut facts = vec![
                    format!("(= (label {o}) {})", step.label.0),
                    if step.updates() { format!("(updates {o})") } else { format!("(not (updates {o}))") },
                ];
                if step.order.is_release() && self.is_atomic(class) {
                    facts.push(format!("(=> (known {o}) (published {o}))"));
                }
                all(facts)
            });
            let kinds = any(kinds.collect::<Vec<_>>());
            self.say(CODE, implies(&made, &kinds));
            if let Some(group) = self.world.facts.classes[class.0 as usize].writer_thread {
                self.derive(
                    Constraint::OneThread,
                    implies(&made, &format!("(= (session {o}) (- {}))", group + 1)),
                );
            }
            self.say(RC20, implies(&made, &format!("(=> (known {o}) (<= suspect {o}))")));
            for slot in 0..self.slots.len() {
                let writes: Vec<String> = self
                    .steps(slot)
                    .filter(|at| self.step(*at).class == Some(class) && self.step(*at).writes())
                    .map(|at| all([equal(o, &event(at)), self.is_write(at)]))
                    .collect();
                let (is_there, is_its) = (guard(slot, 0), format!("(= (slot {o}) {})", slot + 1));
                let premise = all([made.clone(), is_there.clone(), is_its.clone()]);
                self.say(SC, implies(&premise, &any(writes)));
                let of_thread = all([made.clone(), is_there, format!("(= (session {o}) session_{slot})")]);
                let segment = self.segment(slot);
                let gaps = segment.gaps.iter().map(|gap| {
                    let labels = self.labels_in(segment.method, gap.of);
                    let is_there = any(labels.into_iter().map(|l| format!("(= (label {o}) {l})")));
                    all([is_there, self.is_in_gap(slot, gap, o, o)])
                });
                let beside =
                    format!("(or {is_its} (< {o} begin_{slot}) (and complete_{slot} (> {o} end_{slot})))");
                let around = any(std::iter::once(beside).chain(gaps));
                self.say(SC, implies(&of_thread, &around));
                let premise =
                    all([of_thread.clone(), format!("(< {o} begin_{slot})"), format!("(known {o})")]);
                self.say(RC20, implies(&premise, &format!("past_{slot}")));
                let premise =
                    all([of_thread.clone(), format!("(> {o} begin_{slot})"), format!("past_{slot}")]);
                self.say(RC20, implies(&premise, &format!("(known {o})")));
                for at in self.steps(slot) {
                    let e = event(at);
                    let premise = all([
                        of_thread.clone(),
                        executed(at),
                        format!("(known {e})"),
                        format!("(> {o} {e})"),
                    ]);
                    self.say(RC20, implies(&premise, &format!("(known {o})")));
                    let before = format!("(< {o} {e})");
                    let premise = all([of_thread.clone(), executed(at), format!("(known {o})"), before]);
                    self.say(RC20, implies(&premise, &format!("(known {e})")));
                }
            }
        }
        // Outside writes of one thread, among themselves.
        let outside: Vec<Handle> = self.handles.iter().filter(|h| h.of.is_none()).cloned().collect();
        for a in &outside {
            for b in &outside {
                if a.position != b.position {
                    let (p, q) = (&a.position, &b.position);
                    let premise = all([
                        a.active.clone(),
                        b.active.clone(),
                        format!("(< 0 {p} {q})"),
                        format!("(= (session {p}) (session {q}))"),
                        format!("(known {p})"),
                    ]);
                    self.say(RC20, implies(&premise, &format!("(known {q})")));
                }
            }
        }
    }

    /// What a location holds at the beginning, under which condition.
    fn initial(&self, handle: &Handle) -> Vec<(String, String)> {
        let declared = &self.world.library.classes[handle.class.0 as usize];
        let plain = number(declared.initial);
        if declared.record.is_none() {
            let value = match &declared.initial_cell {
                Some(value) => initial_of_cell(value, &handle.index),
                None => Some(plain),
            };
            return value.into_iter().map(|value| ("true".to_owned(), value)).collect();
        }
        // Records that the setup made have negative addresses; others begin with 0 or with anything.
        let made = match &declared.initial_cell {
            Some(value) => initial_of_cell(value, &handle.base),
            None => Some(plain),
        };
        let is_zeroed = self.world.facts.classes[handle.class.0 as usize].is_initial_known;
        let made = made.map(|value| (format!("(< {} 0)", handle.base), value));
        let allocated = is_zeroed.then(|| (format!("(> {} 0)", handle.base), "0".to_owned()));
        made.into_iter().chain(allocated).collect()
    }

    /// Steps anywhere in the library that write to a class.
    fn writers(&self, class: ClassId) -> Vec<&'a Step> {
        let steps = self.world.segments.iter().flat_map(|segment| &segment.steps);
        steps.filter(|s| s.class == Some(class) && s.writes() && !s.is_dead).collect()
    }

    fn is_atomic(&self, class: ClassId) -> bool {
        self.world.library.classes[class.0 as usize].is_atomic
    }

    /// Happens-before of RC20, as far as it starts at the suspect: `sw = [⊒rel];([F];po)?;rf⁺;(po;[F])?;[⊒acq]`.
    ///
    /// `published(w)`: whoever reads `w`, or an update that continues its release sequence, with acquire knows the suspect.
    fn views(&mut self) {
        let steps = self.all_steps();
        for at in steps.iter().copied() {
            let (step, x, e) = (self.step(at), executed(at), event(at));
            if let (Some(class), true) = (step.class, step.reads()) {
                let o = source(at);
                if !self.is_hb_only {
                    self.say(RC20, implies(&x, &format!("(=> (= {o} suspect) (known {e}))")));
                }
                if self.is_atomic(class) {
                    for (condition, order) in self.orders_of_reading(at) {
                        if order.is_acquire() {
                            let premise = all([x.clone(), condition, format!("(published {o})")]);
                            self.say(RC20, implies(&premise, &format!("(known {e})")));
                        }
                    }
                    for fence in self.fences_around(at, false) {
                        let premise = all([self.is_po(at, fence), format!("(published {o})")]);
                        self.say(RC20, implies(&premise, &format!("(known {})", event(fence))));
                    }
                }
            }
            if let (Some(class), true) = (step.class, step.writes())
                && self.is_atomic(class)
            {
                let w = self.is_write(at);
                if step.order.is_release() {
                    self.say(RC20, implies(&w, &format!("(=> (known {e}) (published {e}))")));
                }
                for fence in self.fences_around(at, true) {
                    let premise =
                        all([w.clone(), self.is_po(fence, at), format!("(known {})", event(fence))]);
                    self.say(RC20, implies(&premise, &format!("(published {e})")));
                }
                if step.updates() {
                    self.say(RC20, implies(&w, &format!("(=> (published {}) (published {e}))", source(at))));
                }
            }
            if step.is_fence() && step.order == Order::SeqCst {
                self.say(RC20, implies(&x, &format!("(=> (known {e}) (<= first_fence {e}))")));
                self.say(RC20, implies(&x, &format!("(=> (>= {e} first_fence) (known {e}))")));
            }
        }
    }

    /// Nothing is known without a cause: the rules of [`Execution::views`] read backwards.
    fn causes(&mut self) {
        let relaxed_reads = self.world.segments.iter().flat_map(|s| &s.steps).any(|s| {
            let is_acquire = match &s.action {
                Action::Cas { failure, is_blocking: false, .. } => {
                    s.order.is_acquire() && failure.is_acquire()
                }
                _ => s.order.is_acquire(),
            };
            s.reads() && !is_acquire && s.class.is_some_and(|c| self.is_atomic(c))
        });
        for at in self.all_steps() {
            let (step, x, e, slot) = (self.step(at), executed(at), event(at), at.slot);
            let mut causes = vec![equal(&e, "suspect"), format!("past_{slot}")];
            let earlier: Vec<At> = self.steps(slot).take(at.step).collect();
            let gaps =
                self.segment(slot).gaps.iter().enumerate().filter(|(_, gap)| gap.after.contains(&at.step));
            causes.extend(gaps.map(|(k, _)| format!("gap_{slot}_{k}")));
            causes.extend(earlier.iter().map(|k| all([executed(*k), format!("(known {})", event(*k))])));
            let is_atomic = step.class.is_some_and(|c| self.is_atomic(c));
            if step.reads() {
                if !self.is_hb_only {
                    causes.push(equal(&source(at), "suspect"));
                }
                for (condition, order) in self.orders_of_reading(at) {
                    if is_atomic && order.is_acquire() {
                        causes.push(all([condition, format!("(published {})", source(at))]));
                    }
                }
            }
            if step.is_fence() && step.order.is_acquire() {
                if relaxed_reads {
                    // What an earlier call of the thread has read without acquire.
                    causes.push(format!("heard_{slot}"));
                }
                for read in &earlier {
                    let other = self.step(*read);
                    if other.reads() && other.class.is_some_and(|c| self.is_atomic(c)) {
                        causes.push(all([executed(*read), format!("(published {})", source(*read))]));
                    }
                }
            }
            if step.is_fence() && step.order == Order::SeqCst {
                causes.push(format!("(< first_fence {e})"));
            }
            self.say(RC20, implies(&all([x, format!("(known {e})")]), &any(causes)));
            if step.writes() {
                let mut causes = vec![format!("(known {e})")];
                if step.updates() {
                    causes.push(format!("(published {})", source(at)));
                }
                let premise = all([self.is_write(at), format!("(published {e})")]);
                self.say(RC20, implies(&premise, &any(causes)));
            }
        }
        for handle in self.handles.clone() {
            let o = &handle.position;
            let made = all([handle.active.clone(), format!("(> {o} 0)")]);
            let cause = format!("(=> (published {o}) (or (known {o}) (updates {o})))");
            self.say(RC20, implies(&made, &cause));
            if self.are_writes_fenced(handle.class) {
                // A write right behind an SC fence is known because that fence is, or because it is an update and goes on
                // with a release sequence of such writes; or the suspect is one of them.
                let elsewhere = format!(
                    "(not (and (= (class suspect) {}) (= (base suspect) {}) (= (index suspect) {})))",
                    handle.class.0, handle.base, handle.index
                );
                let premise = all([made, elsewhere, format!("(or (known {o}) (published {o}))")]);
                self.say(RC20, implies(&premise, &format!("(< first_fence {o})")));
            }
        }
    }

    /// Does every write to a class stand right behind an SC fence?
    fn are_writes_fenced(&self, class: ClassId) -> bool {
        self.world.segments.iter().all(|segment| {
            segment.steps.iter().enumerate().filter(|(_, s)| s.class == Some(class) && s.writes()).all(
                |(k, step)| {
                    k.checked_sub(1).map(|before| &segment.steps[before]).is_some_and(|fence| {
                        fence.is_fence()
                            && fence.order == Order::SeqCst
                            && segment.dominates(fence.node, step.node)
                    })
                },
            )
        })
    }

    /// Conditions and orders under which a step reads.
    fn orders_of_reading(&self, at: At) -> Vec<(String, Order)> {
        let step = self.step(at);
        match &step.action {
            Action::Cas { failure, always: Some(false), .. } => vec![("true".to_owned(), *failure)],
            Action::Cas { failure, always: None, .. } => {
                let ok = format!("ok_{}_{}", at.slot, at.step);
                vec![(ok.clone(), step.order), (not(&ok), *failure)]
            }
            _ => vec![("true".to_owned(), step.order)],
        }
    }

    /// Fences before (release) or after (acquire) an access, in its slot or another.
    fn fences_around(&self, at: At, is_release: bool) -> Vec<At> {
        let fits = |order: Order| if is_release { order.is_release() } else { order.is_acquire() };
        let is_beside =
            |f: &At| f.slot != at.slot || if is_release { f.step < at.step } else { f.step > at.step };
        let fences = self.all_steps().into_iter();
        fences.filter(|f| self.step(*f).is_fence() && fits(self.step(*f).order) && is_beside(f)).collect()
    }

    /// Both are executed, by one thread, the first one first.
    fn is_po(&self, first: At, second: At) -> String {
        let both = all([executed(first), executed(second)]);
        if first.slot == second.slot {
            both
        } else {
            let (a, b) = (first.slot, second.slot);
            all([both, format!("(= session_{a} session_{b})"), format!("(< end_{a} begin_{b})")])
        }
    }

    /// The derived constraints, for the slots and handles that are there.
    fn derived(&mut self) {
        self.fresh_records();
        self.exclusion();
        self.confirmed_reads();
        for (number, facts) in self.world.facts.classes.iter().enumerate() {
            let class = ClassId(number as u32);
            let handles = self.of_class(class);
            for handle in &handles {
                let made = all([handle.active.clone(), format!("(> {} 0)", handle.position)]);
                if let Some(constants) = &facts.constants {
                    let one = any(constants.iter().map(|c| {
                        format!("(= (value {}) {})", handle.position, crate::prove::term::number(*c))
                    }));
                    self.derive(Constraint::Constants, implies(&made, &one));
                }
                if facts.is_updates_only {
                    self.derive(
                        Constraint::UpdatesOnly,
                        implies(&made, &format!("(updates {})", handle.position)),
                    );
                }
            }
            for (k, a) in handles.iter().enumerate() {
                for b in &handles[k + 1..] {
                    let (p, q) = (&a.position, &b.position);
                    let same = all([
                        a.active.clone(),
                        b.active.clone(),
                        equal(&a.base, &b.base),
                        equal(&a.index, &b.index),
                    ]);
                    // One location has one initial write.
                    let initial = all([same.clone(), format!("(<= {p} 0)"), format!("(<= {q} 0)")]);
                    self.say(SC, implies(&initial, &equal(p, q)));
                    let made = all([same.clone(), format!("(> {p} 0)"), format!("(> {q} 0)")]);
                    if facts.is_own_field {
                        self.derive(
                            Constraint::OwnField,
                            implies(&made, &format!("(= (slot {p}) (slot {q}))")),
                        );
                    }
                    if facts.is_written_once {
                        self.derive(Constraint::UniqueWrite, implies(&made, &equal(p, q)));
                    }
                    if facts.has_distinct_indices {
                        self.derive(Constraint::DistinctIndices, implies(&made, &equal(p, q)));
                    }
                    if facts.counter.is_some() {
                        let grows = format!(
                            "(and (=> (< {p} {q}) (< (value {p}) (value {q}))) (=> (< {q} {p}) (< (value {q}) (value {p}))))"
                        );
                        self.derive(Constraint::Counter, implies(&same, &grows));
                    }
                    if facts.is_updates_only {
                        for (p, q) in [(p, q), (q, p)] {
                            let chain =
                                all([made.clone(), format!("(< {p} {q})"), format!("(published {p})")]);
                            self.derive(
                                Constraint::UpdatesOnly,
                                implies(&chain, &format!("(published {q})")),
                            );
                        }
                    }
                }
            }
        }
        self.bounds();
    }

    /// The address of an allocated record is nowhere before its call has written it somewhere.
    fn fresh_records(&mut self) {
        if !self.world.facts.are_records_fresh {
            return;
        }
        let allocations: Vec<At> = self
            .all_steps()
            .into_iter()
            .filter(|at| matches!(self.step(*at).action, Action::Allocate { .. }))
            .collect();
        let address = |at: At| format!("n_{}_{}", at.slot, at.step);
        for (k, at) in allocations.iter().copied().enumerate() {
            let (x, n) = (executed(at), address(at));
            self.derive(Constraint::FreshRecords, implies(&x, &format!("(> {n} 0)")));
            for other in &allocations[k + 1..] {
                let both = all([x.clone(), executed(*other)]);
                self.derive(Constraint::FreshRecords, implies(&both, &not(&equal(&n, &address(*other)))));
            }
            // Writes of the call that make it known, not later than a given position.
            let published = |execution: &Execution, position: &str, strictly: bool| {
                let writes = execution.steps(at.slot).filter_map(|w| {
                    let step = execution.step(w);
                    let holds = step
                        .class
                        .is_some_and(|c| execution.world.facts.classes[c.0 as usize].holds_addresses);
                    let value = step.written().filter(|_| holds)?;
                    let early = if strictly { "<" } else { "<=" };
                    Some(all([
                        execution.is_write(w),
                        equal(&value.integer(at.slot), &n),
                        format!("({early} {} {position})", event(w)),
                    ]))
                });
                any(writes.collect::<Vec<_>>())
            };
            for handle in self.handles.clone() {
                let (o, facts) = (&handle.position, &self.world.facts.classes[handle.class.0 as usize]);
                if facts.holds_addresses {
                    let premise = all([x.clone(), handle.active.clone(), equal(&format!("(value {o})"), &n)]);
                    let conclusion = published(self, o, false);
                    self.derive(Constraint::FreshRecords, implies(&premise, &conclusion));
                }
                if self.world.library.classes[handle.class.0 as usize].record.is_some() {
                    let is_other = not(&format!("(= (slot {o}) {})", at.slot + 1));
                    let premise = all([
                        x.clone(),
                        handle.active.clone(),
                        format!("(> {o} 0)"),
                        equal(&handle.base, &n),
                        is_other.clone(),
                    ]);
                    let conclusion = published(self, o, true);
                    self.derive(Constraint::FreshRecords, implies(&premise, &conclusion));
                    if facts.is_own_field {
                        self.derive(Constraint::OwnField, not(&premise));
                    }
                }
            }
        }
    }

    /// Critical sections exclude each other.
    fn exclusion(&mut self) {
        let Some(section) = self.world.facts.section else {
            return;
        };
        let declared = if self.world.library.contract.points.is_empty() {
            Constraint::Exclusion
        } else {
            Constraint::Point
        };
        let find = |execution: &Execution, slot: usize, label| {
            execution
                .steps(slot)
                .find(|at| execution.step(*at).label == label && execution.step(*at).is_access())
        };
        let sections: Vec<(At, At)> = (0..self.slots.len())
            .filter_map(|slot| Some((find(self, slot, section.enter)?, find(self, slot, section.leave)?)))
            .collect();
        for (k, (enter, leave)) in sections.iter().copied().enumerate() {
            for (enter2, leave2) in sections[k + 1..].iter().copied() {
                let both = all([executed(enter), executed(enter2)]);
                let first = all([executed(leave), format!("(< {} {})", event(leave), event(enter2))]);
                let second = all([executed(leave2), format!("(< {} {})", event(leave2), event(enter))]);
                self.derive(declared, implies(&both, &any([first, second])));
            }
            for handle in self.handles.clone() {
                if !self.world.facts.classes[handle.class.0 as usize].is_protected || handle.of.is_some() {
                    continue;
                }
                let o = &handle.position;
                let is_other = not(&format!("(= (slot {o}) {})", enter.slot + 1));
                let premise = all([
                    executed(enter),
                    handle.active.clone(),
                    format!("(> {o} {})", event(enter)),
                    is_other,
                ]);
                let after = all([executed(leave), format!("(> {o} {})", event(leave))]);
                self.derive(declared, implies(&premise, &after));
            }
        }
    }

    /// Nobody writes between a read and the compare-and-swap that confirms it.
    fn confirmed_reads(&mut self) {
        for at in self.all_steps() {
            let Some(step) = self.world.facts.confirms(self.segment(at.slot), at.step) else {
                continue;
            };
            let Some(class) = self.step(at).class else {
                continue;
            };
            let (base, index) = self.location(at);
            let update = At { slot: at.slot, step };
            for handle in self.of_class(class) {
                let premise = all([
                    executed(at),
                    not(&executed(update)),
                    handle.active,
                    equal(&handle.base, &base),
                    equal(&handle.index, &index),
                ]);
                let formula = implies(&premise, &format!("(<= {} {})", handle.position, source(at)));
                self.derive(Constraint::ConfirmedRead, formula);
            }
        }
    }

    /// One counter does not overtake another.
    fn bounds(&mut self) {
        for bound in self.world.facts.bounds.clone() {
            let moments = |execution: &Execution, class: ClassId| -> Vec<(String, String, String)> {
                let steps =
                    execution.all_steps().into_iter().filter(|at| execution.step(*at).class == Some(class));
                steps
                    .flat_map(|at| {
                        let (step, e) = (execution.step(at), event(at));
                        let read = step
                            .reads()
                            .then(|| (executed(at), e.clone(), format!("r_{}_{}", at.slot, at.step)));
                        let write = step
                            .writes()
                            .then(|| (execution.is_write(at), e.clone(), format!("(value {e})")));
                        read.into_iter().chain(write)
                    })
                    .collect()
            };
            let (small, large) = (moments(self, bound.lesser), moments(self, bound.greater));
            for (x, p, v) in &small {
                for (y, q, u) in &large {
                    let premise = all([x.clone(), y.clone(), format!("(<= {p} {q})")]);
                    let limit = format!("(<= {v} (+ {u} {}))", number(bound.slack));
                    self.derive(Constraint::Bound, implies(&premise, &limit));
                }
            }
        }
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
}

/// The initial value of a cell, for a function of its index.
fn initial_of_cell(value: &crate::code::Expr, index: &str) -> Option<String> {
    use crate::code::{Class, Expr, Operator};
    match value {
        Expr::Int(n) => Some(number(*n)),
        Expr::Local(local) if *local == Class::INDEX => Some(index.to_owned()),
        Expr::Binary(op @ (Operator::Add | Operator::Sub | Operator::Mul), a, b) => {
            let name = match op {
                Operator::Add => "+",
                Operator::Sub => "-",
                _ => "*",
            };
            Some(format!("({name} {} {})", initial_of_cell(a, index)?, initial_of_cell(b, index)?))
        }
        _ => None,
    }
}

/// A condition on the value that a step would read, with the value in the place of what it reads.
pub fn with_read(term: &Term, slot: usize, step: usize, value: &str) -> String {
    let read = format!("r_{slot}_{step}");
    format!("(let (({read} {value})) {})", term.condition(slot))
}
