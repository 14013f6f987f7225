//! Part of an execution, as the renderers of witnesses want it.

use super::answer::Loaded;
use seqcst_library::code::Site;
use seqcst_library::prove::{Invocation, Partial};
use seqcst_report::{Edge, Event, Finding, Problem, Relation, Verdict, Witness};
use std::ops::Range;

/// A finding whose witness is the partial execution: one thread per session, events in the order of SC.
pub fn finding(loaded: &Loaded, partial: &Partial, seconds: f64) -> Finding {
    let source = String::from_utf8_lossy(&loaded.text).into_owned();
    let class = loaded.library.classes.get(partial.class.0 as usize).map(|class| class.name.clone());
    let sessions = partial.invocations.iter().map(|it| it.session + 1).max().unwrap_or(0);
    let threads = (0..sessions).map(|session| thread(partial, session)).collect();
    let mut order: Vec<(i64, usize, usize)> = Vec::new();
    for (number, invocation) in partial.invocations.iter().enumerate() {
        order.extend(invocation.events.iter().enumerate().map(|(at, event)| (event.position, number, at)));
    }
    order.sort_unstable();
    let index = |invocation: usize, event: usize| {
        order.iter().position(|&(_, number, at)| (number, at) == (invocation, event))
    };
    let events: Vec<Event> = order
        .iter()
        .enumerate()
        .map(|(step, &(_, number, at))| {
            let invocation = &partial.invocations[number];
            let event = &invocation.events[at];
            let is_here = event.site.file == 0;
            Event {
                thread: Some(invocation.session),
                step: step + 1,
                label: String::new(),
                location: class.clone().filter(|_| event.role.is_some()),
                text: event.text.clone(),
                span: if is_here { span(&source, event.site) } else { 0..0 },
                line: if is_here { event.site.line as usize } else { 0 },
                column: if is_here { event.site.column as usize } else { 0 },
                hidden: false,
            }
        })
        .collect();
    let mut edges: Vec<Edge> = Vec::new();
    for session in 0..sessions {
        let own: Vec<usize> =
            (0..events.len()).filter(|&event| events[event].thread == Some(session)).collect();
        edges.extend(own.windows(2).map(|pair| Edge { from: pair[0], to: pair[1], relation: Relation::Po }));
    }
    for (from, from_event, to, to_event, name) in &partial.edges {
        let relation = match name.as_str() {
            "rf" => Relation::Rf,
            "mo" => Relation::Mo,
            "fr" => Relation::Fr,
            _ => continue,
        };
        if let (Some(from), Some(to)) = (index(*from, *from_event), index(*to, *to_event)) {
            edges.push(Edge { from, to, relation });
        }
    }
    // The write, and the access that comes after it.
    let special: Vec<usize> = (0..order.len())
        .filter(|&event| {
            let (_, number, at) = order[event];
            partial.invocations[number].events[at].role.is_some()
        })
        .collect();
    let first = special.first().copied().unwrap_or(0);
    let second = special.last().copied().unwrap_or(events.len().saturating_sub(1));
    let problem = match partial.is_race {
        true => Problem::Race { first, second },
        false => Problem::Unproved { newest: first, access: second, why: partial.explanation.clone() },
    };
    Finding {
        file: loaded.name.clone(),
        source,
        model: "rc20".to_owned(),
        verdict: Verdict::MayBeNonRobust,
        states: 0,
        transitions: 0,
        seconds,
        threads,
        witness: Some(Witness { events, edges, problem }),
    }
}

/// The calls of a session, in order.
fn thread(partial: &Partial, session: usize) -> String {
    let mut calls: Vec<&Invocation> = partial.invocations.iter().filter(|it| it.session == session).collect();
    calls.sort_by_key(|it| begins(it));
    let calls: Vec<String> = calls.into_iter().map(call).collect();
    calls.join("; ")
}

/// When a call does its first access.
pub fn begins(invocation: &Invocation) -> Option<i64> {
    invocation.events.iter().map(|event| event.position).min()
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
