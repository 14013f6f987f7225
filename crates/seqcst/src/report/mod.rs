//! A failing execution, told to people.

mod chain;
mod repair;
mod source;
mod table;

use crate::rt::note::{Finding, Stale};
use crate::rt::site::{self, Site};
use crate::rt::source::Closure;
use crate::rt::statics::Changed;
use crate::sync::atomic::ordering_name;
use seqcst_explore::{Divergence, End, Failure, Kind, Outcome, ThreadId, Trace};
use seqcst_model::Mode;
use seqcst_model::Model;
use seqcst_monitor::clocks::{Look, Write};
use std::fmt::Write as _;

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// An atomic access could be stale under the memory model, at this place (`file:line:column`).
    Stale(String),
    /// Two accesses to a cell have no order, at these places.
    Race(String, String),
    /// A thread panicked with this message.
    Panic(String),
    /// No thread can go on.
    Deadlock,
    /// Threads spin, and nobody will end that.
    Livelock,
    /// There were more steps than allowed.
    StepLimit,
    /// The closure does not do the same when it is given the same turns.
    NotDeterministic,
}

/// What is wrong, and how to see it again.
#[derive(Debug)]
pub struct Report {
    pub problem: Problem,
    pub text: String,
    pub tape: String,
}

/// Tells about the last execution of a closure.
pub fn report(source: &mut Closure<'_>, trace: &Trace, outcome: &Outcome, tape: &str) -> Report {
    let mut text = String::new();
    let problem = match (source.findings().first().cloned(), &outcome.failure, trace.end) {
        (_, Some(Failure::Assertion(message)), _) => panicked(&mut text, source, message),
        (Some(Finding::Stale(stale)), ..) => {
            stale_access(&mut text, source, trace, &stale);
            Problem::Stale(place(stale.access.site))
        }
        (Some(Finding::Race { first, second, .. }), ..) => {
            let told = |(touch, write): (crate::rt::objects::Touch, bool)| {
                let what = if write { "write" } else { "read" };
                (who(source, u32::from(touch.slot)), what, touch.site)
            };
            race(&mut text, told(first), told(second));
            Problem::Race(place(first.0.site), place(second.0.site))
        }
        (None, _, end) => stuck(&mut text, source, trace, end),
    };
    let found = match (&problem, source.findings().first()) {
        (Problem::Stale(_), Some(Finding::Stale(stale))) => Some(stale.step),
        (Problem::Race(..), Some(Finding::Race { step, .. })) => step.checked_sub(1),
        _ => None,
    };
    table::steps(&mut text, source, trace, found);
    if let Some(Finding::Stale(stale)) = source.findings().first().cloned()
        && matches!(problem, Problem::Stale(_))
    {
        repair::advise(&mut text, source, trace, &stale);
    }
    let test = std::thread::current().name().filter(|name| *name != "main").map(|name| format!(" {name}"));
    let _ = write!(text, "\nreplay: SEQCST_TAPE={tape} cargo test{}", test.unwrap_or_default());
    Report { problem, text, tape: tape.to_owned() }
}

/// So many statics are named.
const MOST_KEPT: usize = 8;

/// The closure is not deterministic.
pub fn diverged(divergence: &Divergence, kept: &[Changed]) -> Report {
    let mut text =
        "seqcst: the closure is not deterministic: with the same schedule it does something else\n"
            .to_owned();
    let shown = |step: Option<seqcst_explore::Step>| match step {
        Some(step) => format!("{:?} at {}", step.op.kind, place(step.site as Site)),
        None => "nothing".to_owned(),
    };
    let _ = writeln!(text, "  step {} of thread {}:", divergence.step, divergence.thread);
    let _ = writeln!(text, "    before: {}", shown(divergence.expected));
    let _ = writeln!(text, "    now:    {}", shown(divergence.came));
    if kept.is_empty() {
        text += "  usual reasons: time, random numbers, hash maps, addresses, state that is kept from one execution to the next\n  \
                 (no static of the program was seen to keep some)";
    } else {
        text += "  state is kept from one execution to the next, in\n";
        for Changed { name, address } in kept.iter().take(MOST_KEPT) {
            let _ = writeln!(text, "    static {name} (at {address:#x})");
        }
        if kept.len() > MOST_KEPT {
            let _ = writeln!(text, "    and {} more", kept.len() - MOST_KEPT);
        }
        text +=
            "  make it anew in each execution: pass it to the threads, or put it into seqcst::lazy_static!";
    }
    Report { problem: Problem::NotDeterministic, text, tape: String::new() }
}

/// A thread's name.
fn who(source: &Closure<'_>, thread: ThreadId) -> String {
    match (thread, source.world.tasks[thread as usize].name.as_deref()) {
        (0, _) => "main".to_owned(),
        (_, Some(name)) => format!("thread {thread} ({name})"),
        _ => format!("thread {thread}"),
    }
}

