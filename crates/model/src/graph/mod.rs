//! Execution graphs: events with program order, reads-from and modification order.
//!
//! \[Rocker19] Def. 4.1–4.5 (events, initialisation, graphs, `add`), \[RoboCop24] §3.2 (modes, fences, `fr`,
//! `hbSC`), \[Fency21] §II.A (internal and external edges, `rmw`, dependencies). A read-modify-write is one
//! event that is both a read and a write; [`Graph::split_rmws`] gives the two-event form in which the ARM
//! models are stated.

mod derived;
mod event;
mod key;
mod split;

pub use event::Event;
pub use key::Key;

use crate::set::Set;
use crate::{Action, Dependencies, Loc, Outcome, Relation, Value};

/// An execution graph of at most `64 * W` events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph<const W: usize = 1> {
    /// The events, initialisation first; a relation's event `i` is `events[i]`.
    pub events: Vec<Event>,
    /// Program order, transitive; initialisation writes come before everything.
    pub po: Relation<W>,
    /// Reads-from: from a write to each read of its value.
    pub rf: Relation<W>,
    /// Modification order (coherence): a total order on the writes to each location, transitive.
    pub mo: Relation<W>,
    /// Address dependencies. Programs here have none; graphs made by hand and other front ends may.
    pub addr: Relation<W>,
    /// Data dependencies.
    pub data: Relation<W>,
    /// Control dependencies.
    pub ctrl: Relation<W>,
    /// From the read to the write of a read-modify-write that was split in two; empty until then.
    pub rmw: Relation<W>,
    /// What C11 has no access or fence for. Programs here have none; graphs made by hand and other front ends may.
    pub arm: ArmInstructions<W>,
}

/// Events that are instructions of ARM beyond what modes say. Their mode is relaxed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ArmInstructions<const W: usize = 1> {
    /// ARMv8: loads by LDAPR, acquire RCpc.
    pub ldapr: Set<W>,
    /// Fences that are DMB ST.
    pub dmb_st: Set<W>,
    /// ARMv7: read-modify-writes with a DMB between LDREX and STREX.
    pub fenced_rmws: Set<W>,
}

impl Graph {
    /// The graph `G₀` (\[Rocker19] Def. 4.5) with one initialisation write per location.
    pub fn new(initial: &[Value]) -> Graph {
        let mut graph = Graph::default();
        for (number, &value) in initial.iter().enumerate().take(Set::<1>::MAX) {
            graph.push(Event::initial(Loc(number as u8), value), None);
        }
        graph
    }

    /// A graph of these events (initialisation writes among them), with reads-from and modification order as
    /// given; program order follows from the events' threads and indices. At most [`MAX_EVENTS`](crate::MAX_EVENTS) events are
    /// kept.
    pub fn from_parts(events: impl IntoIterator<Item = Event>, rf: Relation, mo: Relation) -> Graph {
        let mut graph = Graph::default();
        for event in events {
            graph.push_alone(event);
        }
        let n = graph.events.len();
        let fit = |r: Relation| Relation::from_pairs(n, r.pairs());
        graph.rf = fit(rf);
        graph.mo = fit(mo.plus());
        graph
    }
}

impl<const W: usize> Graph<W> {
    /// `add(G, τ, l, w)` (\[Rocker19] Notation 4.4): adds the event of `action` last in its thread. A read reads
    /// from `placement`, a write comes right after it in modification order, a read-modify-write does both.
    /// Without a placement it is the last write to the location, which is what happens under SC. Gives the
    /// event's number, or nothing if the graph is full.
    pub fn add(
        &mut self,
        thread: usize,
        action: &Action,
        outcome: Outcome,
        placement: Option<usize>,
    ) -> Option<usize> {
        let event = Event::of(thread, self.thread_events(thread).len(), action, outcome);
        let last = || event.loc.and_then(|loc| self.last_write(loc));
        let placement = placement.or_else(last);
        self.push(event, placement)
    }

    /// Adds an event, made elsewhere, like [`Graph::add`] does.
    pub fn push(&mut self, event: Event, placement: Option<usize>) -> Option<usize> {
        let new = self.push_alone(event)?;
        if let Some(write) = placement.filter(|&write| write < new) {
            if event.is_read() {
                self.rf.insert(write, new);
            }
            if event.is_write() {
                let later = self.mo.after(write);
                for earlier in (self.mo.before(write) | Set::one(write)).iter() {
                    self.mo.insert(earlier, new);
                }
                self.mo.insert_all(new, later);
            }
        }
        Some(new)
    }

    /// Takes back the last [`Graph::push`].
    pub fn pop(&mut self) {
        self.events.pop();
        let ArmInstructions { ldapr, dmb_st, fenced_rmws } = &mut self.arm;
        for set in [ldapr, dmb_st, fenced_rmws] {
            set.remove(self.events.len());
        }
        for relation in self.relations_mut() {
            relation.shrink();
        }
    }

    /// Notes that the event (the newest, usually) depends on earlier events of its thread.
    pub fn add_dependencies(&mut self, event: usize, on: &Dependencies) {
        let Some(thread) = self.events.get(event).and_then(|e| e.thread) else { return };
        let number = |index: usize| {
            self.events.iter().position(|e| e.thread == Some(thread) && e.index == index && e.is_read())
        };
        let data: Vec<_> = on.data.iter().filter_map(|&index| number(index)).collect();
        let ctrl: Vec<_> = on.ctrl.iter().filter_map(|&index| number(index)).collect();
        data.into_iter().for_each(|read| self.data.insert(read, event));
        ctrl.into_iter().for_each(|read| self.ctrl.insert(read, event));
    }

    fn push_alone(&mut self, event: Event) -> Option<usize> {
        let new = self.events.len();
        if new >= Set::<W>::MAX {
            return None;
        }
        self.events.push(event);
        for relation in self.relations_mut() {
            relation.grow();
        }
        for (number, other) in self.events[..new].iter().enumerate() {
            if comes_before(other, &event) {
                self.po.insert(number, new);
            } else if comes_before(&event, other) {
                self.po.insert(new, number);
            }
        }
        Some(new)
    }

    fn relations_mut(&mut self) -> [&mut Relation<W>; 7] {
        [
            &mut self.po,
            &mut self.rf,
            &mut self.mo,
            &mut self.addr,
            &mut self.data,
            &mut self.ctrl,
            &mut self.rmw,
        ]
    }

    /// The number of events, initialisation included.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is no event at all.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

/// \[Rocker19] Def. 4.2: initialisation before everything else, events of a thread by their number.
fn comes_before(a: &Event, b: &Event) -> bool {
    match (a.thread, b.thread) {
        (None, Some(_)) => true,
        (Some(s), Some(t)) => s == t && a.index < b.index,
        _ => false,
    }
}
