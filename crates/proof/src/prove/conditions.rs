//! The conditions that exclude a non-robustness witness (\[RoboCop24] Def. 4.3, Table 1, Figs. 14 and 15), as questions.
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

use super::execution::symbols::{
    self, base_of, begin, event, executed, first_fence, index_of, is_of_class, known, last, past, reached,
    read, session, session_of, source as source_of, updates, value_of,
};
use super::execution::{EventId, Execution, ProofContext, Slot};
use super::facts::Constraint;
use super::segments::{Action, Step};
use super::term::Term;
use crate::solver::Question;
use crate::solver::formula::{Int, all, any};
use seqcst_c11::code::{ClassId, Mode};

/// An access in the code of a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepId {
    /// Index of the segment.
    pub segment: usize,
    /// Index of the step.
    pub step: usize,
}

impl StepId {
    /// The step that it names.
    pub fn of<'a>(self, context: &ProofContext<'a>) -> &'a Step {
        &context.segments[self.segment].steps[self.step]
    }

    fn slot(self) -> Slot {
        Slot { segment: self.segment }
    }
}

/// How many of the calls that made outside writes are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Depth {
    /// No such call: only those of the question itself.
    Calls,
    /// Those behind the values that name the locations in question.
    Locations,
    /// Those behind all values that the calls in question have read.
    Reads,
    /// As for locations, and the one that made the write which an access could see instead of the newest one.
    Older,
}

/// A question about one way to a violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "places in the code, and steps by number")]
pub enum Case {
    /// μ_m, and the access that might miss it.
    Destination { suspect: StepId, access: StepId },
    /// μ_m, an event that knows it (`None`: in the same call) and the event that `rf`, `mo` or `fr` leads to.
    Source { suspect: StepId, from: Option<usize>, first: usize, second: StepId, with_fences: bool },
    /// A thread that was warned before its call began.
    WarnedBefore { suspect: StepId, access: StepId },
    /// A thread that was warned in other iterations of a loop of its call.
    WarnedInGap { suspect: StepId, access: StepId, gap: usize },
    /// Two conflicting plain accesses of two threads without `hb` between them.
    Race { first: StepId, second: StepId },
    /// A thread that is reached, and warned, at step `reached` of the call whose step `access` might miss μ_m.
    WarnedAt { suspect: StepId, from: Option<usize>, first: usize, access: StepId, reached: usize },
}

/// All accesses of a class.
pub fn accesses(context: &ProofContext, class: ClassId) -> Vec<StepId> {
    let mut found = Vec::new();
    for (segment, code) in context.segments.iter().enumerate() {
        let steps = code.steps.iter().enumerate().filter(|(_, s)| s.class == Some(class) && !s.is_dead);
        found.extend(steps.map(|(step, _)| StepId { segment, step }));
    }
    found
}

