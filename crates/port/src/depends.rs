//! Dependencies between events, release writes and locations: what the rules ask about beyond the path.
//!
//! For the source machine, everything that may be a dependency counts: `dob` with its detours
//! through `rfi` and `addr ; po`, closed under composition, and what a compare-and-swap adds that is a loop of exclusive
//! accesses: it branches on what it has read and what it looks for. For the target machine, only what is certain, and only if
//! dependencies are to be trusted: a compiler may lose them (\[Fency21] §IV.B).

use crate::bits::Bits;
use crate::graph;
use crate::limit::{Deadline, OutOfTime};
use crate::lowered::{Event, Lowered, Thread};
use crate::machine::Machine;
use crate::pairs::LARGE;
use crate::program::{Aliases, DependencyKind, Kind, NodeKind, Program};

/// The facts for both machines.
#[derive(Clone, Debug, Default)]
pub struct Depends {
    /// What may be, on the source machine.
    pub from: Facts,
    /// What is certain, on the target machine.
    pub to: Facts,
    /// For every event the bit of its location in its thread, if that is always the same memory.
    pub places: Vec<u32>,
}

/// Facts about events, one entry per event.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The reads it depends on.
    pub on: Vec<Bits>,
    /// Its bit among its thread's writes, in case it is a release write.
    pub release: Vec<u32>,
    /// The writes to the same location (that may be, or surely are).
    pub covered: Vec<u32>,
}

impl Depends {
    /// Gathers the facts that the machines ask for.
    pub fn new(
        program: &Program,
        lowered: &Lowered,
        aliases: &dyn Aliases,
        trusted: bool,
        deadline: Deadline,
    ) -> Result<Depends, OutOfTime> {
        let mut depends = Depends::default();
        let small = lowered.events.len() <= LARGE;
        if small {
            depends.places = places(lowered, aliases);
        }
        if lowered.from == Machine::ArmV8 {
            depends.from = releases(lowered, |a, b| aliases.may(a, b), if small { 31 } else { 0 }, true);
            depends.from.on = possible(program, lowered, aliases, deadline)?;
        }
        if lowered.to == Machine::ArmV8 {
            depends.to = releases(lowered, |a, b| aliases.must(a, b), if small { 31 } else { 0 }, false);
            if trusted {
                depends.to.on = certain(program, lowered);
            }
        }
        Ok(depends)
    }
}

/// Numbers the locations of each thread that are always the same memory; those beyond the 32nd have no bit.
fn places(lowered: &Lowered, aliases: &dyn Aliases) -> Vec<u32> {
    let mut known: Vec<Vec<usize>> = vec![Vec::new(); lowered.threads.len()];
    let bit = |event: &Event| {
        if !aliases.must(event.location, event.location) {
            return 0;
        }
        let known = &mut known[event.thread];
        let found = known.iter().position(|&location| aliases.must(location, event.location));
        let number = found.unwrap_or_else(|| {
            known.push(event.location);
            known.len() - 1
        });
        if number < 32 { 1 << number } else { 0 }
    };
    lowered.events.iter().map(bit).collect()
}

/// Numbers the writes of each thread, release or not; those beyond the first `most` share a bit (`crowd`) or have none.
fn releases(lowered: &Lowered, alias: impl Fn(usize, usize) -> bool, most: u32, crowd: bool) -> Facts {
    const LAST: u32 = 1 << 31;
    let mut facts = Facts::default();
    let mut counts = vec![0; lowered.threads.len()];
    for event in &lowered.events {
        let mut bit = 0;
        if event.is_write() {
            bit = match counts[event.thread] {
                few if few < most => 1 << few,
                _ if crowd => LAST,
                _ => 0,
            };
            counts[event.thread] += 1;
        }
        facts.release.push(bit);
    }
    for event in &lowered.events {
        let mut covered = 0;
        if event.is_write() {
            for (other, &bit) in lowered.events.iter().zip(&facts.release) {
                let near = other.thread == event.thread && bit != 0;
                if near && (bit == LAST || alias(other.location, event.location)) {
                    covered |= bit;
                }
            }
        }
        facts.covered.push(covered);
    }
    facts
}

