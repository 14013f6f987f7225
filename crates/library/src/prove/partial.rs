//! Partial executions that a solver found, for people: calls, events, and the access that may be stale.

use rustc_hash::FxHashMap;

use super::conditions::Case;
use super::execution::{At, Slot, World, event, executed, source_of};
use super::straight::{Action, Segment, Step};
use crate::code::{ClassId, Label, Site};

/// An event of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Which access.
    pub label: Label,
    /// Where it is written.
    pub site: Site,
    /// `W node.next = 0 (release)`.
    pub text: String,
    /// Its place in the SC order.
    pub position: i64,
    /// What is special about it.
    pub role: Option<String>,
}

/// A call, or a piece of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invocation {
    /// The thread.
    pub session: usize,
    /// The method.
    pub method: String,
    /// What it is called with.
    pub arguments: Vec<i64>,
    /// What it did, in program order.
    pub events: Vec<Event>,
    /// It is looked at only because it wrote what another one read.
    pub is_context: bool,
}

/// Part of an SC execution that might lead to a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partial {
    /// The class of the location.
    pub class: ClassId,
    /// A data race on plain memory, not a stale access.
    pub is_race: bool,
    /// Calls.
    pub invocations: Vec<Invocation>,
    /// From one event to another, each an invocation and an event in it: `rf` or `fr`.
    pub edges: Vec<(usize, usize, usize, usize, String)>,
    /// What goes wrong, in a sentence.
    pub explanation: String,
}

impl Partial {
    /// Reads a model.
    pub(super) fn new(world: &World, class: ClassId, case: Case, values: &[(String, String)]) -> Partial {
        let values: FxHashMap<&str, &str> = values.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let model = Model { world, values };
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
        let (suspect, stale) = (At { slot: 0, step: suspect.step }, At { slot: stale, step: access.step });
        model.partial(class, &slots, suspect, stale, matches!(case, Case::Race { .. }))
    }
}

struct Model<'a> {
    world: &'a World<'a>,
    values: FxHashMap<&'a str, &'a str>,
}

impl Model<'_> {
    fn number(&self, name: &str) -> Option<i64> {
        match name.parse() {
            Ok(number) => Some(number),
            Err(_) => self.values.get(name)?.parse().ok(),
        }
    }

    fn truth(&self, name: &str) -> bool {
        self.values.get(name) == Some(&"true")
    }

    fn partial(&self, class: ClassId, slots: &[usize], suspect: At, stale: At, is_race: bool) -> Partial {
        let mut sessions: Vec<i64> = Vec::new();
        let mut invocations = Vec::new();
        // Where events went: position → invocation and event.
        let mut places: FxHashMap<i64, (usize, usize)> = FxHashMap::default();
        let mut reads = Vec::new();
        for (slot, segment) in slots.iter().map(|s| Slot { segment: *s }).enumerate() {
            let code = &self.world.segments[segment.segment];
            let method = &self.world.library.methods[code.method];
            let session = self.number(&format!("session_{slot}")).unwrap_or(slot as i64);
            let session = sessions.iter().position(|s| *s == session).unwrap_or_else(|| {
                sessions.push(session);
                sessions.len() - 1
            });
            let mut events = Vec::new();
            for (k, step) in code.steps.iter().enumerate() {
                let at = At { slot, step: k };
                let is_executed = self.truth(&executed(at));
                let is_stale = at == stale;
                if !is_executed && !is_stale {
                    continue;
                }
                let position = self.number(&event(at)).filter(|_| is_executed).unwrap_or(i64::MAX);
                let role = match (at == suspect, is_stale) {
                    (true, _) if is_race => Some("races".to_owned()),
                    (_, true) if is_race => Some("with this".to_owned()),
                    (true, _) => Some("the newest write".to_owned()),
                    (_, true) => Some("may miss it".to_owned()),
                    _ => None,
                };
                places.insert(position, (invocations.len(), events.len()));
                if step.reads() && is_executed {
                    reads.push((invocations.len(), events.len(), self.number(&source_of(at))));
                }
                events.push(Event {
                    label: step.label,
                    site: step.site,
                    text: self.text(at, step, code, is_executed),
                    position,
                    role,
                });
            }
            let arguments = (0..method.parameters.len())
                .map(|k| self.number(&format!("a_{slot}_{k}")).unwrap_or(0))
                .collect();
            invocations.push(Invocation {
                session,
                method: method.name.clone(),
                arguments,
                events,
                is_context: false,
            });
        }
        let edges = reads
            .into_iter()
            .filter_map(|(invocation, event, source)| {
                let (from, from_event) = *places.get(&source?)?;
                Some((from, from_event, invocation, event, "rf".to_owned()))
            })
            .collect();
        let name = &self.world.library.classes[class.0 as usize].name;
        let methods = |at: At| &self.world.library.methods[self.world.segments[slots[at.slot]].method].name;
        let (first, second) = (methods(suspect), methods(stale));
        let explanation = if is_race {
            format!("`{second}` may race with `{first}` on {name}, which isn't atomic")
        } else {
            format!("`{second}` may access {name} without knowing the write that `{first}` has made there")
        };
        Partial { class, is_race, invocations, edges, explanation }
    }

    fn text(&self, at: At, step: &Step, code: &Segment, is_executed: bool) -> String {
        let _ = code;
        let Some(class) = step.class else {
            return match step.action {
                Action::Allocate { .. } => "allocates a record".to_owned(),
                Action::Free => "frees a record".to_owned(),
                _ => format!("fence ({})", step.order),
            };
        };
        let declared = &self.world.library.classes[class.0 as usize];
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
        let order = if declared.is_atomic { step.order.to_string() } else { "plain".to_owned() };
        let show = |n: Option<i64>| n.map_or_else(|| "?".to_owned(), |n| n.to_string());
        let read = show(self.number(&format!("r_{}_{}", at.slot, at.step)).filter(|_| is_executed));
        let written = step.written().map(|v| show(self.number(&v.integer(at.slot))));
        match (&step.action, written) {
            (Action::Write { .. }, Some(value)) => format!("W {name} = {value} ({order})"),
            (Action::Update { .. }, Some(value)) => format!("U {name}: {read} → {value} ({order})"),
            (Action::Cas { is_blocking, .. }, Some(value)) => {
                if *is_blocking || self.truth(&format!("ok_{}_{}", at.slot, at.step)) {
                    format!("U {name}: {read} → {value} ({order})")
                } else {
                    format!("R {name} = {read}, compare-and-swap fails")
                }
            }
            _ => format!("R {name} = {read} ({order})"),
        }
    }
}
