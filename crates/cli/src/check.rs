//! `seqcst check`: from files to answers and an exit code.

use crate::flags::{CheckFlags, Format};
use crate::input;
use crate::output::{self, Printer};
use crate::pictures::Pictures;
use crate::progress::Line;
use seqcst_check::answer::{self, Source};
use seqcst_check::robustness::Plan;
use seqcst_check::states::{Limits, Options};
use seqcst_program::lower;
use seqcst_program::semantics::Machine;
use seqcst_report::{Answer, Status};
use std::io;
use std::path::Path;

/// Checks all files, in order; gives the worst of what was found.
pub fn run(flags: &CheckFlags) -> Status {
    let (svg, dot) = (flags.svg.as_deref(), flags.dot.as_deref());
    let notes = flags.print.format == Format::Text;
    let pictures = match Pictures::new(svg, dot, notes, &flags.files) {
        Ok(pictures) => pictures,
        Err(message) => {
            output::write_stderr(&message);
            return Status::BadInput;
        }
    };
    let plan = plan(flags);
    let mut printer = Printer::new(&flags.print);
    let mut worst = Status::Holds;
    for file in &flags.files {
        let Some(answer) = check(file, flags, &plan) else {
            worst = Status::BadInput;
            continue;
        };
        worst = worst.max(answer.verdict.status());
        let drawn = pictures.draw(&answer);
        let listens = printer.print(answer);
        if let Err(message) = drawn {
            output::write_stderr(&message);
            worst = Status::BadInput;
        }
        if !listens {
            break;
        }
    }
    printer.finish();
    worst
}

fn plan(flags: &CheckFlags) -> Plan {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let search = Options {
        limits: Limits { states: flags.max_states, time: flags.timeout, memory: Some(flags.max_memory) },
        workers: flags.threads.map_or_else(cores, usize::from),
        symmetry: !flags.no_symmetry,
        independence: !flags.no_por,
        clash: false,
    };
    Plan { search, abstraction: !flags.no_abstraction, deadlock: flags.deadlock }
}

/// Checks one file. Without an answer the file was at fault, and the user was told.
fn check(file: &Path, flags: &CheckFlags, plan: &Plan) -> Option<Answer> {
    let input = match input::read(file) {
        Ok(input) => input,
        Err(bad) => {
            output::write_stderr(&bad.render(output::use_color(flags.print.color, &io::stderr())));
            return None;
        }
    };
    if flags.print.format == Format::Text {
        output::write_stderr(&input.warnings());
    }
    let line = Line::new(&input.file);
    let machine = match lower(&input.parsed.program, flags.model) {
        Ok(code) => Machine::new(code),
        Err(unsupported) => {
            output::write_stderr(&format!("{}: error: {unsupported}\n", input.file));
            return None;
        }
    };
    let source = Source { file: &input.file, text: &input.source };
    Some(answer::check(&machine, source, plan, &|progress| line.update(progress)))
}
