//! Part of an execution, as the renderers of witnesses want it.

use super::Subject;
use crate::code::Site;
use crate::prove::{EventIndex, Invocation, Partial};
use seqcst_model::Model;
use seqcst_report::{Edge, Event, Problem, Relation, Witness};
use std::ops::Range;

/// The partial execution: one thread per session, events in the order of SC.
pub fn witness(subject: &Subject, partial: &Partial) -> Witness {
    let source = String::from_utf8_lossy(&subject.text).into_owned();
    let class = subject.library.classes.get(partial.class.0 as usize).map(|class| class.name.clone());
    let calls = |calls: Vec<&Invocation>| calls.into_iter().map(call).collect::<Vec<_>>().join("; ");
    let threads: Vec<String> = partial.sessions().map(calls).collect();
    let mut order: Vec<(i64, usize, usize)> = Vec::new();
    for (number, invocation) in partial.invocations.iter().enumerate() {
        order.extend(invocation.events.iter().enumerate().map(|(at, event)| (event.position, number, at)));
    }
    order.sort_unstable();
    let index =
        |it: EventIndex| order.iter().position(|&(_, number, at)| (number, at) == (it.invocation, it.event));
    let events: Vec<Event> = order
        .iter()
        .enumerate()
        .map(|(step, &(_, number, at))| {
            let invocation = &partial.invocations[number];
            let event = &invocation.events[at];
            let is_here = event.site.file == 0;
            let this = EventIndex { invocation: number, event: at };
            Event {
                thread: Some(invocation.session),
                step: step + 1,
                effect: None,
                mode: None,
                location: class.clone().filter(|_| this == partial.newest || this == partial.access),
                text: event.text.clone(),
                span: if is_here { span(&source, event.site) } else { 0..0 },
                line: if is_here { event.site.line as usize } else { 0 },
                column: if is_here { event.site.column as usize } else { 0 },
                hidden: false,
            }
        })
        .collect();
    let mut edges: Vec<Edge> = Vec::new();
    for session in 0..threads.len() {
        let own: Vec<usize> =
            (0..events.len()).filter(|&event| events[event].thread == Some(session)).collect();
        edges.extend(own.windows(2).map(|pair| Edge { from: pair[0], to: pair[1], relation: Relation::Po }));
    }
    for (from, to) in &partial.reads_from {
        if let (Some(from), Some(to)) = (index(*from), index(*to)) {
            edges.push(Edge { from, to, relation: Relation::Rf });
        }
    }
    let first = index(partial.newest).unwrap_or(0);
    let second = index(partial.access).unwrap_or(events.len().saturating_sub(1));
    let problem = match partial.is_race {
        true => Problem::Race { first, second },
        false => Problem::Unproved { newest: first, access: second, why: partial.explanation.clone() },
    };
    Witness {
        file: subject.name.clone(),
        source,
        model: Model::Rc20,
        threads,
        is_partial: true,
        events,
        edges,
        problem,
    }
}

/// A call as it is written.
fn call(invocation: &Invocation) -> String {
    let arguments: Vec<String> = invocation.arguments.iter().map(i64::to_string).collect();
    format!("{}({})", invocation.method, arguments.join(", "))
}

/// The rest of the statement that begins at a place, or of its line.
fn span(source: &str, site: Site) -> Range<usize> {
    let mut start = 0;
    for _ in 1..site.line {
        match source[start..].find('\n') {
            Some(end) => start += end + 1,
            None => return 0..0,
        }
    }
    let line = source[start..].split('\n').next().unwrap_or_default();
    let column = (site.column as usize).saturating_sub(1);
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let length = line[at..].find(';').unwrap_or(line.len() - at);
    start + at..start + at + length
}
