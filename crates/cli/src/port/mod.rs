//! `seqcst port`: is this code safe to move to a weaker machine, and which fences make it so?
//!
//! * [`input`]: files to programs, with [`clang`] for C and C++;
//! * [`answer`]: a program and two machines to an answer;
//! * [`text`], [`json`], [`dot`]: answers to what is printed;
//! * [`fix`]: repaired files.

mod answer;
mod clang;
mod dot;
mod fix;
mod input;
mod json;
mod text;

use crate::Status;
use crate::flags::{Format, FromMachine, PortFlags, ToMachine};
use crate::output::{self, Target};
use answer::{Answer, Loaded};
use input::Program;
use seqcst_port::machine::Machine;
use std::io;

/// Looks at all programs; gives the worst of what was found.
pub fn run(flags: &PortFlags) -> Status {
    match try_run(flags) {
        Ok(status) => status,
        Err(message) => {
            output::complain(&message);
            Status::BadInput
        }
    }
}

fn try_run(flags: &PortFlags) -> Result<Status, String> {
    let pairs = pairs(flags)?;
    let dot = flags.dot.as_deref().map(Target::new).transpose()?;
    if flags.fix && !flags.output.is_dir() {
        return Err(format!("{}: error: there is no such directory\n", flags.output.display()));
    }
    let mut programs: Vec<Program> = Vec::new();
    for file in &flags.files {
        programs.extend(input::programs(file)?);
    }
    if dot.is_some() && programs.len() > 1 {
        return Err("error: --dot draws one program, and there are several\n".to_owned());
    }
    let mut worst = Status::Holds;
    for program in &programs {
        let mut loaded: Option<Loaded> = None;
        for &(from, to) in &pairs {
            // C and C++ are compiled anew for every machine; what is read is the same for all.
            if loaded.as_ref().is_none_or(|loaded| loaded.machine != to && input::is_source(program)) {
                loaded = Some(Loaded::new(program, to, flags)?);
            }
            let Some(loaded) = &loaded else { continue };
            let answer = loaded.ask(from, to);
            worst = worst.max(answer.status());
            let written = if flags.fix {
                fix::write(program, loaded, &answer, flags)?
            } else {
                fix::Written::default()
            };
            if !print(loaded, &answer, &written, flags) {
                return Ok(worst);
            }
            if let Some(dot) = &dot {
                dot.write(&dot::draw(loaded, &answer))?;
            }
        }
    }
    Ok(worst)
}

/// Prints an answer. False if nobody listens any more.
fn print(loaded: &Loaded, answer: &Answer, written: &fix::Written, flags: &PortFlags) -> bool {
    match flags.format {
        Format::Text => {
            let color = output::use_color(flags.color, &io::stdout());
            output::answer(&text::show(loaded, answer, written, flags, color))
        }
        Format::Json => output::answer(&format!("{}\n", json::show(loaded, answer, written))),
    }
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
    let fits = |pair: &(Machine, Machine)| from.is_none_or(|m| m == pair.0) && to.is_none_or(|m| m == pair.1);
    let pairs: Vec<(Machine, Machine)> = Machine::PAIRS.into_iter().filter(fits).collect();
    match (&pairs[..], from, to) {
        ([], Some(from), Some(to)) => {
            Err(format!("error: {to} is no weaker than {from}: nothing can go wrong\n"))
        }
        ([], ..) => Err("error: no machine is left to go to\n".to_owned()),
        _ => Ok(pairs),
    }
}
