//! The conditions that exclude a non-robustness witness (seed 002 Def. 4.3, Table 1, Figs. 14 and 15), as questions.
//!
//! Let μ_m be a write that is the newest of its location in a prefix of an SC execution. A witness is a thread that is about
//! to access the location, that μ_m reaches by `hbSC`, and that does not know μ_m. Three ways to exclude it:
//!
//! * **Φdst** looks at the access: whoever is about to access the location when μ_m is its newest write knows μ_m (or nothing
//!   else that it could see fits).
//! * **Φsrc** looks at how μ_m spreads: if `hbSC` leads from μ_m to an event that knows it and on by `rf`, `mo` or `fr`, then
//!   the next event knows it, too. By induction all do.
//! * **Φfence** is both halves with SC fences: call an event *warned* if an SC fence that knows μ_m came before it in the trace;
//!   every later SC fence of any thread then knows μ_m, since SC fences are totally ordered by `hb`. As in Φsrc, every event
//!   that `hbSC` leads to knows μ_m or is warned; and a thread that has been reached while it was only warned passes an SC
//!   fence before it accesses the location.
//!
//! A question describes a violation, in a prefix (not in a complete execution, where other writes may have become the newest
//! ones). If the solver finds a contradiction, the condition holds in all executions.

use super::execution::{
    At, CONDITION, Execution, Slot, World, event, executed, reached, source_of, with_read,
};
use super::facts::Constraint;
use super::smt::{all, any, equal, implies, not};
use super::straight::{Action, Step};
use crate::code::ClassId;
use crate::solver::Question;

/// An access in the code of a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Index of the segment.
    pub segment: usize,
    /// Index of the step.
    pub step: usize,
}

impl Place {
    /// The step.
    pub fn of<'a>(self, world: &World<'a>) -> &'a Step {
        &world.segments[self.segment].steps[self.step]
    }

    fn slot(self) -> Slot {
        Slot { segment: self.segment }
    }
}

/// How many of the calls that made outside writes are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Depth {
    /// None.
    Calls,
    /// Those behind the values that name the locations in question.
    Locations,
    /// Those behind all values that the calls in question have read.
    Reads,
}

/// A question about one way to a violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "places in the code, and steps by number")]
pub enum Case {
    /// μ_m, and the access that might miss it.
    Destination { suspect: Place, access: Place },
    /// μ_m, an event that knows it (`None`: in the same call) and the event that `rf`, `mo` or `fr` leads to.
    Source { suspect: Place, from: Option<usize>, first: usize, second: Place, with_fences: bool },
    /// A thread that was warned before its call began.
    WarnedBefore { suspect: Place, access: Place },
    /// A thread that was warned in other iterations of a loop of its call.
    WarnedInGap { suspect: Place, access: Place, gap: usize },
    /// Two conflicting plain accesses of two threads without `hb` between them.
    Race { first: Place, second: Place },
    /// A thread that is reached, and warned, at step `reached` of the call whose step `access` might miss μ_m.
    WarnedAt { suspect: Place, from: Option<usize>, first: usize, access: Place, reached: usize },
}

/// All accesses of a class.
pub fn accesses(world: &World, class: ClassId) -> Vec<Place> {
    let mut found = Vec::new();
    for (segment, code) in world.segments.iter().enumerate() {
        let steps = code.steps.iter().enumerate().filter(|(_, s)| s.class == Some(class) && !s.is_dead);
        found.extend(steps.map(|(step, _)| Place { segment, step }));
    }
    found
}

/// Pairs of conflicting accesses, not both of them reads, with the suspect's call or another one.
fn conflicts(world: &World, suspect: Place, mut each: impl FnMut(Option<usize>, usize, Place)) {
    for number in 0..world.library.classes.len() {
        let all = accesses(world, ClassId(number as u32));
        for first in &all {
            for second in &all {
                if !first.of(world).writes() && !second.of(world).writes() {
                    continue;
                }
                if first.segment == suspect.segment && first.step >= suspect.step {
                    each(None, first.step, *second);
                }
                each(Some(first.segment), first.step, *second);
            }
        }
    }
}

/// Φsrc, or the first half of Φfence.
pub fn source(world: &World, suspect: Place, with_fences: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    conflicts(world, suspect, |from, first, second| {
        cases.push(Case::Source { suspect, from, first, second, with_fences });
    });
    cases
}

