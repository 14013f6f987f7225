//! Partial executions that a solver found, for people: calls, events, and the access that may be stale.

use rustc_hash::FxHashMap;

use super::conditions::Case;
use super::execution::symbols::{argument, event, executed, read, session, source, succeeded};
use super::execution::{EventId, ProofContext, Slot};
use super::segments::{Action, Step};
use crate::solver::formula::{Formula, Int};
use seqcst_c11::code::{ClassId, Label, Mode, Site, order_name};

/// An event of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The access of the library that this is an execution of.
    pub label: Label,
    /// Where it is written.
    pub site: Site,
    /// `W node.next = 0 (release)`.
    pub text: String,
    /// Its place in the SC order.
    pub position: i64,
}

/// A call, or a piece of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invocation {
    /// Index of the thread that makes the call.
    pub session: usize,
    /// The method's name; `lock…unlock` for a critical section.
    pub method: String,
    /// What it is called with.
    pub arguments: Vec<i64>,
    /// What it did, in program order.
    pub events: Vec<Event>,
}

impl Invocation {
    /// The position of its first event.
    pub fn begins(&self) -> Option<i64> {
        self.events.iter().map(|event| event.position).min()
    }
}

/// An event of a [`Partial`]: indices of the invocation and of the event in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventIndex {
    /// Index into [`Partial::invocations`].
    pub invocation: usize,
    /// Index into [`Invocation::events`].
    pub event: usize,
}

/// A counterexample to induction: part of an SC execution that might lead to a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partial {
    /// The class of the location.
    pub class: ClassId,
    /// A data race on plain memory, not a stale access.
    pub is_race: bool,
    /// Calls of the partial execution, not in any order.
    pub invocations: Vec<Invocation>,
    /// `rf`: writes, and reads that take their values.
    pub reads_from: Vec<(EventIndex, EventIndex)>,
    /// The newest write of the location; of a race, the earlier access.
    pub newest: EventIndex,
    /// The access that may miss it; of a race, the later one.
    pub access: EventIndex,
    /// What goes wrong, in a sentence.
    pub explanation: String,
}

impl Partial {
    /// The calls of each thread, in order.
    pub fn sessions(&self) -> impl Iterator<Item = Vec<&Invocation>> {
        let count = self.invocations.iter().map(|it| it.session + 1).max().unwrap_or(0);
        (0..count).map(|session| {
            let mut calls: Vec<_> = self.invocations.iter().filter(|it| it.session == session).collect();
            calls.sort_by_key(|it| it.begins());
            calls
        })
    }

    /// Builds it from the values of the solver's model.
    pub(super) fn new(
        context: &ProofContext,
        class: ClassId,
        case: Case,
        values: &[(String, String)],
    ) -> Partial {
        let values: FxHashMap<&str, &str> = values.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let model = Model { context, values };
        let (suspect, access) = match case {
            Case::Destination { suspect, access }
            | Case::WarnedBefore { suspect, access }
            | Case::WarnedInGap { suspect, access, .. }
            | Case::WarnedAt { suspect, access, .. } => (suspect, access),
            Case::Source { suspect, second, .. } => (suspect, second),
            Case::Race { first, second } => (first, second),
        };
        let stale = match case {
            Case::Destination { .. }
            | Case::WarnedBefore { .. }
            | Case::WarnedInGap { .. }
            | Case::Race { .. } => 1,
            Case::WarnedAt { from, .. } | Case::Source { from, .. } => 1 + usize::from(from.is_some()),
        };
        let mut slots = vec![suspect.segment];
        match case {
            Case::WarnedAt { from: Some(segment), .. } | Case::Source { from: Some(segment), .. } => {
                slots.push(segment)
            }
            _ => {}
        }
        slots.push(access.segment);
        let (suspect, stale) =
            (EventId { slot: 0, step: suspect.step }, EventId { slot: stale, step: access.step });
        model.partial(class, &slots, suspect, stale, matches!(case, Case::Race { .. }))
    }
}

struct Model<'a> {
    context: &'a ProofContext<'a>,
    values: FxHashMap<&'a str, &'a str>,
}

