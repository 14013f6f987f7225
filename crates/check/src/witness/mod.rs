//! Witnesses: from the run that a search found to the execution graph that a report shows.
//!
//! A search says "after these steps, the next access of this thread can be stale". Here the run is executed once more
//! and cut down to what matters (`run`), the older write that the access may read from (or land after) is found, and
//! the execution is written down for a report (`draw`).
//!
//! Nothing is shown that the plain definitions of `seqcst_model` do not confirm: an execution of a non-robust program
//! is consistent in the weak model and not under SC, racing accesses are not ordered by happens-before. If that fails,
//! a monitor and a definition disagree, which is a bug of ours, and the answer is [`Unconfirmed`].

mod draw;
mod run;

use crate::answer::Source;
use crate::states::{Found, Violation, replay};
use draw::Draw;
use run::Run;
use seqcst_model::{Action, Graph, Mode, Model, Outcome, Relation};
use seqcst_program::semantics::Machine;
use seqcst_report::{Edge, Problem, Relation as Name, Witness};
use std::fmt;

/// Why there is no witness for what a search found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unconfirmed {
    /// A monitor or a search and the plain definitions contradict each other: a bug of ours, never of the input.
    Disagreement(String),
    /// The run has more events than can be confirmed.
    TooLong(usize),
}

impl fmt::Display for Unconfirmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unconfirmed::Disagreement(what) => {
                write!(
                    f,
                    "internal disagreement: {what}; this is a bug in seqcst, please report it with this input"
                )
            }
            Unconfirmed::TooLong(events) => {
                write!(f, "a violation turned up, but its run of {events} events is too long to confirm it")
            }
        }
    }
}

impl std::error::Error for Unconfirmed {}

fn disagree<T>(what: impl Into<String>) -> Result<T, Unconfirmed> {
    Err(Unconfirmed::Disagreement(what.into()))
}

/// The execution behind what a search found, confirmed by the definition of the model. `machine` is the program,
/// lowered for this model, `source` the text it was written in.
pub fn witness(
    machine: &Machine,
    source: Source,
    model: Model,
    found: &Found,
) -> Result<Witness, Unconfirmed> {
    let replay = replay(machine, found).or_else(|odd| disagree(format!("the run found is no run: {odd}")))?;
    let run = Run::new(machine, replay);
    let draw = Draw { code: machine.code(), source, model };
    // The narrowest graph that has room for the run.
    match run.size(&found.violation) {
        ..=64 => explain::<1>(&run, &draw, found.violation),
        65..=1024 => explain::<16>(&run, &draw, found.violation),
        1025..=4096 => explain::<64>(&run, &draw, found.violation),
        4097..=16384 => explain::<256>(&run, &draw, found.violation),
        events => Err(Unconfirmed::TooLong(events)),
    }
}

fn explain<const W: usize>(run: &Run, draw: &Draw, violation: Violation) -> Result<Witness, Unconfirmed> {
    match violation {
        Violation::Stale { thread } => stale::<W>(run, draw, thread),
        Violation::Race { thread } => race::<W>(run, draw, thread),
        Violation::Clash { first, second } => clash::<W>(run, draw, first, second),
        Violation::Failed { thread } => failed::<W>(run, draw, thread),
        Violation::Stuck { thread } => stuck::<W>(run, draw, thread),
    }
}

/// \[Rocker19] Thm. 5.1: the older write that the thread's next access may still read from, or land right after.
fn stale<const W: usize>(run: &Run, draw: &Draw, thread: usize) -> Result<Witness, Unconfirmed> {
    let access = run.next(thread)?;
    let mut graph: Graph<W> = run.graph(&run.before(&[thread], None), &[access.loc])?;
    let Some(latest) = graph.last_write(access.loc) else { return disagree("no write to be stale about") };
    let Some((new, older)) = place(&mut graph, draw.model, thread, access, latest) else {
        return disagree(format!(
            "no older write that {} allows and SC forbids for `{}`",
            draw.model,
            draw.text(access.site)
        ));
    };
    let reads = graph.events[new].is_read();
    let found = graph.events[latest].outcome.value_written();
    let waits = found.is_some_and(|value| access.outcomes(value).next().is_none());
    let Some(path) = path(&graph, latest, new) else {
        return disagree("the latest write is not hbSC-before the access");
    };
    let mut cycle = path.clone();
    cycle.push(Edge { from: new, to: latest, relation: if reads { Name::Fr } else { Name::Mo } });
    let axiom = "po ∪ rf ∪ mo ∪ fr has a cycle".to_owned();
    Ok(draw.witness(&graph, Problem::Stale { access: new, latest, older, reads, waits, path, cycle, axiom }))
}

/// Adds the access where the model allows it and SC does not; gives its number and that of the older write. Values
/// that differ from what SC makes the access read are preferred, then younger writes.
fn place<const W: usize>(
    graph: &mut Graph<W>,
    model: Model,
    thread: usize,
    access: &Action,
    latest: usize,
) -> Option<(usize, usize)> {
    let written = |graph: &Graph<W>, write: usize| graph.events[write].outcome.value_written();
    let mut writes: Vec<usize> = graph.mo.before(latest).iter().collect();
    let newest = written(graph, latest);
    writes.sort_by_key(|&write| {
        let younger = std::cmp::Reverse(graph.mo.before(write).len());
        (written(graph, write) == newest, younger)
    });
    for older in writes {
        for outcome in access.outcomes(written(graph, older).unwrap_or(0)) {
            let Some(new) = graph.add(thread, access, outcome, Some(older)) else { continue };
            if model.allows(graph) && !Model::Sc.allows(graph) {
                return Some((new, older));
            }
            graph.pop();
        }
    }
    None
}