/// The second half of Φfence.
pub fn warned(world: &World, suspect: Place, access: Place) -> Vec<Case> {
    let mut cases = vec![Case::WarnedBefore { suspect, access }];
    let gaps = world.segments[access.segment].gaps.len();
    cases.extend((0..gaps).map(|gap| Case::WarnedInGap { suspect, access, gap }));
    conflicts(world, suspect, |from, first, second| {
        if second.segment == access.segment && second.step < access.step {
            cases.push(Case::WarnedAt { suspect, from, first, access, reached: second.step });
        }
    });
    cases
}

/// Data races on a class of plain locations.
pub fn races(world: &World, class: ClassId) -> Vec<Case> {
    let all = accesses(world, class);
    let pairs = all.iter().flat_map(|first| all.iter().map(|second| (*first, *second)));
    let conflict = pairs.filter(|(a, b)| a.of(world).writes() || b.of(world).writes());
    conflict.map(|(first, second)| Case::Race { first, second }).collect()
}

impl Case {
    /// Puts it to the solver.
    pub fn question(self, world: &World, depth: Depth) -> Question {
        match self {
            Case::Destination { suspect, access } => {
                let mut execution = Execution::new(world, &[suspect.slot(), access.slot()]);
                let (m, a) = (At { slot: 0, step: suspect.step }, At { slot: 1, step: access.step });
                about_to_miss(&mut execution, m, a, depth);
                execution.finish();
                execution.question(format!("destination {self:?}"))
            }
            Case::Race { first, second } => {
                let mut execution = Execution::new(world, &[first.slot(), second.slot()]);
                execution.is_hb_only = true;
                let (m, a) = (At { slot: 0, step: first.step }, At { slot: 1, step: second.step });
                let ((base, index), (base2, index2)) = (execution.location(m), execution.location(a));
                let say = [
                    executed(m),
                    executed(a),
                    equal("suspect", &event(m)),
                    equal("last", &event(a)),
                    format!("(< {} {})", event(m), event(a)),
                    "(not (= session_0 session_1))".to_owned(),
                    equal(&base, &base2),
                    equal(&index, &index2),
                    not(&format!("(known {})", event(a))),
                ];
                for formula in say {
                    execution.say(CONDITION, formula);
                }
                deepen(&mut execution, depth, &[m, a]);
                execution.finish();
                execution.question(format!("race {self:?}"))
            }
            Case::WarnedBefore { suspect, access } => {
                let mut execution = Execution::new(world, &[suspect.slot(), access.slot()]);
                let (m, a) = (At { slot: 0, step: suspect.step }, At { slot: 1, step: access.step });
                execution.say(CONDITION, "(< first_fence begin_1)".to_owned());
                about_to_miss(&mut execution, m, a, depth);
                execution.finish();
                execution.question(format!("warned {self:?}"))
            }
            Case::WarnedInGap { suspect, access, gap } => {
                let mut execution = Execution::new(world, &[suspect.slot(), access.slot()]);
                let (m, a) = (At { slot: 0, step: suspect.step }, At { slot: 1, step: access.step });
                let gap = &world.segments[access.segment].gaps[gap];
                for step in gap.after.iter().map(|step| At { slot: 1, step: *step }) {
                    let premise = executed(step);
                    execution.say(CONDITION, implies(&premise, &format!("(< first_fence {})", event(step))));
                }
                execution.say(CONDITION, "(<= first_fence last)".to_owned());
                about_to_miss(&mut execution, m, a, depth);
                execution.finish();
                execution.question(format!("warned {self:?}"))
            }
            Case::WarnedAt { suspect, from, first, access, reached } => {
                let (slots, m, p, slot) = cast(suspect, from, first, access.slot());
                let mut execution = Execution::new(world, &slots);
                let (at, a) = (At { slot, step: reached }, At { slot, step: access.step });
                let knows = any([format!("(known {})", event(p)), format!("(< first_fence {})", event(p))]);
                execution.say(CONDITION, knows);
                execution.say(CONDITION, format!("(< first_fence {})", event(at)));
                leads_to(&mut execution, p, at);
                about_to_miss(&mut execution, m, a, depth);
                execution.finish();
                execution.question(format!("warned {self:?}"))
            }
            Case::Source { suspect, from, first, second, with_fences } => {
                let (slots, m, p, slot) = cast(suspect, from, first, second.slot());
                let mut execution = Execution::new(world, &slots);
                let a = At { slot, step: second.step };
                execution.say(CONDITION, execution.is_write(m));
                execution.say(CONDITION, equal("suspect", &event(m)));
                execution.say(CONDITION, equal("last", &event(a)));
                execution.say(CONDITION, format!("(known {})", event(p)));
                execution.say(CONDITION, not(&format!("(known {})", event(a))));
                if with_fences {
                    execution.say(CONDITION, format!("(> first_fence {})", event(a)));
                }
                leads_to(&mut execution, p, a);
                deepen(&mut execution, depth, &[m, p, a]);
                newest(&mut execution, m);
                execution.finish();
                execution.question(format!("source {self:?}"))
            }
        }
    }
}