impl Model<'_> {
    fn number(&self, term: &Int) -> Option<i128> {
        let text = term.to_string();
        match text.parse() {
            Ok(number) => Some(number),
            Err(_) => self.values.get(text.as_str())?.parse().ok(),
        }
    }

    fn truth(&self, formula: &Formula) -> bool {
        self.values.get(formula.to_string().as_str()) == Some(&"true")
    }

    fn partial(
        &self,
        class: ClassId,
        slots: &[usize],
        suspect: EventId,
        stale: EventId,
        is_race: bool,
    ) -> Partial {
        let mut sessions: Vec<i128> = Vec::new();
        let mut invocations = Vec::new();
        let mut by_position: FxHashMap<i128, EventIndex> = FxHashMap::default();
        let mut reads = Vec::new();
        let origin = EventIndex { invocation: 0, event: 0 };
        let (mut newest, mut access) = (origin, origin);
        for (slot, segment) in slots.iter().map(|s| Slot { segment: *s }).enumerate() {
            let code = &self.context.segments[segment.segment];
            let method = &self.context.library.methods[code.method];
            let session = self.number(&session(slot)).unwrap_or(slot as i128);
            let session = sessions.iter().position(|s| *s == session).unwrap_or_else(|| {
                sessions.push(session);
                sessions.len() - 1
            });
            let mut events = Vec::new();
            for (k, step) in code.steps.iter().enumerate() {
                let at = EventId { slot, step: k };
                let is_executed = self.truth(&executed(at));
                let is_stale = at == stale;
                if !is_executed && !is_stale {
                    continue;
                }
                let position = self.number(&event(at)).filter(|_| is_executed).unwrap_or(i128::MAX);
                let index = EventIndex { invocation: invocations.len(), event: events.len() };
                by_position.insert(position, index);
                if at == suspect {
                    newest = index;
                }
                if is_stale {
                    access = index;
                }
                if step.reads() && is_executed {
                    reads.push((self.number(&source(at)), index));
                }
                events.push(Event {
                    label: step.label,
                    site: step.site,
                    text: self.text(at, step, is_executed),
                    position: i64::try_from(position).unwrap_or(i64::MAX),
                });
            }
            let arguments = (0..method.parameters.len())
                .map(|k| self.number(&argument(slot, k as u32)).unwrap_or(0))
                .map(|n| i64::try_from(n).unwrap_or(if n < 0 { i64::MIN } else { i64::MAX }))
                .collect();
            invocations.push(Invocation { session, method: method.name.clone(), arguments, events });
        }
        let reads_from = reads
            .into_iter()
            .filter_map(|(source, read)| Some((*by_position.get(&source?)?, read)))
            .collect();
        let name = &self.context.library.classes[class.0 as usize].name;
        let methods =
            |at: EventId| &self.context.library.methods[self.context.segments[slots[at.slot]].method].name;
        let (first, second) = (methods(suspect), methods(stale));
        let is_atomic = self.context.library.classes[class.0 as usize].is_atomic;
        let explanation = if is_race && is_atomic {
            format!("`{second}` may race with `{first}` on {name}: its initialisation is no atomic access")
        } else if is_race {
            format!("`{second}` may race with `{first}` on {name}, which isn't atomic")
        } else {
            format!("`{second}` may access {name} without knowing the write that `{first}` has made there")
        };
        Partial { class, is_race, invocations, reads_from, newest, access, explanation }
    }

    fn text(&self, at: EventId, step: &Step, is_executed: bool) -> String {
        let Some(class) = step.class else {
            return match step.action {
                Action::Allocate { .. } => "allocates a record".to_owned(),
                Action::Free => "frees a record".to_owned(),
                _ => format!("fence ({})", order_name(step.order)),
            };
        };
        let declared = &self.context.library.classes[class.0 as usize];
        let mut name = declared.name.clone();
        if declared.record.is_some()
            && let Some(base) = self.number(&step.base.integer(at.slot))
        {
            name = format!("{name} of record {base}");
        }
        if declared.cells.is_some()
            && let Some(index) = self.number(&step.index.integer(at.slot))
        {
            name = name.replacen("[]", &format!("[{index}]"), 1);
        }
        let order = order_name(if declared.is_atomic { step.order } else { Mode::NonAtomic });
        let show = |n: Option<i128>| n.map_or_else(|| "?".to_owned(), |n| n.to_string());
        let read = show(self.number(&read(at)).filter(|_| is_executed));
        let written = step.written().map(|v| show(self.number(&v.integer(at.slot))));
        match (&step.action, written) {
            (Action::Write { .. }, Some(value)) => format!("W {name} = {value} ({order})"),
            (Action::Update { .. }, Some(value)) => format!("U {name}: {read} → {value} ({order})"),
            (Action::Cas { is_blocking, .. }, Some(value)) => {
                if *is_blocking || self.truth(&succeeded(at)) {
                    format!("U {name}: {read} → {value} ({order})")
                } else {
                    format!("R {name} = {read}, compare-and-swap fails")
                }
            }
            _ => format!("R {name} = {read} ({order})"),
        }
    }
}