/// Pairs of a read and an event of the same thread that depends on it, as the program says.
fn direct<'a>(
    program: &'a Program,
    lowered: &'a Lowered,
) -> impl Iterator<Item = (usize, usize, DependencyKind, bool)> + 'a {
    lowered.events.iter().enumerate().flat_map(move |(number, event)| {
        let node = program.functions.get(event.thread).and_then(|f| f.nodes.get(event.source));
        let depends = match node.map(|node| &node.kind) {
            Some(NodeKind::Access(access)) => &access.depends[..],
            _ => &[],
        };
        depends.iter().flat_map(move |dependency| {
            let reads = lowered.events.iter().enumerate().filter(move |(_, read)| {
                read.thread == event.thread && read.source == dependency.on && !read.is_write()
            });
            reads.map(move |(read, _)| (read, number, dependency.kind, dependency.certain))
        })
    })
}

/// Address dependencies order all, data and control dependencies only writes.
fn orders(kind: DependencyKind, write: bool) -> bool {
    kind == DependencyKind::Address || write
}

fn certain(program: &Program, lowered: &Lowered) -> Vec<Bits> {
    let many = lowered.events.len();
    let mut on = vec![Bits::new(many); many];
    for (read, event, kind, certain) in direct(program, lowered) {
        if certain && orders(kind, lowered.events[event].is_write()) {
            on[event].insert(read);
        }
    }
    on
}

fn possible(
    program: &Program,
    lowered: &Lowered,
    aliases: &dyn Aliases,
    deadline: Deadline,
) -> Result<Vec<Bits>, OutOfTime> {
    let events = &lowered.events;
    let mut on = vec![Bits::new(events.len()); events.len()];
    let reach: Vec<Vec<Bits>> = lowered.threads.iter().map(reachable).collect();
    let after = |a: usize, b: usize| {
        let (first, second) = (&events[a], &events[b]);
        first.thread == second.thread && reach[first.thread][first.node].contains(second.node)
    };
    // `(ctrl ∪ addr) ; po ; [W]`: what comes behind a branch, or behind an access whose address depends on a read.
    let writes_behind = |event: usize| {
        events
            .iter()
            .enumerate()
            .filter(move |(later, other)| other.is_write() && after(event, *later))
            .map(|(later, _)| later)
    };
    let branches = |event: usize| {
        let node =
            program.functions.get(events[event].thread).and_then(|f| f.nodes.get(events[event].source));
        matches!(node.map(|node| &node.kind), Some(NodeKind::Access(access)) if access.kind == Kind::Cas)
    };
    let doing = "working out dependencies";
    for (read, event, kind, _) in direct(program, lowered) {
        deadline.check(doing)?;
        if orders(kind, events[event].is_write()) {
            on[event].insert(read);
        }
        if kind == DependencyKind::Address || (kind == DependencyKind::Data && branches(event)) {
            writes_behind(event).for_each(|later| {
                on[later].insert(read);
            });
        }
    }
    for event in (0..events.len()).filter(|&event| branches(event) && !events[event].is_write()) {
        deadline.check(doing)?;
        writes_behind(event).for_each(|later| {
            on[later].insert(event);
        });
    }
    loop {
        let mut new = false;
        for event in 0..events.len() {
            deadline.check(doing)?;
            let writes = events.iter().enumerate().filter(|(write, other)| {
                let by_rfi = !events[event].is_write() && other.is_write();
                by_rfi && after(*write, event) && aliases.may(other.location, events[event].location)
            });
            let through: Vec<usize> = writes.map(|(write, _)| write).chain(on[event].iter()).collect();
            for through in through {
                let more = on[through].clone();
                new |= on[event].add_all(&more);
            }
        }
        if !new {
            return Ok(on);
        }
    }
}

/// For every node, the nodes that can be reached from it in one step or more.
pub fn reachable(thread: &Thread) -> Vec<Bits> {
    let next = |node: usize| thread.nodes[node].next.iter().copied();
    (0..thread.nodes.len()).map(|start| graph::reachable(thread.nodes.len(), next(start), next)).collect()
}