/// Slots, the suspect, the event that knows it, and the slot of the one that comes next.
fn cast(suspect: Place, from: Option<usize>, first: usize, last: Slot) -> (Vec<Slot>, At, At, usize) {
    let m = At { slot: 0, step: suspect.step };
    match from {
        None => (vec![suspect.slot(), last], m, At { slot: 0, step: first }, 1),
        Some(segment) => (vec![suspect.slot(), Slot { segment }, last], m, At { slot: 1, step: first }, 2),
    }
}

/// The suspect is the newest write of its location.
fn newest(execution: &mut Execution, m: At) {
    let Some(class) = execution.step(m).class else {
        return;
    };
    let (base, index) = execution.location(m);
    for handle in execution.of_class(class) {
        let premise = all([handle.active, equal(&handle.base, &base), equal(&handle.index, &index)]);
        execution.say(CONDITION, implies(&premise, &format!("(<= {} suspect)", handle.position)));
    }
}

/// `rf`, `mo` or `fr` lead from one access to another, of another thread, with nothing in between.
fn leads_to(execution: &mut Execution, p: At, a: At) {
    let (first, second) = (execution.step(p), execution.step(a));
    let ((base, index), (base2, index2)) = (execution.location(p), execution.location(a));
    let say = [
        executed(p),
        executed(a),
        format!("(not (= session_{} session_{}))", p.slot, a.slot),
        equal(&base, &base2),
        equal(&index, &index2),
        format!("(< {} {})", event(p), event(a)),
    ];
    for formula in say {
        execution.say(CONDITION, formula);
    }
    let Some(class) = first.class else {
        return;
    };
    let handles = execution.of_class(class);
    let nothing_after = |from: &str| {
        all(handles.iter().filter(|h| h.position != from && h.position != event(a)).map(|h| {
            let premise = all([h.active.clone(), equal(&h.base, &base), equal(&h.index, &index)]);
            implies(&premise, &format!("(or (<= {0} {from}) (>= {0} {1}))", h.position, event(a)))
        }))
    };
    let mut edges = Vec::new();
    if first.writes() && second.reads() {
        edges.push(all([execution.is_write(p), equal(&source_of(a), &event(p))]));
    }
    if first.writes() && second.writes() {
        edges.push(all([execution.is_write(p), execution.is_write(a), nothing_after(&event(p))]));
    }
    if first.reads() && second.writes() {
        edges.push(all([execution.is_write(a), nothing_after(&source_of(p))]));
    }
    execution.say(CONDITION, any(edges));
}

