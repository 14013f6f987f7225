//! Why one access comes before another under SC: a shortest path through the events that the journals still have.
//!
//! The relations of `hbSC` come out of the events like this:
//! * **po**: events of one thread, in the order of its journal.
//! * **mo**: writes (stores, RMWs) to one location, in the order of their numbers.
//! * **rf**: a write and the loads that have its number; an RMW with number n read the write n - 1. A write followed by
//!   nothing but RMWs is counted as read by whoever reads the last of these (`rf⁺`, a release sequence).
//! * **fr**: a load and the writes with larger numbers than the one it read.
//! * Synchronisation: a release and every acquire of the object that counts it; creation and begin, end and join of a
//!   thread; SC fences in the order of their numbers, where they have some.
//!
//! The search runs in layers: what is reached in a thread reaches all that the thread did later, so only the earliest
//! reached event of each thread counts, and each layer looks, from the events reached anew, for the earliest event
//! they lead to in every other thread. Paths of rf and synchronisation alone are preferred even if they are longer,
//! because they are repaired by release and acquire, where the others need fences.

use super::{Event, EventKind, all};
use crate::context::Site;
use seqcst_model::Mode;
use seqcst_monitor::clocks::{Slot, Time};
use std::collections::BTreeMap;

/// How an access follows from the one before it in a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// Nothing is before it.
    Start,
    /// po
    Program,
    /// rf, perhaps through RMWs
    ReadsFrom,
    /// mo, then rf
    ReadsLater,
    /// mo
    Overwrites,
    /// fr
    FromRead,
    /// Synchronisation other than by atomics of the program.
    Synchronises,
}

/// One access of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// From the link before it.
    pub edge: Edge,
    /// The thread's number as shown to people.
    pub thread: u32,
    /// What it is.
    pub what: EventKind,
    /// Its memory order.
    pub mode: Mode,
    /// Location.
    pub addr: usize,
    /// Bytes.
    pub size: u8,
    /// Where in the program.
    pub site: Site,
    /// It releases, by its mode or by a fence between the thread's link before it and it.
    pub released: bool,
    /// It acquires, by its mode or by a fence between it and the thread's next link.
    pub acquired: bool,
    /// An SC fence comes between it and the thread's next link (or the end). Where an SC access is an SC fence and an access,
    /// that counts.
    pub fenced: bool,
    /// Something comes between that empties a store buffer: an SC fence, an SC store, a read-modify-write.
    pub flushed: bool,
}

/// A write: slot and local time of its thread, and its location.
pub type Point = (Slot, Time, usize);

/// The shortest path in `hbSC` from a write to what the thread in slot `to` does at a local time: first the write, last
/// an earlier event of that thread. Empty if the journals don't reach back so far.
pub fn chain(from: Point, to: (Slot, Time)) -> Vec<Link> {
    let mut journals: Vec<_> = all().map(|(slot, journal)| (slot, journal.events())).collect();
    let Some((_, events)) = journals.iter_mut().find(|(slot, _)| *slot == to.0) else { return Vec::new() };
    // The access that is to be explained isn't part of the explanation. What takes no time (an acquire) may come
    // before it at the same time.
    let is_before = |event: &Event| {
        event.time < to.1
            || event.time == to.1 && meeting(event).is_none_or(|meeting| meeting.0 != Class::Memory)
    };
    let end = events.iter().rposition(|(_, event)| is_before(event)).map_or(0, |last| last + 1);
    events.truncate(end);
    find(&journals, from, to.0)
}

/// To the last thread in slot `to`.
fn find(journals: &[(Slot, Vec<(u32, Event)>)], (slot, time, addr): Point, to: Slot) -> Vec<Link> {
    let events = Events::new(journals);
    let starts = |event: &Event| event.time == time && event.addr == addr && gives(event.what);
    let start = events.threads.iter().enumerate().rev().filter(|(_, thread)| thread.slot == slot);
    let start =
        start.filter_map(|(index, thread)| Some((index, thread.events.iter().rposition(starts)?))).next();
    let target = events.threads.iter().rposition(|thread| thread.slot == to);
    let (Some(start), Some(target)) = (start, target) else { return Vec::new() };
    let path = events.search(start, target, true).or_else(|| events.search(start, target, false));
    path.map_or(Vec::new(), |path| events.links(&path))
}

/// What events of one thread at one location have in common: numbers never fall along the lists.
#[derive(Default)]
struct Visits {
    all: Vec<usize>,
    writes: Vec<usize>,
}

struct Thread {
    slot: Slot,
    number: u32,
    events: Vec<Event>,
}

