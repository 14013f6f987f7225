//! `seqcst check`: from files to reports and an exit code.

use crate::Status;
use crate::engine::{self, CheckOptions};
use crate::flags::{CheckFlags, Format};
use crate::input;
use crate::output;
use crate::pictures::Pictures;
use crate::progress::Line;
use seqcst_report::{Finding, Verdict, render, to_json};
use std::io;
use std::path::Path;

/// Checks all files, in order; gives the worst of what was found.
pub fn run(flags: &CheckFlags) -> Status {
    let (svg, dot) = (flags.svg.as_deref(), flags.dot.as_deref());
    let pictures = match Pictures::new(svg, dot, flags.format == Format::Text, &flags.files) {
        Ok(pictures) => pictures,
        Err(message) => {
            output::complain(&message);
            return Status::BadInput;
        }
    };
    let options = CheckOptions::from(flags);
    let mut printer = Printer { flags, last_was_long: None };
    let mut worst = Status::Holds;
    for file in &flags.files {
        let (status, listens) = check(file, flags, &options, &pictures, &mut printer);
        worst = worst.max(status);
        if !listens {
            break;
        }
    }
    worst
}

/// Checks one file; also says whether anybody still reads the answers.
fn check(
    file: &Path,
    flags: &CheckFlags,
    options: &CheckOptions,
    pictures: &Pictures,
    printer: &mut Printer,
) -> (Status, bool) {
    let input = match input::read(file) {
        Ok(input) => input,
        Err(bad) => {
            output::complain(&bad.render(output::use_color(flags.color, &io::stderr())));
            return (Status::BadInput, true);
        }
    };
    if flags.format == Format::Text {
        output::complain(&input.warnings());
    }
    let line = Line::new(&input.file);
    let finding = engine::check_file(&input, options, &|progress| line.update(progress));
    drop(line);
    let status = match finding.verdict {
        Verdict::Robust => Status::Holds,
        Verdict::GaveUp(_) => Status::GaveUp,
        _ => Status::Violation,
    };
    let listens = printer.print(&finding);
    match pictures.draw(&finding) {
        Ok(()) => (status, listens),
        Err(message) => {
            output::complain(&message);
            (Status::BadInput, listens)
        }
    }
}

/// Prints findings, one after the other.
struct Printer<'a> {
    flags: &'a CheckFlags,
    /// Whether the last finding took more than a line; none at the start.
    last_was_long: Option<bool>,
}

impl Printer<'_> {
    /// False if nobody listens any more.
    fn print(&mut self, finding: &Finding) -> bool {
        let text = match self.flags.format {
            Format::Json => return output::answer(&format!("{}\n", to_json(finding))),
            Format::Text => render(finding, output::use_color(self.flags.color, &io::stdout())),
        };
        let long = text.lines().count() > 1;
        // An empty line around everything that takes more than a line.
        let apart = self.last_was_long.replace(long).is_some_and(|before| before || long);
        output::answer(&format!("{}{text}", if apart { "\n" } else { "" }))
    }
}