/// `file:line:column`.
fn place(site: Site) -> String {
    site::place(site).map_or_else(|| "?".to_owned(), ToString::to_string)
}

/// A place, with the line of source if it can be had.
fn show(text: &mut String, site: Site) {
    if let Some(place) = site::place(site)
        && let Some(line) = source::line(place.file(), place.line())
    {
        let _ = writeln!(text, "    {:>4} | {}", place.line(), line.trim());
    }
}

fn model_name(model: Model) -> &'static str {
    match model {
        Model::Rc11 => "RC11 (C11)",
        Model::Rc20 => "RC20",
        Model::Ra => "RA",
        Model::Tso => "TSO (x86)",
        Model::Sc => "SC",
        Model::ArmV8 => "ARMv8",
        Model::ArmV7 => "ARMv7",
    }
}

fn stale_access(text: &mut String, source: &mut Closure<'_>, trace: &Trace, stale: &Stale) {
    let access = &stale.access;
    let _ = writeln!(
        text,
        "seqcst: not robust under {}: an access may be stale",
        model_name(source.options.model)
    );
    let (mode, failed) = match stale.failed_on {
        Some(found) => {
            (access.failure, format!(", which failed, as it found {}", source.world.notes.value(found)))
        }
        None => (access.mode, String::new()),
    };
    let _ = writeln!(
        text,
        "  {} at {}: {}({}) of a{}{failed}",
        who(source, stale.thread),
        place(access.site),
        access.name,
        ordering_name(mode),
        stale.atomic
    );
    show(text, access.site);
    match &stale.missed {
        Some(missed) => wrote(text, source, "can miss", missed),
        None => *text += "  can miss a write that is no longer remembered\n",
    }
    let old = stale.older.as_ref().map(|older| older.value);
    let instead = match access.look {
        // A weak one may fail whatever it finds.
        Look::Load => "and read",
        Look::StrongCas(expected) if old.is_some_and(|old| old != expected) => "and fail on",
        _ => "and come right after",
    };
    match &stale.older {
        Some(older) => wrote(text, source, instead, older),
        None => {
            let _ = writeln!(text, "  {instead} an older write");
        }
    }
    chain::tell(text, source, trace, stale);
}

fn wrote(text: &mut String, source: &mut Closure<'_>, verb: &str, write: &Write) {
    if write.mode == Mode::NonAtomic {
        let value = source.world.notes.value(write.value);
        let _ = writeln!(text, "  {verb} the value at the beginning: {value}");
        return;
    }
    let (who, mode) = (who(source, u32::from(write.slot)), ordering_name(write.mode));
    let value = source.world.notes.value(write.value);
    let _ = writeln!(text, "  {verb} the {mode} write of {value} by {who} at {}", place(write.site));
    show(text, write.site);
}

fn race(text: &mut String, first: (String, &str, Site), second: (String, &str, Site)) {
    *text += "seqcst: data race: nothing orders these two accesses to a cell\n";
    for (who, what, site) in [first, second] {
        let _ = writeln!(text, "  {what} by {who} at {}", place(site));
        show(text, site);
    }
}

fn panicked(text: &mut String, source: &Closure<'_>, message: &str) -> Problem {
    match source.world.dead.first() {
        Some((thread, dead)) => {
            let at = if dead.place.is_empty() { String::new() } else { format!(" at {}", dead.place) };
            let _ = writeln!(text, "seqcst: {} panicked{at}:", who(source, *thread));
            dead.message.lines().for_each(|line| {
                let _ = writeln!(text, "  {line}");
            });
        }
        None => {
            let _ = writeln!(text, "seqcst: {message}");
        }
    }
    Problem::Panic(message.to_owned())
}

fn stuck(text: &mut String, source: &Closure<'_>, trace: &Trace, end: End) -> Problem {
    let (problem, title) = match end {
        End::Deadlock => (Problem::Deadlock, "deadlock: no thread can go on"),
        End::Livelock => (Problem::Livelock, "livelock: threads spin, and nobody will end that"),
        End::StepLimit => (Problem::StepLimit, "more steps than allowed (see Builder::steps)"),
        _ => (Problem::NotDeterministic, "the tape does not fit: it was made for another program"),
    };
    let _ = writeln!(text, "seqcst: {title}");
    for waiting in &trace.waiting {
        let (who, at) = (who(source, waiting.thread), place(waiting.site as Site));
        let what = match (waiting.spins, waiting.op.kind) {
            (1, _) => "spins",
            (_, Kind::Lock | Kind::Wake) => "waits for a lock or a signal",
            (_, Kind::Join) => "waits for another thread's end",
            (_, Kind::Take) => "waits to be given something",
            (_, Kind::Pass) => "waits for others at a barrier",
            _ => "waits",
        };
        let _ = writeln!(text, "  {who} {what} at {at}");
        show(text, waiting.site as Site);
    }
    problem
}