/// A shortest path in `hbSC` from a write of the run to the access after it.
fn path<const W: usize>(graph: &Graph<W>, from: usize, access: usize) -> Option<Vec<Edge>> {
    let fr = graph.fr();
    // The access itself takes part by program order alone: where it reads or lands is what SC objects to.
    let in_run = |r: &Relation<W>| {
        Relation::from_pairs(graph.len(), r.pairs().filter(|&(a, b)| a != access && b != access))
    };
    let others = in_run(&graph.rf) | in_run(&graph.mo) | in_run(&fr);
    let path = (&graph.po | &others).shortest_path(from, access)?;
    let name = |a: usize, b: usize| {
        let known = [(&graph.po, Name::Po), (&graph.rf, Name::Rf), (&graph.mo, Name::Mo)];
        known.iter().find(|(r, _)| r.contains(a, b)).map_or(Name::Fr, |(_, name)| *name)
    };
    Some(
        path.windows(2)
            .map(|hop| Edge { from: hop[0], to: hop[1], relation: name(hop[0], hop[1]) })
            .collect(),
    )
}

/// A race by happens-before: the last earlier access that conflicts with the thread's next one, unordered with it.
fn race<const W: usize>(run: &Run, draw: &Draw, thread: usize) -> Result<Witness, Unconfirmed> {
    let access = run.next(thread)?;
    for earlier in run.conflicts(thread, access) {
        let kept = run.before(&[thread], Some(earlier));
        let mut graph: Graph<W> = run.graph(&kept, &[access.loc])?;
        let Some(first) = run.number(&graph, earlier) else { continue };
        let second = add_last(&mut graph, thread, access)?;
        if races(&graph, draw.model, first, second) {
            return Ok(draw.witness(&graph, Problem::Race { first, second }));
        }
    }
    disagree(format!("nothing races with `{}`", draw.text(access.site)))
}

/// Two accesses that conflict and can come in either order.
fn clash<const W: usize>(
    run: &Run,
    draw: &Draw,
    first: usize,
    second: usize,
) -> Result<Witness, Unconfirmed> {
    let (one, other) = (run.next(first)?, run.next(second)?);
    let mut graph: Graph<W> = run.graph(&run.before(&[first, second], None), &[one.loc, other.loc])?;
    let one = add_last(&mut graph, first, one)?;
    let other = add_last(&mut graph, second, other)?;
    if !races(&graph, draw.model, one, other) {
        return disagree("two clashing accesses are ordered");
    }
    Ok(draw.witness(&graph, Problem::Race { first: one, second: other }))
}

/// Adds an access as SC executes it.
fn add_last<const W: usize>(
    graph: &mut Graph<W>,
    thread: usize,
    access: &Action,
) -> Result<usize, Unconfirmed> {
    let found = graph.last_write(access.loc).and_then(|write| graph.events[write].outcome.value_written());
    let outcome: Option<Outcome> = found.and_then(|value| access.outcomes(value).next());
    match outcome.and_then(|outcome| graph.add(thread, access, outcome, None)) {
        Some(number) => Ok(number),
        None => disagree("an access of a race cannot be executed"),
    }
}

/// The definition of a race: conflicting accesses, one of them non-atomic, in an SC execution, not ordered by `hb`.
fn races<const W: usize>(graph: &Graph<W>, model: Model, a: usize, b: usize) -> bool {
    let (first, second) = (&graph.events[a], &graph.events[b]);
    let hb = model.happens_before(graph);
    first.thread != second.thread
        && first.loc == second.loc
        && (first.is_write() || second.is_write())
        && (first.mode == Mode::NonAtomic || second.mode == Mode::NonAtomic)
        && !hb.contains(a, b)
        && !hb.contains(b, a)
        && Model::Sc.allows(graph)
}

/// An assertion that fails after the last event of its thread.
fn failed<const W: usize>(run: &Run, draw: &Draw, thread: usize) -> Result<Witness, Unconfirmed> {
    let Some(site) = run.failed(thread) else { return disagree("the run ends with no failed assertion") };
    let graph: Graph<W> = run.graph(&run.before(&[thread], None), &[])?;
    let (span, line, column) = draw.place(site);
    let text = draw.text(site).to_owned();
    Ok(draw.witness(&graph, Problem::Assertion { thread, text, span, line, column }))
}

/// The whole run: whoever holds what the thread waits for may be in no relation to it.
fn stuck<const W: usize>(run: &Run, draw: &Draw, thread: usize) -> Result<Witness, Unconfirmed> {
    let access = run.next(thread)?;
    let graph: Graph<W> = run.graph(&run.all(), &[access.loc])?;
    let found = graph.last_write(access.loc).and_then(|write| graph.events[write].outcome.value_written());
    if found.is_some_and(|value| access.outcomes(value).next().is_some()) {
        return disagree("a stuck thread can move");
    }
    let (span, line, column) = draw.place(access.site);
    let text = draw.text(access.site).to_owned();
    Ok(draw.witness(&graph, Problem::Deadlock { thread, text, span, line, column }))
}