/// Where an event is: the index of its thread, and its position there.
type Place = (usize, usize);
/// What must agree for two events to have to do with one another besides po.
type Meeting = (Class, usize, u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Memory,
    Object,
    ThreadStart,
    Death,
    Fences,
}

struct Events {
    threads: Vec<Thread>,
    meetings: BTreeMap<Meeting, BTreeMap<usize, Visits>>,
}

fn meeting(event: &Event) -> Option<Meeting> {
    let class = match event.what {
        EventKind::Load | EventKind::Store | EventKind::Rmw | EventKind::FailedCas | EventKind::Free => {
            Class::Memory
        }
        EventKind::Acquire | EventKind::Release => Class::Object,
        EventKind::Spawn | EventKind::Begin => Class::ThreadStart,
        EventKind::End | EventKind::Join => Class::Death,
        EventKind::Fence if event.write != 0 => return Some((Class::Fences, 0, 0)),
        EventKind::Fence | EventKind::Allocate | EventKind::Destroy => return None,
    };
    Some((class, event.addr, event.life))
}

fn gives(what: EventKind) -> bool {
    matches!(
        what,
        EventKind::Store
            | EventKind::Rmw
            | EventKind::Release
            | EventKind::Spawn
            | EventKind::End
            | EventKind::Fence
    )
}

/// How far `later` is from `earlier` in numbers that may have gone round.
fn distance(earlier: u32, later: u32) -> i32 {
    later.wrapping_sub(earlier) as i32
}

impl Events {
    fn new(journals: &[(Slot, Vec<(u32, Event)>)]) -> Events {
        let mut threads: Vec<Thread> = Vec::new();
        for (slot, events) in journals {
            for &(number, event) in events {
                match threads.last_mut() {
                    Some(last) if (last.slot, last.number) == (*slot, number) => last.events.push(event),
                    _ => threads.push(Thread { slot: *slot, number, events: vec![event] }),
                }
            }
        }
        let mut meetings: BTreeMap<Meeting, BTreeMap<usize, Visits>> = BTreeMap::new();
        for (index, thread) in threads.iter().enumerate() {
            for (position, event) in thread.events.iter().enumerate() {
                if let Some(meeting) = meeting(event) {
                    let visits = meetings.entry(meeting).or_default().entry(index).or_default();
                    visits.all.push(position);
                    if gives(event.what) {
                        visits.writes.push(position);
                    }
                }
            }
        }
        Events { threads, meetings }
    }

    fn event(&self, (thread, position): Place) -> &Event {
        &self.threads[thread].events[position]
    }

    /// The last write that continues the release sequence of write `number`: RMWs without a gap.
    fn sequence_end(&self, visits: &BTreeMap<usize, Visits>, number: u32) -> u32 {
        let mut end = number;
        loop {
            let next = visits.iter().find_map(|(&thread, visits)| {
                let events = &self.threads[thread].events;
                let at = visits.writes.partition_point(|&p| distance(end, events[p].write) <= 0);
                let event = &events[*visits.writes.get(at)?];
                (event.what == EventKind::Rmw && event.write == end.wrapping_add(1)).then_some(event.write)
            });
            match next {
                Some(next) => end = next,
                None => return end,
            }
        }
    }

    /// The earliest event of each other thread that `from` leads to, and how.
    fn successors(&self, from: Place, only_reads: bool) -> Vec<(Place, Edge)> {
        let event = self.event(from);
        let Some(meeting) = meeting(event) else { return Vec::new() };
        let visits = &self.meetings[&meeting];
        let others = visits.iter().filter(|&(&thread, _)| thread != from.0);
        let memory = meeting.0 == Class::Memory;
        if memory && !gives(event.what) {
            // fr: the first write with a larger number.
            return others
                .filter(|_| !only_reads)
                .filter_map(|(&thread, visits)| {
                    let events = &self.threads[thread].events;
                    let at = visits.writes.partition_point(|&p| distance(event.write, events[p].write) <= 0);
                    Some(((thread, *visits.writes.get(at)?), Edge::FromRead))
                })
                .collect();
        }
        if !gives(event.what) {
            return Vec::new();
        }
        let sequence_end = if memory { self.sequence_end(visits, event.write) } else { event.write };
        others
            .filter_map(|(&thread, visits)| {
                let events = &self.threads[thread].events;
                // A load may have this very number; a fence is after this one only if its number is larger.
                let least = i32::from(meeting.0 == Class::Fences);
                let at = visits.all.partition_point(|&p| distance(event.write, events[p].write) < least);
                // Releases don't come before one another; fences do.
                let takes = |&&p: &&usize| memory || meeting.0 == Class::Fences || !gives(events[p].what);
                let position = *visits.all[at..].iter().find(takes)?;
                let next = &events[position];
                let edge = match (memory, next.what) {
                    (false, _) => Edge::Synchronises,
                    (true, EventKind::Store) => Edge::Overwrites,
                    (true, _) if distance(next.write, sequence_end) >= 0 => Edge::ReadsFrom,
                    (true, EventKind::Rmw) => Edge::Overwrites,
                    (true, _) => Edge::ReadsLater,
                };
                let wanted = !only_reads || matches!(edge, Edge::ReadsFrom | Edge::Synchronises);
                wanted.then_some(((thread, position), edge))
            })
            .collect()
    }