/// A thread is about to make access `a`, does not know the write `m`, which is the newest of the location, and could see an
/// older one.
fn about_to_miss(execution: &mut Execution, m: At, a: At, depth: Depth) {
    let step = execution.step(a);
    let Some(class) = step.class else {
        return;
    };
    let ((base, index), (base2, index2)) = (execution.location(m), execution.location(a));
    let thread = a.slot;
    let say = [
        execution.is_write(m),
        equal("suspect", &event(m)),
        "(<= suspect last)".to_owned(),
        format!("(not (= session_{} session_{thread}))", m.slot),
        reached(thread, step),
        not(&executed(a)),
        equal(&base, &base2),
        equal(&index, &index2),
        not(&format!("past_{thread}")),
    ];
    for formula in say {
        execution.say(CONDITION, formula);
    }
    for k in 0..a.step {
        let before = At { slot: thread, step: k };
        execution.say(CONDITION, implies(&reached(thread, execution.step(before)), &executed(before)));
        execution.say(CONDITION, implies(&executed(before), &not(&format!("(known {})", event(before)))));
    }
    // This is the next event of the thread, so all that it did came before.
    for handle in execution.handles.clone() {
        let o = &handle.position;
        let premise =
            all([handle.active, format!("(> {o} 0)"), format!("(= (session {o}) session_{thread})")]);
        execution.say(CONDITION, implies(&premise, &not(&format!("(known {o})"))));
    }
    // An older write, and the one that follows it.
    execution.add_handle("older", "true", class, &base, &index);
    execution.add_handle("next", "true", class, &base, &index);
    execution.say(CONDITION, "(and (< older next) (<= next suspect) (< 0 next))".to_owned());
    for name in ["older", "next"] {
        execution.say(CONDITION, format!("(= (class {name}) {})", class.0));
        execution.say(CONDITION, equal(&format!("(base {name})"), &base));
        execution.say(CONDITION, equal(&format!("(index {name})"), &index));
    }
    for k in 0..a.step {
        // What the thread itself has seen or written there hides all that is older.
        let before = At { slot: thread, step: k };
        if execution.step(before).class != Some(class) {
            continue;
        }
        let (b, i) = execution.location(before);
        let same = all([equal(&b, &base), equal(&i, &index)]);
        if execution.step(before).reads() {
            let premise = all([executed(before), same.clone()]);
            execution.say(CONDITION, implies(&premise, &format!("(<= {} older)", source_of(before))));
        }
        if execution.step(before).writes() {
            let premise = all([execution.is_write(before), same]);
            execution.say(CONDITION, implies(&premise, &format!("(<= {} older)", event(before))));
        }
    }
    let fits = |expected: &super::term::Term| equal("(value older)", &expected.integer(thread));
    let free = "(not (updates next))".to_owned();
    let sees = match &step.action {
        Action::Read { until: None } => "true".to_owned(),
        Action::Read { until: Some(until) } => with_read(until, thread, a.step, "(value older)"),
        Action::Cas { expected, is_weak, always, .. } => {
            let succeeds = all([fits(expected), free]);
            let fails = if *is_weak { "true".to_owned() } else { not(&fits(expected)) };
            match always {
                Some(true) => succeeds,
                Some(false) => fails,
                None => any([succeeds, fails]),
            }
        }
        _ => free,
    };
    execution.say(CONDITION, sees);
    if execution.world.facts.confirms(execution.segment(a.slot), a.step).is_some() {
        // What it reads is the newest write, or the call never ends.
        execution.say(Constraint::ConfirmedRead.name(), "false".to_owned());
    }
    deepen(execution, depth, &[m, a]);
    if depth >= Depth::Locations {
        let next = execution.handles.iter().find(|h| h.position == "next").cloned();
        if let Some(next) = next {
            execution.add_writers(&next);
        }
    }
    newest(execution, m);
    for handle in execution.of_class(class) {
        if handle.position == "older" || handle.position == "next" {
            continue;
        }
        let premise = all([handle.active, equal(&handle.base, &base), equal(&handle.index, &index)]);
        execution.say(
            CONDITION,
            implies(&premise, &format!("(or (<= {0} older) (>= {0} next))", handle.position)),
        );
    }
}

/// Adds the calls that made the writes which the given accesses depend on.
fn deepen(execution: &mut Execution, depth: Depth, around: &[At]) {
    if depth == Depth::Calls {
        return;
    }
    let mut wanted: Vec<At> = Vec::new();
    for at in around {
        let slot = at.slot;
        if depth == Depth::Reads {
            wanted.extend(execution.steps(slot).filter(|k| execution.step(*k).reads()));
        } else {
            let step = execution.step(*at);
            for term in [&step.base, &step.index] {
                term.visit(&mut |t| {
                    if let super::term::Term::Read(read) = t {
                        wanted.push(At { slot, step: *read });
                    }
                });
            }
        }
    }
    wanted.sort_by_key(|at| (at.slot, at.step));
    wanted.dedup();
    for at in wanted {
        let handle = execution.handles.iter().find(|h| h.position == source_of(at)).cloned();
        if let Some(handle) = handle {
            execution.add_writers(&handle);
        }
    }
}
