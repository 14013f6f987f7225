//! One client, checked exhaustively under RC20.

use super::complete::{Completed, blocks, complete};
use super::{Client, Plain, Unsupported, compile};
use crate::code::Library;
use seqcst_explore::robustness::{Plan, decide};
use seqcst_explore::states::{Answer, Found, Limits as Searched, Options, Violation};
use seqcst_explore::witness::witness;
use seqcst_model::Model;
use seqcst_program::semantics::Machine;
use seqcst_program::{Target, lower, parse, print};
use seqcst_report::{Finding, Verdict};
use std::time::{Duration, Instant};

/// When to give up on a client.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// States visited.
    pub states: u64,
    /// Time.
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

/// What came of a client.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its program as text; places in the finding refer to it.
    pub program: String,
    /// The answer.
    pub finding: Finding,
    /// Where the answer is "not robust": is there a complete execution that SC does not have? If not, the finding is about
    /// part of an execution that blocks for ever. `None`: that was not decided.
    pub is_complete: Option<bool>,
}

/// Checks a client of a library (after ρ).
pub fn check(
    library: &Library,
    client: &Client,
    plain: Plain,
    limits: &Limits,
) -> Result<Checked, Unsupported> {
    let start = Instant::now();
    // Printed and read again, so that places in the finding are places in the text.
    let text = print(&compile::program(library, client, plain)?);
    let parsed =
        parse(text.as_bytes(), "client.tpl").map_err(|error| Unsupported(error.message().to_owned()))?;
    let machine = Machine::new(lower(&parsed.program, Target::Rc20));
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
    let mut answer = decide(&machine, Target::Rc20, &plan, &|_| {});
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
    let (verdict, witness) = match &answer.found {
        None => (verdict(&answer), None),
        Some(found) => match witness(&machine, &text, Model::Rc20, found) {
            Ok(witness) => {
                let verdict = match found.violation {
                    Violation::Stale { .. } => Verdict::NotRobust,
                    Violation::Race { .. } | Violation::Clash { .. } => Verdict::Race,
                    Violation::Failed { .. } => Verdict::Assertion,
                    Violation::Stuck { .. } => Verdict::Deadlock,
                };
                (verdict, Some(witness))
            }
            Err(unconfirmed) => (Verdict::GaveUp(unconfirmed.to_string()), None),
        },
    };
    let finding = Finding {
        file: "client.tpl".to_owned(),
        source: text.clone(),
        model: Target::Rc20.name().to_owned(),
        verdict,
        states: answer.progress.states,
        transitions: answer.transitions,
        seconds: start.elapsed().as_secs_f64(),
        threads: machine.code().threads.iter().map(|thread| thread.name.clone()).collect(),
        witness,
    };
    Ok(Checked { program: text, finding, is_complete })
}

fn verdict(answer: &Answer) -> Verdict {
    match answer.limit {
        None => Verdict::Robust,
        Some(limit) => {
            let limit = format!("{limit:?}").to_lowercase();
            Verdict::GaveUp(format!("limit of {limit} reached after {} states", answer.progress.states))
        }
    }
}
