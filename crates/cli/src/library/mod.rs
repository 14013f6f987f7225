//! `seqcst library`: is this concurrent library robust for every client?
//!
//! * [`input`]: files and flags;
//! * [`composed`]: a client of several libraries, and its repair;
//! * [`kept`]: the client that confirms an answer, written into a file.

mod composed;
mod input;
mod kept;

use crate::flags::{Format, LibraryFlags};
use crate::output::{self, Printer, Target};
use crate::pictures::Pictures;
use kept::Kept;
use seqcst_library::compose::fix::Fixed;
use seqcst_library::solver::{self, Pool};
use seqcst_library::verify::{Subject, Verified, verify};
use seqcst_report::{Answer, Details, Status, TextOptions};

/// Analyses all libraries; gives the worst of what was found.
pub fn run(flags: &LibraryFlags) -> Status {
    match try_run(flags) {
        Ok(status) => status,
        Err(message) => {
            output::write_stderr(&message);
            Status::BadInput
        }
    }
}

fn try_run(flags: &LibraryFlags) -> Result<Status, String> {
    let options = input::options(flags)?;
    let (svg, dot) = (flags.svg.as_deref(), flags.dot.as_deref());
    let pictures = Pictures::new(svg, dot, flags.print.format == Format::Text, &flags.files)?;
    let target = flags.output.as_deref().map(Target::new).transpose()?;
    let kept = Kept::new(flags, target.as_ref())?;
    // Everything is read before anything is asked, so that a typing error comes at once.
    let subjects =
        flags.files.iter().map(|file| input::subject(file, flags)).collect::<Result<Vec<_>, _>>()?;
    let subjects = match flags.mutants {
        true => subjects.iter().flat_map(Subject::mutants).collect(),
        false => subjects,
    };
    let client = flags
        .compose
        .as_deref()
        .map(|file| composed::Client::new(file, &subjects, &flags.define))
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
    let mut pool = Pool::new(solver::Options {
        program: flags.solver.clone(),
        workers: flags.workers.into(),
        time_limit: flags.time_limit,
        want_cores: flags.explain,
        ..solver::Options::default()
    })
    .map_err(|error| format!("error: {error}\n"))?;
    let mut worst = Status::Holds;
    let mut printer = Printer::new(&flags.print).with(|text| TextOptions { explain: flags.explain, ..text });
    if flags.fix && target.is_none() {
        printer = printer.on_stderr(&flags.print);
    }
    let mut verified: Vec<Verified> = Vec::new();
    for subject in subjects {
        let it = verify(subject, &mut pool, &options).map_err(|error| format!("error: {error}\n"))?;
        let mut answer = it.answer();
        worst = worst.max(answer.verdict.status());
        if flags.compose.is_none() {
            kept.keep(&mut answer)?;
        }
        if answer.witness.is_some() {
            pictures.draw(&answer)?;
        }
        if !printer.print(answer) {
            return Ok(worst);
        }
        verified.push(it);
    }
    if let Some(client) = client {
        let (mut answer, fixed) = client.answer(&verified, flags)?;
        // Whoever asks for a repair gets an answer about what comes out.
        let is_repaired = matches!(&answer.details, Details::Compose(it) if it.repaired == Some(true));
        worst = worst.max(if is_repaired { Status::Holds } else { answer.verdict.status() });
        kept.keep(&mut answer)?;
        print_client(answer, fixed, printer, target.as_ref(), flags)?;
    } else {
        printer.finish();
    }
    Ok(worst)
}

/// Prints the answer about a client, and the repaired client: into a file, as a field of the answer, or behind it.
fn print_client(
    mut answer: Answer,
    fixed: Option<Fixed>,
    mut printer: Printer,
    target: Option<&Target>,
    flags: &LibraryFlags,
) -> Result<(), String> {
    if let (Details::Compose(composed), Some(fixed), None) = (&mut answer.details, &fixed, target) {
        composed.fixed = Some(fixed.text.clone());
    }
    printer.print(answer);
    printer.finish();
    match (fixed, target) {
        (Some(fixed), Some(target)) => target.write(&fixed.text)?,
        (Some(fixed), None) if flags.print.format == Format::Text => {
            output::write_stdout(&fixed.text);
        }
        _ => {}
    }
    Ok(())
}
