//! `seqcst port`: is this code safe to move to a weaker machine, and which fences make it so?
//!
//! * [`input`]: files to programs, with [`clang`] for C and C++;
//! * [`answer`]: a program and two machines to an answer;
//! * [`text`], [`json`], [`dot`]: answers to what is printed;
//! * [`fix`]: repaired files, with [`rounds`] for changes in the source.

mod answer;
mod clang;
mod dot;
mod fix;
mod input;
mod json;
mod rounds;
mod text;

use crate::Status;
use crate::flags::{Format, FromMachine, PortFlags, ToMachine};
use crate::output::{self, Target};
use answer::{Answer, Loaded};
use fix::Written;
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
    // Nothing is written or printed before everything was read: if one input is bad, there is no answer.
    let mut found: Vec<Found> = Vec::new();
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
            let fixed =
                if flags.fix { fix::make(program, loaded, &answer, flags)? } else { Written::default() };
            let drawn = dot.as_ref().map(|_| dot::draw(loaded, &answer));
            found.push(Found { shown: show(loaded, &answer, &fixed, flags), fixed, drawn });
        }
    }
    for Found { shown, fixed, drawn } in &found {
        fixed.write()?;
        if let (Some(dot), Some(drawn)) = (&dot, drawn) {
            dot.write(drawn)?;
        }
        if !output::answer(shown) {
            break;
        }
    }
    Ok(worst)
}

/// An answer, to be printed and written.
struct Found {
    shown: String,
    fixed: Written,
    drawn: Option<String>,
}

/// An answer as it is printed.
fn show(loaded: &Loaded, answer: &Answer, written: &Written, flags: &PortFlags) -> String {
    match flags.format {
        Format::Text => {
            let color = output::use_color(flags.color, &io::stdout());
            text::show(loaded, answer, written, flags, color)
        }
        Format::Json => format!("{}\n", json::show(loaded, answer, written)),
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
        ([], Some(from), Some(to)) if from == to => {
            Err(format!("error: {from} and {to} are the same machine\n"))
        }
        // Not that nothing could go wrong: release stores and later acquire loads are in order on ARMv8, not on x86.
        ([], Some(from), Some(to)) => {
            let all = Machine::PAIRS.map(|(from, to)| format!("{from}–{to}")).join(", ");
            Err(format!("error: nothing is known about ways from {from} to {to}, only about {all}\n"))
        }
        ([], ..) => Err("error: no machine is left to go to\n".to_owned()),
        _ => Ok(pairs),
    }
}
