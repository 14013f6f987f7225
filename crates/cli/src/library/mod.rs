//! `seqcst library`: is this concurrent library robust for every client?
//!
//! * [`answer`]: a library to an answer;
//! * [`tried`]: clients that confirm it;
//! * [`witness`]: the part of an execution that is in the way of a proof, for renderers;
//! * [`composed`]: a client of several libraries, and its repair;
//! * [`text`], [`json`]: answers to what is printed.

mod answer;
mod composed;
mod json;
mod text;
mod tried;
mod witness;

use crate::Status;
use crate::flags::{Format, LibraryFlags};
use crate::output::{self, Target};
use crate::pictures::Pictures;
use answer::{Answer, Loaded};
use seqcst_library::prove::Constraint;
use seqcst_library::solver::{Options, Pool};
use std::io;

/// Analyses all libraries; gives the worst of what was found.
pub fn run(flags: &LibraryFlags) -> Status {
    match try_run(flags) {
        Ok(status) => status,
        Err(message) => {
            output::complain(&message);
            Status::BadInput
        }
    }
}

fn try_run(flags: &LibraryFlags) -> Result<Status, String> {
    let disabled = flags.disable.iter().map(|name| constraint(name)).collect::<Result<Vec<_>, _>>()?;
    let (svg, dot) = (flags.svg.as_deref(), flags.dot.as_deref());
    let pictures = Pictures::new(svg, dot, flags.format == Format::Text, &flags.files)?;
    let target = flags.output.as_deref().map(Target::new).transpose()?;
    // Everything is read before anything is asked, so that a typing error comes at once.
    let loaded = flags.files.iter().map(|file| Loaded::new(file, flags)).collect::<Result<Vec<_>, _>>()?;
    let loaded = match flags.mutants {
        true => loaded.iter().flat_map(Loaded::mutants).collect(),
        false => loaded,
    };
    let client = flags
        .compose
        .as_deref()
        .map(|file| composed::Client::new(file, &loaded, &flags.define))
        .transpose()?;
    if let (Some(target), Some(client)) = (&target, &client)
        && flags.files.iter().any(|file| target.is(file))
    {
        return Err(format!(
            "error: {} is a library of {}: it is not overwritten\n",
            target.name.display(),
            client.name
        ));
    }
    let mut pool = Pool::new(Options {
        program: flags.solver.clone(),
        workers: flags.workers.into(),
        time_limit: flags.time_limit,
        want_cores: flags.explain,
        ..Options::default()
    })
    .map_err(|error| format!("error: {error}\n"))?;
    let mut worst = Status::Holds;
    let mut answers: Vec<Answer> = Vec::new();
    for loaded in loaded {
        let answer =
            Answer::new(loaded, &mut pool, &disabled, flags).map_err(|error| format!("error: {error}\n"))?;
        worst = worst.max(answer.status());
        if !print(&answer, flags) {
            return Ok(worst);
        }
        if let Some(finding) = &answer.finding {
            pictures.draw(finding)?;
        }
        answers.push(answer);
    }
    if let Some(client) = client {
        worst = worst.max(client.report(&answers, target.as_ref(), flags)?);
    }
    Ok(worst)
}

/// Prints an answer. False if nobody listens any more.
fn print(answer: &Answer, flags: &LibraryFlags) -> bool {
    match flags.format {
        Format::Json => output::answer(&format!("{}\n", json::show(answer))),
        Format::Text => say(flags, |color| text::show(answer, flags, color)),
    }
}

/// Prints text: on standard output, unless that is for a repaired client.
fn say(flags: &LibraryFlags, text: impl FnOnce(bool) -> String) -> bool {
    if flags.fix && flags.output.is_none() {
        output::complain(&text(output::use_color(flags.color, &io::stderr())));
        return true;
    }
    output::answer(&text(output::use_color(flags.color, &io::stdout())))
}

fn constraint(name: &str) -> Result<Constraint, String> {
    let found = Constraint::ALL.into_iter().find(|constraint| constraint.name() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = Constraint::ALL.iter().map(|constraint| constraint.name()).collect();
        format!("error: there is no constraint `{name}`; there are {}\n", names.join(", "))
    })
}
