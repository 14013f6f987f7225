//! One client, checked exhaustively under RC20.

use super::complete::{Completed, blocks, complete};
use super::ends::shows_something;
use super::{Client, Plain, Unsupported, compile};
use crate::code::Library;
use seqcst_check::answer::{Source, conclude};
use seqcst_check::robustness::{Plan, decide};
use seqcst_check::states::{Found, Limits as Searched, Options, Violation};
use seqcst_model::Model;
use seqcst_program::semantics::Machine;
use seqcst_program::{lower, parse, print};
use seqcst_report::{Answer, Verdict};
use std::time::{Duration, Instant};

/// When to give up on a client.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Visited states.
    pub states: u64,
    /// Wall-clock time.
    pub time: Duration,
    /// Bytes for visited states.
    pub memory: u64,
    /// Worker threads.
    pub workers: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { states: 20_000_000, time: Duration::from_secs(60), memory: 2 << 30, workers: 1 }
    }
}

/// The result of checking one client.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its program as text; places in the answer refer to it.
    pub program: String,
    /// Verdict and witness.
    pub answer: Answer,
    /// States visited.
    pub states: u64,
    /// Where the answer is "not robust": is there a complete execution that SC does not have? If not, the answer is about
    /// part of an execution that blocks for ever. `None`: that was not decided.
    pub is_complete: Option<bool>,
    /// Where it is robust: can it come to an end, with two threads at work? If not, it shows nothing.
    pub shows_something: bool,
    /// Where it is robust: what was left out.
    pub limit: Option<String>,
}

/// How programs of clients are called in answers, unless they are kept in a file.
pub const PROGRAM: &str = "client.tpl";

/// Checks a client of a library (after ρ).
pub fn check(
    library: &Library,
    client: &Client,
    plain: Plain,
    limits: &Limits,
) -> Result<Checked, Unsupported> {
    let start = Instant::now();
    // Printed and read again, so that places in the answer are places in the text.
    let compiled = compile::program(library, client, plain)?;
    let text = print(&compiled.program);
    let parsed = parse(text.as_bytes(), PROGRAM).map_err(|error| Unsupported(error.message().to_owned()))?;
    let code = lower(&parsed.program, Model::Rc20).map_err(|error| Unsupported(error.to_string()))?;
    let machine = Machine::new(code);
    let search = Options {
        limits: Searched {
            states: Some(limits.states),
            time: Some(limits.time),
            memory: Some(limits.memory),
        },
        workers: limits.workers,
        symmetry: true,
        independence: true,
        clash: false,
    };
    let plan = Plan { search, abstraction: true, deadlock: false };
    let mut answer = decide(&machine, &plan, &|_| {});
    let states = answer.progress.states;
    let mut is_complete = Some(true);
    if let Some(run @ Found { violation: Violation::Stale { .. }, .. }) = &answer.found
        && blocks(&machine)
    {
        is_complete = match complete(&machine, run, limits.time.saturating_sub(start.elapsed())) {
            Completed::Yes(found) => {
                answer.found = Some(*found);
                Some(true)
            }
            Completed::No => Some(false),
            Completed::Unknown => None,
        };
    }
    let source = Source { file: PROGRAM, text: &text };
    let answer = conclude(&machine, source, &answer, &plan.search.limits, start);
    let shows_something = answer.verdict != Verdict::Robust || shows_something(&machine);
    Ok(Checked { program: text, answer, states, is_complete, shows_something, limit: compiled.limit })
}
