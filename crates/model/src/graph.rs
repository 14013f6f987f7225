//! Execution graphs: events with program order, reads-from and modification order.
//!
//! Seed 003 Def. 4.1–4.5 (events, initialisation, graphs, `add`), seed 002 §3.2 (modes, fences, `fr`, `hbSC`), seed 004
//! §II.A (internal and external edges, `rmw`, dependencies). A read-modify-write is one event that is both a read and
//! a write; [`Graph::split_rmws`] gives the two-event form in which the ARM models are stated.

use crate::relation::{MAX_EVENTS, Relation, Set};
use crate::{Action, Dependencies, Loc, Mode, Outcome, Value};
use std::fmt;

/// One memory event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    /// The thread it belongs to; none for an initialisation write.
    pub thread: Option<usize>,
    /// Its number in its thread, from 0; for an initialisation write, the number of its location.
    pub index: usize,
    /// The location it accesses; none for a fence.
    pub loc: Option<Loc>,
    /// Its memory order.
    pub mode: Mode,
    /// What it did.
    pub outcome: Outcome,
    /// The instruction it comes from.
    pub site: u32,
}

impl Event {
    /// The initialisation write of a location.
    pub fn initial(loc: Loc, value: Value) -> Event {
        let (index, mode, outcome) = (loc.index(), Mode::Relaxed, Outcome::Wrote(value));
        Event { thread: None, index, loc: Some(loc), mode, outcome, site: u32::MAX }
    }

    /// The event that `action` produces with this outcome as the event number `index` of its thread.
    pub fn of(thread: usize, index: usize, action: &Action, outcome: Outcome) -> Event {
        let loc = (outcome != Outcome::Fenced).then_some(action.loc);
        let mode = action.mode_of(outcome);
        Event { thread: Some(thread), index, loc, mode, outcome, site: action.site }
    }

    /// Whether it reads (a read-modify-write does).
    pub fn is_read(&self) -> bool {
        self.outcome.value_read().is_some()
    }

    /// Whether it writes (a read-modify-write does).
    pub fn is_write(&self) -> bool {
        self.outcome.value_written().is_some()
    }

    /// Whether it is a read-modify-write.
    pub fn is_rmw(&self) -> bool {
        matches!(self.outcome, Outcome::Updated(..))
    }

    /// Whether it is a fence.
    pub fn is_fence(&self) -> bool {
        self.outcome == Outcome::Fenced
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.thread {
            Some(thread) => write!(f, "{thread}.{}:", self.index)?,
            None => write!(f, "init:")?,
        }
        let (loc, mode) = (self.loc.map_or(0, |loc| loc.0), self.mode);
        match self.outcome {
            Outcome::Read(v) => write!(f, "R{mode}(x{loc},{v})"),
            Outcome::Wrote(v) => write!(f, "W{mode}(x{loc},{v})"),
            Outcome::Updated(v, w) => write!(f, "RMW{mode}(x{loc},{v},{w})"),
            Outcome::Fenced => write!(f, "F{mode}"),
        }
    }
}

/// A name for a graph that does not depend on the order in which its events were added: equal for equal graphs.
/// Instruction sites and dependencies take no part in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Key(Vec<u32>);

/// An execution graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// The events, initialisation first; a relation's event `i` is `events[i]`.
    pub events: Vec<Event>,
    /// Program order, transitive; initialisation writes come before everything.
    pub po: Relation,
    /// Reads-from: from a write to each read of its value.
    pub rf: Relation,
    /// Modification order (coherence): a total order on the writes to each location, transitive.
    pub mo: Relation,
    /// Data dependencies.
    pub data: Relation,
    /// Control dependencies.
    pub ctrl: Relation,
    /// From the read to the write of a read-modify-write that was split in two; empty until then.
    pub rmw: Relation,
}

impl Graph {
    /// The graph `G₀` (seed 003 Def. 4.5) with one initialisation write per location.
    pub fn new(initial: &[Value]) -> Graph {
        let mut graph = Graph::default();
        for (number, &value) in initial.iter().enumerate().take(MAX_EVENTS) {
            graph.push(Event::initial(Loc(number as u8), value), None);
        }
        graph
    }

