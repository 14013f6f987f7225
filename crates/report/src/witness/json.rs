//! A witness as JSON: events by their numbers, threads by their names, and the problem in a sentence.

use crate::format::one_line;
use crate::view::View;
use crate::{Edge, Problem, Witness, words};
use serde::{Serialize, Serializer};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct JsonWitness<'a> {
    initial: Vec<Initial<'a>>,
    steps: Vec<Step<'a>>,
    edges: Vec<Edge>,
    problem: JsonProblem<'a>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Initial<'a> {
    id: usize,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Step<'a> {
    id: usize,
    step: usize,
    thread: String,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    text: &'a str,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

impl Serialize for Witness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        witness(&View::new(self)).serialize(serializer)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Witness {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Witness".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        JsonWitness::json_schema(generator)
    }
}

fn witness<'a>(view: &View<'a>) -> JsonWitness<'a> {
    let events = &view.witness.events;
    let (mut initial, mut steps) = (Vec::new(), Vec::new());
    for (id, event) in events.iter().enumerate() {
        // What the lowering of a fence accesses is no location of the user's.
        let (label, location) = (event.label(), event.location.as_deref().filter(|_| !event.hidden));
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
