//! From a witness back to an execution graph: only labels, threads and edges are looked at.

use seqcst_model::{Event, Graph, Loc, Mode, Model, Outcome, Relation};
use seqcst_program::line_column;
use seqcst_report::{Edge, Effect, Event as Shown, Problem, Relation as Name, Witness};

/// Whether the witness is what it claims to be.
pub fn confirm(witness: &Witness, source: &str, model: Model) -> Result<(), String> {
    let graph = rebuild(witness)?;
    well_formed(witness, &graph)?;
    in_source(witness, source)?;
    match &witness.problem {
        Problem::Stale { access, latest, older, reads, path, cycle, .. } => {
            ensure(*access + 1 == graph.len(), "the stale access is last")?;
            model.check(&graph).map_err(|v| format!("the model forbids it: {v}"))?;
            ensure(!Model::Sc.allows(&graph), "SC forbids it")?;
            let event = &graph.events[*access];
            ensure(event.is_read() == *reads, "`reads` is right")?;
            ensure(graph.mo.contains(*older, *latest), "the older write is older")?;
            if *reads {
                ensure(graph.rf.contains(*older, *access), "the access reads from the older write")?;
            }
            if event.is_write() {
                ensure(graph.mo.contains(*older, *access), "the access lands after the older write")?;
                ensure(graph.mo.contains(*access, *latest), "the access lands before the latest write")?;
            }
            connected(path, *latest, *access)?;
            connected(cycle, *latest, *latest)?;
            path.iter().chain(cycle).try_for_each(|edge| holds(&graph, edge))?;
            // Without the access it is a run under SC, and `latest` is the last write.
            let mut run = graph.clone();
            run.pop();
            ensure(Model::Sc.allows(&run), "the run is one under SC")?;
            ensure(event.loc.and_then(|x| run.last_write(x)) == Some(*latest), "the latest write is the last")
        }
        Problem::Race { first, second } => {
            let (a, b) = (&graph.events[*first], &graph.events[*second]);
            let hb = model.happens_before(&graph);
            ensure(Model::Sc.allows(&graph), "the run is one under SC")?;
            ensure(a.loc == b.loc && (a.is_write() || b.is_write()), "the accesses conflict")?;
            ensure(a.mode == Mode::NonAtomic || b.mode == Mode::NonAtomic, "one of them is not atomic")?;
            ensure(!hb.contains(*first, *second) && !hb.contains(*second, *first), "nothing orders them")
        }
        Problem::Unproved { .. } => Err("a search has whole executions, not parts".to_owned()),
        Problem::Assertion { line, .. } | Problem::Deadlock { line, .. } => {
            ensure(*line > 0, "it stands somewhere")?;
            ensure(Model::Sc.allows(&graph), "the run is one under SC")
        }
    }
}

fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("it is not so that {what}")) }
}

fn rebuild(witness: &Witness) -> Result<Graph, String> {
    let n = witness.events.len();
    let mut locations: Vec<String> = Vec::new();
    let mut events = Vec::new();
    for (number, shown) in witness.events.iter().enumerate() {
        let index = witness.events[..number].iter().filter(|e| e.thread == shown.thread).count();
        events.push(event(shown, index, &mut locations).ok_or_else(|| format!("label `{}`", shown.label()))?);
    }
    let pairs = |name: Name| {
        let edges = witness.edges.iter().filter(move |edge| edge.relation == name);
        Relation::from_pairs(n, edges.map(|edge| (edge.from, edge.to)))
    };
    let graph = Graph::from_parts(events, pairs(Name::Rf), pairs(Name::Mo));
    ensure(graph.len() == n, "the graph is small enough for this test")?;
    Ok(graph)
}

/// As an event of a graph; what has no order is relaxed.
fn event(shown: &Shown, index: usize, locations: &mut Vec<String>) -> Option<Event> {
    let mode = shown.mode.unwrap_or(Mode::Relaxed);
    // Which values they are does not matter, only which are equal.
    let outcome = match shown.effect? {
        Effect::Read(value) => Outcome::Read(value as u32),
        Effect::Wrote(value) => Outcome::Wrote(value as u32),
        Effect::Updated(old, new) => Outcome::Updated(old as u32, new as u32),
        Effect::Fenced => Outcome::Fenced,
    };
    let loc = shown.location.clone().map(|name| {
        let known = locations.iter().position(|known| *known == name);
        Loc(known.unwrap_or_else(|| {
            locations.push(name);
            locations.len() - 1
        }) as u8)
    });
    (loc.is_some() != (outcome == Outcome::Fenced)).then_some(Event {
        thread: shown.thread,
        index,
        loc,
        mode,
        outcome,
        site: 0,
    })
}

/// \[Rocker19] Def. 4.3: every read reads from one write of its value, modification order is total for each location.
fn well_formed(witness: &Witness, graph: &Graph) -> Result<(), String> {
    for (number, event) in graph.events.iter().enumerate() {
        let sources = graph.rf.before(number);
        ensure(sources.len() == usize::from(event.is_read()), "every read reads from one write")?;
        for write in sources.iter() {
            let source = &graph.events[write];
            let same =
                source.loc == event.loc && source.outcome.value_written() == event.outcome.value_read();
            ensure(same, "a read reads what was written")?;
        }
        if event.is_write() {
            let others = graph.writes() & graph.accesses(event.loc.unwrap_or(Loc(0)));
            let related = graph.mo.before(number).len() + graph.mo.after(number).len();
            ensure(related + 1 == others.len(), "modification order is total")?;
        }
    }
    let initial = graph.events.iter().take_while(|e| e.thread.is_none()).count();
    ensure(graph.events[initial..].iter().all(|e| e.thread.is_some()), "initial writes come first")?;
    let steps = witness.events[initial..].iter().map(|e| e.step);
    ensure(steps.eq(1..graph.len() - initial + 1), "steps are numbered in order")?;
    witness.edges.iter().try_for_each(|edge| holds(graph, edge))
}

fn holds(graph: &Graph, edge: &Edge) -> Result<(), String> {
    let relation = match edge.relation {
        Name::Po => &graph.po,
        Name::Rf => &graph.rf,
        Name::Mo => &graph.mo,
        Name::Fr => &graph.fr(),
    };
    ensure(relation.contains(edge.from, edge.to), &format!("{edge:?} holds"))
}

fn connected(path: &[Edge], from: usize, to: usize) -> Result<(), String> {
    let ends = path.first().map(|e| e.from) == Some(from) && path.last().map(|e| e.to) == Some(to);
    ensure(ends && path.windows(2).all(|two| two[0].to == two[1].from), "the path is connected")
}

fn in_source(witness: &Witness, source: &str) -> Result<(), String> {
    for event in witness.events.iter().filter(|e| e.thread.is_some()) {
        let (line, column) = line_column(source.as_bytes(), event.span.start);
        ensure((line, column) == (event.line, event.column), "line and column are those of the span")?;
        ensure(source.get(event.span.clone()).is_some_and(|text| !text.is_empty()), "the span is text")?;
        ensure(!event.text.is_empty(), "every step has a statement")?;
    }
    Ok(())
}