/// Pairs of conflicting accesses, not both of them reads, with the suspect's call or another one.
fn conflicts(context: &ProofContext, suspect: StepId, mut each: impl FnMut(Option<usize>, usize, StepId)) {
    for number in 0..context.library.classes.len() {
        let all = accesses(context, ClassId(number as u32));
        for first in &all {
            for second in &all {
                if !first.of(context).writes() && !second.of(context).writes() {
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
pub fn source(context: &ProofContext, suspect: StepId, with_fences: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    conflicts(context, suspect, |from, first, second| {
        cases.push(Case::Source { suspect, from, first, second, with_fences });
    });
    cases
}

/// The second half of Φfence.
pub fn warned(context: &ProofContext, suspect: StepId, access: StepId) -> Vec<Case> {
    let mut cases = vec![Case::WarnedBefore { suspect, access }];
    let gaps = context.segments[access.segment].gaps.len();
    cases.extend((0..gaps).map(|gap| Case::WarnedInGap { suspect, access, gap }));
    conflicts(context, suspect, |from, first, second| {
        if second.segment == access.segment && second.step < access.step {
            cases.push(Case::WarnedAt { suspect, from, first, access, reached: second.step });
        }
    });
    cases
}

/// Data races on a class of locations: on plain ones, and where atomic ones are initialised.
pub fn races(context: &ProofContext, class: ClassId) -> Vec<Case> {
    let all = accesses(context, class);
    let is_atomic = context.library.classes[class.0 as usize].is_atomic;
    let is_plain = |step: StepId| !is_atomic || step.of(context).order == Mode::NonAtomic;
    let pairs = all.iter().flat_map(|first| all.iter().map(|second| (*first, *second)));
    let conflict = pairs.filter(|(a, b)| is_plain(*a) || is_plain(*b));
    let conflict = conflict.filter(|(a, b)| a.of(context).writes() || b.of(context).writes());
    conflict.map(|(first, second)| Case::Race { first, second }).collect()
}

impl Case {
    /// The proof obligation, negated: the solver looks for a counterexample.
    pub fn question(self, context: &ProofContext, depth: Depth) -> Question {
        let two = |first: StepId, second: StepId| {
            let execution = Execution::new(context, &[first.slot(), second.slot()]);
            (execution, EventId { slot: 0, step: first.step }, EventId { slot: 1, step: second.step })
        };
        let mut execution = match self {
            Case::Destination { suspect, access } => {
                let (mut execution, m, a) = two(suspect, access);
                about_to_miss(&mut execution, m, a, depth);
                execution
            }
            Case::Race { first, second } => {
                let (mut execution, m, a) = two(first, second);
                execution.is_hb_only = true;
                execution.require(executed(m));
                execution.require(executed(a));
                execution.require(symbols::suspect().equals(event(m)));
                execution.require(last().equals(event(a)));
                execution.require(event(m).lt(event(a)));
                execution.require(!session(0).equals(session(1)));
                execution.is_same_location(m, a).into_iter().for_each(|same| execution.require(same));
                execution.require(!known(&event(a)));
                deepen(&mut execution, depth, &[m, a]);
                execution
            }
            Case::WarnedBefore { suspect, access } => {
                let (mut execution, m, a) = two(suspect, access);
                execution.require(first_fence().lt(begin(1)));
                about_to_miss(&mut execution, m, a, depth);
                execution
            }
            Case::WarnedInGap { suspect, access, gap } => {
                let (mut execution, m, a) = two(suspect, access);
                let gap = &context.segments[access.segment].gaps[gap];
                for step in gap.after.iter().map(|step| EventId { slot: 1, step: *step }) {
                    execution.require(executed(step).implies(first_fence().lt(event(step))));
                }
                execution.require(first_fence().le(last()));
                about_to_miss(&mut execution, m, a, depth);
                execution
            }
            Case::WarnedAt { suspect, from, first, access, reached } => {
                let (slots, m, p, slot) = cast(suspect, from, first, access.slot());
                let mut execution = Execution::new(context, &slots);
                let (at, a) = (EventId { slot, step: reached }, EventId { slot, step: access.step });
                execution.require(any([known(&event(p)), first_fence().lt(event(p))]));
                execution.require(first_fence().lt(event(at)));
                leads_to(&mut execution, p, at);
                about_to_miss(&mut execution, m, a, depth);
                execution
            }
            Case::Source { suspect, from, first, second, with_fences } => {
                let (slots, m, p, slot) = cast(suspect, from, first, second.slot());
                let mut execution = Execution::new(context, &slots);
                let a = EventId { slot, step: second.step };
                execution.require(execution.is_write(m));
                execution.require(symbols::suspect().equals(event(m)));
                execution.require(last().equals(event(a)));
                execution.require(known(&event(p)));
                execution.require(!known(&event(a)));
                if with_fences {
                    execution.require(first_fence().gt(event(a)));
                }
                leads_to(&mut execution, p, a);
                deepen(&mut execution, depth, &[m, p, a]);
                newest(&mut execution, m);
                execution
            }
        };
        execution.finish();
        execution.question(format!("{self:?}"))
    }
}

/// Slots, the suspect, the event that knows it, and the slot of the one that comes next.
fn cast(
    suspect: StepId,
    from: Option<usize>,
    first: usize,
    last: Slot,
) -> (Vec<Slot>, EventId, EventId, usize) {
    let m = EventId { slot: 0, step: suspect.step };
    match from {
        None => (vec![suspect.slot(), last], m, EventId { slot: 0, step: first }, 1),
        Some(segment) => {
            (vec![suspect.slot(), Slot { segment }, last], m, EventId { slot: 1, step: first }, 2)
        }
    }
}

/// The suspect is the newest write of its location.
fn newest(execution: &mut Execution, m: EventId) {
    let Some(class) = execution.step(m).class else {
        return;
    };
    let location = execution.location(m);
    for handle in execution.of_class(class) {
        execution.require(handle.is_at(&location).implies(handle.position.le(symbols::suspect())));
    }
}

/// `rf`, `mo` or `fr` lead from one access to another, of another thread, with nothing in between.
fn leads_to(execution: &mut Execution, p: EventId, a: EventId) {
    let (first, second) = (execution.step(p), execution.step(a));
    execution.require(executed(p));
    execution.require(executed(a));
    execution.require(!session(p.slot).equals(session(a.slot)));
    execution.is_same_location(p, a).into_iter().for_each(|same| execution.require(same));
    execution.require(event(p).lt(event(a)));
    let Some(class) = first.class else {
        return;
    };
    let (handles, location) = (execution.of_class(class), execution.location(p));
    let nothing_after = |from: &Int| {
        all(handles
            .iter()
            .filter(|h| h.position != *from && h.position != event(a))
            .map(|h| h.is_at(&location).implies(any([h.position.le(from), h.position.ge(event(a))]))))
    };
    let mut edges = Vec::new();
    if first.writes() && second.reads() {
        edges.push(all([execution.is_write(p), source_of(a).equals(event(p))]));
    }
    if first.writes() && second.writes() {
        edges.push(all([execution.is_write(p), execution.is_write(a), nothing_after(&event(p))]));
    }
    if first.reads() && second.writes() {
        edges.push(all([execution.is_write(a), nothing_after(&source_of(p))]));
    }
    execution.require(any(edges));
}

/// A thread is about to make access `a`, does not know the write `m`, which is the newest of the location, and could see an
/// older one.
fn about_to_miss(execution: &mut Execution, m: EventId, a: EventId, depth: Depth) {
    let step = execution.step(a);
    let Some(class) = step.class else {
        return;
    };
    let (thread, location) = (a.slot, execution.location(m));
    let (base, index) = &location;
    execution.require(execution.is_write(m));
    execution.require(symbols::suspect().equals(event(m)));
    execution.require(symbols::suspect().le(last()));
    execution.require(!session(m.slot).equals(session(thread)));
    execution.require(reached(thread, step));
    execution.require(!executed(a));
    execution.is_same_location(m, a).into_iter().for_each(|same| execution.require(same));
    execution.require(!past(thread));
    for k in 0..a.step {
        let before = EventId { slot: thread, step: k };
        execution.require(reached(thread, execution.step(before)).implies(executed(before)));
        execution.require(executed(before).implies(!known(&event(before))));
    }
    // This is the next event of the thread, so all that it did came before.
    for handle in execution.handles.clone() {
        let o = &handle.position;
        let is_its = session_of(o).equals(session(thread));
        let premise = all([&handle.active, &o.gt(Int::from(0)), &is_its]);
        execution.require(premise.implies(!known(o)));
    }
    // An older write, and the one that follows it.
    let (older, next) = (Int::constant("older"), Int::constant("next"));
    execution.add_handle(&older, class, &location);
    execution.add_handle(&next, class, &location);
    execution.require(all([older.lt(&next), next.le(symbols::suspect()), Int::from(0).lt(&next)]));
    for write in [&older, &next] {
        execution.require(is_of_class(write, class));
        execution.require(base_of(write).equals(base));
        execution.require(index_of(write).equals(index));
    }
    for before in execution.steps(thread).take(a.step) {
        // What the thread itself has seen or written there hides all that is older.
        if execution.step(before).class != Some(class) {
            continue;
        }
        let (b, i) = execution.location(before);
        let same = all([b.equals(base), i.equals(index)]);
        if execution.step(before).reads() {
            execution.require(all([&executed(before), &same]).implies(source_of(before).le(&older)));
        }
        if execution.step(before).writes() {
            execution.require(all([execution.is_write(before), same]).implies(event(before).le(&older)));
        }
    }
    let fits = |expected: &Term| value_of(&older).equals(expected.integer(thread));
    let free = !updates(&next);
    let sees = match &step.action {
        Action::Read { until: None } => true.into(),
        Action::Read { until: Some(until) } => until.condition(thread).with(&read(a), &value_of(&older)),
        Action::Cas { expected, is_weak, always, .. } => {
            let succeeds = all([fits(expected), free]);
            let fails = if *is_weak { true.into() } else { !fits(expected) };
            match always {
                Some(true) => succeeds,
                Some(false) => fails,
                None => any([succeeds, fails]),
            }
        }
        _ => free,
    };
    execution.require(sees);
    if execution.context.facts.confirms(execution.segment(a.slot), a.step).is_some() {
        // What it reads is the newest write, or the call never ends.
        execution.derive(Constraint::ConfirmedRead, false.into());
    }
    deepen(execution, depth, &[m, a]);
    if depth >= Depth::Locations {
        let seen = std::iter::once(&next).chain((depth >= Depth::Older).then_some(&older));
        for write in seen {
            if let Some(write) = execution.handles.iter().find(|h| h.position == *write).cloned() {
                execution.add_writers(&write);
            }
        }
    }
    newest(execution, m);
    for handle in execution.of_class(class) {
        let o = &handle.position;
        if *o != older && *o != next {
            execution.require(handle.is_at(&location).implies(any([o.le(&older), o.ge(&next)])));
        }
    }
}

/// Adds the calls that made the writes which the given accesses depend on.
fn deepen(execution: &mut Execution, depth: Depth, around: &[EventId]) {
    if depth == Depth::Calls {
        return;
    }
    let mut wanted: Vec<EventId> = Vec::new();
    for at in around {
        let slot = at.slot;
        if depth == Depth::Reads {
            wanted.extend(execution.steps(slot).filter(|k| execution.step(*k).reads()));
        } else {
            let step = execution.step(*at);
            for term in [&step.base, &step.index] {
                term.visit(&mut |t| {
                    if let Term::Read(read) = t {
                        wanted.push(EventId { slot, step: *read });
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
