//! `seqcst explore PROGRAM ARGS…`: an instrumented program as a process.

use super::answer::{self, Failing};
use super::bar::Bar;
use super::places::Places;
use super::process::{Process, Settings};
use super::schedule;
use super::verdict::Conclusion;
use super::{Stop, limits, strategies};
use crate::flags::ExploreFlags;
use crate::run::{once, program};
use seqcst_explore::{
    Divergence, End, Failure, Found, Kind, Outcome, Plan, Source, Step, Strategy, Summary, ThreadId, Trace,
    explore, tape,
};
use seqcst_model::Model;
use seqcst_report::answer::FailingExecution;
use seqcst_report::{Answer, Verdict, signal_name};
use std::time::Instant;

/// Explores it.
pub fn run(flags: &ExploreFlags) -> Result<Answer, Stop> {
    let settings = settings(flags).map_err(Stop::BadInput)?;
    let mut process = Process::start(settings)?;
    match strategies::tape(flags).map_err(Stop::BadInput)? {
        Some(tape) => replay(flags, &mut process, tape),
        None => search(flags, &mut process),
    }
}

fn settings(flags: &ExploreFlags) -> Result<Settings, String> {
    let (name, args) = flags.command.split_first().ok_or("no program is named")?;
    if flags.svg.is_some() || flags.dot.is_some() {
        return Err("--svg and --dot draw witnesses of finite-state programs (.tpl, .litmus)".to_owned());
    }
    let program = program::find(name)?;
    program::check(&program)?;
    let model = if flags.no_monitor { Model::Sc } else { flags.model };
    Ok(Settings {
        program,
        args: args.to_vec(),
        options: once::options(&flags.options)?,
        model,
        races: !flags.no_races && !flags.no_monitor,
        steps: flags.steps,
        hang: flags.hang,
        output: flags.show_output,
    })
}

fn search(flags: &ExploreFlags, process: &mut Process) -> Result<Answer, Stop> {
    let name = strategies::name(flags, false);
    let mut strategy = strategies::new(flags, name);
    let mut limits = limits(flags, name);
    let start = Instant::now();
    let bar = Bar::new(&flags.command[0].to_string_lossy());
    let watch = |summary: &Summary, strategy: &dyn Strategy| bar.update(summary, || strategy.progress());
    let mut summary = explore(process, &mut *strategy, &limits, watch)?;
    if process.is_mixed() && !summary.has_found() && !summary.stopped {
        // Objects have other names from now on: what the strategy has learned of them is worth nothing.
        strategy = strategies::new(flags, name);
        limits.time = limits.time.saturating_sub(start.elapsed());
        summary = explore(process, &mut *strategy, &limits, watch)?;
    }
    drop(bar);
    if let Some(divergence) = &summary.diverged {
        return Err(not_deterministic(flags, process, divergence));
    }
    let strategy = Some(strategies::word(name));
    let Some(first) = summary.first() else {
        let verdict =
            Conclusion::without_finding(&summary, super::watches(flags), || super::limit(flags, &summary));
        return Ok(answer(flags, strategy, verdict, &summary, None, process));
    };
    let verdict =
        Conclusion::of(first.end, &first.outcome, flags.steps).unwrap_or(Verdict::NothingFound.into());
    let hangs = matches!(first.outcome.failure, Some(Failure::Hang(_)));
    let (tape, minimized) = if flags.minimize {
        let each = summary.time.div_f64(summary.executions.max(1) as f64);
        let (tape, words) = strategies::minimized(process, first, (&verdict, flags.steps), each)?;
        (tape, Some(words))
    } else {
        (first.tape.clone(), None)
    };
    let mut told = once_more(flags, process, first.number, &tape, (&verdict, hangs))?;
    told.execution.message.extend(minimized);
    Ok(answer(flags, strategy, verdict, &summary, Some(told), process))
}

fn replay(flags: &ExploreFlags, process: &mut Process, tape: Vec<ThreadId>) -> Result<Answer, Stop> {
    let mut plan = Plan::default();
    plan.replay(tape.iter().copied());
    let mut trace = Trace::default();
    process.until(Instant::now().checked_add(flags.timeout));
    let outcome = process.run_with_reports(&plan, &mut trace)?;
    if outcome.late {
        return Err(Stop::GaveUp(super::time_is_up(flags)));
    }
    if trace.end == End::Diverged {
        return Err(Stop::BadInput(super::does_not_fit(&tape, &trace)));
    }
    let verdict = Conclusion::of(trace.end, &outcome, flags.steps).unwrap_or(Verdict::NothingFound.into());
    let mut summary =
        Summary { executions: 1, distinct: 1, steps: trace.steps.len() as u64, ..Summary::default() };
    summary.borderline = u64::from(verdict.verdict == Verdict::NotRobust);
    let failing = describe(flags, process, 1, &trace, &outcome);
    Ok(answer(flags, None, verdict, &summary, Some(failing), process))
}

fn answer(
    flags: &ExploreFlags,
    strategy: Option<&'static str>,
    conclusion: Conclusion,
    summary: &Summary,
    failing: Option<Failing>,
    process: &Process,
) -> Answer {
    answer::answer(flags, strategy, conclusion, summary, process.threads() as usize, failing)
}

