//! A program to an answer: lowering, monitor, search, witness.

use crate::flags::CheckFlags;
use crate::input::Input;
use crate::progress::{count, size};
use seqcst_explore::robustness::{Plan, decide};
use seqcst_explore::states::{Answer, Limit, Limits, Options, Progress, Violation};
use seqcst_explore::witness;
use seqcst_model::Model;
use seqcst_program::semantics::Machine;
use seqcst_program::{Target, lower};
use seqcst_report::{Finding, Verdict};
use std::time::Instant;

/// How to check a program.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The memory model.
    pub target: Target,
    /// When to give up.
    pub limits: Limits,
    /// Worker threads.
    pub workers: usize,
    /// Look for deadlocks, too.
    pub deadlock: bool,
    /// Use that threads are interchangeable.
    pub symmetry: bool,
    /// Use that steps are independent.
    pub por: bool,
    /// Forget data where that helps.
    pub abstraction: bool,
}

impl From<&CheckFlags> for CheckOptions {
    fn from(flags: &CheckFlags) -> CheckOptions {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        CheckOptions {
            target: flags.model.target(),
            limits: Limits { states: flags.max_states, time: flags.timeout, memory: Some(flags.max_memory) },
            workers: flags.threads.map_or_else(cores, usize::from),
            deadlock: flags.deadlock,
            symmetry: !flags.no_symmetry,
            por: !flags.no_por,
            abstraction: !flags.no_abstraction,
        }
    }
}

/// Checks a program.
pub fn check_file(input: &Input, options: &CheckOptions, report: &(dyn Fn(Progress) + Sync)) -> Finding {
    let start = Instant::now();
    let machine = Machine::new(lower(&input.parsed.program, options.target));
    let answer = search(&machine, options, report);
    let (verdict, witness) = match &answer.found {
        None => (no_violation(&answer, options), None),
        Some(found) => match witness::witness(&machine, &input.source, model(options.target), found) {
            Ok(witness) => (verdict(&found.violation), Some(witness)),
            Err(unconfirmed) => (Verdict::GaveUp(unconfirmed.to_string()), None),
        },
    };
    Finding {
        file: input.file.clone(),
        source: input.source.clone(),
        model: options.target.name().to_owned(),
        verdict,
        states: answer.progress.states,
        transitions: answer.transitions,
        seconds: start.elapsed().as_secs_f64(),
        threads: machine.code().threads.iter().map(|thread| thread.name.clone()).collect(),
        witness,
    }
}

fn search(machine: &Machine, options: &CheckOptions, report: &(dyn Fn(Progress) + Sync)) -> Answer {
    let search = Options {
        limits: options.limits.clone(),
        workers: options.workers,
        symmetry: options.symmetry,
        independence: options.por,
        clash: false,
    };
    let plan = Plan { search, abstraction: options.abstraction, deadlock: options.deadlock };
    decide(machine, options.target, &plan, report)
}

/// The definitions that a witness is confirmed by.
pub fn model(target: Target) -> Model {
    match target {
        Target::Sc => Model::Sc,
        Target::Ra => Model::Ra,
        Target::Rc20 => Model::Rc20,
        Target::Tso => Model::Tso,
    }
}

/// What a violation is called.
pub fn verdict(violation: &Violation) -> Verdict {
    match violation {
        Violation::Stale { .. } => Verdict::NotRobust,
        Violation::Race { .. } | Violation::Clash { .. } => Verdict::Race,
        Violation::Failed { .. } => Verdict::Assertion,
        Violation::Stuck { .. } => Verdict::Deadlock,
    }
}

fn no_violation(answer: &Answer, options: &CheckOptions) -> Verdict {
    let limits = &options.limits;
    let limit = match answer.limit {
        None => return Verdict::Robust,
        Some(Limit::States) => format!("limit of {} states", count(limits.states.unwrap_or_default())),
        Some(Limit::Time) => format!("limit of {} s", limits.time.unwrap_or_default().as_secs_f64()),
        Some(Limit::Memory) => format!("limit of {} of memory", size(limits.memory.unwrap_or_default())),
    };
    let Progress { depth, waiting, memory, .. } = answer.progress;
    Verdict::GaveUp(format!(
        "{limit} reached at depth {}, {} states of the last level not looked at yet, {} of memory in use",
        count(depth),
        count(waiting),
        size(memory)
    ))
}