    /// The path as places and the edges that lead to them.
    fn search(&self, start: Place, target: usize, only_reads: bool) -> Option<Vec<(Place, Edge)>> {
        /// The earliest event that is reached in a thread, in one layer: from where, and how.
        #[derive(Clone, Copy)]
        struct Entry {
            position: usize,
            from: Option<(Place, Edge)>,
        }
        let mut entries: Vec<Vec<Entry>> = self.threads.iter().map(|_| Vec::new()).collect();
        entries[start.0].push(Entry { position: start.1, from: None });
        let mut layer = vec![start];
        while entries[target].is_empty() && !layer.is_empty() {
            let mut next: BTreeMap<usize, Entry> = BTreeMap::new();
            for (thread, first) in layer {
                // What lies behind the entry of an earlier layer was looked at then.
                let known = entries[thread].iter().rev().nth(1).map(|entry| entry.position);
                let end = known.unwrap_or(self.threads[thread].events.len());
                for position in first..end {
                    for (place, edge) in self.successors((thread, position), only_reads) {
                        let reached = entries[place.0].last().map(|entry| entry.position);
                        let best = next.get(&place.0).map(|entry| entry.position).or(reached);
                        if best.is_none_or(|best| place.1 < best) {
                            let from = Some(((thread, position), edge));
                            next.insert(place.0, Entry { position: place.1, from });
                        }
                    }
                }
            }
            for (&thread, &entry) in &next {
                entries[thread].push(entry);
            }
            layer = next.into_iter().map(|(thread, entry)| (thread, entry.position)).collect();
        }
        let mut entry = *entries[target].first()?;
        let mut path = Vec::new();
        let mut thread = target;
        while let Some((place, edge)) = entry.from {
            path.push(((thread, entry.position), edge));
            thread = place.0;
            // The entry by which `place` was reached: the first that isn't behind it.
            entry = *entries[thread].iter().find(|entry| entry.position <= place.1)?;
            if entry.position != place.1 {
                path.push((place, Edge::Program));
            }
        }
        path.push(((thread, entry.position), Edge::Start));
        path.reverse();
        Some(path)
    }

    fn links(&self, path: &[(Place, Edge)]) -> Vec<Link> {
        let link = |(index, &(place, edge)): (usize, &(Place, Edge))| {
            let event = self.event(place);
            let events = &self.threads[place.0].events;
            // From the thread's link before to this one, and from this one to the next.
            let before = match path.get(index.wrapping_sub(1)) {
                Some(&((thread, position), _)) if thread == place.0 => &events[position + 1..place.1],
                _ => &[],
            };
            let after = match path.get(index + 1) {
                Some(&((thread, position), Edge::Program)) if thread == place.0 => {
                    &events[place.1 + 1..position]
                }
                Some(_) => &[][..],
                None => &events[place.1 + 1..],
            };
            let fence = |events: &[Event], fits: fn(Mode) -> bool| {
                events.iter().any(|event| event.what == EventKind::Fence && fits(event.mode))
            };
            Link {
                edge,
                thread: self.threads[place.0].number,
                what: event.what,
                mode: event.mode,
                addr: event.addr,
                size: event.size,
                site: event.site,
                released: event.mode.is_release() || fence(before, Mode::is_release),
                acquired: event.mode.is_acquire() || fence(after, Mode::is_acquire),
                fenced: fence(after, |mode| mode == Mode::SeqCst),
                flushed: after.iter().any(|event| match event.what {
                    EventKind::Rmw | EventKind::FailedCas => true,
                    EventKind::Store | EventKind::Fence => event.mode == Mode::SeqCst,
                    _ => false,
                }),
            }
        };
        path.iter().enumerate().map(link).collect()
    }
}

#[cfg(test)]
mod tests;
