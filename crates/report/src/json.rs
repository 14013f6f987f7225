//! Findings as JSON, one object in one line. The schema is `docs/json.md`; a test holds the two together.

use crate::format::one_line;
use crate::view::View;
use crate::words;
use crate::{Edge, Finding, Problem, Verdict};
use serde::Serialize;

#[derive(Serialize)]
struct Top<'a> {
    file: &'a str,
    model: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'a str>,
    states: u64,
    transitions: u64,
    seconds: f64,
    threads: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<JsonWitness<'a>>,
}

#[derive(Serialize)]
struct JsonWitness<'a> {
    initial: Vec<Initial<'a>>,
    steps: Vec<Step<'a>>,
    edges: Vec<Edge>,
    problem: JsonProblem<'a>,
}

#[derive(Serialize)]
struct Initial<'a> {
    id: usize,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
}

#[derive(Serialize)]
struct Step<'a> {
    id: usize,
    step: usize,
    thread: String,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    text: &'a str,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum JsonProblem<'a> {
    Stale {
        access: usize,
        latest: usize,
        older: usize,
        reads: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        waits: bool,
        path: Vec<Edge>,
        cycle: Vec<Edge>,
        axiom: &'a str,
        message: String,
    },
    Race {
        first: usize,
        second: usize,
        message: String,
    },
    Unproved {
        newest: usize,
        access: usize,
        message: String,
    },
    Assertion {
        thread: String,
        text: &'a str,
        line: usize,
        column: usize,
        message: String,
    },
    Deadlock {
        thread: String,
        text: &'a str,
        line: usize,
        column: usize,
        message: String,
    },
}

/// The finding as one line of JSON, without a newline. See `docs/json.md`.
pub fn to_json(finding: &Finding) -> String {
    serde_json::to_string(&top(finding)).unwrap_or_else(|_| "{}".to_owned())
}

/// The finding as a JSON value, for callers that add fields of their own.
pub fn to_json_value(finding: &Finding) -> serde_json::Value {
    serde_json::to_value(top(finding)).unwrap_or_default()
}

fn top(finding: &Finding) -> Top<'_> {
    let (verdict, limit) = match &finding.verdict {
        Verdict::Robust => ("robust", None),
        Verdict::NotRobust => ("not-robust", None),
        Verdict::Race => ("race", None),
        Verdict::Assertion => ("assertion", None),
        Verdict::Deadlock => ("deadlock", None),
        Verdict::MayBeNonRobust => ("may-be-non-robust", None),
        Verdict::GaveUp(limit) => ("gave-up", Some(limit.as_str())),
    };
    let seconds = if finding.seconds.is_finite() { (finding.seconds * 1e6).round() / 1e6 } else { 0.0 };
    Top {
        file: &finding.file,
        model: &finding.model,
        verdict,
        limit,
        states: finding.states,
        transitions: finding.transitions,
        seconds,
        threads: finding.threads.len(),
        witness: View::new(finding).map(|view| witness(&view)),
    }
}

fn witness<'a>(view: &View<'a>) -> JsonWitness<'a> {
    let events = &view.witness.events;
    let (mut initial, mut steps) = (Vec::new(), Vec::new());
    for (id, event) in events.iter().enumerate() {
        let (label, location) = (event.label.as_str(), event.location.as_deref());
        match event.thread {
            None => initial.push(Initial { id, label, location }),
            Some(thread) => steps.push(Step {
                id,
                step: view.rows[view.row_of[id]].step,
                thread: view.thread_name(thread),
                label,
                location,
                text: &event.text,
                line: event.line,
                column: event.column,
                hidden: event.hidden,
            }),
        }
    }
    let valid = |edges: &[Edge]| -> Vec<Edge> {
        edges.iter().copied().filter(|e| e.from < events.len() && e.to < events.len()).collect()
    };
    let message = one_line(&words::account(view).sentence);
    let problem = match &view.witness.problem {
        Problem::Stale { access, latest, older, reads, waits, path, cycle, axiom } => JsonProblem::Stale {
            access: *access,
            latest: *latest,
            older: *older,
            reads: *reads,
            waits: *waits,
            path: valid(path),
            cycle: valid(cycle),
            axiom,
            message,
        },
        Problem::Race { first, second } => JsonProblem::Race { first: *first, second: *second, message },
        Problem::Unproved { newest, access, .. } => {
            JsonProblem::Unproved { newest: *newest, access: *access, message }
        }
        Problem::Assertion { thread, text, line, column, .. } => JsonProblem::Assertion {
            thread: view.thread_name(*thread),
            text,
            line: *line,
            column: *column,
            message,
        },
        Problem::Deadlock { thread, text, line, column, .. } => JsonProblem::Deadlock {
            thread: view.thread_name(*thread),
            text,
            line: *line,
            column: *column,
            message,
        },
    };
    JsonWitness { initial, steps, edges: valid(&view.witness.edges), problem }
}

#[cfg(test)]
mod tests;