    /// A graph of these events (initialisation writes among them), with reads-from and modification order as given;
    /// program order follows from the events' threads and indices. At most [`MAX_EVENTS`] events are kept.
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

    /// `add(G, τ, l, w)` (seed 003 Notation 4.4): adds the event of `action` last in its thread. A read reads from
    /// `placement`, a write comes right after it in modification order, a read-modify-write does both. Without a
    /// placement it is the last write to the location, which is what happens under SC. Gives the event's number, or
    /// nothing if the graph is full.
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
        if new >= MAX_EVENTS {
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

    fn relations_mut(&mut self) -> [&mut Relation; 6] {
        [&mut self.po, &mut self.rf, &mut self.mo, &mut self.data, &mut self.ctrl, &mut self.rmw]
    }

    /// The number of events, initialisation included.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is no event at all.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The events that satisfy the condition.
    pub fn set(&self, condition: impl Fn(&Event) -> bool) -> Set {
        Set(self.events.iter().enumerate().fold(0, |set, (a, event)| set | u64::from(condition(event)) << a))
    }

    /// `R`: reads, read-modify-writes included.
    pub fn reads(&self) -> Set {
        self.set(Event::is_read)
    }

    /// `W`: writes, read-modify-writes and initialisation included.
    pub fn writes(&self) -> Set {
        self.set(Event::is_write)
    }

    /// `RMW`: read-modify-writes.
    pub fn rmws(&self) -> Set {
        self.set(Event::is_rmw)
    }

    /// `F`: fences.
    pub fn fences(&self) -> Set {
        self.set(Event::is_fence)
    }

    /// The events of this mode.
    pub fn with_mode(&self, mode: Mode) -> Set {
        self.set(|e| e.mode == mode)
    }

    /// `⊒ rel`
    pub fn releases(&self) -> Set {
        self.set(|e| e.mode.is_release())
    }

    /// `⊒ acq`
    pub fn acquires(&self) -> Set {
        self.set(|e| e.mode.is_acquire())
    }

    /// `E_τ`: the events of a thread.
    pub fn thread_events(&self, thread: usize) -> Set {
        self.set(|e| e.thread == Some(thread))
    }

    /// The accesses to a location.
    pub fn accesses(&self, loc: Loc) -> Set {
        self.set(|e| e.loc == Some(loc))
    }

    /// The last write to a location in modification order.
    pub fn last_write(&self, loc: Loc) -> Option<usize> {
        (self.writes() & self.accesses(loc)).iter().find(|&write| self.mo.after(write).is_empty())
    }

    /// The write that a read reads from.
    pub fn source(&self, read: usize) -> Option<usize> {
        (0..self.len()).find(|&write| self.rf.contains(write, read))
    }

    /// `fr = (rf⁻¹ ; mo) \ id`
    pub fn fr(&self) -> Relation {
        let mut fr = Relation::empty(self.len());
        for (write, read) in self.rf.pairs() {
            fr.insert_all(read, self.mo.after(write) - Set::one(read));
        }
        fr
    }

    /// `rfe = rf \ po`
    pub fn rfe(&self) -> Relation {
        &self.rf - &self.po
    }

    /// `rfi = rf ∩ po`
    pub fn rfi(&self) -> Relation {
        &self.rf & &self.po
    }

    /// `coe = mo \ po`
    pub fn coe(&self) -> Relation {
        &self.mo - &self.po
    }

    /// `coi = mo ∩ po`
    pub fn coi(&self) -> Relation {
        &self.mo & &self.po
    }

    /// `fre = fr \ po`
    pub fn fre(&self) -> Relation {
        &self.fr() - &self.po
    }

    /// Program order between accesses to the same location.
    pub fn po_loc(&self) -> Relation {
        let mut po_loc = Relation::empty(self.len());
        for (a, event) in self.events.iter().enumerate() {
            if let Some(loc) = event.loc {
                po_loc.insert_all(a, self.po.after(a) & self.accesses(loc));
            }
        }
        po_loc
    }

    /// `po ∪ rf ∪ mo ∪ fr`, the steps of `hbSC`.
    pub fn hb_sc_steps(&self) -> Relation {
        &self.po | &self.rf | &self.mo | self.fr()
    }

    /// `hbSC = (po ∪ rf ∪ mo ∪ fr)⁺`
    pub fn hb_sc(&self) -> Relation {
        self.hb_sc_steps().plus()
    }

    /// The same graph with every read-modify-write split into a read and a write joined by `rmw`, and for each event
    /// of the new graph the event of this one it comes from. The read keeps the event's number, the writes follow at
    /// the end. Data dependencies lead to the write, control dependencies to both; the halves keep the event's mode.
    pub fn split_rmws(&self) -> (Graph, Vec<usize>) {
        let mut origin: Vec<usize> = (0..self.len()).collect();
        origin.extend(self.rmws().iter());
        origin.truncate(MAX_EVENTS);
        let n = origin.len();
        let mut read_half: Vec<usize> = (0..self.len()).collect();
        let mut write_half = read_half.clone();
        let mut split = Graph { rmw: Relation::empty(n), ..Graph::default() };
        for (number, &from) in origin.iter().enumerate() {
            let mut event = self.events[from];
            if let Outcome::Updated(read, written) = event.outcome {
                if number == from {
                    read_half[from] = number;
                    event.outcome = Outcome::Read(read);
                } else {
                    write_half[from] = number;
                    split.rmw.insert(from, number);
                    event.outcome = Outcome::Wrote(written);
                }
            }
            split.events.push(event);
        }
        let both = |a: usize| [read_half[a], write_half[a]];
        let pairs = |r: &Relation, from: &[usize], to: &[usize]| {
            Relation::from_pairs(n, r.pairs().map(|(a, b)| (from[a], to[b])))
        };
        let all_halves = self.po.pairs().flat_map(|(a, b)| both(a).map(|a| both(b).map(|b| (a, b))));
        split.po = Relation::from_pairs(n, all_halves.flatten()) | &split.rmw;
        split.rf = pairs(&self.rf, &write_half, &read_half);
        split.mo = pairs(&self.mo, &write_half, &write_half);
        split.data = pairs(&self.data, &read_half, &write_half);
        split.ctrl = pairs(&self.ctrl, &read_half, &read_half) | pairs(&self.ctrl, &read_half, &write_half);
        (split, origin)
    }

    /// A name under which graphs can be compared and collected.
    pub fn key(&self) -> Key {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&a| (self.events[a].thread, self.events[a].index, a));
        let mut place = vec![0u32; self.len()];
        for (number, &a) in order.iter().enumerate() {
            place[a] = number as u32;
        }
        let mut key = Vec::with_capacity(6 * self.len());
        for &a in &order {
            let event = &self.events[a];
            let thread = event.thread.map_or(0, |thread| thread as u32 + 1);
            let kind = u32::from(event.is_read()) + 2 * u32::from(event.is_write());
            let loc = event.loc.map_or(0, |loc| u32::from(loc.0));
            key.push(thread << 16 | loc << 8 | (event.mode as u32) << 4 | kind);
            if let Some(value) = event.outcome.value_read() {
                key.push(value);
                key.push(self.source(a).map_or(u32::MAX, |write| place[write]));
            }
            if let Some(value) = event.outcome.value_written() {
                key.push(value);
                key.push(self.mo.before(a).len() as u32);
            }
        }
        Key(key)
    }
}

/// Seed 003 Def. 4.2: initialisation before everything else, events of a thread by their number.
fn comes_before(a: &Event, b: &Event) -> bool {
    match (a.thread, b.thread) {
        (None, Some(_)) => true,
        (Some(s), Some(t)) => s == t && a.index < b.index,
        _ => false,
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (a, event) in self.events.iter().enumerate() {
            write!(f, "{a}: {event}")?;
            if let Some(write) = self.source(a).filter(|_| event.is_read()) {
                write!(f, "  reads from {write}")?;
            }
            if event.is_write() && !self.mo.after(a).is_empty() {
                let later: Vec<String> = self.mo.after(a).iter().map(|b| b.to_string()).collect();
                write!(f, "  mo-before {}", later.join(", "))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
