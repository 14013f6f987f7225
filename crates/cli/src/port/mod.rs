//! `seqcst port`: is this code safe to move to a weaker machine, and which fences make it so?
//!
//! * [`group`]: files to programs; [`input`]: programs to LLVM IR, with [`clang`] for C and C++;
//! * [`loaded`]: a program, ready for questions;
//! * [`fix`]: repaired files, with [`rounds`] for changes in the source.

mod clang;
mod fix;
mod group;
mod input;
mod loaded;
mod rounds;

use crate::flags::{FromMachine, PortFlags, ToMachine};
use crate::output::{self, Printer, Target};
use fix::{Folder, Written};
use loaded::Loaded;
use seqcst_port::machine::Machine;
use seqcst_report::{Answer, Status, TextOptions, to_dot};
use std::time::Duration;

/// Looks at all programs; gives the worst of what was found.
pub fn run(flags: &PortFlags) -> Status {
    match try_run(flags) {
        Ok(status) => status,
        Err(message) => {
            output::write_stderr(&message);
            Status::BadInput
        }
    }
}

fn try_run(flags: &PortFlags) -> Result<Status, String> {
    let pairs = pairs(flags)?;
    let dot = flags.dot.as_deref().map(Target::new).transpose()?;
    let mut folder = if flags.fix { Some(Folder::new(&flags.output)?) } else { None };
    let programs = group::programs(&flags.files)?;
    if dot.is_some() && programs.len() > 1 {
        return Err("error: --dot draws one program, and there are several\n".to_owned());
    }
    let mut worst = Status::Holds;
    // Nothing is written or printed before everything was read: if one input is bad, there is no answer.
    let mut answers: Vec<(Answer, Written)> = Vec::new();
    for program in &programs {
        let mut loaded: Option<Loaded> = None;
        for &(from, to) in &pairs {
            // C and C++ are compiled anew for every machine; what is read is the same for all.
            if loaded.as_ref().is_none_or(|loaded| loaded.machine != to && input::is_source(program)) {
                loaded = Some(Loaded::new(program, to, flags, Duration::ZERO)?);
            }
            let Some(loaded) = &loaded else { continue };
            let found = loaded.analysis.ask(from, to, Duration::ZERO, &|_| true);
            let mut answer = loaded.analysis.answer(&loaded.name, &found);
            worst = worst.max(answer.verdict.status());
            let written = match &mut folder {
                Some(folder) => fix::make(program, loaded, &found, flags, folder)?,
                None => Written::default(),
            };
            written.describe(&mut answer);
            answers.push((answer, written));
        }
    }
    let mut printer = Printer::new(&flags.print).with(|text| TextOptions { pairs: flags.show, ..text });
    for (answer, written) in answers {
        written.write()?;
        if let (Some(dot), Some(drawn)) = (&dot, to_dot(&answer)) {
            dot.write(&drawn)?;
        }
        if !printer.print(answer) {
            return Ok(worst);
        }
    }
    printer.finish();
    Ok(worst)
}

/// The ways from machine to machine that are asked for.
fn pairs(flags: &PortFlags) -> Result<Vec<(Machine, Machine)>, String> {
    let from = flags.from.map(|from| match from {
        FromMachine::Sc => Machine::Sc,
        FromMachine::X86 => Machine::X86,
        FromMachine::Armv8 => Machine::ArmV8,
    });
    let to = flags.to.map(|to| match to {
        ToMachine::X86 => Machine::X86,
        ToMachine::Armv8 => Machine::ArmV8,
        ToMachine::Armv7 => Machine::ArmV7,
    });
    Machine::pairs(from, to).map_err(|message| format!("error: {message}\n"))
}