/// Executes the failing schedule once more, with reports, and tells what happens.
fn once_more(
    flags: &ExploreFlags,
    process: &mut Process,
    number: u64,
    tape: &[ThreadId],
    (verdict, hangs): (&Conclusion, bool),
) -> Result<Failing, Stop> {
    let (mut plan, mut trace) = (Plan::default(), Trace::default());
    plan.replay(tape.iter().copied());
    if hangs {
        // Once is long enough.
        let outcome = process.run_with_reports(&plan, &mut trace)?;
        return Ok(describe(flags, process, number, &trace, &outcome));
    }
    let outcome = process.run(&plan, &mut trace)?;
    let again = Conclusion::of(trace.end, &outcome, flags.steps);
    if again.as_ref() != Some(verdict) {
        return Err(Stop::GaveUp(format!(
            "the program isn't deterministic: the tape {} showed first: {}; and when it was executed again: {}",
            tape::show(tape),
            verdict.verdict.headline(),
            again.map_or("nothing", |again| again.verdict.headline())
        )));
    }
    // What comes after it doesn't matter, if it isn't how the program ends.
    let within = process.found_within().unwrap_or(tape.len()).min(tape.len());
    for until in [within, tape.len()] {
        plan.replay(tape[..until].iter().copied());
        trace.clear();
        let outcome = process.run_with_reports(&plan, &mut trace)?;
        if until == tape.len() || Conclusion::of(trace.end, &outcome, flags.steps).as_ref() == Some(verdict) {
            let mut told = describe(flags, process, number, &trace, &outcome);
            told.tape.truncate(schedule::needed(&trace).max(1));
            return Ok(told);
        }
        process.folder().clear();
    }
    Err(Stop::GaveUp("the program isn't deterministic".to_owned()))
}

/// All about an execution that was made with reports.
fn describe(
    flags: &ExploreFlags,
    process: &Process,
    number: u64,
    trace: &Trace,
    outcome: &Outcome,
) -> Failing {
    let places = Places::new(process.id());
    let documents = process.folder().documents();
    let execution = FailingExecution {
        execution: number,
        message: message(process, &places, trace, outcome, flags),
        schedule: schedule::lines(trace, &places),
        log: process.folder().log(),
        reports: documents.into_iter().flat_map(|document| document.reports).collect(),
        ..FailingExecution::default()
    };
    Failing { execution, tape: trace.tape().collect(), witness: None }
}

/// What happened, in lines.
fn message(
    process: &Process,
    places: &Places,
    trace: &Trace,
    outcome: &Outcome,
    flags: &ExploreFlags,
) -> Vec<String> {
    let at = |site: u64| match places.code(site).show() {
        place if place.is_empty() => "a place that is not known".to_owned(),
        place => place,
    };
    let last = trace.steps.last();
    let after = || match last {
        Some(step) if step.op.kind == Kind::Begin => {
            format!("{} was last seen at its beginning", schedule::name(step.thread))
        }
        Some(step) => format!("{} was last seen at {}", schedule::name(step.thread), at(step.site)),
        None => "before the first step".to_owned(),
    };
    let mut lines = Vec::new();
    match &outcome.failure {
        Some(Failure::Assertion(text) | Failure::Unmodelled(text)) => lines.push(text.clone()),
        Some(Failure::Crash(signal)) => {
            lines.push(format!("the program was ended by {}; {}", signal_name(*signal), after()));
        }
        Some(Failure::ExitCode(code)) => lines.push(format!("the program ended with exit code {code}")),
        Some(Failure::Hang(why)) => {
            let (thread, site) = process.last_seen();
            lines.push(format!(
                "{why}: {} was at {} and did not come to another atomic access or synchronisation call",
                schedule::name(thread),
                at(site)
            ));
        }
        None => {}
    }
    match trace.end {
        End::Deadlock => lines.push("nobody can go on:".to_owned()),
        End::Livelock => lines.push("nobody can go on, and some read the same again and again:".to_owned()),
        End::StepLimit => lines.push(format!("there is no end after {} steps:", flags.steps)),
        _ => {}
    }
    if matches!(trace.end, End::Deadlock | End::Livelock | End::StepLimit) {
        for waiting in &trace.waiting {
            let verb = match trace.end {
                End::StepLimit => "was at:",
                _ if waiting.spins != 0 => "spins at",
                _ => "wants to",
            };
            let wish = schedule::wish(&waiting.op, places);
            lines.push(format!("  {} {verb} {wish}, {}", schedule::name(waiting.thread), at(waiting.site)));
        }
    }
    // Without a report of the runtime's: where it was noticed.
    if process.folder().log().is_empty() {
        for found in &outcome.found {
            lines.push(match found {
                Found::Stale(site) => format!("an access can be stale: {}", at(*site)),
                Found::Misuse(site, 0) => format!("memory or an object is misused: {}", at(*site)),
                Found::Misuse(site, other) => {
                    format!(
                        "memory or an object is used after its end: {}, which was {}",
                        at(*site),
                        at(*other)
                    )
                }
                Found::Race(one, other) => format!("a data race: {} and {}", at(*one), at(*other)),
            });
        }
    }
    lines
}

/// Two executions with the same tape that are not the same.
fn not_deterministic(flags: &ExploreFlags, process: &Process, divergence: &Divergence) -> Stop {
    let places = Places::new(process.id());
    let Divergence { step, thread, expected, came } = divergence;
    let show = |did: &Option<Step>, nothing: &str| match did {
        Some(did) => format!("{} ({})", schedule::what(&did.op, &places), places.code(did.site).show()),
        None => nothing.to_owned(),
    };
    let name = flags.command[0].to_string_lossy();
    Stop::GaveUp(format!(
        "{name} isn't deterministic: with the same turns, step {} ({}) was\n  {} the first time, and then\n  {}\n\
         The clock, random numbers and addresses are the same in every execution: it depends on something else.",
        step + 1,
        schedule::name(*thread),
        show(expected, "another thread's"),
        show(came, "not possible"),
    ))
}
